// SPDX-License-Identifier: Apache-2.0
#include "prepared/space.h"

#include "base/compiler.h"
#include "plan/lower.h"
#include "plan/unit.h"

namespace strew::prepared {

plan::IndexSpace SpaceOfIndices(const Plan& plan, const TensorView& indices) {
  plan::IndexSpace space;
  const int dims = plan.entry_dims();
  space.has_tuples = plan.kind == Kind::kTuples;
  if (plan.kind == Kind::kElements) space.entry_dim = plan.axis;
  for (int c = 0; c < plan.components; ++c) {
    const int64_t base = space.has_tuples ? c * StrideOf(indices, dims) : 0;
    // The axis of kUpdate may count from the end, because the rank of data is not known yet.
    const int64_t axis = plan.kind == Kind::kTuples     ? c
                         : plan.kind == Kind::kElements ? plan.axis
                                                        : plan.given_axis;
    space.component[space.components++] = {axis, plan.extents[c], 0, 0, base};
  }
  for (int i = 0; i < dims; ++i) {
    const int64_t stride = StrideOf(indices, i);
    if (plan.kind != Kind::kElements || i == plan.axis) {
      space.entries.Append(plan.shape[i], 0, 0, stride, 0);
    } else if (stride != 0) {
      space.batch.Append(plan.shape[i], 0, 0, stride, 0);
      if (i > plan.axis) ++space.minor_batch_loops;
    }
  }
  return space;
}

TensorView PlacesOf(const Plan& plan) {
  TensorView view;  // dims beyond its rank are not initialised, to keep small calls fast
  view.dtype = plan.places.dtype();
  view.rank = plan.entry_dims();
  view.size = plan.entries;
  view.element_size = plan.places.width();
  view.lowest = 0;
  view.highest = plan.places.bytes();
  view.injective = view.read_only = false;
  view.contiguous = true;
  view.data = plan.places.data();
  int64_t stride = 1;
  for (int i = view.rank - 1; i >= 0; --i) {
    view.shape[i] = plan.shape[i];
    view.strides[i] = plan.is_inner[i] ? 0 : stride;
    // The dims of an empty plan may be too large for their product.
    if (!plan.is_inner[i] && plan.entries != 0) stride *= view.shape[i];
    // The size of a tensor counts repeated values too.
    if (plan.is_inner[i]) view.size *= view.shape[i];
    view.contiguous = view.contiguous && !plan.is_inner[i];
  }
  return view;
}

bool AxesAreOneLoop(const Plan& plan, const TensorView& tensor) {
  if (plan.kind != Kind::kTuples) return true;
  int64_t span = 0;  // of the dims with more than one element that were visited
  for (int i = plan.components - 1; i >= 0; --i) {
    if (tensor.shape[i] <= 1) continue;
    const int64_t stride = StrideOf(tensor, i);
    if (span != 0 && stride != span) return false;
    if (!CheckedMultiply(stride, tensor.shape[i], &span)) return false;
    if (span == 0) return false;
  }
  return true;
}

namespace {

// The place of a tuple counts steps of the innermost axis that has more than one element.
plan::Component LineOfAxes(const Plan& plan, const walk::Operands& operands, int64_t units) {
  plan::Component line = {0, plan.NumberOfPlaces(), 0, 0, 0};
  for (int c = 0; c < plan.components; ++c) {
    if (plan.extents[c] <= 1) continue;
    line.output_stride = StrideOf(operands.output, c) * units;
    line.data_stride = StrideOf(operands.data, c) * units;
  }
  return line;
}

}  // namespace

plan::IndexSpace SpaceOfCall(const Plan& plan, const walk::Operands& operands, int axis) {
  const auto& [data, places, updates, output] = operands;
  plan::IndexSpace space;
  if (plan.kind == Kind::kElements) {
    plan::LowerElements(data, places, updates, output, plan.axis, &space);
    return space;
  }
  const int64_t units = plan::IndexedUnitsOf(output.element_size).count;
  if (plan.kind == Kind::kUpdate) {
    space.AppendComponent(axis, data, output, units, 0);
  } else if (plan.components > 0) {
    space.component[space.components++] = LineOfAxes(plan, operands, units);
  }
  const int first = plan.kind == Kind::kTuples ? 0 : axis;
  plan::LowerSlices(places, places.rank, updates, output, first, plan.components, &space);
  return space;
}

}  // namespace strew::prepared
