/* SPDX-License-Identifier: Apache-2.0
 *
 * strew from C: every function once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strew/strew.h>

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})
enum { COUNT = 1 << 18 };

static void check(strew_status status) {
  if (status == STREW_OK) return;
  fprintf(stderr, "%s: %s\n", strew_status_name(status), strew_status_description(status));
  exit(1);
}

static void show(const char *name, const float *values, int64_t count) {
  printf("%s:", name);
  for (int64_t i = 0; i < count; ++i) printf(" %g", values[i]);
  printf("\n");
}

/* A descriptor borrows its memory, which has to outlive it. */
static strew_tensor *floats(int32_t rank, const int64_t *shape, float *values) {
  strew_tensor *tensor;
  check(strew_tensor_create(STREW_FLOAT32, rank, shape, NULL, values, &tensor));
  return tensor;
}

/* Inputs are only read, so that the cast takes no promise back. */
static strew_tensor *int64s(int32_t rank, const int64_t *shape, const int64_t *values) {
  strew_tensor *tensor;
  check(strew_tensor_create(STREW_INT64, rank, shape, NULL, (void *)values, &tensor));
  return tensor;
}

static void destroy(strew_tensor *data, strew_tensor *updates, strew_tensor *indices) {
  strew_tensor_destroy(data), strew_tensor_destroy(updates), strew_tensor_destroy(indices);
}

static void names(void) {
  printf("version: %s is %d\n", strew_version(), strew_version_number());
  printf("targets:");
  for (int32_t i = 0; strew_simd_target_at(i); ++i) printf(" %s", strew_simd_target_at(i));
  printf(", the best is %s\n", strew_simd_target());
  printf("status: %s: %s\n", strew_status_name(STREW_INDEX_OUT_OF_RANGE),
         strew_status_description(STREW_INDEX_OUT_OF_RANGE));
  printf("dtype: %s of %zu bytes\n", strew_dtype_name(STREW_COMPLEX64),
         strew_dtype_size(STREW_COMPLEX64));
}

static void describe(const char *name, const strew_tensor *tensor) {
  const int64_t *shape = strew_tensor_shape(tensor), *strides = strew_tensor_strides(tensor);
  const int32_t rank = strew_tensor_rank(tensor);
  printf("%s: %s, %lld elements, shape", name, strew_dtype_name(strew_tensor_dtype(tensor)),
         (long long)strew_tensor_size(tensor));
  for (int32_t i = 0; i < rank; ++i) printf(" %lld", (long long)shape[i]);
  printf(", strides");
  for (int32_t i = 0; i < rank; ++i) printf(" %lld", (long long)strides[i]);
  printf(", first %g\n", *(float *)strew_tensor_data(tensor));
}

static void descriptors(void) {
  float rising[6] = {1, 2, 3, 4, 5, 6}, falling[6] = {6, 5, 4, 3, 2, 1};
  strew_tensor *tensor = floats(2, DIMS(2, 3), rising);
  describe("create", tensor);
  check(strew_tensor_reset(tensor, STREW_FLOAT32, 2, DIMS(3, 2), DIMS(1, 3), rising));
  describe("transposed", tensor);
  check(strew_tensor_set_data(tensor, falling));
  describe("elsewhere", tensor);
  strew_tensor_destroy(tensor);
}

static void scatter_matrix(void) {
  float data[9] = {0}, values[6] = {1, 1.1F, 1.2F, 2, 2.1F, 2.2F}, result[9];
  strew_tensor *input = floats(2, DIMS(3, 3), data), *output = floats(2, DIMS(3, 3), result);
  strew_tensor *updates = floats(2, DIMS(2, 3), values);
  strew_tensor *indices = int64s(2, DIMS(2, 3), DIMS(1, 0, 2, 0, 2, 1));
  check(strew_scatter_elements(NULL, input, indices, updates, 0, STREW_NONE, output));
  show("scatter_elements", result, 9);
  strew_tensor_destroy(output);
  destroy(input, updates, indices);
}

/* Here and below the output is data itself: in place. */
static void scatter_row(const char *name, const int64_t places[2], strew_reduction reduction) {
  float row[5] = {1, 2, 3, 4, 5}, values[2] = {1.1F, 2.1F};
  strew_tensor *data = floats(2, DIMS(1, 5), row), *updates = floats(2, DIMS(1, 2), values);
  strew_tensor *indices = int64s(2, DIMS(1, 2), places);
  check(strew_scatter_elements(NULL, data, indices, updates, 1, reduction, data));
  show(name, row, 5);
  destroy(data, updates, indices);
}

