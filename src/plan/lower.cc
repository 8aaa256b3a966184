// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.h"

#include "plan/unit.h"

namespace strew::plan {

void LowerElements(const TensorView& data, const TensorView& indices, const TensorView& updates,
                   const TensorView& output, int axis, IndexSpace* space) {
  const int64_t units = IndexedUnitsOf(output.element_size).count;
  space->AppendComponent(axis, data, output, units, 0);
  space->entry_dim = axis;
  for (int i = 0; i < output.rank; ++i) {
    const int64_t count = indices.shape[i];
    const int64_t output_stride = StrideOf(output, i) * units;
    const int64_t updates_stride = StrideOf(updates, i) * units;
    const int64_t indices_stride = StrideOf(indices, i);
    if (i == axis) {
      space->entries.Append(count, 0, updates_stride, indices_stride, 0);
    } else if (indices_stride == 0) {
      space->inner.Append(count, output_stride, updates_stride);
    } else {
      space->batch.Append(count, output_stride, updates_stride, indices_stride,
                          StrideOf(data, i) * units);
      // The stride is not 0, so Append() has kept the loop.
      if (i > axis) ++space->minor_batch_loops;
    }
  }
  space->inner.Append(units, 1, 1);
}

void LowerSlices(const TensorView& indices, int entry_dims, const TensorView& updates,
                 const TensorView& output, int first, int axes, IndexSpace* space) {
  const int64_t units = IndexedUnitsOf(output.element_size).count;
  for (int i = 0; i < entry_dims; ++i) {
    space->entries.Append(indices.shape[i], 0, StrideOf(updates, first + i) * units,
                          StrideOf(indices, i), 0);
  }
  for (int i = 0; i < output.rank; ++i) {
    if (i >= first && i < first + axes) continue;
    const int in_updates = i < first ? i : i - axes + entry_dims;
    space->inner.Append(output.shape[i], StrideOf(output, i) * units,
                        StrideOf(updates, in_updates) * units);
  }
  space->inner.Append(units, 1, 1);
}

}  // namespace strew::plan
