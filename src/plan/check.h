// SPDX-License-Identifier: Apache-2.0
// The checks that operators share, in the order of the numbered list in strew.h. They compare
// memory by address and never read it.
#ifndef STREW_PLAN_CHECK_H_
#define STREW_PLAN_CHECK_H_

#include <initializer_list>

#include "base/call.h"
#include "base/index_value.h"
#include "base/status.h"
#include "base/tensor_view.h"

namespace strew::plan {

// An operand and its name in error messages.
struct Operand {
  const char* name;
  const TensorView* view;
};
using Operands = std::initializer_list<Operand>;

// Line 1: handles are not NULL and bound to memory, the output is writable; the reduction is known.
Status CheckHandle(const Call& call, Operand operand);
Status CheckBound(const Call& call, Operands inputs, Operand output);
Status CheckReduction(const Call& call, strew_reduction reduction);

// Lines 2 and 3: all of `same` have one dtype, `indices` have integer dtypes, and the reduction is
// defined on the dtype of `same`.
Status CheckDtypes(const Call& call, Operands same, Operands indices, strew_reduction reduction);
Status CheckIndexDtype(const Call& call, Operand indices);

// The arguments of an operator with one tensor of indices, some of which may be NULL.
struct IndexedArguments {
  const TensorView* data;
  const TensorView* indices;
  const TensorView* updates;
  strew_reduction reduction;
  const TensorView* output;
};
// Lines 1 to 3 for such an operator.
Status CheckIndexedOperands(const Call& call, const IndexedArguments& arguments);

// Line 4: the operand has rank 1 or more; so has data, and output has the same rank.
Status CheckHasDims(const Call& call, Operand operand);
Status CheckDataRank(const Call& call, const TensorView& data, const TensorView& output);
Status CheckRank(const Call& call, Operand operand, int64_t rank);

// Line 5: the axis is in [-rank, rank - 1]. Stores it counted from the front. `entry` is its
// position in `axes`, or -1 for the attribute `axis`.
Status CheckAxis(const Call& call, IndexValue axis, int entry, int rank, int* normalised);

// Line 7. Requires operands of the same rank.
Status CheckSameShape(const Call& call, Operand operand, Operand expected);

// The shape that updates must have: `entries` in place of the dims [first, first + axes) of data.
struct UpdatesShape {
  UpdatesShape(const TensorView& data, const int64_t* entries, int entry_dims, int first,
               int axes) {
    for (int i = 0; i < first; ++i) dims[rank++] = data.shape[i];
    for (int i = 0; i < entry_dims; ++i) dims[rank++] = entries[i];
    for (int i = first + axes; i < data.rank; ++i) dims[rank++] = data.shape[i];
  }
  // Requires that the ranks agree, or that this one is 0: an update of one tuple may have any shape
  // with one element.
  bool Fits(const TensorView& updates) const {
    bool same = rank > 0 || updates.size == 1;
    for (int i = 0; i < rank; ++i) same = same && updates.shape[i] == dims[i];
    return same;
  }

  int rank = 0;
  int64_t dims[2 * kMaxRank];
};

// Line 8: no two elements of output share memory, and output overlaps no input unless it is `data`
// itself.
Status CheckIndexedMemory(const Call& call, const IndexedArguments& arguments);
Status CheckMemory(const Call& call, Operand data, Operands other_inputs, Operand output);

}  // namespace strew::plan

#endif  // STREW_PLAN_CHECK_H_
