// SPDX-License-Identifier: Apache-2.0
// Checks the tensors of a call with a plan, and describes where entries and destinations lie in
// them.
#ifndef STREW_PREPARED_OPERANDS_H_
#define STREW_PREPARED_OPERANDS_H_

#include <cassert>
#include <cstdint>

#include "base/call.h"
#include "base/checked.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/check.h"
#include "plan/loop_nest.h"
#include "prepared/numbering.h"
#include "prepared/plan.h"

namespace strew::prepared {

using plan::UpdatesShape;

// Checks, by line of the list of errors in strew.h. `indexed` is the tensor that the plan indexes.
// Line 4: ranks.
Status CheckIndexedRank(const Call& call, const Plan& plan, plan::Operand indexed);
int UpdatesRankOf(const Plan& plan, const TensorView& indexed);
Status CheckRanks(const Call& call, const Plan& plan, plan::Operand indexed, plan::Operand updates);
// Line 5: stores the first indexed axis.
Status CheckPlanAxis(const Call& call, const Plan& plan, const TensorView& indexed, int* axis);
// Line 7: the plan's extents, and the shape of updates.
Status CheckExtents(const Call& call, const Plan& plan, plan::Operand indexed, int axis);
UpdatesShape UpdatesShapeOf(const Plan& plan, const TensorView& indexed, int axis);
Status CheckUpdatesShape(const Call& call, const UpdatesShape& expected, plan::Operand updates);

// A dim of updates, as the plan sees it.
struct Dim {
  int64_t count;
  int64_t entry_stride;    // of the numbers of entries; 0 for inner turns
  int64_t indexed_stride;  // in the indexed tensor, in units; offsets of places are added
};

// The dims of a call's updates, and the offsets of places and destinations in the indexed tensor.
// An element has `units` units.
struct Layout {
  int rank;
  Dim dims[2 * kMaxRank];
  Numbering places;        // without regard to batches
  Numbering destinations;  // with them

  Layout(const Plan& plan, const TensorView& indexed, int axis, int64_t units);
  // Loops over the elements of an entry, in the indexed tensor.
  plan::LoopNest<1> InnerLoops() const;
};

// Stride of a dim of updates. Updates of rank 0, which may have any shape with one element, have no
// dims here.
inline int64_t StrideIn(const TensorView& updates, int dim, int64_t units) {
  assert(dim < updates.rank);
  return StrideOf(updates, dim) * units;
}

// Not in int64_t: a broadcast tensor may have more elements than any memory.
inline double BytesOf(const TensorView& tensor) {
  return static_cast<double>(tensor.size) * static_cast<double>(tensor.element_size);
}

// Converts the numbers of entries into the offsets of their updates in units.
Numbering UpdatesOfEntries(const Layout& layout, const TensorView& updates, int64_t units);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_OPERANDS_H_
