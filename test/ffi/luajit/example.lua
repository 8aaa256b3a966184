-- SPDX-License-Identifier: Apache-2.0
--
-- strew from LuaJIT: every function once.
local ffi = require('ffi')

ffi.cdef [[
  typedef int32_t strew_status;
  enum { STREW_OK = 0, STREW_INDEX_OUT_OF_RANGE = 5 };
  typedef int32_t strew_dtype;
  enum { STREW_INT64 = 5, STREW_FLOAT32 = 12, STREW_COMPLEX64 = 14 };
  typedef int32_t strew_reduction;
  enum { STREW_NONE = 0, STREW_ADD = 1, STREW_MIN = 3, STREW_MAX = 4 };
  enum { STREW_INDEX_DROP = 1, STREW_DUPLICATE_ERROR = 1, STREW_CACHE_CIRCULAR = 1 };
  typedef struct strew_tensor strew_tensor;
  typedef struct strew_context strew_context;
  typedef struct strew_plan strew_plan;

  const char *strew_version(void);
  int32_t strew_version_number(void);
  const char *strew_status_name(strew_status);
  const char *strew_status_description(strew_status);
  const char *strew_dtype_name(strew_dtype);
  size_t strew_dtype_size(strew_dtype);
  const char *strew_simd_target(void);
  const char *strew_simd_target_at(int32_t);

  strew_status strew_tensor_create(strew_dtype, int32_t rank, const int64_t *shape,
                                   const int64_t *strides, void *data, strew_tensor **out);
  strew_status strew_tensor_reset(strew_tensor *, strew_dtype, int32_t rank, const int64_t *shape,
                                  const int64_t *strides, void *data);
  strew_status strew_tensor_set_data(strew_tensor *, void *data);
  strew_status strew_tensor_from_dlpack(const void *dl_tensor, strew_tensor **out);
  strew_status strew_tensor_from_dlpack_versioned(const void *managed, strew_tensor **out);
  void strew_tensor_destroy(strew_tensor *);
  strew_dtype strew_tensor_dtype(const strew_tensor *);
  int32_t strew_tensor_rank(const strew_tensor *);
  int64_t strew_tensor_size(const strew_tensor *);
  const int64_t *strew_tensor_shape(const strew_tensor *);
  const int64_t *strew_tensor_strides(const strew_tensor *);
  void *strew_tensor_data(const strew_tensor *);

  typedef void *(*strew_alloc)(void *opaque, size_t size, size_t alignment);
  typedef void (*strew_free)(void *opaque, void *memory, size_t size);
  typedef void (*strew_task)(void *task, int64_t i);
  typedef int32_t (*strew_parallel_for)(void *opaque, int64_t count, strew_task run, void *task);

  strew_status strew_context_create(strew_context **out);
  void strew_context_destroy(strew_context *);
  strew_status strew_context_set_num_threads(strew_context *, int32_t);
  strew_status strew_context_set_parallel_for(strew_context *, strew_parallel_for, void *opaque,
                                              int32_t workers);
  strew_status strew_context_set_index_policy(strew_context *, int32_t);
  strew_status strew_context_set_negative_indices(strew_context *, int32_t wrap);
  strew_status strew_context_set_duplicate_policy(strew_context *, int32_t);
  strew_status strew_context_set_allocator(strew_context *, strew_alloc, strew_free, void *opaque);
  strew_status strew_context_set_simd_target(strew_context *, const char *);
  const char *strew_context_error(const strew_context *);
  const char *strew_last_error(void);
  int64_t strew_context_error_position(const strew_context *);
  int64_t strew_context_applied(const strew_context *);

  strew_status strew_scatter_elements(strew_context *, const strew_tensor *data,
                                      const strew_tensor *indices, const strew_tensor *updates,
                                      int64_t axis, strew_reduction, strew_tensor *output);
  strew_status strew_scatter_nd(strew_context *, const strew_tensor *data,
                                const strew_tensor *indices, const strew_tensor *updates,
                                strew_reduction, strew_tensor *output);
  strew_status strew_slice_scatter(strew_context *, const strew_tensor *data,
                                   const strew_tensor *updates, const strew_tensor *start,
                                   const strew_tensor *stop, const strew_tensor *step,
                                   const strew_tensor *axes, strew_reduction, strew_tensor *output);
  strew_status strew_slice_scatter_int64(strew_context *, const strew_tensor *data,
                                         const strew_tensor *updates, int64_t count,
                                         const int64_t *start, const int64_t *stop,
                                         const int64_t *step, const int64_t *axes,
                                         strew_reduction, strew_tensor *output);
  strew_status strew_scatter_update(strew_context *, const strew_tensor *data,
                                    const strew_tensor *indices, const strew_tensor *updates,
                                    int64_t axis, strew_reduction, strew_tensor *output);
  strew_status strew_tensor_scatter(strew_context *, const strew_tensor *past_cache,
                                    const strew_tensor *update, const strew_tensor *write_indices,
                                    int64_t axis, int32_t mode, strew_tensor *present_cache);

  strew_status strew_plan_scatter_elements(strew_context *, const strew_tensor *indices,
                                           int64_t axis, int64_t extent, strew_plan **out);
  strew_status strew_plan_scatter_nd(strew_context *, const strew_tensor *indices,
                                     const int64_t *extents, strew_plan **out);
  strew_status strew_plan_scatter_update(strew_context *, const strew_tensor *indices,
                                         int64_t axis, int64_t extent, strew_plan **out);
  void strew_plan_destroy(strew_plan *);
  int64_t strew_plan_entries(const strew_plan *);
  int64_t strew_plan_dropped(const strew_plan *);
  size_t strew_plan_memory(const strew_plan *);
  strew_status strew_plan_scatter(strew_context *, const strew_plan *, const strew_tensor *data,
                                  const strew_tensor *updates, strew_reduction,
                                  strew_tensor *output);
  strew_status strew_plan_gather(strew_context *, const strew_plan *, const strew_tensor *source,
                                 strew_tensor *output);
  strew_status strew_plan_gather_scatter(strew_context *, const strew_plan *from,
                                         const strew_tensor *source, const strew_tensor *weights,
                                         const strew_plan *to, const strew_tensor *data,
                                         strew_reduction, strew_tensor *output);

  void *aligned_alloc(size_t alignment, size_t size);
  void free(void *);

  // As dlpack.h has them.
  typedef struct {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
  } DLTensor;
  typedef struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *);
    uint64_t flags;
    DLTensor tensor;
  } DLManagedTensorVersioned;
]]

