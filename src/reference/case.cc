// SPDX-License-Identifier: Apache-2.0
#include "reference/case.h"

#include <algorithm>
#include <string>
#include <vector>

#include "reference/dtypes.h"
#include "reference/indices.h"

namespace strew::reference {
namespace {

Dims Values(const std::optional<Array>& array) {
  return array ? ReadIndices(array->view()) : Dims();
}

const strew_tensor* TensorOf(const std::optional<Array>& array) {
  return array ? array->tensor() : nullptr;
}

std::string DescribePolicies(const Case& c) {
  std::string text = c.wrap ? "" : " without wrap";
  if (c.policy == STREW_INDEX_DROP) text += " drop";
  if (c.policy == STREW_INDEX_CLAMP) text += " clamp";
  if (c.duplicates == STREW_DUPLICATE_ERROR) text += " without duplicates";
  return text;
}

std::string Describe(const char* name, const Array& array) {
  const View& view = array.view();
  const auto address = reinterpret_cast<uintptr_t>(view.origin);
  return std::string("\n  ") + name + " " + TestName(Find(view.dtype)) + " shape " +
         ToString(view.shape()) + " strides " + ToString(view.layout.strides) + " at " +
         std::to_string(address % 64) + " modulo 64";
}

std::string Describe(const char* name, const std::optional<Array>& indices) {
  if (!indices) return "";
  std::string text = Describe(name, *indices);
  if (Product(indices->shape()) <= 32) text += " values " + ToString(Values(indices));
  return text;
}

}  // namespace

const std::vector<Operator>& Operators() {
  static const std::vector<Operator> operators = [] {
    std::vector<Operator> all;
    for (const OperatorInfo& info : kOperators) all.push_back(info.op);
    return all;
  }();
  return operators;
}

const std::vector<Operator>& PlannedOperators() {
  static const std::vector<Operator> planned = {Operator::kScatterElements, Operator::kScatterNd,
                                                Operator::kScatterUpdate};
  return planned;
}

void Case::SetSlice(const Dims& starts, const Dims& stops, const Dims& steps,
                    const Dims& slice_axes, strew_dtype dtype) {
  const auto list = [dtype](const Dims& values) {
    return IndexArray(dtype, {static_cast<int64_t>(values.size())}, values);
  };
  start = list(starts);
  stop = list(stops);
  step = list(steps);
  axes.reset();
  if (!slice_axes.empty()) axes = list(slice_axes);
}

std::vector<Array*> Inputs(Case& c) {
  std::vector<Array*> inputs = {&c.updates};
  if (c.output) inputs.push_back(&c.data);
  for (std::optional<Array>* array : {&c.indices, &c.start, &c.stop, &c.step, &c.axes}) {
    if (*array) inputs.push_back(&**array);
  }
  return inputs;
}

strew_status Call(const Case& c, strew_context* context, strew_tensor* output) {
  // Other operators are not given the numbers, because fuzzers make lists that are not of integers.
  const auto numbers = [&c](const std::optional<Array>& array) {
    return Takes(c.op, "count") ? Values(array) : Dims();
  };
  const Dims starts = numbers(c.start), stops = numbers(c.stop), steps = numbers(c.step);
  const Dims axes = numbers(c.axes);
  Arguments arguments;
  arguments.data = c.data.tensor();
  arguments.indices = TensorOf(c.indices);
  arguments.updates = c.updates.tensor();
  arguments.output = output;
  arguments.axis = c.axis;
  arguments.reduction = c.reduction;
  arguments.mode = c.mode;
  arguments.start = TensorOf(c.start);
  arguments.stop = TensorOf(c.stop);
  arguments.step = TensorOf(c.step);
  arguments.axes = TensorOf(c.axes);
  arguments.count = static_cast<int64_t>(starts.size());
  arguments.starts = starts.data();
  arguments.stops = stops.data();
  arguments.steps = steps.data();
  arguments.slice_axes = c.axes ? axes.data() : nullptr;
  return arguments.Call(c.op, context);
}

bool SetPolicies(const Case& c, strew_context* context) {
  return strew_context_set_negative_indices(context, c.wrap ? 1 : 0) == STREW_OK &&
         strew_context_set_index_policy(context, c.policy) == STREW_OK &&
         strew_context_set_duplicate_policy(context, c.duplicates) == STREW_OK;
}

bool HasPlan(const Case& c) {
  if (c.duplicates == STREW_DUPLICATE_ERROR && Product(c.data.shape()) == 0) return false;
  const std::vector<Operator>& planned = PlannedOperators();
  return std::count(planned.begin(), planned.end(), c.op) > 0;
}

strew_status MakePlan(const Case& c, strew_context* context, Plan* plan) {
  Arguments arguments;
  arguments.data = c.data.tensor();
  arguments.indices = c.indices->tensor();
  arguments.axis = c.axis;
  strew_plan* made = nullptr;
  const strew_status status = arguments.MakePlan(c.op, context, &made);
  plan->reset(made);
  return status;
}

strew_status CallByPlan(const Case& c, strew_context* context, strew_tensor* output) {
  Plan plan;
  const strew_status status = MakePlan(c, context, &plan);
  if (status != STREW_OK) return status;
  return strew_plan_scatter(context, plan.get(), c.data.tensor(), c.updates.tensor(), c.reduction,
                            output);
}

Outcome Expect(const Case& c, const View& data, const View& output) {
  switch (c.op) {
    case Operator::kScatterElements:
      return ScatterElements(data, c.indices->view(), c.updates.view(), c.axis, c.rules(), output);
    case Operator::kScatterNd:
      return ScatterNd(data, c.indices->view(), c.updates.view(), c.rules(), output);
    case Operator::kScatterUpdate:
      return ScatterUpdate(data, c.indices->view(), c.updates.view(), c.axis, c.rules(), output);
    case Operator::kTensorScatter:
      return TensorScatter(data, c.updates.view(), c.indices ? &c.indices->view() : nullptr, c.axis,
                           c.mode, c.policy, output);
    default:
      return SliceScatter(data, c.updates.view(), Values(c.start), Values(c.stop), Values(c.step),
                          Values(c.axes), c.reduction, output);
  }
}

std::string Describe(const Case& c) {
  return std::string(NameOf(c.op)) + " " + NameOf(c.reduction) +
         ((c.reduction & STREW_EXCLUDE_SELF) != 0 ? " without self" : "") +
         ((c.reduction & STREW_WIDE) != 0 ? " wide" : "") +
         (c.mode == STREW_CACHE_CIRCULAR ? " circular" : "") + " axis " + std::to_string(c.axis) +
         DescribePolicies(c) + Describe("data", c.data) + Describe("updates", c.updates) +
         Describe("indices", c.indices) + Describe("start", c.start) + Describe("stop", c.stop) +
         Describe("step", c.step) + Describe("axes", c.axes) +
         (c.output ? Describe("output", *c.output) : "\n  in place");
}

}  // namespace strew::reference