static void scatter_nd(void) {
  float row[8] = {1, 2, 3, 4, 5, 6, 7, 8}, values[4] = {9, 10, 11, 12};
  strew_tensor *data = floats(1, DIMS(8), row), *updates = floats(1, DIMS(4), values);
  strew_tensor *indices = int64s(2, DIMS(4, 1), DIMS(4, 3, 1, 7));
  check(strew_scatter_nd(NULL, data, indices, updates, STREW_NONE, data));
  show("scatter_nd", row, 8);
  destroy(data, updates, indices);
}

static void scatter_nd_slices(void) {
  const float up[8] = {1, 2, 3, 4, 5, 6, 7, 8}, down[8] = {8, 7, 6, 5, 4, 3, 2, 1};
  float box[64], values[32];
  for (int i = 0; i < 64; ++i) box[i] = (i < 32) == (i % 16 < 8) ? up[i % 8] : down[i % 8];
  for (int i = 0; i < 32; ++i) values[i] = (float)(i < 16 ? 5 + i / 4 : 1 + (i - 16) / 4);
  strew_tensor *data = floats(3, DIMS(4, 4, 4), box), *updates = floats(3, DIMS(2, 4, 4), values);
  strew_tensor *indices = int64s(2, DIMS(2, 1), DIMS(0, 2));
  check(strew_scatter_nd(NULL, data, indices, updates, STREW_NONE, data));
  show("scatter_nd slices", box, 64);
  destroy(data, updates, indices);
}

static void slice_scatter(void) {
  float row[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, tens[5] = {10, 20, 30, 40, 50};
  strew_tensor *data = floats(2, DIMS(2, 5), row), *updates = floats(2, DIMS(1, 5), tens);
  strew_tensor *zero = int64s(1, DIMS(1), DIMS(0)), *one = int64s(1, DIMS(1), DIMS(1));
  check(strew_slice_scatter(NULL, data, updates, zero, one, one, zero, STREW_NONE, data));
  show("slice_scatter", row, 10);
  destroy(zero, one, NULL);
  destroy(data, updates, NULL);
}

/* data counts up from 0. */
static void slice(const char *name, const int64_t shape[2], const int64_t update_shape[2],
                  float *values, int64_t count, const int64_t *start, const int64_t *stop,
                  const int64_t *step, const int64_t *axes) {
  float rows[15];
  for (int i = 0; i < 15; ++i) rows[i] = (float)i;
  strew_tensor *data = floats(2, shape, rows), *updates = floats(2, update_shape, values);
  check(strew_slice_scatter_int64(NULL, data, updates, count, start, stop, step, axes, STREW_NONE,
                                  data));
  show(name, rows, strew_tensor_size(data));
  destroy(data, updates, NULL);
}

static void caches(void) {
  float pool[6] = {0}, rows[6] = {1, 2, 3, 4, 5, 6}, past[8] = {0}, fresh[4] = {1, 2, 3, 4};
  strew_context *context;
  check(strew_context_create(&context));
  check(strew_context_set_index_policy(context, STREW_INDEX_DROP));
  check(strew_context_set_negative_indices(context, 0)); /* -1: no slot */
  strew_tensor *pages = floats(2, DIMS(3, 2), pool), *tokens = floats(2, DIMS(3, 2), rows);
  strew_tensor *slots = int64s(1, DIMS(3), DIMS(2, -1, 0));
  check(strew_scatter_update(context, pages, slots, tokens, 0, STREW_NONE, pages));
  show("scatter_update", pool, 6);
  printf("applied: %lld of 6\n", (long long)strew_context_applied(context));
  destroy(pages, tokens, slots);

  strew_tensor *cache = floats(2, DIMS(2, 4), past), *update = floats(2, DIMS(2, 2), fresh);
  strew_tensor *places = int64s(1, DIMS(2), DIMS(3, 1));
  check(strew_tensor_scatter(context, cache, update, places, 1, STREW_CACHE_CIRCULAR, cache));
  show("tensor_scatter", past, 8);
  destroy(cache, update, places);
  strew_context_destroy(context);
}

struct counts {
  size_t taken, returned;
};

static void *allocate(void *opaque, size_t size, size_t alignment) {
  ((struct counts *)opaque)->taken += size;
  return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *opaque, void *memory, size_t size) {
  ((struct counts *)opaque)->returned += size;
  free(memory);
}

/* A pool of threads would call run() from several of them. */
static int32_t run_in_turn(void *opaque, int64_t count, strew_task run, void *task) {
  for (int64_t i = 0; i < count; ++i) run(task, i);
  *(int *)opaque = 1;
  return 0;
}

static void callbacks(void) {
  float *sums = calloc(COUNT, sizeof *sums), *ones = malloc(COUNT * sizeof *ones);
  int64_t *places = malloc(COUNT * sizeof *places);
  if (!sums || !ones || !places) exit(1);
  for (int64_t i = 0; i < COUNT; ++i) ones[i] = 1, places[i] = COUNT - 1 - i;
  struct counts counts = {0, 0};
  int asked = 0;
  strew_context *context;
  check(strew_context_create(&context));
  check(strew_context_set_allocator(context, allocate, release, &counts));
  check(strew_context_set_duplicate_policy(context, STREW_DUPLICATE_ERROR));
  check(strew_context_set_simd_target(context, strew_simd_target()));
  check(strew_context_set_parallel_for(context, run_in_turn, &asked, 4));
  strew_tensor *data = floats(1, DIMS(COUNT), sums), *updates = floats(1, DIMS(COUNT), ones);
  strew_tensor *indices = int64s(1, DIMS(COUNT), places);
  check(strew_scatter_update(context, data, indices, updates, 0, STREW_ADD, data));
  check(strew_context_set_num_threads(context, 1)); /* 0: as many as there are CPUs */
  check(strew_scatter_update(context, data, indices, updates, 0, STREW_ADD, data));
  const int balanced = counts.taken > 0 && counts.taken == counts.returned;
  printf("runner: %s\n", asked ? "asked" : "not asked");
  printf("allocator: %s\n", balanced ? "all returned" : "not balanced");
  printf("sums: %g to %g\n", sums[0], sums[COUNT - 1]);
  destroy(data, updates, indices);
  strew_context_destroy(context);
  free(sums), free(ones), free(places);
}

/* As dlpack.h has them. */
struct dl_tensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct dl_managed_tensor_versioned {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dl_managed_tensor_versioned *);
  uint64_t flags;
  struct dl_tensor tensor;
};

