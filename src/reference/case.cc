// SPDX-License-Identifier: Apache-2.0
#include "reference/case.h"

#include <string>
#include <vector>

#include "reference/dtypes.h"
#include "reference/indices.h"

namespace strew::reference {
namespace {

Dims Values(const std::optional<Array>& array) {
  return array ? ReadIndices(array->view()) : Dims();
}

strew_status CallSliceScatterInt64(const Case& c, strew_context* context, strew_tensor* output) {
  const Dims start = Values(c.start), stop = Values(c.stop), step = Values(c.step);
  const Dims axes = Values(c.axes);
  return strew_slice_scatter_int64(
      context, c.data.tensor(), c.updates.tensor(), static_cast<int64_t>(start.size()),
      start.data(), stop.data(), step.data(), c.axes ? axes.data() : nullptr, c.reduction, output);
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
  static const std::vector<Operator> operators = {
      Operator::kScatterElements,   Operator::kScatterNd,     Operator::kSliceScatter,
      Operator::kSliceScatterInt64, Operator::kScatterUpdate, Operator::kTensorScatter};
  return operators;
}

const char* NameOf(Operator op) {
  switch (op) {
    case Operator::kScatterElements:
      return "scatter_elements";
    case Operator::kScatterNd:
      return "scatter_nd";
    case Operator::kSliceScatter:
      return "slice_scatter";
    case Operator::kSliceScatterInt64:
      return "slice_scatter_int64";
    case Operator::kScatterUpdate:
      return "scatter_update";
    case Operator::kTensorScatter:
      return "tensor_scatter";
  }
  return "?";
}

bool IsSlice(Operator op) {
  return op == Operator::kSliceScatter || op == Operator::kSliceScatterInt64;
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
  switch (c.op) {
    case Operator::kScatterElements:
      return strew_scatter_elements(context, c.data.tensor(), c.indices->tensor(),
                                    c.updates.tensor(), c.axis, c.reduction, output);
    case Operator::kScatterNd:
      return strew_scatter_nd(context, c.data.tensor(), c.indices->tensor(), c.updates.tensor(),
                              c.reduction, output);
    case Operator::kSliceScatter:
      return strew_slice_scatter(context, c.data.tensor(), c.updates.tensor(), c.start->tensor(),
                                 c.stop->tensor(), c.step->tensor(),
                                 c.axes ? c.axes->tensor() : nullptr, c.reduction, output);
    case Operator::kSliceScatterInt64:
      return CallSliceScatterInt64(c, context, output);
    case Operator::kScatterUpdate:
      return strew_scatter_update(context, c.data.tensor(), c.indices->tensor(), c.updates.tensor(),
                                  c.axis, c.reduction, output);
    default:
      return strew_tensor_scatter(context, c.data.tensor(), c.updates.tensor(),
                                  c.indices ? c.indices->tensor() : nullptr, c.axis, c.mode,
                                  output);
  }
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
         (c.mode == STREW_CACHE_CIRCULAR ? " circular" : "") + " axis " + std::to_string(c.axis) +
         DescribePolicies(c) + Describe("data", c.data) + Describe("updates", c.updates) +
         Describe("indices", c.indices) + Describe("start", c.start) + Describe("stop", c.stop) +
         Describe("step", c.step) + Describe("axes", c.axes) +
         (c.output ? Describe("output", *c.output) : "\n  in place");
}

}  // namespace strew::reference
