// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule.h"

#include <algorithm>

namespace strew::plan {
namespace {

constexpr int64_t kLine = 64;

// ---- Lines and strips of an indexed axis ----

// Columns that fit scratch together with the whole axis; whole lines of cache, or none at all.
int64_t StripColumns(const IndexSpace& space, int64_t width, int64_t tasks) {
  const int64_t axis_size = space.component[0].axis_size;
  const int64_t fitting = MostScratch(tasks) / width / axis_size;
  const int64_t line = std::max<int64_t>(kLine / width, 1);
  const int64_t strip = std::min<int64_t>(fitting / line * line, kTuning.strip_bytes / width);
  return std::min(strip, space.column.count);
}

// Whether an axis spans so little that strips of it stay near without scratch, or lies in the
// output as it would in scratch.
bool IsNear(const IndexSpace& space, int64_t width, int64_t tasks) {
  const int64_t columns = space.column.count;
  const bool is_compact = space.column.stride[kOutput] == 1 &&
                          space.component[0].output_stride == columns &&
                          columns <= StripColumns(space, width, tasks);
  const int64_t axis_size = space.component[0].axis_size;
  return is_compact || axis_size <= kTuning.near_strip / std::max(kLine, columns * width);
}

// ---- Threads ----

// What one thread needs for the updates, about.
double Nanoseconds(const IndexSpace& space, const Circumstances& about, const Staging& staging) {
  const double updates = static_cast<double>(about.updates);
  const double entries = updates / static_cast<double>(space.run.count);
  const double copied = staging.copies_data ? static_cast<double>(about.output_units) : 0;
  const double bytes =
      updates * static_cast<double>(about.update_size) + copied * static_cast<double>(about.width);
  return entries * kTuning.ns_of_entry + 2 * bytes * kTuning.ns_of_byte;
}

// Lanes are cut, and runs of entries where there are not enough of them.
Cut CutFor(const IndexSpace& space, const Staging& staging, int64_t width, int64_t tasks) {
  const int64_t parts = PartsFor(tasks);
  Cut cut;
  for (int i = 0; i < space.outer_lanes; ++i) {
    const IndexedLoop& loop = space.outer.loop[i];
    cut.Append(loop.count, LineGranule(loop.stride[kOutput], width), parts);
  }
  if (space.rows_are_lanes) {
    cut.Append(space.row.count, LineGranule(space.row.stride[kOutput], width), parts);
  }
  if (space.columns_are_lanes) {
    const int64_t line = LineGranule(space.column.stride[kOutput], width);
    const bool by_strips =
        staging.strip > line && cut.parts() * (space.column.count / staging.strip) >= tasks;
    // Strips one by one, so that neighbours are worked on at the same time and share what the
    // memory has opened: 0.93 x the time of a few strips at once.
    cut.Append(space.column.count, by_strips ? staging.strip : line,
               by_strips ? std::max(parts, space.column.count) : parts);
  }
  // Every piece of a run costs another look at all indices: no more of them than tasks.
  for (int i = 0; i < space.inner.rank; ++i) {
    const InnerLoop& loop = space.inner.loop[i];
    cut.Append(loop.count, LineGranule(loop.stride[kOutput], width), tasks);
  }
  const int64_t granule = std::max<int64_t>(kTuning.least_run_piece / width,
                                            LineGranule(space.run.stride[kOutput], width));
  cut.Append(space.run.count, granule, tasks);
  return cut;
}

// True for single elements in one line, which can be partitioned by position.
bool CanPartition(const IndexSpace& space) {
  const bool single = space.run.count == 1 && space.inner.rank == 0;
  const bool line = space.outer.rank == 0 && space.row.count == 1 && space.lanes_count == 1;
  return single && line && space.components > 0;
}

// The fastest way by what entries cost: a filter costs each task something for every entry, a
// partition more but mostly for those of its share; then the entries of each range are written, and
// those that wait for memory wait. Not inline, so that the sample has left the stack when the
// entries are written.
[[gnu::noinline]] Share ShareByDestination(const IndexSpace& space, const Circumstances& about,
                                           const Sampler& sampler, int64_t tasks, Ranges* ranges) {
  Spread spread;
  sampler.draw(sampler.self, tasks, &spread);
  *ranges = Ranges(spread, tasks);
  if (space.run.count > 1 || space.inner.rank > 0) return Share::kFilter;
  const double write = about.is_heavy ? kTuning.heavy_write_ns : kTuning.write_ns;
  const double wait = MemoryHintsFor(space, about).prefetch == 0 ? 0 : kTuning.wait_ns;
  const double alone = kTuning.resolve_ns + write + spread.FarShare(0, spread.count()) * wait;
  const double own = ranges->MostCost(spread, write, wait);
  const int64_t streamed = 2 * StreamedBytes(about.cache_bytes, 1);
  const bool streams = about.updates >= streamed / (about.index_size + about.update_size);
  const double filter = kTuning.filter_ns + own + (streams ? kTuning.filter_stream_ns : 0);
  const double partition =
      kTuning.select_ns + kTuning.sort_ns / static_cast<double>(ranges->count()) + own;
  const bool can_partition = about.has_scratch && CanPartition(space);
  const double best = can_partition ? std::min(filter, partition) : filter;
  if (best > kTuning.worthwhile * alone) return Share::kAlone;
  return best < filter ? Share::kPartition : Share::kFilter;
}

}  // namespace

int64_t RowPrefetch(int64_t row_bytes) {
  return std::clamp<int64_t>(kTuning.row_prefetch_bytes / row_bytes, 2,
                             kTuning.element_prefetch / 2);
}

int64_t TasksFor(int64_t workers, double nanoseconds) {
  if (workers == 1 || nanoseconds < 2 * kTuning.least_task_ns) return 1;
  const double most = static_cast<double>(std::min(workers, kMostTasks));
  return static_cast<int64_t>(std::min(most, nanoseconds / kTuning.least_task_ns));
}

Staging StagingFor(const IndexSpace& space, const Circumstances& about, int64_t tasks) {
  Staging staging = kNoStaging;
  if (space.out_of_range == OutOfRange::kDrop) return staging;
  // A line is brought near once: no entries outside of the sheet may come back to it.
  const bool once = space.components == 1 && space.entries.rank == 0;
  if (!once || space.EntryUnits() > 1 || space.lanes_count == 1) return staging;
  const int64_t axis_size = space.component[0].axis_size;
  const bool covers = !about.in_place && space.lanes_count * axis_size == about.output_units;
  const int64_t axis_bytes = axis_size * about.width;
  if (!space.columns_are_lanes) {
    staging.copies_data =
        covers && axis_bytes >= kTuning.least_staged_line && axis_bytes <= kTuning.most_staged_line;
    return staging;
  }
  // strew.h promises that small calls allocate nothing.
  const bool is_small = space.lanes_count * space.row.count <= 64;
  // In place, a call costs no more than its updates do: most of the axis must be written anyway.
  const bool is_worthwhile = covers || space.row.count >= axis_size / 2;
  if (!about.has_scratch || is_small || !is_worthwhile || IsNear(space, about.width, tasks))
    return staging;
  staging.strip = StripColumns(space, about.width, tasks);
  staging.scratch_bytes = staging.strip * axis_bytes;
  staging.copies_data = covers && staging.strip > 0;
  return staging;
}

MemoryHints MemoryHintsFor(const IndexSpace& space, const Circumstances& about) {
  const int64_t run = space.run.count;
  MemoryHints hints;
  hints.prefetch = space.reach <= NearBytes(about.cache_bytes) / about.width ? 0
                   : run == 1 ? kTuning.element_prefetch
                              : RowPrefetch(run * about.width);
  hints.strip_prefetch = about.is_heavy ? kTuning.strip_prefetch : 0;
  hints.streams = run >= kTuning.least_streamed_row / about.width &&
                  about.updates >= StreamedBytes(about.cache_bytes, 1) / about.update_size;
  return hints;
}

namespace {

// What the tasks of a schedule do: each has lanes or pieces of runs where there are enough of them,
// else a range of destinations, unless one task is as fast.
void ShareOut(const IndexSpace& space, const Circumstances& about, const Sampler& sampler,
              Schedule* schedule) {
  schedule->staging = StagingFor(space, about, schedule->tasks);
  schedule->cut = CutFor(space, schedule->staging, about.width, schedule->tasks);
  schedule->share = Share::kCut;
  if (schedule->cut.parts() > schedule->tasks / 2) return;

  schedule->cut = {};
  schedule->share = ShareByDestination(space, about, sampler, schedule->tasks, &schedule->ranges);
  schedule->staging = kNoStaging;
  if (schedule->share != Share::kAlone) return;
  schedule->tasks = 1;
  schedule->staging = StagingFor(space, about, 1);
}

}  // namespace

Schedule MakeSchedule(const IndexSpace& space, const Circumstances& about, const Sampler& sampler) {
  Schedule schedule;
  schedule.hints = MemoryHintsFor(space, about);
  schedule.staging = StagingFor(space, about, 1);
  schedule.tasks = TasksFor(about.workers, Nanoseconds(space, about, schedule.staging));
  if (schedule.tasks > 1) ShareOut(space, about, sampler, &schedule);
  return schedule;
}

void RestrictToPart(const Cut& cut, int64_t part, IndexSpace* space) {
  int next = 0;
  const auto restrict_loop = [&](auto* loop, int64_t* base, int operands) {
    const Turns turns = cut.TurnsOf(part, next++);
    loop->count = turns.count;
    for (int o = 0; o < operands; ++o) base[o] += turns.first * loop->stride[o];
  };
  for (int i = 0; i < space->outer_lanes; ++i) {
    restrict_loop(&space->outer.loop[i], space->outer.base, kIndexedOperands);
  }
  if (space->columns_are_lanes) restrict_loop(&space->column, space->outer.base, kIndexedOperands);
  if (space->rows_are_lanes) restrict_loop(&space->row, space->outer.base, kIndexedOperands);
  for (int i = 0; i < space->inner.rank; ++i) {
    restrict_loop(&space->inner.loop[i], space->inner.base, kIndices);
  }
  restrict_loop(&space->run, space->inner.base, kIndices);
}

}  // namespace strew::plan
