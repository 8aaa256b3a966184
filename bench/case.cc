// SPDX-License-Identifier: Apache-2.0
#include "case.h"

#include <cstring>

#include "random_fill.h"

namespace strew_bench {

Case::Case(const Workload& workload, int32_t threads, Way way)
    : workload_(workload), scalar_loop_(FindScalarLoop(workload)), context_(ContextFor(threads)) {
  const Operands& operands = workload_.operands;
  data_ = Buffer(DataBytes(operands));
  updates_ = Buffer(UpdateBytes(operands));
  output_ = Buffer(DataBytes(operands));
  RandomFill fill;
  fill.Values(operands.dtype, ElementCount(operands.data), data_.get());
  fill.Values(operands.dtype, ElementCount(operands.updates), updates_.get());
  data_tensor_ = Describe(operands.dtype, operands.data, nullptr, data_);
  updates_tensor_ = Describe(operands.dtype, operands.updates, nullptr, updates_);
  output_tensor_ = Describe(operands.dtype, operands.data, nullptr, output_);
  if (operands.op != Operator::kSlice) {
    indices_ = Buffer(StoredIndexCount(operands) * static_cast<int64_t>(sizeof(int64_t)));
    fill.Indices(operands, static_cast<int64_t*>(indices_.get()));
    const int64_t one_for_each_row[] = {1, 0};
    const bool view = operands.pattern == IndexPattern::kStride0Rows;
    indices_tensor_ =
        Describe(STREW_INT64, operands.indices, view ? one_for_each_row : nullptr, indices_);
  }
  if (way == Way::kPlan) plan_ = MakePlan(context_.get());
  error_ = way == Way::kPlan && plan_ == nullptr ? "strew refused the plan"
                                                 : Verify([this] { return Strew(); });
}

template <class Call>
std::string Case::Verify(const Call& strew) {
  if (scalar_loop_ == nullptr) return "no scalar loop has been written for this workload";
  const size_t bytes = static_cast<size_t>(DataBytes(workload_.operands));
  const Buffer expected(DataBytes(workload_.operands));
  // If the output is new, its old bytes must not matter: these differ from those of data.
  std::memset(output_.get(), 0x5A, bytes);
  std::memset(expected.get(), 0xA5, bytes);
  if (workload_.in_place) {
    std::memcpy(output_.get(), data_.get(), bytes);
    std::memcpy(expected.get(), data_.get(), bytes);
  }
  if (!ScalarInto(expected.get())) return "the scalar loop met an index out of range";
  if (!strew()) return "strew refused the workload";
  if (std::memcmp(output_.get(), expected.get(), bytes) != 0) {
    return "strew and the scalar loop differ";
  }
  return "";
}

bool Case::StrewByCall() {
  strew_context* context = context_.get();
  strew_tensor* output = output_tensor_.get();
  const strew_tensor* data = workload_.in_place ? output : data_tensor_.get();
  const Operands& operands = workload_.operands;
  const Slice& slice = operands.slice;
  switch (operands.op) {
    case Operator::kElements:
      return strew_scatter_elements(context, data, indices_tensor_.get(), updates_tensor_.get(),
                                    operands.axis, workload_.reduction, output) == STREW_OK;
    case Operator::kNd:
      return strew_scatter_nd(context, data, indices_tensor_.get(), updates_tensor_.get(),
                              workload_.reduction, output) == STREW_OK;
    case Operator::kSlice:
      return strew_slice_scatter_int64(context, data, updates_tensor_.get(),
                                       static_cast<int64_t>(slice.axes.size()), slice.start.data(),
                                       slice.stop.data(), slice.step.data(), slice.axes.data(),
                                       workload_.reduction, output) == STREW_OK;
  }
  return false;
}

Plan Case::MakePlan(strew_context* context) const {
  const Operands& operands = workload_.operands;
  const strew_tensor* const indices = indices_tensor_.get();
  strew_plan* plan = nullptr;
  if (operands.op == Operator::kElements) {
    const int64_t extent = operands.data[static_cast<size_t>(operands.axis)];
    (void)strew_plan_scatter_elements(context, indices, operands.axis, extent, &plan);
  } else {
    (void)strew_plan_scatter_nd(context, indices, operands.data.data(), &plan);
  }
  return Plan(plan);
}

bool Case::StrewBy(const strew_plan* plan) {
  strew_tensor* const output = output_tensor_.get();
  const strew_tensor* const data = workload_.in_place ? output : data_tensor_.get();
  return strew_plan_scatter(context_.get(), plan, data, updates_tensor_.get(), workload_.reduction,
                            output) == STREW_OK;
}

std::string Case::ErrorBy(const strew_plan* plan) {
  return Verify([&] { return StrewBy(plan); });
}

bool Case::ScalarInto(void* output) {
  const Operands& operands = workload_.operands;
  if (!workload_.in_place) {
    std::memcpy(output, data_.get(), static_cast<size_t>(DataBytes(operands)));
  }
  return scalar_loop_(operands, static_cast<const int64_t*>(indices_.get()), updates_.get(),
                      output);
}

bool Case::Memcpy() {
  const void* source = workload_.in_place ? updates_.get() : data_.get();
  std::memcpy(output_.get(), source, static_cast<size_t>(CopiedBytes(workload_)));
  return true;
}

}  // namespace strew_bench
