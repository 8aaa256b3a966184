// SPDX-License-Identifier: Apache-2.0
// The plan of a slice laid over a copy of data, so that the output is gone through once:
//
//   output[i] = data[i] (+) updates[(i - first) / step]   where i is in the slice, in every dim
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
  // Where the first element of each lies, in units from its data.
  int64_t output_base = 0;
  int64_t data_base = 0;
  int64_t updates_base = 0;

  // Of the output, in units.
  int64_t Size() const {
    int64_t size = 1;
    for (int i = 0; i < rank; ++i) size *= dim[i].size;
    return size;
  }

  // Adds an innermost dim.
  void Append(const OverlayDim& dim);

  // Makes strides of output and steps positive, sorts the dims by the former, and merges. False
  // where output and data do not go through memory alike, line by line: then a copy and a second
  // pass do better.
  bool Arrange();

  // Keeps what lies at [first, first + size) of a dim. False where nothing of the slice does: the
  // plan is then one of `data` alone.
  bool Restrict(int dim, int64_t first, int64_t size);

 private:
  void Straighten(OverlayDim* dim);
  void Merge();
};

}  // namespace strew::plan

#endif  // STREW_PLAN_OVERLAY_H_
