// SPDX-License-Identifier: Apache-2.0
// The plan of an overlay: a slice is laid over a copy of data in one pass over the output.
//
//   output[i] = data[i] (+) updates[(i - first) / step]   if i is in the slice, in every dim
//   output[i] = data[i]                                   elsewhere
#ifndef STREW_PLAN_OVERLAY_H_
#define STREW_PLAN_OVERLAY_H_

#include <cstdint>

#include "plan/loop_nest.h"
#include "plan/slice.h"

namespace strew::plan {

struct OverlayDim {
  int64_t size;
  Slice slice;            // of at least one element
  int64_t output_stride;  // in units, like those that follow
  int64_t data_stride;
  int64_t updates_stride;

  bool IsWhole() const { return slice.count == size; }
};

struct OverlayPlan {
  int rank = 0;
  OverlayDim dim[kMaxLoops];
  // Offset of the first element of each operand, in units from its data.
  int64_t output_base = 0;
  int64_t data_base = 0;
  int64_t updates_base = 0;

  // Size of the output in units.
  int64_t Size() const {
    int64_t size = 1;
    for (int i = 0; i < rank; ++i) size *= dim[i].size;
    return size;
  }

  // Appends an innermost dim, unless its size is 1.
  void Append(const OverlayDim& dim);

  // Makes output strides and steps positive, sorts dims by output stride, and merges them. Returns
  // false if output and data have different orders in memory or are not contiguous on the innermost
  // dim: then a copy and a second pass are faster.
  bool Arrange();

  // Keeps [first, first + size) of a dim. Returns false if it contains no element of the slice:
  // then the plan only copies data.
  bool Restrict(int dim, int64_t first, int64_t size);

 private:
  void Straighten(OverlayDim* dim);
  void Merge();
};

}  // namespace strew::plan

#endif  // STREW_PLAN_OVERLAY_H_
