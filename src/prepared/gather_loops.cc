// SPDX-License-Identifier: Apache-2.0
#include "prepared/gather_loops.h"

namespace strew::prepared {
namespace {

// Most entries of a row, and their bytes in all, that are gathered by runs although the turns of a
// run lie farther apart than entries. Rows of 2 and 3 entries of 1 and 2 bytes took 0.35 to 0.5 x
// the time of entries one by one, of 2 of 4 bytes and 3 of 8 bytes 1.3 and 1.5 x, of 5 and 15 of 1
// byte 1.6 x (Emerald Rapids).
constexpr int64_t kFewColumns = 4;
constexpr int64_t kFewBytes = 6;

}  // namespace

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
  if (column.count == 1) return true;
  if (column.count <= kFewColumns && column.count * units.width <= kFewBytes) return true;
  const plan::Loop<kInnerOperands>& innermost = inner.loop[inner.rank - 1];
  return static_cast<uint64_t>(innermost.stride[kInnerOutput]) <=
         Magnitude(column.stride[kGatheredOutput]);
}

// Columns that share cache lines of the output are cut only if other loops make too few parts.
plan::Cut GatherLoops::CutInto(int64_t parts, Cuts cuts) const {
  const int64_t line_of_columns = plan::LineGranule(column.stride[kGatheredOutput], units.width);
  const int64_t line_of_run = plan::LineGranule(run.stride[kInnerOutput], units.width);
  const int64_t turns = inner.rank > 0 ? inner.loop[0].count : 1;
  const int64_t pieces = cuts == Cuts::kAll ? std::max<int64_t>(run.count / line_of_run, 1) : 1;
  const bool share_lines = line_of_columns > 1 && turns * pieces >= parts;
  plan::Cut cut;
  for (int i = 0; i < entries.rank; ++i) cut.Append(entries.loop[i].count, 1, parts);
  cut.Append(column.count, cuts == Cuts::kNoColumns || share_lines ? column.count : line_of_columns,
             parts);
  if (inner.rank > 0) cut.Append(inner.loop[0].count, 1, parts);
  cut.Append(run.count, cuts == Cuts::kAll ? line_of_run : run.count, parts);
  return cut;
}

}  // namespace strew::prepared