static void delete_managed(struct dl_managed_tensor_versioned *managed) {
  printf("dlpack: deleted\n");
  free(managed);
}

static void dlpack(void) {
  float row[8] = {1, 2, 3, 4, 5, 6, 7, 8}, values[4] = {9, 10, 11, 12};
  int64_t eight = 8;
  const struct dl_tensor described = {row, 1, 0, 1, 2, 32, 1, &eight, NULL, 0};
  struct dl_managed_tensor_versioned *managed = calloc(1, sizeof *managed);
  if (!managed) exit(1);
  managed->major = 1, managed->deleter = delete_managed, managed->tensor = described;
  strew_tensor *data, *output, *updates = floats(1, DIMS(4), values);
  strew_tensor *indices = int64s(2, DIMS(4, 1), DIMS(4, 3, 1, 7));
  check(strew_tensor_from_dlpack(&managed->tensor, &data));
  check(strew_tensor_from_dlpack_versioned(managed, &output));
  check(strew_scatter_nd(NULL, data, indices, updates, STREW_NONE, output)); /* one memory */
  show("dlpack", row, 8);
  strew_tensor_destroy(output);
  destroy(data, updates, indices);
  managed->deleter(managed); /* strew never calls it */
}

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "not as expected: %s\n", what);
  exit(1);
}

static void expect_plan(const strew_plan *plan, int64_t entries, int64_t dropped) {
  expect(strew_plan_entries(plan) == entries, "strew_plan_entries");
  expect(strew_plan_dropped(plan) == dropped, "strew_plan_dropped");
  expect(strew_plan_memory(plan) > 0, "strew_plan_memory");
}

/* A plan has a copy of what it needs, so that the indices may go. */
static strew_plan *plan_rows(strew_context *context, int64_t count, const int64_t *rows) {
  strew_tensor *indices = int64s(1, DIMS(count), rows);
  strew_plan *plan;
  check(strew_plan_scatter_update(context, indices, 0, 3, &plan));
  strew_tensor_destroy(indices);
  return plan;
}

static void plan_elements(void) {
  float row[5] = {1, 2, 3, 4, 5}, values[2] = {1.5F, 2.5F};
  strew_tensor *data = floats(2, DIMS(1, 5), row), *updates = floats(2, DIMS(1, 2), values);
  strew_tensor *indices = int64s(2, DIMS(1, 2), DIMS(1, 1));
  strew_plan *plan;
  check(strew_plan_scatter_elements(NULL, indices, 1, 5, &plan));
  expect_plan(plan, 2, 0);
  check(strew_plan_scatter(NULL, plan, data, updates, STREW_ADD, data));
  expect(memcmp(row, (float[]){1, 6, 3, 4, 5}, sizeof row) == 0, "sums of elements");
  strew_plan_destroy(plan);
  destroy(data, updates, indices);
}

