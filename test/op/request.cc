// SPDX-License-Identifier: Apache-2.0
#include "op/request.h"

#include <algorithm>

#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "support/dlpack.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// The operands of one call, described to the library; NULL for those that are missing.
struct Tensors {
  Tensor data, indices, updates, start, stop, step, axes, output;
};

unsigned char* Memory(const Operand& operand, Arena& arena) {
  return operand.bound ? arena.at(operand.offset) : nullptr;
}

bool IsIndexDtype(strew_dtype dtype) {
  const auto& list = IndexDtypes();
  return std::any_of(list.begin(), list.end(), [=](const Dtype& d) { return d.code == dtype; });
}

const int64_t* List(const Operand& operand) {
  return operand.null ? nullptr : operand.values.data();
}

strew_status Call(const Request& r, const Tensors& t, strew_context* context) {
  Arguments arguments;
  arguments.data = t.data.get();
  arguments.indices = t.indices.get();
  arguments.updates = t.updates.get();
  arguments.output = t.output.get();
  arguments.axis = r.axis;
  arguments.reduction = r.reduction;
  arguments.mode = r.mode;
  arguments.start = t.start.get();
  arguments.stop = t.stop.get();
  arguments.step = t.step.get();
  arguments.axes = t.axes.get();
  arguments.count = r.count;
  arguments.starts = List(r.start);
  arguments.stops = List(r.stop);
  arguments.steps = List(r.step);
  arguments.slice_axes = List(r.axes);
  return arguments.Call(r.op, context);
}

}  // namespace

bool WroteOutside(const Operand& output, const Arena& before, const Arena& after) {
  Arena expected = before;
  Arena source = after;
  if (!output.null && output.bound) {
    const View from{output.dtype, output.layout, source.at(output.offset)};
    const View to{output.dtype, output.layout, expected.at(output.offset)};
    ForEachIndex(from.shape(),
                 [&](const Dims& i) { std::copy_n(from.At(i), WidthOf(output.dtype), to.At(i)); });
  }
  return !(expected == after);
}

Tensor Describe(const Operand& operand, Arena& arena) {
  if (operand.null) return nullptr;
  if (operand.read_only) {
    return MakeReadOnlyTensor(operand.dtype, operand.layout, Memory(operand, arena));
  }
  return MakeTensor(operand.dtype, operand.layout, Memory(operand, arena));
}

void WriteValues(const Operand& operand, Arena& arena) {
  const bool writable = !operand.null && operand.bound && IsIndexDtype(operand.dtype);
  if (!writable || operand.values.empty()) return;
  const View view{operand.dtype, operand.layout, Memory(operand, arena)};
  size_t position = 0;
  ForEachIndex(view.shape(), [&](const Dims& i) {
    WriteIndex(view.dtype, view.At(i), operand.values[position++ % operand.values.size()]);
  });
}

void Request::SetSlice(const Dims& starts, const Dims& stops, const Dims& steps,
                       const Dims& axis_list) {
  start.SetList(starts);
  stop.SetList(stops);
  step.SetList(steps);
  axes.SetList(axis_list);
  count = static_cast<int64_t>(starts.size());
}

void Request::SetDtype(strew_dtype dtype) {
  data.dtype = dtype;
  updates.dtype = dtype;
  output.dtype = dtype;
}

Request GoodRequest(Operator op) {
  const auto number = [](const char* name, const Dims& shape, size_t offset) {
    return Operand{name, false, STREW_FLOAT32, RowMajor(shape), true, false, offset, {}};
  };
  const auto index = [](const char* name, const Dims& shape, size_t offset, const Dims& values) {
    return Operand{name, false, STREW_INT64, RowMajor(shape), true, false, offset, values};
  };
  Dims indices = {3, 2}, index_values = {3, 0, 1, 2, -1, -4}, updates = {3, 2};
  if (op == Operator::kScatterNd) indices = {2, 1}, index_values = {2, 0}, updates = {2, 4};
  if (op == Operator::kScatterUpdate) indices = {2}, index_values = {3, -4};
  if (op == Operator::kTensorScatter) indices = {3}, index_values = {0, 2, 1};
  if (IsSlice(op)) updates = {2, 4};
  Request request{op,
                  number("data", {3, 4}, 0),
                  index("indices", indices, 1024, index_values),
                  number("updates", updates, 512),
                  index("start", {1}, 1536, {0}),
                  index("stop", {1}, 1792, {2}),
                  index("step", {1}, 2048, {1}),
                  index("axes", {1}, 2304, {0}),
                  number("output", {3, 4}, 3072)};
  request.axis = op == Operator::kScatterNd || IsSlice(op) ? 0 : 1;
  request.count = 1;
  return request;
}

Arena MemoryOf(const Request& request) {
  Arena arena;
  for (size_t i = 0; i < Arena::kSize; ++i) *arena.at(i) = static_cast<unsigned char>(i % 61 + 1);
  const auto operands = {&request.data, &request.indices, &request.updates, &request.start,
                         &request.stop, &request.step,    &request.axes,    &request.output};
  for (const Operand* operand : operands) WriteValues(*operand, arena);
  return arena;
}

Answer Send(const Request& request, strew_context* context) {
  Arena arena = MemoryOf(request);
  const Tensors tensors = {Describe(request.data, arena),    Describe(request.indices, arena),
                           Describe(request.updates, arena), Describe(request.start, arena),
                           Describe(request.stop, arena),    Describe(request.step, arena),
                           Describe(request.axes, arena),    Describe(request.output, arena)};
  const Arena before = arena;
  const strew_status status = Call(request, tensors, context);
  return {status,
          strew_context_error(context),
          strew_context_error_position(context),
          strew_context_applied(context),
          !(arena == before),
          WroteOutside(request.output, before, arena)};
}

}  // namespace strew_test
