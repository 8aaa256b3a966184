// SPDX-License-Identifier: Apache-2.0
// Makes schedules for entries and carries them out.
#include "share/share.h"

#include <algorithm>

#include "base/cache_size.h"
#include "plan/explain.h"
#include "share/filter.h"
#include "share/partition.h"
#include "share/parts.h"
#include "share/sample.h"
#include "walk/entries.h"

namespace strew::share {
namespace {

using plan::Share;
using walk::Scatter;

plan::Schedule ScheduleOf(const Scatter& scatter, const plan::Circumstances& about) {
  struct Source {
    const Scatter& scatter;
    const plan::Machine& machine;
  };
  const Source source = {scatter, about.machine};
  const auto draw = [](const void* self, int64_t ranges, plan::Spread* spread) {
    const Source& from = *static_cast<const Source*>(self);
    DrawSpread(from.scatter, from.machine, ranges, spread);
  };
  return plan::MakeSchedule(scatter.loops, about, {draw, &source});
}

// Bytes for all tasks together.
int64_t ScratchBytes(const Scatter& scatter, const plan::Schedule& schedule) {
  const int64_t tasks = schedule.tasks;
  if (schedule.share != Share::kPartition) return schedule.staging.scratch_bytes * tasks;
  return tasks * PartitionBytes(scatter.loops, scatter.width, tasks);
}

// Writes the entries of a range of destinations. A filter for all destinations leaves out dropped
// entries. Not inline, so that only this call has a filter on its stack.
[[gnu::noinline]] void RunFilter(const Scatter& scatter, const plan::MemoryHints& hints,
                                 const plan::DestinationRange& range) {
  if (range.IsEmpty()) return;
  Filter filter(scatter, hints, range);
  walk::GiveEntries(scatter, filter.sink());
  filter.Finish();
}

Status RunCut(const Scatter& scatter, const plan::Schedule& schedule, const plan::Staging& staging,
              unsigned char* scratch) {
  const plan::Cut& cut = schedule.cut;
  const bool drops = scatter.loops.out_of_range == plan::OutOfRange::kDrop;
  return ForEachPart(scatter.call, schedule.tasks, cut.parts(), [&](int64_t part, int64_t task) {
    plan::EntryLoops loops = scatter.loops;
    loops.Restrict(cut, part);
    unsigned char* const of_task =
        scratch == nullptr ? nullptr : scratch + task * staging.scratch_bytes;
    const Scatter of_part(scatter, loops);
    if (drops) return RunFilter(of_part, schedule.hints, plan::kEverywhere);
    walk::WriteEntries(of_part, schedule.hints, staging, of_task);
  });
}

Status RunFilters(const Scatter& scatter, const plan::Schedule& schedule) {
  return ForEachPart(scatter.call, schedule.tasks, schedule.tasks, [&](int64_t part, int64_t) {
    RunFilter(scatter, schedule.hints, schedule.ranges.At(part));
  });
}

// True if each row that the scatter writes begins and ends where cache lines do.
bool HasLines(const Scatter& scatter) {
  const plan::EntryLoops& loops = scatter.loops;
  int64_t units =
      loops.run.count | loops.row.stride[plan::kOutput] | loops.column.stride[plan::kOutput];
  for (int c = 0; c < loops.components; ++c) units |= loops.component[c].output_stride;
  for (int i = 0; i < loops.outer.rank; ++i) units |= loops.outer.loop[i].stride[plan::kOutput];
  for (int i = 0; i < loops.inner.rank; ++i) units |= loops.inner.loop[i].stride[plan::kOutput];
  const auto first = static_cast<int64_t>(reinterpret_cast<uintptr_t>(
      scatter.origin() + loops.inner.base[plan::kOutput] * scatter.width));
  return ((units * scatter.width) | first) % kCacheLine == 0;
}

// Most cache lines of the output that updates touch.
int64_t TouchedLines(const Scatter& scatter) {
  const walk::Operands& operands = scatter.operands;
  const plan::InnerLoop& run = scatter.loops.run;
  const int64_t units = operands.updates.size * (operands.output.element_size / scatter.width);
  if (run.stride[plan::kOutput] != 1) return units;
  const int64_t lines = run.count * scatter.width / kCacheLine + 2;
  return std::min(units, units / run.count * lines);
}

}  // namespace

plan::Circumstances CircumstancesOf(const Scatter& scatter, bool in_place, bool has_scratch) {
  const walk::Operands& operands = scatter.operands;
  return {plan::Machine(scatter.call),
          scatter.width,
          operands.output.size * (operands.output.element_size / scatter.width),
          operands.updates.size,
          operands.updates.element_size,
          scatter.index_size,
          in_place,
          SameStrides(operands.data, operands.output),
          scatter.kernels.heavy,
          scatter.reduction == STREW_NONE,
          HasLines(scatter),
          has_scratch};
}

Execution::Execution(const Scatter& scatter, bool in_place, bool may_have_scratch)
    : about_(CircumstancesOf(scatter, in_place, may_have_scratch)),
      schedule_(ScheduleOf(scatter, about_)) {
  const int64_t bytes = ScratchBytes(scatter, schedule_);
  Scratch(scatter.call, bytes).Swap(&scratch_);
  if (bytes != 0 && scratch_.memory() == nullptr) {
    about_.has_scratch = false;
    schedule_ = ScheduleOf(scatter, about_);
  }
  if (scatter.call.explains()) plan::Explain(scatter.call, scatter.loops, about_, schedule_);
}

Status Execution::Run(const Scatter& scatter, bool in_place) const {
  unsigned char* const scratch = scratch_.memory();
  const plan::Staging& staging = in_place ? schedule_.staging_in_place : schedule_.staging;
  if (!in_place && !staging.copies_data) {
    STREW_TRY(
        Copy(scatter.call, scatter.operands.data, scatter.operands.output, TouchedLines(scatter)));
  }
  switch (schedule_.share) {
    case Share::kPartition:
      return RunPartition(scatter, schedule_.hints, schedule_.ranges, scratch);
    case Share::kFilter:
      return RunFilters(scatter, schedule_);
    case Share::kCut:
      return RunCut(scatter, schedule_, staging, scratch);
    case Share::kAlone:
      break;
  }
  if (scatter.loops.out_of_range == plan::OutOfRange::kDrop) {
    RunFilter(scatter, schedule_.hints, plan::kEverywhere);
  } else {
    walk::WriteEntries(scatter, schedule_.hints, staging, scratch);
  }
  return STREW_OK;
}

// Not inline, because other callers of the room need no stack space for an execution.
[[gnu::noinline]] Status Execute(const Scatter& scatter, bool in_place) {
  return Execution(scatter, in_place).Run(scatter, in_place);
}

}  // namespace strew::share
