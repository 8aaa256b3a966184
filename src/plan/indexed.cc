// SPDX-License-Identifier: Apache-2.0
#include "plan/indexed.h"

#include "base/checked.h"

namespace strew::plan {

void IndexedPlan::AppendComponent(int axis, const TensorView& output, int64_t units,
                                  int64_t indices_base) {
  const int64_t size = output.shape[axis];
  // Strides of dims <= 1 mean nothing and may be anything.
  const int64_t stride = size > 1 ? output.strides[axis] * units : 0;
  component[components++] = {axis, size, stride, indices_base};
}

void IndexedPlan::Arrange() {
  entries.Merge();
  lanes.Canonicalise();
  inner.Canonicalise();
  run = inner.PopInnermost();
  ChooseSheet();
  offsets_fit_32 = OffsetsFit32();
}

void IndexedPlan::ChooseSheet() {
  const IndexedLoop entry = entries.PopInnermost();
  columns_are_lanes = false;
  column = entry;
  if (lanes.rank == 0) {
    row = entries.PopInnermost();
  } else {
    row = lanes.PopInnermost();
    // The columns are the direction in which writes lie closer together. Where an entry is a whole
    // run there is nothing to choose.
    const bool lanes_are_closer =
        Magnitude(row.stride[kOutput]) < Magnitude(component[0].output_stride);
    if (entry.count == 1 || (run.count == 1 && lanes_are_closer)) {
      columns_are_lanes = true;
      column = row;
      row = entry;
    }
  }
  outer.rank = 0;
  for (int o = 0; o < kIndexedOperands; ++o) outer.base[o] = lanes.base[o];
  for (int i = 0; i < lanes.rank; ++i) outer.loop[outer.rank++] = lanes.loop[i];
  for (int i = 0; i < entries.rank; ++i) outer.loop[outer.rank++] = entries.loop[i];
}

bool IndexedPlan::OffsetsFit32() const {
  // Each product is at most the byte extent of the output, and so is their sum.
  int64_t span = (row.count - 1) * static_cast<int64_t>(Magnitude(row.stride[kOutput])) +
                 (column.count - 1) * static_cast<int64_t>(Magnitude(column.stride[kOutput]));
  for (int c = 0; c < components; ++c) {
    const int64_t last = component[c].axis_size - 1;
    if (last > 0) span += last * static_cast<int64_t>(Magnitude(component[c].output_stride));
  }
  return span <= INT32_MAX;
}

}  // namespace strew::plan
