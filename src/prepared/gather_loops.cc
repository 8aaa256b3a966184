// SPDX-License-Identifier: Apache-2.0
#include "prepared/gather_loops.h"

namespace strew::prepared {

GatherLoops::GatherLoops(const Plan& plan, const TensorView& source, int axis,
                         const TensorView& output)
    : units(plan::IndexedUnitsOf(output.element_size)),
      layout(plan, source, axis, units.count),
      // Dims of stride 0 have more elements than bytes.
      source_bytes(source.highest - source.lowest),
      output_bytes(output.size * output.element_size) {
  for (int i = 0; i < layout.rank; ++i) {
    const Dim& dim = layout.dims[i];
    const int64_t stride = StrideIn(output, i, units.count);
    if (dim.entry_stride != 0) {
      entries.Append(dim.count, dim.entry_stride, stride, dim.indexed_stride);
    } else {
      inner.Append(dim.count, stride, dim.indexed_stride);
    }
  }
  inner.Append(units.count, 1, 1);
  entries.Merge();
  inner.Canonicalise();
  column = entries.PopInnermost();
  if (HasRun()) run = inner.PopInnermost();
  if (run.count == 1) run = {1, {1, 1}};
}

bool GatherLoops::HasRun() const {
  if (inner.rank == 0) return false;
  const plan::Loop<kInnerOperands>& innermost = inner.loop[inner.rank - 1];
  return column.count == 1 || static_cast<uint64_t>(innermost.stride[kInnerOutput]) <=
                                  Magnitude(column.stride[kGatheredOutput]);
}

int64_t GatherLoops::EntryUnits() const {
  int64_t of_entry = run.count;
  for (int i = 0; i < inner.rank; ++i) of_entry *= inner.loop[i].count;
  return of_entry;
}

plan::Cut GatherLoops::CutInto(int64_t parts) const {
  plan::Cut cut;
  for (int i = 0; i < entries.rank; ++i) cut.Append(entries.loop[i].count, 1, parts);
  cut.Append(column.count, plan::LineGranule(column.stride[kGatheredOutput], units.width), parts);
  if (inner.rank > 0) cut.Append(inner.loop[0].count, 1, parts);
  return cut;
}

}  // namespace strew::prepared
