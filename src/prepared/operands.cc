// SPDX-License-Identifier: Apache-2.0
#include "prepared/operands.h"

#include <cinttypes>

#include "base/index_value.h"
#include "plan/text.h"

namespace strew::prepared {

// ---- Checks ----

Status CheckIndexedRank(const Call& call, const Plan& plan, plan::Operand indexed) {
  const int rank = indexed.view->rank;
  if (plan.kind == Kind::kElements) return plan::CheckRank(call, indexed, plan.rank);
  if (rank > 0 && rank >= plan.components) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "%s has rank %d, but the plan indexes %d %s", indexed.name,
                   rank, plan.components, plan.components == 1 ? "axis" : "axes");
}

int UpdatesRankOf(const Plan& plan, const TensorView& indexed) {
  if (plan.kind == Kind::kElements) return plan.rank;
  return plan.entry_dims() + indexed.rank - plan.components;
}

Status CheckRanks(const Call& call, const Plan& plan, plan::Operand indexed,
                  plan::Operand updates) {
  STREW_TRY(CheckIndexedRank(call, plan, indexed));
  const int expected = UpdatesRankOf(plan, *indexed.view);
  // An update of one tuple may have any shape with one element.
  if (expected == 0 && plan.kind == Kind::kTuples) return STREW_OK;
  return plan::CheckRank(call, updates, expected);
}

Status CheckPlanAxis(const Call& call, const Plan& plan, const TensorView& indexed, int* axis) {
  *axis = plan.kind == Kind::kElements ? plan.axis : 0;
  if (plan.kind != Kind::kUpdate) return STREW_OK;
  return plan::CheckAxis(call, {plan.given_axis, 0}, -1, indexed.rank, axis);
}

Status CheckExtents(const Call& call, const Plan& plan, plan::Operand indexed, int axis) {
  const TensorView& view = *indexed.view;
  for (int c = 0; c < plan.components; ++c) {
    if (view.shape[axis + c] == plan.extents[c]) continue;
    return call.Fail(STREW_INVALID_SHAPE,
                     "%s has shape %s, but the plan was made for %" PRId64 " elements on axis %d",
                     indexed.name, plan::ShapeText(view).c_str(), plan.extents[c], axis + c);
  }
  for (int i = 0; plan.kind == Kind::kElements && i < plan.rank; ++i) {
    if (i == axis || plan.shape[i] <= view.shape[i]) continue;
    return call.Fail(STREW_INVALID_SHAPE,
                     "the indices of the plan had shape %s, of which dim %d is larger than that of "
                     "%s, %s",
                     plan::ListText(plan.shape, plan.rank).c_str(), i, indexed.name,
                     plan::ShapeText(view).c_str());
  }
  return STREW_OK;
}

UpdatesShape UpdatesShapeOf(const Plan& plan, const TensorView& indexed, int axis) {
  const bool are_elements = plan.kind == Kind::kElements;
  return UpdatesShape(indexed, plan.shape, plan.entry_dims(), are_elements ? 0 : axis,
                      are_elements ? indexed.rank : plan.components);
}

Status CheckUpdatesShape(const Call& call, const UpdatesShape& expected, plan::Operand updates) {
  if (expected.Fits(*updates.view)) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "%s has shape %s, but the plan asks for %s", updates.name,
                   plan::ShapeText(*updates.view).c_str(),
                   plan::ListText(expected.dims, expected.rank).c_str());
}

// ---- Offsets ----

Layout::Layout(const Plan& plan, const TensorView& indexed, int axis, int64_t units)
    : rank(UpdatesRankOf(plan, indexed)) {
  const auto stride = [&](int i) { return StrideOf(indexed, i) * units; };
  int64_t entry = 1;
  if (plan.kind == Kind::kElements) {
    for (int i = rank - 1; i >= 0; --i) {
      dims[i] = {plan.shape[i], plan.is_inner[i] ? 0 : entry, i == axis ? 0 : stride(i)};
      if (!plan.is_inner[i]) entry *= plan.shape[i];
    }
    for (int i = 0; i < rank; ++i) {
      if (!plan.is_inner[i]) {
        destinations.Append(i == axis ? plan.extents[0] : plan.shape[i], stride(i));
      }
    }
    places.Append(plan.extents[0], stride(axis));
  } else {
    const int entry_dims = plan.entry_dims();
    for (int i = 0; i < indexed.rank; ++i) {
      if (i >= axis && i < axis + plan.components) {
        places.Append(plan.extents[i - axis], stride(i));
      } else {
        dims[i < axis ? i : i - plan.components + entry_dims] = {indexed.shape[i], 0, stride(i)};
      }
    }
    for (int i = entry_dims - 1; i >= 0; --i) {
      dims[axis + i] = {plan.shape[i], entry, 0};
      entry *= plan.shape[i];
    }
    destinations = places;
  }
  places.Finish();
  destinations.Finish();
}

plan::LoopNest<1> Layout::InnerLoops() const {
  plan::LoopNest<1> inner;
  for (int i = 0; i < rank; ++i) {
    if (dims[i].entry_stride == 0) inner.Append(dims[i].count, dims[i].indexed_stride);
  }
  inner.Canonicalise();
  return inner;
}

Numbering UpdatesOfEntries(const Layout& layout, const TensorView& updates, int64_t units) {
  Numbering numbering;
  for (int i = 0; i < layout.rank; ++i) {
    const Dim& dim = layout.dims[i];
    if (dim.entry_stride != 0) numbering.Append(dim.count, StrideIn(updates, i, units));
  }
  numbering.Finish();
  return numbering;
}

}  // namespace strew::prepared
