// SPDX-License-Identifier: Apache-2.0
#include "share/execute.h"

#include "plan/unit.h"
#include "share/boxes.h"
#include "base/cache_size.h"
#include "share/partition.h"
#include "share/parts.h"
#include "share/sample.h"
#include "walk/entries.h"
#include "share/filter.h"
#include "walk/kernels.h"

namespace strew::share {

using plan::Share;

plan::Circumstances CircumstancesOf(const Call& call, const walk::IndexedScatter& scatter,
                                    bool in_place, bool has_scratch) {
  const plan::Units units = plan::IndexedUnitsOf(scatter.output.element_size);
  plan::Circumstances about;
  about.width = units.width;
  about.output_units = scatter.output.size * units.count;
  about.updates = scatter.updates.size;
  about.update_size = scatter.updates.element_size;
  about.index_size = scatter.indices.element_size;
  about.workers = call.settings().runner.workers;
  about.cache_bytes = LastLevelCacheBytes();
  about.in_place = in_place;
  about.is_heavy = walk::IndexedKernelsFor(call, scatter.output, scatter.reduction).heavy;
  about.has_scratch = has_scratch;
  return about;
}

namespace {

plan::Schedule ScheduleOf(const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
                          const plan::Circumstances& about) {
  struct Source {
    const walk::IndexedScatter& scatter;
    const plan::IndexSpace& space;
    int64_t width;
  };
  const Source source = {scatter, space, about.width};
  const auto draw = [](const void* self, int64_t ranges, plan::Spread* spread) {
    const Source& from = *static_cast<const Source*>(self);
    DrawSpread(from.scatter, from.space, from.width, ranges, spread);
  };
  return plan::MakeSchedule(space, about, {draw, &source});
}

// Of all tasks.
int64_t ScratchBytes(const plan::IndexSpace& space, const plan::Schedule& schedule, int64_t width) {
  if (schedule.share != Share::kPartition) return schedule.staging.scratch_bytes * schedule.tasks;
  const int64_t ranges = schedule.ranges.count();
  return ranges * PartitionBytes(space, width, ranges);
}

// The filter is on the stack of this call alone.
[[gnu::noinline]] void RunFilter(const Call& call, const walk::IndexedScatter& scatter,
                                 const plan::IndexSpace& space, const plan::MemoryHints& hints,
                                 const plan::DestinationRange& range) {
  Filter filter(call, scatter, space, hints, range);
  walk::GiveSheets(call, scatter, space, filter.sink());
  filter.Finish();
}

// All of an index space, on one thread. What is dropped falls through a filter for all
// destinations.
void RunAlone(const Call& call, const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
              const plan::MemoryHints& hints, const plan::Staging& staging,
              unsigned char* scratch) {
  if (space.out_of_range == plan::OutOfRange::kDrop) {
    return RunFilter(call, scatter, space, hints, plan::kEverywhere);
  }
  walk::RunSheets(call, scatter, space, hints, staging, scratch);
}

// Each task has lanes, or columns of runs, and scratch of its own.
Status RunCut(const Call& call, const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
              const plan::Schedule& schedule, const plan::Staging& staging,
              unsigned char* scratch) {
  const plan::Cut& cut = schedule.cut;
  return ForEachPart(call, schedule.tasks, cut.parts(), [&](int64_t part, int64_t task) {
    plan::IndexSpace of_part = space;
    plan::RestrictToPart(cut, part, &of_part);
    unsigned char* const of_task =
        scratch == nullptr ? nullptr : scratch + task * staging.scratch_bytes;
    RunAlone(call, scatter, of_part, schedule.hints, staging, of_task);
  });
}

// Each task has a range of destinations.
Status RunRanges(const Call& call, const walk::IndexedScatter& scatter,
                 const plan::IndexSpace& space, const plan::Schedule& schedule,
                 unsigned char* scratch) {
  const plan::Ranges& ranges = schedule.ranges;
  if (schedule.share == Share::kPartition) {
    return RunPartition(call, scatter, space, schedule.hints, ranges, scratch);
  }
  return ForEachPart(call, ranges.count(), ranges.count(), [&](int64_t part, int64_t) {
    const plan::DestinationRange range = ranges.At(part);
    if (!range.IsEmpty()) RunFilter(call, scatter, space, schedule.hints, range);
  });
}

}  // namespace

Application::Application(const Call& call, const walk::IndexedScatter& scatter,
                         const plan::IndexSpace& space, bool in_place, Takes takes)
    : call_(call),
      about_(CircumstancesOf(call, scatter, in_place, takes == Takes::kScratch)),
      schedule_(ScheduleOf(scatter, space, about_)) {
  const int64_t bytes = ScratchBytes(space, schedule_, about_.width);
  Scratch(call, static_cast<size_t>(bytes)).Swap(&scratch_);
  if (bytes == 0 || scratch_.memory() != nullptr) return;
  about_.has_scratch = false;
  schedule_ = ScheduleOf(scatter, space, about_);
}

Status Application::Run(const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
                        bool in_place) const {
  unsigned char* const scratch = scratch_.memory();
  const bool by_ranges = schedule_.share == Share::kFilter || schedule_.share == Share::kPartition;
  plan::Staging staging = schedule_.staging;
  if (in_place != about_.in_place && !by_ranges) {
    plan::Circumstances about = about_;
    about.in_place = in_place;
    staging = plan::StagingFor(space, about, schedule_.tasks);
  }
  if (!in_place && !staging.copies_data) STREW_TRY(Copy(call_, scatter.data, scatter.output));
  if (by_ranges) return RunRanges(call_, scatter, space, schedule_, scratch);
  if (schedule_.share == Share::kCut) {
    return RunCut(call_, scatter, space, schedule_, staging, scratch);
  }
  RunAlone(call_, scatter, space, schedule_.hints, staging, scratch);
  return STREW_OK;
}

Status Apply(const Call& call, const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
             bool in_place) {
  const Application application(call, scatter, space, in_place, Application::Takes::kScratch);
  return application.Run(scatter, space, in_place);
}

}  // namespace strew::share
