// SPDX-License-Identifier: Apache-2.0
#include "plan/staging.h"

#include <algorithm>

#include "plan/tuning.h"

namespace strew::plan {
namespace {

constexpr int64_t kLine = 64;

// Columns that fit scratch together with the whole axis; whole lines of cache, or none at all.
int64_t StripColumns(const IndexedPlan& plan, int64_t width, int64_t tasks) {
  const int64_t axis_size = plan.component[0].axis_size;
  const int64_t fitting = MostScratch(tasks) / width / axis_size;
  const int64_t line = std::max<int64_t>(kLine / width, 1);
  const int64_t strip = std::min<int64_t>(fitting / line * line, kTuning.strip_bytes / width);
  return std::min(strip, plan.column.count);
}

}  // namespace

Staging StagingOf(const IndexedPlan& plan, int64_t width, int64_t units, bool in_place,
                  int64_t tasks) {
  Staging staging = kNoStaging;
  // A line is brought near once: no entries outside of the sheet may come back to it.
  const bool once = plan.components == 1 && plan.entries.rank == 0;
  if (!once || plan.EntryUnits() > 1 || plan.lanes_count == 1) return staging;
  const bool covers = !in_place && plan.lanes_count * plan.component[0].axis_size == units;
  const int64_t axis_size = plan.component[0].axis_size;
  const int64_t axis_bytes = axis_size * width;
  if (!plan.columns_are_lanes) {
    staging.copies_data =
        covers && axis_bytes >= kTuning.least_staged_line && axis_bytes <= kTuning.most_staged_line;
    return staging;
  }
  // strew.h promises that small calls allocate nothing.
  const bool small = plan.lanes_count * plan.row.count <= 64;
  // In place, a call costs no more than its updates do: most of the axis must be written anyway.
  const bool worthwhile = covers || plan.row.count >= axis_size / 2;
  // Columns and axis may lie together in the output already, as they would in scratch.
  const bool compact = plan.column.stride[kOutput] == 1 &&
                       plan.component[0].output_stride == plan.column.count &&
                       plan.column.count <= StripColumns(plan, width, tasks);
  const bool near =
      compact || axis_size <= kTuning.near_strip / std::max(kLine, plan.column.count * width);
  if (small || near || !worthwhile) return staging;
  staging.strip = StripColumns(plan, width, tasks);
  staging.scratch_bytes = staging.strip * axis_bytes;
  staging.copies_data = covers && staging.strip > 0;
  return staging;
}

}  // namespace strew::plan
