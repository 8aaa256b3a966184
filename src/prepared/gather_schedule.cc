// SPDX-License-Identifier: Apache-2.0
// How a gather runs.
#include <algorithm>

#include "base/checked.h"
#include "plan/pass.h"
#include "prepared/gather_loops.h"
#include "prepared/same_rows.h"
#include "prepared/schedule.h"
#include "prepared/short_gather.h"

namespace strew::prepared {

using plan::Machine;
using plan::Tuning;

namespace {

bool IsNear(const Machine& machine, const GatherLoops& loops) {
  return loops.source_bytes <= plan::NearBytes(machine);
}

// True if runs that use only a part of each cache line of an operand share these lines.
bool RunsShareLines(const GatherLoops& loops, int operand, uint64_t entry_stride) {
  const int64_t width = loops.units.width;
  if (!plan::AreLinesApart(loops.run.stride[operand], width)) return false;
  if (!plan::AreLinesApart(entry_stride, width)) return true;
  for (int i = 0; i < loops.inner.rank; ++i) {
    if (!plan::AreLinesApart(loops.inner.loop[i].stride[operand], width)) return true;
  }
  return false;
}

bool RunsShareLines(const GatherLoops& loops) {
  if (loops.column.count == 1 && loops.inner.rank == 0) return false;
  return RunsShareLines(loops, kInnerSource, loops.layout.places.LeastStride()) ||
         RunsShareLines(loops, kInnerOutput, Magnitude(loops.column.stride[kGatheredOutput]));
}

// True if, as far as the innermost loop of entries tells, none of them lies between the elements of
// another.
bool LieApart(const GatherLoops& loops) {
  const uint64_t output = Magnitude(loops.column.stride[kGatheredOutput]);
  const uint64_t source = loops.layout.places.LeastStride();
  for (int i = 0; i < loops.inner.rank; ++i) {
    const auto& stride = loops.inner.loop[i].stride;
    if (Magnitude(stride[kInnerOutput]) > output || Magnitude(stride[kInnerSource]) > source) {
      return false;
    }
  }
  // In the output, runs have the smallest strides of all inner loops.
  return Magnitude(loops.run.stride[kInnerSource]) <= source;
}

// True if each entry is gathered by itself, in the order of memory.
bool AreBoxes(const Tuning& tuning, const GatherLoops& loops) {
  if (!loops.MayBeBoxes() || loops.inner.rank == 0) return false;
  if (loops.EntryUnits() * loops.units.width < tuning.least_gathered_box) return false;
  if (loops.column.count == 1 || LieApart(loops)) return true;
  const int64_t width = loops.units.width;
  const bool share_source = !plan::AreLinesApart(loops.layout.places.LeastStride(), width);
  const bool share_output = !plan::AreLinesApart(loops.column.stride[kGatheredOutput], width);
  return !(share_source && loops.source_bytes > tuning.near_gathered) &&
         !(share_output && loops.output_bytes > tuning.near_gathered);
}

// True if contiguous rows of a few elements, with the same places in each row, make contiguous rows
// of the output. There must be nothing between rows of the source, because vectors read all of it.
bool MayShuffle(const Tuning& tuning, const Plan& plan, const GatherLoops& loops) {
  const plan::Loop<kGatherOperands>& column = loops.column;
  if (plan.has_dropped() || loops.entries.rank > 0 || loops.inner.rank == 0) return false;
  const int64_t row = plan.NumberOfPlaces(), run = loops.run.count;
  const int64_t bytes = run * loops.units.width;
  if (bytes % int64_t{sizeof(uint32_t)} != 0 || bytes > plan::kMostWidth) return false;
  if (row > tuning.longest_shuffled_row / bytes || column.count > kMostSameColumns) return false;
  if (loops.layout.places.stride() != run || column.stride[kGatheredOutput] != run) return false;
  if (column.stride[kGatheredSource] != 0) return false;
  const plan::Loop<kInnerOperands>& rows = loops.inner.loop[loops.inner.rank - 1];
  return rows.stride[kInnerSource] == row * run &&
         rows.stride[kInnerOutput] == column.count * run &&
         rows.count * column.count >= tuning.least_shuffled;
}

// True if the elements of short runs lie apart, within a few cache lines of the source.
bool AreShortRunsApart(const Machine& machine, const GatherLoops& loops) {
  constexpr int64_t kMostBytes = 1024;
  const Tuning& tuning = machine.tuning;
  const int64_t longest =
      IsNear(machine, loops) ? tuning.longest_run_apart : tuning.longest_far_run_apart;
  if (!loops.layout.places.is_line() || loops.run.count > longest) return false;
  const int64_t most_step = kMostBytes / (loops.run.count * loops.units.width);
  const uint64_t step = Magnitude(loops.run.stride[kInnerSource]);
  return step != 0 && step <= static_cast<uint64_t>(most_step);
}

// True if elements are gathered from few rows, each of which the hardware prefetches.
bool AreFewRows(const Tuning& tuning, const Plan& plan, const GatherLoops& loops) {
  return loops.EntryUnits() == 1 && loops.column.stride[kGatheredSource] == 1 &&
         plan.NumberOfPlaces() <= tuning.most_gathered_rows;
}

// True if neighbouring entries read the same run, which stays in the caches: 30,000 rows of 200
// bytes took 0.65 times the time without prefetch (Zen 5).
bool RepeatsOneRun(const Plan& plan, const GatherLoops& loops) {
  return plan.names_one_place && loops.column.stride[kGatheredSource] == 0;
}

// True if single elements of short loops are taken as one.
bool AreShortLoops(const Machine& machine, const Plan& plan, const GatherLoops& loops) {
  if (loops.EntryUnits() > 1 || plan.has_dropped() || !loops.layout.places.is_line()) return false;
  if (!IsNear(machine, loops)) return false;
  EntryNest nest = loops.entries;
  nest.loop[nest.rank++] = loops.column;
  FlatEntries flat;
  return FlattenEntries(machine.tuning, nest, &flat);
}

Way WayOfGather(const Machine& machine, const Plan& plan, const GatherLoops& loops) {
  const Tuning& tuning = machine.tuning;
  const bool is_contiguous = loops.run.stride[kInnerOutput] == 1;
  const bool are_runs =
      loops.layout.places.is_line() && is_contiguous && loops.run.stride[kInnerSource] == 1;
  if (are_runs && MayShuffle(tuning, plan, loops)) return Way::kShuffles;
  if (are_runs && loops.run.count > 1) return Way::kRuns;
  if (AreShortLoops(machine, plan, loops)) return Way::kShortLoops;
  if (AreBoxes(tuning, loops)) return Way::kBoxes;
  if (are_runs || AreShortRunsApart(machine, loops)) return Way::kRuns;
  const bool lie_together =
      is_contiguous && loops.column.stride[kGatheredOutput] == loops.run.count;
  return lie_together && loops.run.count <= tuning.longest_run_of_elements ? Way::kElements
                                                                           : Way::kRows;
}

// The estimated time of one thread.
double TimeOfGather(const Tuning& tuning, const Plan& plan, const GatherLoops& loops) {
  const int64_t units = loops.EntryUnits();
  const bool are_runs = loops.run.count > 1 && loops.run.stride[kInnerOutput] == 1 &&
                        loops.run.stride[kInnerSource] == 1;
  double of_entry = static_cast<double>(units * loops.units.width) * tuning.ns_of_gathered_byte;
  if (!are_runs && units > 1) {
    const double of_units = 2 * tuning.ns_of_strided_element * static_cast<double>(units);
    of_entry = std::max(of_entry, of_units);
  }
  return static_cast<double>(plan.entries) * (tuning.ns_of_gathered_entry + of_entry);
}

}  // namespace

PlanSchedule ScheduleGather(const Machine& machine, const Plan& plan, const GatherLoops& loops) {
  const Tuning& tuning = machine.tuning;
  PlanSchedule schedule;
  schedule.way = WayOfGather(machine, plan, loops);
  schedule.pass = plan::PassFor(machine, TimeOfGather(tuning, plan, loops));
  schedule.rows.piece = loops.run.count;
  schedule.rows.has_pieces = schedule.way == Way::kRows && RunsShareLines(loops) &&
                             loops.run.count > tuning.near_group_turns;
  if (schedule.rows.has_pieces) schedule.rows.piece = std::max<int64_t>(tuning.near_group_turns, 1);
  const bool prefetches = !IsNear(machine, loops) && schedule.way != Way::kBoxes &&
                          !AreFewRows(tuning, plan, loops) && !RepeatsOneRun(plan, loops);
  const int64_t run_bytes = schedule.rows.piece * loops.units.width;
  schedule.prefetch =
      prefetches ? std::min(plan::RowPrefetch(tuning, run_bytes), kMostGatherAhead) : 0;
  // Runs of boxes have gaps behind them.
  const int64_t least_streamed =
      schedule.way == Way::kBoxes ? tuning.least_streamed_row_with_gaps : tuning.least_streamed_row;
  schedule.streams = loops.run.stride[kInnerOutput] == 1 && run_bytes >= least_streamed &&
                     !schedule.rows.has_pieces &&
                     loops.output_bytes >= plan::StreamedBytes(machine, schedule.pass.tasks);
  return schedule;
}

}  // namespace strew::prepared
