/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of version 0.1.0, plans included: it writes the names, numbers and signatures of then
 * out, because the header beside the library is that of today. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct strew_tensor strew_tensor;
typedef struct strew_context strew_context;

int32_t strew_tensor_create(int32_t dtype, int32_t rank, const int64_t *shape,
                            const int64_t *strides, void *data, strew_tensor **out);
void strew_tensor_destroy(strew_tensor *tensor);
int32_t strew_context_create(strew_context **out);
void strew_context_destroy(strew_context *context);
int32_t strew_context_set_index_policy(strew_context *context, int32_t policy);
int64_t strew_context_applied(const strew_context *context);
int64_t strew_context_error_position(const strew_context *context);
int32_t strew_scatter_elements(strew_context *context, const strew_tensor *data,
                               const strew_tensor *indices, const strew_tensor *updates,
                               int64_t axis, int32_t reduction, strew_tensor *output);
int32_t strew_scatter_nd(strew_context *context, const strew_tensor *data,
                         const strew_tensor *indices, const strew_tensor *updates,
                         int32_t reduction, strew_tensor *output);
int32_t strew_scatter_update(strew_context *context, const strew_tensor *data,
                             const strew_tensor *indices, const strew_tensor *updates, int64_t axis,
                             int32_t reduction, strew_tensor *output);
int32_t strew_slice_scatter_int64(strew_context *context, const strew_tensor *data,
                                  const strew_tensor *updates, int64_t count, const int64_t *start,
                                  const int64_t *stop, const int64_t *step, const int64_t *axes,
                                  int32_t reduction, strew_tensor *output);
int32_t strew_tensor_scatter(strew_context *context, const strew_tensor *past_cache,
                             const strew_tensor *update, const strew_tensor *write_indices,
                             int64_t axis, int32_t mode, strew_tensor *present_cache);

typedef struct strew_plan strew_plan;

int32_t strew_plan_scatter_elements(strew_context *context, const strew_tensor *indices,
                                    int64_t axis, int64_t extent, strew_plan **out);
int32_t strew_plan_scatter_nd(strew_context *context, const strew_tensor *indices,
                              const int64_t *extents, strew_plan **out);
int32_t strew_plan_scatter_update(strew_context *context, const strew_tensor *indices, int64_t axis,
                                  int64_t extent, strew_plan **out);
void strew_plan_destroy(strew_plan *plan);
int64_t strew_plan_entries(const strew_plan *plan);
int64_t strew_plan_dropped(const strew_plan *plan);
size_t strew_plan_memory(const strew_plan *plan);
int32_t strew_plan_scatter(strew_context *context, const strew_plan *plan, const strew_tensor *data,
                           const strew_tensor *updates, int32_t reduction, strew_tensor *output);
int32_t strew_plan_gather(strew_context *context, const strew_plan *plan,
                          const strew_tensor *source, strew_tensor *output);
int32_t strew_plan_gather_scatter(strew_context *context, const strew_plan *from,
                                  const strew_tensor *source, const strew_tensor *weights,
                                  const strew_plan *to, const strew_tensor *data, int32_t reduction,
                                  strew_tensor *output);

enum { FLOAT32 = 12, INT64 = 5, NONE = 0, ADD = 1, MAX_WITHOUT_SELF = 0x104, DROP = 1 };
enum { OK = 0, INDEX_OUT_OF_RANGE = 5, CIRCULAR = 1 };

static float numbers[4] = {1, 2, 3, 4}, updates[2] = {10, 20};
static int64_t places[2] = {3, 9};
static int wrong = 0;

static void expect(const char *what, int good) {
  if (!good) printf("not as in 0.1.0: %s\n", what);
  if (!good) wrong = 1;
}

static int holds(float a, float b, float c, float d) {
  const float expected[4] = {a, b, c, d};
  return memcmp(numbers, expected, sizeof(numbers)) == 0;
}

static strew_tensor *describe(int32_t dtype, int32_t rank, const int64_t *shape, void *data) {
  strew_tensor *tensor = NULL;
  expect("create", strew_tensor_create(dtype, rank, shape, NULL, data, &tensor) == OK);
  return tensor;
}