-- A global: after an error LuaJIT collects the locals before it prints the message, and would unload
-- the library before the finalizers of the handles call it.
strew = ffi.load('strew')

local function check(status)
  if status ~= strew.STREW_OK then error(ffi.string(strew.strew_status_description(status)), 2) end
end

local function made(kind, destroy, create)
  local out = ffi.new(kind .. ' *[1]')
  check(create(out))
  return ffi.gc(out[0], destroy)
end

local function new_context()
  return made('strew_context', strew.strew_context_destroy, strew.strew_context_create)
end

local function new_tensor(create)
  return made('strew_tensor', strew.strew_tensor_destroy, create)
end

local function dims(values) return ffi.new('int64_t[?]', #values, values) end

-- A descriptor borrows its memory: it may not be collected before, so that one table has both.
local function operand(dtype, shape, values)
  local handle = new_tensor(function(out)
    return strew.strew_tensor_create(dtype, #shape, dims(shape), nil, values, out)
  end)
  return {handle = handle, values = values}
end

local function floats(shape, values)
  return operand(strew.STREW_FLOAT32, shape, ffi.new('float[?]', #values, values))
end

local function int64s(shape, values) return operand(strew.STREW_INT64, shape, dims(values)) end

local function show(name, tensor)
  local words = {}
  for i = 1, tonumber(strew.strew_tensor_size(tensor.handle)) do
    words[i] = string.format('%g', tensor.values[i - 1])
  end
  print(name .. ': ' .. table.concat(words, ' '))
end

local function zeros(count)
  local values = {}
  for i = 1, count do values[i] = 0 end
  return values
end

local function counting_up(count)
  local values = {}
  for i = 1, count do values[i] = i - 1 end
  return values
end

local function names()
  local version = ffi.string(strew.strew_version())
  print(string.format('version: %s is %d', version, strew.strew_version_number()))
  local targets = {}
  while strew.strew_simd_target_at(#targets) ~= nil do
    targets[#targets + 1] = ffi.string(strew.strew_simd_target_at(#targets))
  end
  local best = ffi.string(strew.strew_simd_target())
  print(string.format('targets: %s, the best is %s', table.concat(targets, ' '), best))
  local status = strew.STREW_INDEX_OUT_OF_RANGE
  local description = ffi.string(strew.strew_status_description(status))
  print(string.format('status: %s: %s', ffi.string(strew.strew_status_name(status)), description))
  local dtype = strew.STREW_COMPLEX64
  local size = tonumber(strew.strew_dtype_size(dtype))
  print(string.format('dtype: %s of %d bytes', ffi.string(strew.strew_dtype_name(dtype)), size))
end

local function describe(name, handle)
  local shape, strides = {}, {}
  for i = 1, strew.strew_tensor_rank(handle) do
    shape[i] = tonumber(strew.strew_tensor_shape(handle)[i - 1])
    strides[i] = tonumber(strew.strew_tensor_strides(handle)[i - 1])
  end
  local dtype = ffi.string(strew.strew_dtype_name(strew.strew_tensor_dtype(handle)))
  local size = tonumber(strew.strew_tensor_size(handle))
  local first = ffi.cast('float *', strew.strew_tensor_data(handle))[0]
  print(string.format('%s: %s, %d elements, shape %s, strides %s, first %g', name, dtype, size,
                      table.concat(shape, ' '), table.concat(strides, ' '), first))
end

local function descriptors()
  local rising, falling = floats({2, 3}, {1, 2, 3, 4, 5, 6}), ffi.new('float[6]', 6, 5, 4, 3, 2, 1)
  local handle = rising.handle
  describe('create', handle)
  check(strew.strew_tensor_reset(handle, strew.STREW_FLOAT32, 2, dims {3, 2}, dims {1, 3},
                                 rising.values))
  describe('transposed', handle)
  check(strew.strew_tensor_set_data(handle, falling))
  rising.values = falling
  describe('elsewhere', handle)
end

local function scatter_elements()
  local data, output = floats({3, 3}, zeros(9)), floats({3, 3}, zeros(9))
  local updates = floats({2, 3}, {1, 1.1, 1.2, 2, 2.1, 2.2})
  local indices = int64s({2, 3}, {1, 0, 2, 0, 2, 1})
  check(strew.strew_scatter_elements(nil, data.handle, indices.handle, updates.handle, 0,
                                     strew.STREW_NONE, output.handle))
  show('scatter_elements', output)
end

-- Here and below the output is data itself: in place.
local function scatter_row(name, places, reduction)
  local data, updates = floats({1, 5}, {1, 2, 3, 4, 5}), floats({1, 2}, {1.1, 2.1})
  local indices = int64s({1, 2}, places)
  check(strew.strew_scatter_elements(nil, data.handle, indices.handle, updates.handle, 1,
                                     reduction, data.handle))
  show('scatter_elements ' .. name, data)
end

local function scatter_nd()
  local data, updates = floats({8}, {1, 2, 3, 4, 5, 6, 7, 8}), floats({4}, {9, 10, 11, 12})
  local indices = int64s({4, 1}, {4, 3, 1, 7})
  check(strew.strew_scatter_nd(nil, data.handle, indices.handle, updates.handle, strew.STREW_NONE,
                               data.handle))
  show('scatter_nd', data)
end

local function scatter_nd_slices()
  local data = floats({4, 4, 4}, {
    1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1,
    8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8,
  })
  local updates = floats({2, 4, 4}, {
    5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4,
  })
  local indices = int64s({2, 1}, {0, 2})
  check(strew.strew_scatter_nd(nil, data.handle, indices.handle, updates.handle, strew.STREW_NONE,
                               data.handle))
  show('scatter_nd slices', data)
end

local function slice_scatter()
  local data, updates = floats({2, 5}, counting_up(10)), floats({1, 5}, {10, 20, 30, 40, 50})
  local zero, one = int64s({1}, {0}), int64s({1}, {1})
  check(strew.strew_slice_scatter(nil, data.handle, updates.handle, zero.handle, one.handle,
                                  one.handle, zero.handle, strew.STREW_NONE, data.handle))
  show('slice_scatter', data)
end

local function slice(name, shape, updates, entries)
  local data = floats(shape, counting_up(shape[1] * shape[2]))
  local axes = entries.axes and dims(entries.axes)
  check(strew.strew_slice_scatter_int64(nil, data.handle, updates.handle, #entries.start,
                                        dims(entries.start), dims(entries.stop),
                                        dims(entries.step), axes, strew.STREW_NONE, data.handle))
  show('slice_scatter ' .. name, data)
end

local function caches()
  local context = new_context()
  check(strew.strew_context_set_index_policy(context, strew.STREW_INDEX_DROP))
  check(strew.strew_context_set_negative_indices(context, 0)) -- -1: no slot
  local pages, tokens = floats({3, 2}, zeros(6)), floats({3, 2}, {1, 2, 3, 4, 5, 6})
  local slots = int64s({3}, {2, -1, 0})
  check(strew.strew_scatter_update(context, pages.handle, slots.handle, tokens.handle, 0,
                                   strew.STREW_NONE, pages.handle))
  show('scatter_update', pages)
  print(string.format('applied: %d of 6', tonumber(strew.strew_context_applied(context))))

  local cache, update = floats({2, 4}, zeros(8)), floats({2, 2}, {1, 2, 3, 4})
  local places = int64s({2}, {3, 1})
  check(strew.strew_tensor_scatter(context, cache.handle, update.handle, places.handle, 1,
                                   strew.STREW_CACHE_CIRCULAR, cache.handle))
  show('tensor_scatter', cache)
end

-- A state of Lua has one thread, so the tasks run in turn. No error may leave a callback: it would
-- unwind through C.
local function callbacks()
  local asked, taken, returned = false, 0, 0
  local alloc = ffi.cast('strew_alloc', function(_, size, alignment)
    taken = taken + tonumber(size)
    return ffi.C.aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
  end)
  local release = ffi.cast('strew_free', function(_, memory, size)
    returned = returned + tonumber(size)
    ffi.C.free(memory)
  end)
  local run_in_turn = ffi.cast('strew_parallel_for', function(_, count, run, task)
    asked = true
    for i = 0, tonumber(count) - 1 do run(task, i) end
    return 0
  end)

  local count = 2 ^ 18
  local backwards, ones = {}, {}
  for i = 1, count do backwards[i], ones[i] = count - i, 1 end
  local sums, updates = floats({count}, zeros(count)), floats({count}, ones)
  local indices = int64s({count}, backwards)
  local context = new_context()
  check(strew.strew_context_set_allocator(context, alloc, release, nil))
  check(strew.strew_context_set_duplicate_policy(context, strew.STREW_DUPLICATE_ERROR))
  check(strew.strew_context_set_simd_target(context, strew.strew_simd_target()))
  check(strew.strew_context_set_parallel_for(context, run_in_turn, nil, 4))
  local function add()
    check(strew.strew_scatter_update(context, sums.handle, indices.handle, updates.handle, 0,
                                     strew.STREW_ADD, sums.handle))
  end
  jit.off(add) -- compiled code cannot call what calls back
  add()
  check(strew.strew_context_set_num_threads(context, 1)) -- 0: as many as CPUs
  add()
  for _, callback in ipairs {alloc, release, run_in_turn} do callback:free() end
  print('runner: ' .. (asked and 'asked' or 'not asked'))
  print('allocator: ' .. (taken > 0 and taken == returned and 'all returned' or 'not balanced'))
  print(string.format('sums: %g to %g', sums.values[0], sums.values[count - 1]))
end

local function dlpack()
  local row = floats({8}, {1, 2, 3, 4, 5, 6, 7, 8})
  local managed = ffi.new('DLManagedTensorVersioned', {
    major = 1,
    deleter = function() print('dlpack: deleted') end,
    tensor = {data = row.values, device_type = 1, ndim = 1, code = 2, bits = 32, lanes = 1},
  })
  local eight = dims {8}
  managed.tensor.shape = eight
  local data = new_tensor(function(out)
    return strew.strew_tensor_from_dlpack(managed.tensor, out)
  end)
  local output = new_tensor(function(out) -- the memory of data: in place
    return strew.strew_tensor_from_dlpack_versioned(managed, out)
  end)
  local updates, indices = floats({4}, {9, 10, 11, 12}), int64s({4, 1}, {4, 3, 1, 7})
  check(strew.strew_scatter_nd(nil, data, indices.handle, updates.handle, strew.STREW_NONE, output))
  show('dlpack', row)
  managed.deleter(managed) -- strew never calls it
  managed.deleter:free()
end

local function new_plan(create) return made('strew_plan', strew.strew_plan_destroy, create) end

local function expect_plan(plan, entries, dropped)
  assert(strew.strew_plan_entries(plan) == entries)
  assert(strew.strew_plan_dropped(plan) == dropped)
  assert(strew.strew_plan_memory(plan) > 0)
end

local function expect_values(tensor, wanted)
  assert(strew.strew_tensor_size(tensor.handle) == #wanted)
  for i, value in ipairs(wanted) do assert(tensor.values[i - 1] == value) end
end

-- A plan has a copy of what it needs, so that the indices may go.
local function plan_rows(context, rows)
  local indices = int64s({#rows}, rows)
  return new_plan(function(out)
    return strew.strew_plan_scatter_update(context, indices.handle, 0, 3, out)
  end)
end

local function plan_elements()
  local data, updates = floats({1, 5}, {1, 2, 3, 4, 5}), floats({1, 2}, {1.5, 2.5})
  local indices = int64s({1, 2}, {1, 1})
  local plan = new_plan(function(out)
    return strew.strew_plan_scatter_elements(nil, indices.handle, 1, 5, out)
  end)
  expect_plan(plan, 2, 0)
  check(strew.strew_plan_scatter(nil, plan, data.handle, updates.handle, strew.STREW_ADD,
                                 data.handle))
  expect_values(data, {1, 6, 3, 4, 5})
end

local function plan_nd()
  local data, updates = floats({8}, {1, 2, 3, 4, 5, 6, 7, 8}), floats({4}, {9, 10, 11, 12})
  local indices, output = int64s({4, 1}, {4, 3, 1, 7}), floats({4}, zeros(4))
  local plan = new_plan(function(out)
    return strew.strew_plan_scatter_nd(nil, indices.handle, dims {8}, out)
  end)
  expect_plan(plan, 4, 0)
  check(strew.strew_plan_gather(nil, plan, data.handle, output.handle))
  expect_values(output, {5, 4, 2, 8})
  check(strew.strew_plan_scatter(nil, plan, data.handle, updates.handle, strew.STREW_NONE,
                                 data.handle))
  expect_values(data, {1, 11, 3, 10, 9, 6, 7, 12})
end

-- Each edge of a graph hands the row of its first node, times a weight, to its second one.
local function plan_graph()
  local context = new_context()
  check(strew.strew_context_set_index_policy(context, strew.STREW_INDEX_DROP))
  check(strew.strew_context_set_negative_indices(context, 0)) -- -1: no node
  local from, to = plan_rows(context, {0, 0, 2, 1}), plan_rows(context, {1, 2, 1, -1})
  expect_plan(from, 4, 0)
  expect_plan(to, 4, 1)
  local source, weights = floats({3, 2}, {1, 2, 3, 4, 5, 6}), floats({4, 1}, {1, 2, 0.5, 7})
  local data = floats({3, 2}, zeros(6))
  check(strew.strew_plan_gather_scatter(context, from, source.handle, weights.handle, to,
                                        data.handle, strew.STREW_ADD, data.handle))
  expect_values(data, {0, 0, 3.5, 5, 2, 4})
end

local function plans()
  plan_elements()
  plan_nd()
  plan_graph()
end

local function failure()
  local context = new_context()
  local data, updates = floats({8}, zeros(8)), floats({4}, {9, 10, 11, 12})
  local indices = int64s({4, 1}, {4, 3, 9, 7})
  local status = strew.strew_scatter_nd(context, data.handle, indices.handle, updates.handle,
                                        strew.STREW_NONE, data.handle)
  local position = tonumber(strew.strew_context_error_position(context))
  local sentence = ffi.string(strew.strew_context_error(context))
  local name = ffi.string(strew.strew_status_name(status))
  print(string.format('error: %s at %d: %s', name, position, sentence))
  assert(strew.strew_context_set_negative_indices(context, 2) ~= strew.STREW_OK)
  print('last error: ' .. ffi.string(strew.strew_last_error()))
end

names()
descriptors()
scatter_elements()
scatter_row('axis 1', {1, 3}, strew.STREW_NONE)
scatter_row('negative', {1, -3}, strew.STREW_NONE)
scatter_row('add', {1, 1}, strew.STREW_ADD)
scatter_row('max', {1, 1}, strew.STREW_MAX)
scatter_row('min', {1, 1}, strew.STREW_MIN)
scatter_nd()
scatter_nd_slices()
slice_scatter()
-- A number of Lua is exact up to 2^53 only.
local last = 0x7fffffffffffffffLL
slice('clamped', {2, 5}, floats({2, 3}, {10, 20, 30, 40, 50, 60}),
      {start = {-25}, stop = {25}, step = {2}, axes = {1}})
slice('both axes', {3, 5}, floats({2, 2}, {50, 60, 70, 80}),
      {start = {0, 1}, stop = {3, 5}, step = {2, 2}})
slice('open ends', {1, 5}, floats({1, 3}, {10, 20, 30}),
      {start = {last}, stop = {-last}, step = {-2}, axes = {-1}})
caches()
callbacks()
dlpack()
plans()
failure()
