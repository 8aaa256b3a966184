// SPDX-License-Identifier: Apache-2.0
// Describes a call of an operator as an index space. The indices of a plan are lowered in the same
// way, because the plan keeps an index tensor.
#ifndef STREW_PLAN_LOWER_H_
#define STREW_PLAN_LOWER_H_

#include "base/tensor_view.h"
#include "plan/index_space.h"

namespace strew::plan {

// k, the length of the tuples of scatter_nd; 0 if there are no dims.
inline int64_t TupleLength(const TensorView& indices) {
  return indices.rank == 0 ? 0 : indices.shape[indices.rank - 1];
}

// The space of scatter_elements: dims of indices are those of output.
void LowerElements(const TensorView& data, const TensorView& indices, const TensorView& updates,
                   const TensorView& output, int axis, IndexSpace* space);

// Appends the loops of scatter_update and scatter_nd, whose components the caller appends. All of
// the first `entry_dims` dims of indices are entries. In updates they stand for the dims
// [first, first + axes) of output; its other dims are inner.
void LowerSlices(const TensorView& indices, int entry_dims, const TensorView& updates,
                 const TensorView& output, int first, int axes, IndexSpace* space);

}  // namespace strew::plan

#endif  // STREW_PLAN_LOWER_H_