static void use_plans(strew_context *context, strew_tensor *data, strew_tensor *two,
                      const strew_tensor *indices, const strew_tensor *tuples) {
  const int64_t four = 4;
  strew_plan *line = NULL, *rows = NULL, *pair = NULL;
  numbers[0] = 1, numbers[1] = 2, numbers[2] = 3, numbers[3] = 4;
  places[0] = 3, places[1] = 9;
  expect("plans", strew_plan_scatter_elements(context, indices, 0, 4, &line) == OK);
  places[1] = 0;
  expect("of tuples", strew_plan_scatter_nd(NULL, tuples, &four, &rows) == OK);
  places[0] = 1;
  expect("of updates", strew_plan_scatter_update(NULL, indices, 0, 2, &pair) == OK);
  expect("entries", strew_plan_entries(line) == 2 && strew_plan_dropped(line) == 1);
  expect("memory", strew_plan_memory(line) > 0 && strew_plan_memory(NULL) == 0);
  expect("gather", strew_plan_gather(NULL, rows, data, two) == OK);
  expect("4 and 1", updates[0] == 4 && updates[1] == 1);
  expect("scatter", strew_plan_scatter(NULL, line, data, two, ADD, data) == OK);
  expect("8", holds(1, 2, 3, 8));
  expect("both", strew_plan_gather_scatter(NULL, rows, data, NULL, pair, two, NONE, two) == OK);
  expect("1 and 8", updates[0] == 1 && updates[1] == 8);
  strew_plan_destroy(line), strew_plan_destroy(rows), strew_plan_destroy(pair);
}

int main(void) {
  const int64_t four = 4, two = 2, pairs[2] = {2, 1}, cache[2] = {1, 4}, new[2] = {1, 2};
  const int64_t start = -1, stop = -4, step = -2;
  strew_context *context = NULL;
  strew_tensor *data = describe(FLOAT32, 1, &four, numbers);
  strew_tensor *from = describe(FLOAT32, 1, &two, updates);
  strew_tensor *indices = describe(INT64, 1, &two, places);
  strew_tensor *tuples = describe(INT64, 2, pairs, places);
  strew_tensor *past = describe(FLOAT32, 2, cache, numbers);
  strew_tensor *update = describe(FLOAT32, 2, new, updates);
  strew_tensor *position = describe(INT64, 1, &pairs[1], places);
  expect("context", strew_context_create(&context) == OK);
  expect("refusal",
         strew_scatter_elements(context, data, indices, from, -1, ADD, data) == INDEX_OUT_OF_RANGE);
  expect("position", strew_context_error_position(context) == 1 && holds(1, 2, 3, 4));
  expect("drop", strew_context_set_index_policy(context, DROP) == OK);
  expect("add", strew_scatter_elements(context, data, indices, from, -1, ADD, data) == OK);
  expect("14", strew_context_applied(context) == 1 && holds(1, 2, 3, 14));
  places[1] = 0;
  expect("max", strew_scatter_nd(NULL, data, tuples, from, MAX_WITHOUT_SELF, data) == OK);
  expect("20 and 10", holds(20, 2, 3, 10));
  expect("slice", strew_slice_scatter_int64(NULL, data, from, 1, &start, &stop, &step, NULL, NONE,
                                            data) == OK);
  expect("20 at 1", holds(20, 20, 3, 10));
  expect("update", strew_scatter_update(NULL, data, indices, from, 0, ADD, data) == OK);
  expect("40 and 20", holds(40, 20, 3, 20));
  expect("cache", strew_tensor_scatter(NULL, past, update, position, 1, CIRCULAR, past) == OK);
  expect("20 and 10 around the end", holds(20, 20, 3, 10));
  use_plans(context, data, from, indices, tuples);
  strew_context_destroy(context);
  strew_tensor_destroy(data), strew_tensor_destroy(from), strew_tensor_destroy(indices);
  strew_tensor_destroy(tuples), strew_tensor_destroy(past), strew_tensor_destroy(update);
  strew_tensor_destroy(position);
  return wrong;
}
