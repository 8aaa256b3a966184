// SPDX-License-Identifier: Apache-2.0
// Checks the tensors of a call with a plan, and describes where entries and destinations lie in
// them.
#ifndef STREW_PREPARED_OPERANDS_H_
#define STREW_PREPARED_OPERANDS_H_

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>

#include "base/call.h"
#include "base/checked.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/check.h"
#include "plan/loop_nest.h"
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

// Stands for the position of an update if an entry has none.
inline constexpr int64_t kNoUpdate = std::numeric_limits<int64_t>::min();

// Converts row-major numbers in a box of dims into offsets in units.
class Numbering {
 public:
  void Append(int64_t count, int64_t stride) { nest_.Append(count, stride); }
  // Must be called after the last Append().
  void Finish();
  bool is_line() const { return nest_.rank <= 1; }
  bool is_identity() const { return is_line() && stride() == 1; }
  // Consecutive numbers in each stretch of so many have consecutive offsets.
  int64_t LineLength() const {
    if (is_identity()) return std::numeric_limits<int64_t>::max();
    const plan::Loop<1>* const last = nest_.loop + nest_.rank - 1;
    return nest_.rank > 0 && last->stride[0] == 1 ? last->count : 1;
  }
  // True if all offsets are 0.
  bool is_zero() const { return is_line() && stride() == 0; }

  int64_t OffsetOf(int64_t number) const {
    if (nest_.rank == 0) return 0;
    int64_t offset = 0;
    for (int i = nest_.rank - 1; i > 0; --i) {
      const int64_t count = nest_.loop[i].count;
      offset += number % count * nest_.loop[i].stride[0];
      number /= count;
    }
    return offset + number * nest_.loop[0].stride[0];
  }
  // Distance between the offsets of neighbouring numbers. Requires is_line().
  int64_t stride() const { return nest_.rank == 0 ? 0 : nest_.loop[0].stride[0]; }
  // The least stride of the loops; 0 if there are none.
  uint64_t LeastStride() const {
    uint64_t least = nest_.rank == 0 ? 0 : Magnitude(nest_.loop[0].stride[0]);
    for (int i = 1; i < nest_.rank; ++i)
      least = std::min(least, Magnitude(nest_.loop[i].stride[0]));
    return least;
  }
  // Distance from the lowest to the highest offset.
  int64_t Span() const {
    int64_t span = 0;
    for (int i = 0; i < nest_.rank; ++i) {
      span += static_cast<int64_t>(Magnitude(nest_.loop[i].stride[0])) * (nest_.loop[i].count - 1);
    }
    return span;
  }
  // Replaces each of n numbers by its offset.
  void Resolve(int64_t* numbers, int64_t n) const;
  // The same, with kNoUpdate for -1.
  void ResolveMarked(int64_t* numbers, int64_t n) const;
  // Stores the offsets of numbers [first, first + n) of a list.
  void Locate(const Numbers& list, int64_t first, int64_t n, int64_t* offsets) const {
    list.Visit([&](const auto* numbers) { std::copy_n(numbers + first, n, offsets); });
    Resolve(offsets, n);
  }

 private:
  // True if there are two loops, whose numbers have 32 bits.
  bool MayDivideShort() const;
  // Calls body(offset_of) with a function that is faster than OffsetOf() for many numbers.
  template <class Body>
  void WithOffsetOf(const Body& body) const;

  plan::LoopNest<1> nest_;
};

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