static void plan_nd(void) {
  float row[8] = {1, 2, 3, 4, 5, 6, 7, 8}, values[4] = {9, 10, 11, 12}, taken[4] = {0};
  strew_tensor *data = floats(1, DIMS(8), row), *updates = floats(1, DIMS(4), values);
  strew_tensor *indices = int64s(2, DIMS(4, 1), DIMS(4, 3, 1, 7)), *output;
  strew_plan *plan;
  check(strew_plan_scatter_nd(NULL, indices, DIMS(8), &plan));
  expect_plan(plan, 4, 0);
  output = floats(1, DIMS(4), taken);
  check(strew_plan_gather(NULL, plan, data, output));
  expect(memcmp(taken, (float[]){5, 4, 2, 8}, sizeof taken) == 0, "gathered elements");
  check(strew_plan_scatter(NULL, plan, data, updates, STREW_NONE, data));
  expect(memcmp(row, (float[]){1, 11, 3, 10, 9, 6, 7, 12}, sizeof row) == 0, "placed elements");
  strew_plan_destroy(plan);
  strew_tensor_destroy(output);
  destroy(data, updates, indices);
}

/* Each edge of a graph hands the row of its first node, times a weight, to its second one. */
static void plan_graph(void) {
  float rows[6] = {1, 2, 3, 4, 5, 6}, factors[4] = {1, 2, 0.5F, 7}, sums[6] = {0};
  strew_context *context;
  check(strew_context_create(&context));
  check(strew_context_set_index_policy(context, STREW_INDEX_DROP));
  check(strew_context_set_negative_indices(context, 0)); /* -1: no node */
  strew_plan *from = plan_rows(context, 4, DIMS(0, 0, 2, 1));
  strew_plan *to = plan_rows(context, 4, DIMS(1, 2, 1, -1));
  expect_plan(from, 4, 0);
  expect_plan(to, 4, 1);
  strew_tensor *source = floats(2, DIMS(3, 2), rows), *weights = floats(2, DIMS(4, 1), factors);
  strew_tensor *data = floats(2, DIMS(3, 2), sums);
  check(strew_plan_gather_scatter(context, from, source, weights, to, data, STREW_ADD, data));
  expect(memcmp(sums, (float[]){0, 0, 3.5F, 5, 2, 4}, sizeof sums) == 0, "sums of a graph");
  strew_plan_destroy(from), strew_plan_destroy(to);
  destroy(data, source, weights);
  strew_context_destroy(context);
}

static void plans(void) {
  plan_elements();
  plan_nd();
  plan_graph();
}

static void failure(void) {
  float row[8] = {0}, values[4] = {9, 10, 11, 12};
  strew_context *context;
  check(strew_context_create(&context));
  strew_tensor *data = floats(1, DIMS(8), row), *updates = floats(1, DIMS(4), values);
  strew_tensor *indices = int64s(2, DIMS(4, 1), DIMS(4, 3, 9, 7));
  strew_status status = strew_scatter_nd(context, data, indices, updates, STREW_NONE, data);
  printf("error: %s at %lld: %s\n", strew_status_name(status),
         (long long)strew_context_error_position(context), strew_context_error(context));
  expect(strew_context_set_negative_indices(context, 2) == STREW_INVALID_ARGUMENT, "no such wrap");
  printf("last error: %s\n", strew_last_error());
  destroy(data, updates, indices);
  strew_context_destroy(context);
}

int main(void) {
  names();
  descriptors();
  scatter_matrix();
  scatter_row("scatter_elements axis 1", DIMS(1, 3), STREW_NONE);
  scatter_row("scatter_elements negative", DIMS(1, -3), STREW_NONE);
  scatter_row("scatter_elements add", DIMS(1, 1), STREW_ADD);
  scatter_row("scatter_elements max", DIMS(1, 1), STREW_MAX);
  scatter_row("scatter_elements min", DIMS(1, 1), STREW_MIN);
  scatter_nd();
  scatter_nd_slices();
  slice_scatter();
  float tens[6] = {10, 20, 30, 40, 50, 60}, corners[4] = {50, 60, 70, 80};
  slice("slice_scatter clamped", DIMS(2, 5), DIMS(2, 3), tens, 1, DIMS(-25), DIMS(25), DIMS(2),
        DIMS(1));
  slice("slice_scatter both axes", DIMS(3, 5), DIMS(2, 2), corners, 2, DIMS(0, 1), DIMS(3, 5),
        DIMS(2, 2), NULL);
  slice("slice_scatter open ends", DIMS(1, 5), DIMS(1, 3), tens, 1, DIMS(INT64_MAX),
        DIMS(INT64_MIN), DIMS(-2), DIMS(-1));
  caches();
  callbacks();
  dlpack();
  plans();
  failure();
  return 0;
}
