// SPDX-License-Identifier: Apache-2.0
//
// strew from C++: every function once.
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <strew/strew.h>

namespace {

void Check(strew_status status) {
  if (status != STREW_OK) throw std::runtime_error(strew_status_description(status));
}

struct Destroy {
  void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
  void operator()(strew_context* context) const { strew_context_destroy(context); }
  void operator()(strew_plan* plan) const { strew_plan_destroy(plan); }
};
using Handle = std::unique_ptr<strew_tensor, Destroy>;
using Context = std::unique_ptr<strew_context, Destroy>;
using Plan = std::unique_ptr<strew_plan, Destroy>;

using Dims = std::vector<int64_t>;
using Floats = std::vector<float>;

Context MakeContext() {
  strew_context* context = nullptr;
  Check(strew_context_create(&context));
  return Context(context);
}

constexpr strew_dtype DtypeOf(float) { return STREW_FLOAT32; }
constexpr strew_dtype DtypeOf(int64_t) { return STREW_INT64; }

// A descriptor and the memory that it borrows.
template <typename T>
class Tensor {
 public:
  Tensor(const Dims& shape, std::vector<T> numbers) : values(std::move(numbers)) {
    strew_tensor* tensor = nullptr;
    Check(strew_tensor_create(DtypeOf(T()), static_cast<int32_t>(shape.size()), shape.data(),
                              nullptr, values.data(), &tensor));
    handle_.reset(tensor);
  }
  operator strew_tensor*() const { return handle_.get(); }

  std::vector<T> values;  // may not grow

