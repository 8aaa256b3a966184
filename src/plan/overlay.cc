// SPDX-License-Identifier: Apache-2.0
#include "plan/overlay.h"

#include <cassert>

namespace strew::plan {
namespace {

// True if one dim can replace both in all operands. If the slice takes one turn of the inner dim,
// its elements lie as far apart as the turns of the outer dim.
bool CanMerge(const OverlayDim& outer, const OverlayDim& inner) {
  const bool dense = outer.output_stride == inner.size * inner.output_stride &&
                     outer.data_stride == inner.size * inner.data_stride;
  if (!dense) return false;
  if (inner.slice.count == 1) return true;
  if (!inner.IsWhole()) return false;
  // A loop cannot skip the elements between two steps.
  if (outer.slice.count == 1) return true;
  return outer.slice.step == 1 && outer.updates_stride == inner.size * inner.updates_stride;
}

OverlayDim Merged(const OverlayDim& outer, const OverlayDim& inner) {
  OverlayDim merged = inner;
  merged.size *= outer.size;
  merged.slice.first += outer.slice.first * inner.size;
  merged.slice.count *= outer.slice.count;
  if (inner.slice.count == 1 && outer.slice.count > 1) {
    merged.slice.step = outer.slice.step * inner.size;
    merged.updates_stride = outer.updates_stride;
  }
  return merged;
}

}  // namespace

void OverlayPlan::Append(const OverlayDim& appended) {
  if (appended.size == 1) return;
  dim[rank] = appended;
  // A step that is never taken has no meaning.
  if (appended.slice.count == 1) dim[rank].slice.step = 1;
  ++rank;
}

void OverlayPlan::Straighten(OverlayDim* straight) {
  Slice& slice = straight->slice;
  if (straight->output_stride < 0) {
    output_base += (straight->size - 1) * straight->output_stride;
    data_base += (straight->size - 1) * straight->data_stride;
    straight->output_stride = -straight->output_stride;
    straight->data_stride = -straight->data_stride;
    slice.first = straight->size - 1 - slice.first;
    slice.step = -slice.step;
  }
  if (slice.step < 0) {
    updates_base += (slice.count - 1) * straight->updates_stride;
    straight->updates_stride = -straight->updates_stride;
    slice.first += (slice.count - 1) * slice.step;
    slice.step = -slice.step;
  }
  if (slice.count == 1) slice.step = 1;
}

void OverlayPlan::Merge() {
  if (rank < 2) return;
  int merged = 0;
  for (int i = 1; i < rank; ++i) {
    if (!CanMerge(dim[merged], dim[i])) {
      dim[++merged] = dim[i];
      continue;
    }
    dim[merged] = Merged(dim[merged], dim[i]);
  }
  rank = merged + 1;
}

bool OverlayPlan::Arrange() {
  for (int i = 0; i < rank; ++i) {
    OverlayDim straight = dim[i];
    Straighten(&straight);
    int place = i;
    for (; place > 0 && dim[place - 1].output_stride < straight.output_stride; --place) {
      dim[place] = dim[place - 1];
    }
    dim[place] = straight;
  }
  Merge();
  assert(rank > 0);
  const OverlayDim& line = dim[rank - 1];
  if (line.output_stride != 1 || line.data_stride != 1) return false;
  for (int i = 1; i < rank; ++i) {
    if (dim[i - 1].data_stride < dim[i].size * dim[i].data_stride) return false;
  }
  return true;
}

bool OverlayPlan::Restrict(int restricted, int64_t first, int64_t size) {
  OverlayDim& kept = dim[restricted];
  Slice& slice = kept.slice;
  output_base += first * kept.output_stride;
  data_base += first * kept.data_stride;
  kept.size = size;
  const int64_t before = slice.StepsBefore(first);
  const int64_t steps = slice.StepsBefore(first + size) - before;
  if (steps == 0) return false;
  updates_base += before * kept.updates_stride;
  slice.first += before * slice.step - first;
  slice.count = steps;
  return true;
}

}  // namespace strew::plan
