// SPDX-License-Identifier: Apache-2.0
#include "run/index_check.h"

#include <cinttypes>

#include "base/index_value.h"
#include "kernel/kernel.h"
#include "plan/text.h"

namespace strew::run {
namespace {

using plan::kIndices;
using IndexNest = plan::LoopNest<1>;

void AppendIndexLoops(const plan::IndexedNest& from, IndexNest* to) {
  for (int i = 0; i < from.rank; ++i) {
    const int64_t stride = from.loop[i].stride[kIndices];
    // What is read again and again is good again and again.
    if (stride != 0) to->Append(from.loop[i].count, stride);
  }
}

const kernel::IndexKernels& IndexKernelsFor(const Call& call, const TensorView& indices) {
  return kernel::IndexKernelsFor(indices.dtype, call.settings().simd_target);
}

bool AllInRange(const Call& call, const TensorView& indices, const plan::Component& component,
                IndexNest nest) {
  const kernel::CheckKernel check = IndexKernelsFor(call, indices).check;
  const bool wrap = call.settings().wrap_negative_indices;
  nest.base[0] += component.indices_base;
  nest.Canonicalise();
  const plan::Loop<1> column = nest.PopInnermost();
  const plan::Loop<1> row = nest.PopInnermost();
  kernel::IndexSheet sheet = {nullptr,      row.count,        row.stride[0],
                              column.count, column.stride[0], component.axis_size};
  if (column.count == 1) sheet.column_stride = 1;
  bool good = true;
  plan::ForEachTurn(nest, nest.rank, [&](const int64_t* offset) {
    sheet.indices = indices.data + offset[0] * indices.element_size;
    good = check(sheet, wrap);
    return good;
  });
  return good;
}

int64_t Lowest(const Call& call, const plan::Component& component) {
  return call.settings().wrap_negative_indices ? -component.axis_size : 0;
}

Status ReportIndex(const Call& call, const TensorView& indices, const plan::Component& component,
                   int64_t position, IndexValue index) {
  const plan::CoordinatesText at(indices, position);
  const plan::IndexText value(index);
  const int64_t size = component.axis_size;
  if (size == 0) {
    return call.FailAt(position, STREW_INDEX_OUT_OF_RANGE,
                       "indices%s = %s is out of range: axis %d of data has 0 elements, so that no "
                       "index is valid",
                       at.c_str(), value.c_str(), component.axis);
  }
  return call.FailAt(position, STREW_INDEX_OUT_OF_RANGE,
                     "indices%s = %s is out of range [%" PRId64 ", %" PRId64
                     "] for axis %d of data, which has %" PRId64 " element%s",
                     at.c_str(), value.c_str(), Lowest(call, component), size - 1, component.axis,
                     size, size == 1 ? "" : "s");
}

// Goes through the indices one by one, in row-major order. Along strides of 0 the first one is like
// all others.
[[gnu::cold]] Status ReportFirst(const Call& call, const TensorView& indices,
                                 const plan::IndexedPlan& plan) {
  enum { kIndex, kPosition, kOperands };
  plan::LoopNest<kOperands> backwards;
  int64_t position_stride = 1;
  for (int i = indices.rank - 1; i >= 0; --i) {
    const int64_t stride = StrideOf(indices, i);
    // The numbers of a tuple are judged by axes of their own.
    const bool is_tuple = plan.components > 1 && i == indices.rank - 1;
    if (stride != 0 || is_tuple) backwards.Append(indices.shape[i], stride, position_stride);
    position_stride *= indices.shape[i];
  }
  plan::LoopNest<kOperands> nest;
  while (backwards.rank > 0) nest.loop[nest.rank++] = backwards.PopInnermost();

  Status status = call.Fail(STREW_INDEX_OUT_OF_RANGE, "indices changed while they were checked");
  plan::ForEachTurn(nest, nest.rank, [&](const int64_t* offset) {
    const int64_t position = offset[kPosition];
    const plan::Component& component = plan.component[position % plan.components];
    const IndexValue index =
        ReadIndex(indices.dtype, indices.data + offset[kIndex] * indices.element_size);
    if (index.value >= Lowest(call, component) && index.value < component.axis_size) return true;
    status = ReportIndex(call, indices, component, position, index);
    return false;
  });
  return status;
}

// How many rows of indices that lie together, from the first on, are good and constant along the
// inner lanes.
int64_t CountConstantRows(const Call& call, const TensorView& indices,
                          const plan::IndexedPlan& plan) {
  // Shorter rows are no better as runs than as single elements.
  constexpr int64_t kLeastLanes = 8;
  const int64_t lanes = plan.InnerLanes();
  if (!indices.contiguous || plan.components != 1 || lanes < kLeastLanes) return 0;
  const kernel::IndexSheet sheet = {
      indices.data, indices.size / lanes, lanes, lanes, 1, plan.component[0].axis_size};
  return IndexKernelsFor(call, indices)
      .count_constant_rows(sheet, call.settings().wrap_negative_indices);
}

}  // namespace

Status CheckIndices(const Call& call, const TensorView& indices, plan::IndexedPlan* plan) {
  const int64_t constant = CountConstantRows(call, indices, *plan) * plan->InnerLanes();
  if (constant == indices.size) {
    plan->MoveInnerLanesInside();
    return STREW_OK;
  }
  IndexNest nest;
  if (indices.contiguous && plan->components == 1) {
    nest.base[0] = constant;
    nest.Append(indices.size - constant, 1);
  } else {
    AppendIndexLoops(plan->entries, &nest);
    AppendIndexLoops(plan->lanes, &nest);
  }
  for (int c = 0; c < plan->components; ++c) {
    if (AllInRange(call, indices, plan->component[c], nest)) continue;
    if (!call.wants_report()) return STREW_INDEX_OUT_OF_RANGE;
    return ReportFirst(call, indices, *plan);
  }
  return STREW_OK;
}

}  // namespace strew::run