 private:
  Handle handle_;
};

void Show(const std::string& name, const Floats& values) {
  std::cout << name << ":";
  for (const float value : values) std::cout << " " << value;
  std::cout << "\n";
}

void Names() {
  std::cout << "version: " << strew_version() << " is " << strew_version_number() << "\ntargets:";
  for (int32_t i = 0; strew_simd_target_at(i) != nullptr; ++i) {
    std::cout << " " << strew_simd_target_at(i);
  }
  std::cout << ", the best is " << strew_simd_target() << "\n";
  std::cout << "status: " << strew_status_name(STREW_INDEX_OUT_OF_RANGE) << ": "
            << strew_status_description(STREW_INDEX_OUT_OF_RANGE) << "\n";
  std::cout << "dtype: " << strew_dtype_name(STREW_COMPLEX64) << " of "
            << strew_dtype_size(STREW_COMPLEX64) << " bytes\n";
}

void Describe(const std::string& name, const strew_tensor* tensor) {
  const int32_t rank = strew_tensor_rank(tensor);
  std::cout << name << ": " << strew_dtype_name(strew_tensor_dtype(tensor)) << ", "
            << strew_tensor_size(tensor) << " elements, shape";
  for (int32_t i = 0; i < rank; ++i) std::cout << " " << strew_tensor_shape(tensor)[i];
  std::cout << ", strides";
  for (int32_t i = 0; i < rank; ++i) std::cout << " " << strew_tensor_strides(tensor)[i];
  std::cout << ", first " << *static_cast<const float*>(strew_tensor_data(tensor)) << "\n";
}

void Descriptors() {
  Tensor<float> tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Describe("create", tensor);
  const Dims shape = {3, 2}, strides = {1, 3};
  Check(strew_tensor_reset(tensor, STREW_FLOAT32, 2, shape.data(), strides.data(),
                           tensor.values.data()));
  Describe("transposed", tensor);
  Floats falling = {6, 5, 4, 3, 2, 1};
  Check(strew_tensor_set_data(tensor, falling.data()));
  Describe("elsewhere", tensor);
}

void ScatterElements() {
  const Tensor<float> data({3, 3}, Floats(9)), output({3, 3}, Floats(9));
  const Tensor<float> updates({2, 3}, {1, 1.1F, 1.2F, 2, 2.1F, 2.2F});
  const Tensor<int64_t> indices({2, 3}, {1, 0, 2, 0, 2, 1});
  Check(strew_scatter_elements(nullptr, data, indices, updates, 0, STREW_NONE, output));
  Show("scatter_elements", output.values);
}

// Here and below the output is data itself: in place.
void ScatterRow(const std::string& name, const Dims& places, strew_reduction reduction) {
  const Tensor<float> data({1, 5}, {1, 2, 3, 4, 5}), updates({1, 2}, {1.1F, 2.1F});
  const Tensor<int64_t> indices({1, 2}, places);
  Check(strew_scatter_elements(nullptr, data, indices, updates, 1, reduction, data));
  Show("scatter_elements " + name, data.values);
}

void ScatterNd() {
  const Tensor<float> data({8}, {1, 2, 3, 4, 5, 6, 7, 8}), updates({4}, {9, 10, 11, 12});
  const Tensor<int64_t> indices({4, 1}, {4, 3, 1, 7});
  Check(strew_scatter_nd(nullptr, data, indices, updates, STREW_NONE, data));
  Show("scatter_nd", data.values);
}

void ScatterNdOfSlices() {
  const Tensor<float> data({4, 4, 4},
                           {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6,
                            7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4,
                            5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor<float> updates({2, 4, 4}, {5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8,
                                          1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4});
  const Tensor<int64_t> indices({2, 1}, {0, 2});
  Check(strew_scatter_nd(nullptr, data, indices, updates, STREW_NONE, data));
  Show("scatter_nd slices", data.values);
}

void SliceScatter() {
  const Tensor<float> data({2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor<float> updates({1, 5}, {10, 20, 30, 40, 50});
  const Tensor<int64_t> start({1}, {0}), stop({1}, {1}), step({1}, {1}), axes({1}, {0});
  Check(strew_slice_scatter(nullptr, data, updates, start, stop, step, axes, STREW_NONE, data));
  Show("slice_scatter", data.values);
}

struct Slices {
  Dims start, stop, step, axes;  // without axes those of the first ones
};

void SliceScatter(const std::string& name, const Tensor<float>& updates, const Dims& shape,
                  const Slices& slices) {
  Floats counting(static_cast<size_t>(shape[0] * shape[1]));
  std::iota(counting.begin(), counting.end(), 0.0F);
  const Tensor<float> data(shape, counting);
  Check(strew_slice_scatter_int64(nullptr, data, updates, static_cast<int64_t>(slices.start.size()),
                                  slices.start.data(), slices.stop.data(), slices.step.data(),
                                  slices.axes.empty() ? nullptr : slices.axes.data(), STREW_NONE,
                                  data));
  Show("slice_scatter " + name, data.values);
}

void Caches() {
  const Context context = MakeContext();
  Check(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP));
  Check(strew_context_set_negative_indices(context.get(), 0));  // -1: no slot
  const Tensor<float> pages({3, 2}, Floats(6)), tokens({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor<int64_t> slots({3}, {2, -1, 0});
  Check(strew_scatter_update(context.get(), pages, slots, tokens, 0, STREW_NONE, pages));
  Show("scatter_update", pages.values);
  std::cout << "applied: " << strew_context_applied(context.get()) << " of 6\n";

  const Tensor<float> cache({2, 4}, Floats(8)), update({2, 2}, {1, 2, 3, 4});
  const Tensor<int64_t> places({2}, {3, 1});
  Check(strew_tensor_scatter(context.get(), cache, update, places, 1, STREW_CACHE_CIRCULAR, cache));
  Show("tensor_scatter", cache.values);
}

struct Counts {
  size_t taken = 0, returned = 0;
};

void* Allocate(void* opaque, size_t size, size_t alignment) {
  static_cast<Counts*>(opaque)->taken += size;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void Release(void* opaque, void* memory, size_t size) {
  static_cast<Counts*>(opaque)->returned += size;
  std::free(memory);
}

// No exception may leave it: where the system refuses a thread, its task runs here.
int32_t RunOnThreads(void* opaque, int64_t count, strew_task run, void* task) {
  *static_cast<bool*>(opaque) = true;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < count; ++i) {
    try {
      threads.emplace_back(run, task, i);
    } catch (const std::exception&) {
      run(task, i);
    }
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

void Callbacks() {
  constexpr int64_t kCount = 1 << 18;
  Dims backwards(kCount);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const Tensor<float> sums({kCount}, Floats(kCount)), ones({kCount}, Floats(kCount, 1));
  const Tensor<int64_t> indices({kCount}, backwards);
  Counts counts;
  bool asked = false;
  const Context context = MakeContext();
  Check(strew_context_set_allocator(context.get(), Allocate, Release, &counts));
  Check(strew_context_set_duplicate_policy(context.get(), STREW_DUPLICATE_ERROR));
  Check(strew_context_set_simd_target(context.get(), strew_simd_target()));
  Check(strew_context_set_parallel_for(context.get(), RunOnThreads, &asked, 4));
  Check(strew_scatter_update(context.get(), sums, indices, ones, 0, STREW_ADD, sums));
  Check(strew_context_set_num_threads(context.get(), 1));  // 0: as many as CPUs
  Check(strew_scatter_update(context.get(), sums, indices, ones, 0, STREW_ADD, sums));
  const bool balanced = counts.taken > 0 && counts.taken == counts.returned;
  std::cout << "runner: " << (asked ? "asked" : "not asked") << "\n";
  std::cout << "allocator: " << (balanced ? "all returned" : "not balanced") << "\n";
  std::cout << "sums: " << sums.values.front() << " to " << sums.values.back() << "\n";
}

// As dlpack.h has them.
struct DLTensor {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

// strew never calls the deleter; whoever took the tensor over does.
struct Delete {
  void operator()(DLManagedTensorVersioned* managed) const { managed->deleter(managed); }
};

void Dlpack() {
  Floats row = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t eight = 8;
  const auto deleter = [](DLManagedTensorVersioned* managed) {
    std::cout << "dlpack: deleted\n";
    delete managed;
  };
  const std::unique_ptr<DLManagedTensorVersioned, Delete> managed(new DLManagedTensorVersioned{
      1, 0, nullptr, deleter, 0, {row.data(), 1, 0, 1, 2, 32, 1, &eight, nullptr, 0}});
  strew_tensor *plain = nullptr, *versioned = nullptr;
  Check(strew_tensor_from_dlpack(&managed->tensor, &plain));
  const Handle data(plain);
  Check(strew_tensor_from_dlpack_versioned(managed.get(), &versioned));
  const Handle output(versioned);  // the memory of data: in place
  const Tensor<float> updates({4}, {9, 10, 11, 12});
  const Tensor<int64_t> indices({4, 1}, {4, 3, 1, 7});
  Check(strew_scatter_nd(nullptr, data.get(), indices, updates, STREW_NONE, output.get()));
  Show("dlpack", row);
}

void Expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("not as expected: " + what);
}

void ExpectPlan(const Plan& plan, int64_t entries, int64_t dropped) {
  Expect(strew_plan_entries(plan.get()) == entries, "strew_plan_entries");
  Expect(strew_plan_dropped(plan.get()) == dropped, "strew_plan_dropped");
  Expect(strew_plan_memory(plan.get()) > 0, "strew_plan_memory");
}

// A plan has a copy of what it needs, so that the indices may go.
Plan PlanRows(const Context& context, const Dims& rows) {
  const Tensor<int64_t> indices({static_cast<int64_t>(rows.size())}, rows);
  strew_plan* plan = nullptr;
  Check(strew_plan_scatter_update(context.get(), indices, 0, 3, &plan));
  return Plan(plan);
}

void PlanElements() {
  const Tensor<float> data({1, 5}, {1, 2, 3, 4, 5}), updates({1, 2}, {1.5F, 2.5F});
  const Tensor<int64_t> indices({1, 2}, {1, 1});
  strew_plan* made = nullptr;
  Check(strew_plan_scatter_elements(nullptr, indices, 1, 5, &made));
  const Plan plan(made);
  ExpectPlan(plan, 2, 0);
  Check(strew_plan_scatter(nullptr, plan.get(), data, updates, STREW_ADD, data));
  Expect(data.values == Floats{1, 6, 3, 4, 5}, "sums of elements");
}

void PlanNd() {
  const Tensor<float> data({8}, {1, 2, 3, 4, 5, 6, 7, 8}), updates({4}, {9, 10, 11, 12});
  const Tensor<float> output({4}, Floats(4));
  const Tensor<int64_t> indices({4, 1}, {4, 3, 1, 7});
  const int64_t extent = 8;
  strew_plan* made = nullptr;
  Check(strew_plan_scatter_nd(nullptr, indices, &extent, &made));
  const Plan plan(made);
  ExpectPlan(plan, 4, 0);
  Check(strew_plan_gather(nullptr, plan.get(), data, output));
  Expect(output.values == Floats{5, 4, 2, 8}, "gathered elements");
  Check(strew_plan_scatter(nullptr, plan.get(), data, updates, STREW_NONE, data));
  Expect(data.values == Floats{1, 11, 3, 10, 9, 6, 7, 12}, "placed elements");
}

// Each edge of a graph hands the row of its first node, times a weight, to its second one.
void PlanGraph() {
  const Context context = MakeContext();
  Check(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP));
  Check(strew_context_set_negative_indices(context.get(), 0));  // -1: no node
  const Plan from = PlanRows(context, {0, 0, 2, 1}), to = PlanRows(context, {1, 2, 1, -1});
  ExpectPlan(from, 4, 0);
  ExpectPlan(to, 4, 1);
  const Tensor<float> source({3, 2}, {1, 2, 3, 4, 5, 6}), weights({4, 1}, {1, 2, 0.5F, 7});
  const Tensor<float> data({3, 2}, Floats(6));
  Check(strew_plan_gather_scatter(context.get(), from.get(), source, weights, to.get(), data,
                                  STREW_ADD, data));
  Expect(data.values == Floats{0, 0, 3.5F, 5, 2, 4}, "sums of a graph");
}

void Plans() {
  PlanElements();
  PlanNd();
  PlanGraph();
}

void Failure() {
  const Context context = MakeContext();
  const Tensor<float> data({8}, Floats(8)), updates({4}, {9, 10, 11, 12});
  const Tensor<int64_t> indices({4, 1}, {4, 3, 9, 7});
  const strew_status status =
      strew_scatter_nd(context.get(), data, indices, updates, STREW_NONE, data);
  std::cout << "error: " << strew_status_name(status) << " at "
            << strew_context_error_position(context.get()) << ": "
            << strew_context_error(context.get()) << "\n";
  Expect(strew_context_set_negative_indices(context.get(), 2) == STREW_INVALID_ARGUMENT,
         "no such wrap");
  std::cout << "last error: " << strew_last_error() << "\n";
}

}  // namespace

int main() {
  Names();
  Descriptors();
  ScatterElements();
  ScatterRow("axis 1", {1, 3}, STREW_NONE);
  ScatterRow("negative", {1, -3}, STREW_NONE);
  ScatterRow("add", {1, 1}, STREW_ADD);
  ScatterRow("max", {1, 1}, STREW_MAX);
  ScatterRow("min", {1, 1}, STREW_MIN);
  ScatterNd();
  ScatterNdOfSlices();
  SliceScatter();
  constexpr auto kLast = std::numeric_limits<int64_t>::max();
  SliceScatter("clamped", {{2, 3}, {10, 20, 30, 40, 50, 60}}, {2, 5}, {{-25}, {25}, {2}, {1}});
  SliceScatter("both axes", {{2, 2}, {50, 60, 70, 80}}, {3, 5}, {{0, 1}, {3, 5}, {2, 2}, {}});
  SliceScatter("open ends", {{1, 3}, {10, 20, 30}}, {1, 5}, {{kLast}, {-kLast}, {-2}, {-1}});
  Caches();
  Callbacks();
  Dlpack();
  Plans();
  Failure();
}
