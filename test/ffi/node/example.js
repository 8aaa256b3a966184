// SPDX-License-Identifier: Apache-2.0
//
// strew from JavaScript: every function once, through koffi.
'use strict';

const assert = require('assert/strict');
const koffi = require('koffi');

const OK = 0, INDEX_OUT_OF_RANGE = 5;
const INT64 = 5, FLOAT32 = 12, COMPLEX64 = 14;
const NONE = 0, ADD = 1, MIN = 3, MAX = 4;
const INDEX_DROP = 1, DUPLICATE_ERROR = 1, CACHE_CIRCULAR = 1;
const FIRST = -(2n ** 63n), LAST = 2n ** 63n - 1n; // numbers above 2^53 are BigInts

koffi.pointer('Tensor', koffi.opaque());
koffi.pointer('Context', koffi.opaque());
koffi.pointer('Plan', koffi.opaque());
const Task = koffi.proto('void Task(void *task, int64_t i)');
const ParallelFor =
    koffi.proto('int32_t ParallelFor(void *opaque, int64_t count, void *run, void *task)');
const Alloc = koffi.proto('void *Alloc(void *opaque, size_t size, size_t alignment)');
const Free = koffi.proto('void Free(void *opaque, void *memory, size_t size)');

const library = koffi.load('libstrew.so');
const strew = Object.fromEntries(`
  const char *strew_version();
  int32_t strew_version_number();
  const char *strew_status_name(int32_t status);
  const char *strew_status_description(int32_t status);
  const char *strew_dtype_name(int32_t dtype);
  size_t strew_dtype_size(int32_t dtype);
  const char *strew_simd_target();
  const char *strew_simd_target_at(int32_t i);

  int32_t strew_tensor_create(int32_t dtype, int32_t rank, const int64_t *shape,
                              const int64_t *strides, void *data, _Out_ Tensor *out);
  int32_t strew_tensor_reset(Tensor tensor, int32_t dtype, int32_t rank, const int64_t *shape,
                             const int64_t *strides, void *data);
  int32_t strew_tensor_set_data(Tensor tensor, void *data);
  int32_t strew_tensor_from_dlpack(void *dl_tensor, _Out_ Tensor *out);
  int32_t strew_tensor_from_dlpack_versioned(void *managed, _Out_ Tensor *out);
  void strew_tensor_destroy(Tensor tensor);
  int32_t strew_tensor_dtype(Tensor tensor);
  int32_t strew_tensor_rank(Tensor tensor);
  int64_t strew_tensor_size(Tensor tensor);
  void *strew_tensor_shape(Tensor tensor);
  void *strew_tensor_strides(Tensor tensor);
  void *strew_tensor_data(Tensor tensor);

  int32_t strew_context_create(_Out_ Context *out);
  void strew_context_destroy(Context context);
  int32_t strew_context_set_num_threads(Context context, int32_t n);
  int32_t strew_context_set_parallel_for(Context context, ParallelFor *parallel_for, void *opaque,
                                         int32_t workers);
  int32_t strew_context_set_index_policy(Context context, int32_t policy);
  int32_t strew_context_set_negative_indices(Context context, int32_t wrap);
  int32_t strew_context_set_duplicate_policy(Context context, int32_t policy);
  int32_t strew_context_set_allocator(Context context, Alloc *alloc, Free *release, void *opaque);
  int32_t strew_context_set_simd_target(Context context, const char *name);
  const char *strew_context_error(Context context);
  const char *strew_last_error(void);
  int64_t strew_context_error_position(Context context);
  int64_t strew_context_applied(Context context);

  int32_t strew_scatter_elements(Context context, Tensor data, Tensor indices, Tensor updates,
                                 int64_t axis, int32_t reduction, Tensor output);
  int32_t strew_scatter_nd(Context context, Tensor data, Tensor indices, Tensor updates,
                           int32_t reduction, Tensor output);
  int32_t strew_slice_scatter(Context context, Tensor data, Tensor updates, Tensor start,
                              Tensor stop, Tensor step, Tensor axes, int32_t reduction,
                              Tensor output);
  int32_t strew_slice_scatter_int64(Context context, Tensor data, Tensor updates, int64_t count,
                                    const int64_t *start, const int64_t *stop,
                                    const int64_t *step, const int64_t *axes, int32_t reduction,
                                    Tensor output);
  int32_t strew_scatter_update(Context context, Tensor data, Tensor indices, Tensor updates,
                               int64_t axis, int32_t reduction, Tensor output);
  int32_t strew_tensor_scatter(Context context, Tensor past_cache, Tensor update,
                               Tensor write_indices, int64_t axis, int32_t mode,
                               Tensor present_cache);

  int32_t strew_plan_scatter_elements(Context context, Tensor indices, int64_t axis,
                                      int64_t extent, _Out_ Plan *out);
  int32_t strew_plan_scatter_nd(Context context, Tensor indices, const int64_t *extents,
                                _Out_ Plan *out);
  int32_t strew_plan_scatter_update(Context context, Tensor indices, int64_t axis, int64_t extent,
                                    _Out_ Plan *out);
  void strew_plan_destroy(Plan plan);
  int64_t strew_plan_entries(Plan plan);
  int64_t strew_plan_dropped(Plan plan);
  size_t strew_plan_memory(Plan plan);
  int32_t strew_plan_scatter(Context context, Plan plan, Tensor data, Tensor updates,
                             int32_t reduction, Tensor output);
  int32_t strew_plan_gather(Context context, Plan plan, Tensor source, Tensor output);
  int32_t strew_plan_gather_scatter(Context context, Plan from, Tensor source, Tensor weights,
                                    Plan to, Tensor data, int32_t reduction, Tensor output)
`.split(';').map((text) => [/strew_(\w+)\(/.exec(text)[1], library.func(text)]));

function check(status) {
  if (status !== OK) throw new Error(strew.status_description(status));
}

function make(create) {
  const out = [null];
  check(create(out));
  return out[0];
}

// A descriptor borrows the memory of its array, so that both are kept together.
class Tensor {
  constructor(shape, values) {
    this.values = values;
    const dtype = values instanceof BigInt64Array ? INT64 : FLOAT32;
    this.handle = make(
        (out) => strew.tensor_create(dtype, shape.length, shape, null, values, out));
  }
}

// Calls body with makers of what is destroyed in the end. Until then nothing is garbage.
function scoped(body) {
  const destroyers = [];
  const tensor = (handle) => {
    destroyers.push(() => strew.tensor_destroy(handle));
    return handle;
  };
  const kept = (operand) => {
    destroyers.push(() => strew.tensor_destroy(operand.handle));
    return operand;
  };
  const context = () => {
    const handle = make(strew.context_create);
    destroyers.push(() => strew.context_destroy(handle));
    return handle;
  };
  const plan = (create) => {
    const handle = make(create);
    destroyers.push(() => strew.plan_destroy(handle));
    return handle;
  };
  try {
    body({
      context,
      plan,
      tensor,
      floats: (shape, values) => kept(new Tensor(shape, Float32Array.from(values))),
      int64s: (shape, values) => kept(new Tensor(shape, BigInt64Array.from(values, BigInt))),
    });
  } finally {
    for (const destroy of destroyers.reverse()) destroy();
  }
}

function show(name, values) {
  console.log(`${name}:`, ...Array.from(values, (value) => Number(value.toPrecision(6))));
}

const zeros = (count) => new Float32Array(count);
const countingUp = (count) => Float32Array.from({length: count}, (_, i) => i);

function names() {
  console.log(`version: ${strew.version()} is ${strew.version_number()}`);
  const targets = [];
  for (let name; (name = strew.simd_target_at(targets.length)) !== null;) targets.push(name);
  console.log(`targets: ${targets.join(' ')}, the best is ${strew.simd_target()}`);
  const status = INDEX_OUT_OF_RANGE;
  console.log(`status: ${strew.status_name(status)}: ${strew.status_description(status)}`);
  console.log(`dtype: ${strew.dtype_name(COMPLEX64)} of ${strew.dtype_size(COMPLEX64)} bytes`);
}

function describe(name, handle) {
  const rank = strew.tensor_rank(handle);
  const dtype = strew.dtype_name(strew.tensor_dtype(handle));
  const shape = koffi.decode(strew.tensor_shape(handle), 'int64_t', rank).join(' ');
  const strides = koffi.decode(strew.tensor_strides(handle), 'int64_t', rank).join(' ');
  const first = koffi.decode(strew.tensor_data(handle), 'float');
  const size = strew.tensor_size(handle);
  console.log(`${name}: ${dtype}, ${size} elements, shape ${shape}, strides ${strides}, ` +
              `first ${first}`);
}

function descriptors() {
  scoped(({floats}) => {
    const {handle, values: rising} = floats([2, 3], [1, 2, 3, 4, 5, 6]);
    const {values: falling} = floats([6], [6, 5, 4, 3, 2, 1]);
    describe('create', handle);
    check(strew.tensor_reset(handle, FLOAT32, 2, [3, 2], [1, 3], rising));
    describe('transposed', handle);
    check(strew.tensor_set_data(handle, falling));
    describe('elsewhere', handle);
  });
}

function scatterElements() {
  scoped(({floats, int64s}) => {
    const data = floats([3, 3], zeros(9)), output = floats([3, 3], zeros(9));
    const updates = floats([2, 3], [1, 1.1, 1.2, 2, 2.1, 2.2]);
    const indices = int64s([2, 3], [1, 0, 2, 0, 2, 1]);
    check(strew.scatter_elements(
        null, data.handle, indices.handle, updates.handle, 0, NONE, output.handle));
    show('scatter_elements', output.values);
  });
}

// Here and below the output is data itself: in place.
function scatterRow(name, places, reduction) {
  scoped(({floats, int64s}) => {
    const data = floats([1, 5], [1, 2, 3, 4, 5]), updates = floats([1, 2], [1.1, 2.1]);
    const indices = int64s([1, 2], places);
    check(strew.scatter_elements(
        null, data.handle, indices.handle, updates.handle, 1, reduction, data.handle));
    show(`scatter_elements ${name}`, data.values);
  });
}

function scatterNd() {
  scoped(({floats, int64s}) => {
    const data = floats([8], [1, 2, 3, 4, 5, 6, 7, 8]), updates = floats([4], [9, 10, 11, 12]);
    const indices = int64s([4, 1], [4, 3, 1, 7]);
    check(strew.scatter_nd(null, data.handle, indices.handle, updates.handle, NONE, data.handle));
    show('scatter_nd', data.values);
  });
}

function scatterNdSlices() {
  const up = [1, 2, 3, 4, 5, 6, 7, 8], down = [...up].reverse();
  scoped(({floats, int64s}) => {
    const data = floats([4, 4, 4], [up, down, up, down, down, up, down, up].flat());
    const updates = floats([2, 4, 4], [5, 6, 7, 8, 1, 2, 3, 4].flatMap((i) => [i, i, i, i]));
    const indices = int64s([2, 1], [0, 2]);
    check(strew.scatter_nd(null, data.handle, indices.handle, updates.handle, NONE, data.handle));
    show('scatter_nd slices', data.values);
  });
}

function sliceScatter() {
  scoped(({floats, int64s}) => {
    const data = floats([2, 5], countingUp(10)), updates = floats([1, 5], [10, 20, 30, 40, 50]);
    const zero = int64s([1], [0]).handle, one = int64s([1], [1]).handle;
    check(strew.slice_scatter(
        null, data.handle, updates.handle, zero, one, one, zero, NONE, data.handle));
    show('slice_scatter', data.values);
  });
}

function slice(name, shape, updatesShape, values, {start, stop, step, axes = null}) {
  scoped(({floats}) => {
    const data = floats(shape, countingUp(shape[0] * shape[1]));
    const updates = floats(updatesShape, values);
    check(strew.slice_scatter_int64(null, data.handle, updates.handle, start.length, start, stop,
                                    step, axes, NONE, data.handle));
    show(`slice_scatter ${name}`, data.values);
  });
}

function caches() {
  scoped(({context, floats, int64s}) => {
    const settings = context();
    check(strew.context_set_index_policy(settings, INDEX_DROP));
    check(strew.context_set_negative_indices(settings, 0)); // -1: no slot
    const pages = floats([3, 2], zeros(6)), tokens = floats([3, 2], [1, 2, 3, 4, 5, 6]);
    const slots = int64s([3], [2, -1, 0]);
    check(strew.scatter_update(
        settings, pages.handle, slots.handle, tokens.handle, 0, NONE, pages.handle));
    show('scatter_update', pages.values);
    console.log(`applied: ${strew.context_applied(settings)} of 6`);

    const cache = floats([2, 4], zeros(8)), update = floats([2, 2], [1, 2, 3, 4]);
    const places = int64s([2], [3, 1]);
    check(strew.tensor_scatter(settings, cache.handle, update.handle, places.handle, 1,
                               CACHE_CIRCULAR, cache.handle));
    show('tensor_scatter', cache.values);
  });
}

// strew calls these after the setters have returned, so they are registered. JavaScript runs on one
// thread: the tasks run in turn, as a callback on another thread would wait for this one forever.
function callbacks() {
  const libc = koffi.load('libc.so.6');
  const alignedAlloc = libc.func('void *aligned_alloc(size_t alignment, size_t size)');
  const free = libc.func('void free(void *memory)');
  let asked = false, taken = 0, returned = 0;
  const alloc = koffi.register((opaque, size, alignment) => {
    taken += size;
    return alignedAlloc(alignment, Math.ceil(size / alignment) * alignment);
  }, koffi.pointer(Alloc));
  const release = koffi.register((opaque, memory, size) => {
    returned += size;
    free(memory);
  }, koffi.pointer(Free));
  const runInTurn = koffi.register((opaque, count, run, task) => {
    asked = true;
    for (let i = 0; i < count; ++i) koffi.call(run, Task, task, i);
    return 0;
  }, koffi.pointer(ParallelFor));

  const COUNT = 2 ** 18;
  try {
    scoped(({context, floats, int64s}) => {
      const sums = floats([COUNT], zeros(COUNT)), ones = floats([COUNT], zeros(COUNT).fill(1));
      const indices = int64s([COUNT], countingUp(COUNT).reverse());
      const settings = context();
      check(strew.context_set_allocator(settings, alloc, release, null));
      check(strew.context_set_duplicate_policy(settings, DUPLICATE_ERROR));
      check(strew.context_set_simd_target(settings, strew.simd_target()));
      check(strew.context_set_parallel_for(settings, runInTurn, null, 4));
      const add = () => check(strew.scatter_update(
          settings, sums.handle, indices.handle, ones.handle, 0, ADD, sums.handle));
      add();
      check(strew.context_set_num_threads(settings, 1)); // 0: as many as CPUs
      add();
      const balanced = taken > 0 && taken === returned;
      console.log(`runner: ${asked ? 'asked' : 'not asked'}`);
      console.log(`allocator: ${balanced ? 'all returned' : 'not balanced'}`);
      console.log(`sums: ${sums.values[0]} to ${sums.values[COUNT - 1]}`);
    });
  } finally {
    for (const callback of [alloc, release, runInTurn]) koffi.unregister(callback);
  }
}

// As dlpack.h has them.
const Deleter = koffi.proto('void Deleter(void *managed)');
const DLTensor = koffi.struct('DLTensor', {
  data: 'void *', device_type: 'int32_t', device_id: 'int32_t', ndim: 'int32_t',
  code: 'uint8_t', bits: 'uint8_t', lanes: 'uint16_t',
  shape: 'void *', strides: 'void *', byte_offset: 'uint64_t',
});
const DLManagedTensorVersioned = koffi.struct('DLManagedTensorVersioned', {
  major: 'uint32_t', minor: 'uint32_t', manager: 'void *', deleter: 'void *', flags: 'uint64_t',
  tensor: DLTensor,
});

function dlpack() {
  const deleter = koffi.register((managed) => {
    console.log('dlpack: deleted');
    koffi.free(managed);
  }, koffi.pointer(Deleter));
  const managed = koffi.alloc(DLManagedTensorVersioned, 1);
  try {
    scoped(({tensor, floats, int64s}) => {
      const row = floats([8], [1, 2, 3, 4, 5, 6, 7, 8]);
      koffi.encode(managed, DLManagedTensorVersioned, {
        major: 1, minor: 0, manager: null, deleter, flags: 0,
        tensor: {
          data: strew.tensor_data(row.handle), device_type: 1, device_id: 0, ndim: 1,
          code: 2, bits: 32, lanes: 1,
          shape: strew.tensor_shape(row.handle), strides: null, byte_offset: 0,
        },
      });
      const plain = managed + BigInt(koffi.offsetof(DLManagedTensorVersioned, 'tensor'));
      const data = tensor(make((out) => strew.tensor_from_dlpack(plain, out)));
      const output = tensor(make((out) => strew.tensor_from_dlpack_versioned(managed, out)));
      const updates = floats([4], [9, 10, 11, 12]), indices = int64s([4, 1], [4, 3, 1, 7]);
      // data and output are one memory: in place.
      check(strew.scatter_nd(null, data, indices.handle, updates.handle, NONE, output));
      show('dlpack', row.values);
    });
  } finally {
    koffi.call(deleter, Deleter, managed); // strew never calls it
    koffi.unregister(deleter);
  }
}

function expectPlan(plan, entries, dropped) {
  assert.equal(strew.plan_entries(plan), entries);
  assert.equal(strew.plan_dropped(plan), dropped);
  assert(strew.plan_memory(plan) > 0);
}

function planElements() {
  scoped(({plan, floats, int64s}) => {
    const data = floats([1, 5], [1, 2, 3, 4, 5]), updates = floats([1, 2], [1.5, 2.5]);
    const {handle: indices} = int64s([1, 2], [1, 1]);
    const made = plan((out) => strew.plan_scatter_elements(null, indices, 1, 5, out));
    expectPlan(made, 2, 0);
    check(strew.plan_scatter(null, made, data.handle, updates.handle, ADD, data.handle));
    assert.deepEqual([...data.values], [1, 6, 3, 4, 5]);
  });
}

function planNd() {
  scoped(({plan, floats, int64s}) => {
    const data = floats([8], [1, 2, 3, 4, 5, 6, 7, 8]), updates = floats([4], [9, 10, 11, 12]);
    const {handle: indices} = int64s([4, 1], [4, 3, 1, 7]), output = floats([4], zeros(4));
    const made = plan((out) => strew.plan_scatter_nd(null, indices, [8], out));
    expectPlan(made, 4, 0);
    check(strew.plan_gather(null, made, data.handle, output.handle));
    assert.deepEqual([...output.values], [5, 4, 2, 8]);
    check(strew.plan_scatter(null, made, data.handle, updates.handle, NONE, data.handle));
    assert.deepEqual([...data.values], [1, 11, 3, 10, 9, 6, 7, 12]);
  });
}

// Each edge of a graph hands the row of its first node, times a weight, to its second one.
function planGraph() {
  scoped(({context, plan, floats, int64s}) => {
    const settings = context();
    check(strew.context_set_index_policy(settings, INDEX_DROP));
    check(strew.context_set_negative_indices(settings, 0)); // -1: no node
    // A plan has a copy of what it needs: indices that change afterwards do not matter to it.
    const rows = int64s([4], [0, 0, 2, 1]);
    const create = (out) => strew.plan_scatter_update(settings, rows.handle, 0, 3, out);
    const from = plan(create);
    rows.values.set([1n, 2n, 1n, -1n]);
    const to = plan(create);
    expectPlan(from, 4, 0);
    expectPlan(to, 4, 1);
    const source = floats([3, 2], [1, 2, 3, 4, 5, 6]), weights = floats([4, 1], [1, 2, 0.5, 7]);
    const data = floats([3, 2], zeros(6));
    check(strew.plan_gather_scatter(settings, from, source.handle, weights.handle, to,
                                    data.handle, ADD, data.handle));
    assert.deepEqual([...data.values], [0, 0, 3.5, 5, 2, 4]);
  });
}

function plans() {
  planElements();
  planNd();
  planGraph();
}

function failure() {
  scoped(({context, floats, int64s}) => {
    const settings = context();
    const data = floats([8], zeros(8)), updates = floats([4], [9, 10, 11, 12]);
    const indices = int64s([4, 1], [4, 3, 9, 7]);
    const status = strew.scatter_nd(
        settings, data.handle, indices.handle, updates.handle, NONE, data.handle);
    const position = strew.context_error_position(settings);
    const sentence = strew.context_error(settings);
    console.log(`error: ${strew.status_name(status)} at ${position}: ${sentence}`);
    assert.notEqual(strew.context_set_negative_indices(settings, 2), 0);
    console.log(`last error: ${strew.last_error()}`);
  });
}

names();
descriptors();
scatterElements();
scatterRow('axis 1', [1, 3], NONE);
scatterRow('negative', [1, -3], NONE);
scatterRow('add', [1, 1], ADD);
scatterRow('max', [1, 1], MAX);
scatterRow('min', [1, 1], MIN);
scatterNd();
scatterNdSlices();
sliceScatter();
slice('clamped', [2, 5], [2, 3], [10, 20, 30, 40, 50, 60],
      {start: [-25], stop: [25], step: [2], axes: [1]});
slice('both axes', [3, 5], [2, 2], [50, 60, 70, 80], {start: [0, 1], stop: [3, 5], step: [2, 2]});
slice('open ends', [1, 5], [1, 3], [10, 20, 30],
      {start: [LAST], stop: [FIRST], step: [-2], axes: [-1]});
caches();
callbacks();
dlpack();
plans();
failure();
