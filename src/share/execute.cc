// SPDX-License-Identifier: Apache-2.0
// Makes schedules for entries and carries them out.
#include "share/share.h"

#include <algorithm>

#include "base/cache_size.h"
#include "base/checked.h"
#include "base/index_value.h"
#include "plan/explain.h"
#include "share/filter.h"
#include "share/partition.h"
#include "share/parts.h"
#include "walk/entries.h"

namespace strew::share {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::Share;
using walk::Scatter;

// ---- Schedules ----

// Finds the destinations of entries by their number.
class Locator {
 public:
  explicit Locator(const Scatter& scatter) : scatter_(scatter), loops_(scatter.loops) {}

  // The destination of an entry, in units from the origin of the loops. Indices out of range are
  // clamped.
  int64_t DestinationOf(int64_t entry) const {
    int64_t destination = 0;
    int64_t index = loops_.outer.base[kIndices];
    const auto take_turn = [&](const plan::IndexedLoop& loop) {
      const int64_t turn = entry % loop.count;
      entry /= loop.count;
      destination += turn * loop.stride[kOutput];
      index += turn * loop.stride[kIndices];
    };
    take_turn(loops_.column);
    take_turn(loops_.row);
    for (int i = loops_.outer.rank - 1; i >= 0; --i) take_turn(loops_.outer.loop[i]);
    for (int c = 0; c < loops_.components; ++c) {
      const plan::Component& component = loops_.component[c];
      destination +=
          IndexAt(index + component.indices_base, component.axis_size) * component.output_stride;
    }
    return destination;
  }

 private:
  int64_t IndexAt(int64_t at, int64_t axis_size) const {
    const int64_t value = ReadIndexAt(scatter_.operands.indices, at).value;
    return ClampedIndex(WrappedIndex(value, axis_size, /*wraps=*/true), axis_size);
  }

  const Scatter& scatter_;
  const plan::EntryLoops& loops_;
};

// Samples are drawn at random distances, because those at equal distances might all hit the same
// position of a pattern that repeats.
uint64_t NextRandom(uint64_t random) {
  return random * 6364136223846793005u + 1442695040888963407u;
}

// A plan::Sampler of a scatter.
void DrawSpread(const void* self, int64_t ranges, plan::Spread* spread) {
  const Scatter& scatter = *static_cast<const Scatter*>(self);
  const Locator locator(scatter);
  const plan::Tuning& tuning = scatter.tuning;
  const int64_t entries = scatter.loops.Entries();
  const int64_t count = plan::Spread::CountFor(tuning, entries, ranges);
  const int64_t distance = std::max<int64_t>(entries / count, 1);
  int64_t followed = 0;
  uint64_t random = 1;
  for (int64_t i = 0; i < count; ++i) {
    random = NextRandom(random);
    const int64_t within = static_cast<int64_t>((random >> 33) % static_cast<uint64_t>(distance));
    const int64_t entry = (i * distance + within) % entries;
    const int64_t destination = locator.DestinationOf(entry);
    const int64_t step = locator.DestinationOf((entry + 1) % entries) - destination;
    followed += static_cast<int64_t>(Magnitude(step)) <= tuning.page / scatter.width ? 1 : 0;
    spread->Add(destination);
  }
  spread->Finish(1 - static_cast<double>(followed) / static_cast<double>(count),
                 plan::NearBytesOfElements(plan::Machine(scatter.call)) / scatter.width);
}

plan::Schedule ScheduleOf(const Scatter& scatter, const plan::Circumstances& about) {
  return plan::MakeSchedule(scatter.loops, about, {DrawSpread, &scatter});
}

// Bytes for all tasks together.
int64_t ScratchBytes(const Scatter& scatter, const plan::Schedule& schedule) {
  const int64_t tasks = schedule.tasks;
  if (schedule.share != Share::kPartition) return schedule.staging.scratch_bytes * tasks;
  return tasks * PartitionBytes(scatter.loops, scatter.width, tasks);
}

// True if each row that the scatter writes begins and ends where cache lines do.
bool HasLines(const Scatter& scatter) {
  const plan::EntryLoops& loops = scatter.loops;
  int64_t units = loops.run.count | loops.row.stride[kOutput] | loops.column.stride[kOutput];
  for (int c = 0; c < loops.components; ++c) units |= loops.component[c].output_stride;
  for (int i = 0; i < loops.outer.rank; ++i) units |= loops.outer.loop[i].stride[kOutput];
  for (int i = 0; i < loops.inner.rank; ++i) units |= loops.inner.loop[i].stride[kOutput];
  const auto first = static_cast<int64_t>(
      reinterpret_cast<uintptr_t>(scatter.origin() + loops.inner.base[kOutput] * scatter.width));
  return ((units * scatter.width) | first) % kCacheLine == 0;
}

// Most cache lines of the output that updates touch. Not computed in int64_t: broadcast updates may
// have more units than any memory.
int64_t TouchedLines(const Scatter& scatter) {
  constexpr double kMost = 0x1p62;
  const walk::Operands& operands = scatter.operands;
  const plan::InnerLoop& run = scatter.loops.run;
  const int64_t units_of_element = operands.output.element_size / scatter.width;
  const double units =
      static_cast<double>(operands.updates.size) * static_cast<double>(units_of_element);
  if (run.stride[kOutput] != 1) return static_cast<int64_t>(std::min(units, kMost));
  const int64_t lines_of_run = run.count * scatter.width / kCacheLine + 2;
  const double lines_of_runs =
      units / static_cast<double>(run.count) * static_cast<double>(lines_of_run);
  return static_cast<int64_t>(std::min({units, lines_of_runs, kMost}));
}

// The dims of the box that the loops of a scatter may span in its output, from the first element
// on: indices of scatter_elements may be smaller than data in the dims before the axis. Returns the
// number of its units; a schedule compares it with plan::PieceUnits().
int64_t FindSpan(const Scatter& scatter, int64_t* shape) {
  const TensorView& output = scatter.operands.output;
  const TensorView& updates = scatter.operands.updates;
  const plan::EntryLoops& loops = scatter.loops;
  const bool may_be_part = loops.components == 1 && updates.rank == output.rank;
  int64_t units = output.element_size / scatter.width;
  for (int i = 0; i < output.rank; ++i) {
    const bool is_part = may_be_part && i < loops.component[0].axis;
    shape[i] = is_part ? std::min(updates.shape[i], output.shape[i]) : output.shape[i];
    units *= shape[i];
  }
  return units;
}

// The inputs of a schedule that may allocate scratch.
plan::Circumstances CircumstancesOf(const Scatter& scatter) {
  const walk::Operands& operands = scatter.operands;
  const bool in_place = SameElements(operands.data, operands.output);
  int64_t span[kMaxRank];
  return {plan::Machine(scatter.call),
          scatter.width,
          operands.output.size * (operands.output.element_size / scatter.width),
          operands.updates.size,
          operands.updates.element_size,
          scatter.index_size,
          in_place,
          in_place ? 0 : FindSpan(scatter, span),
          in_place ? 0 : TouchedLines(scatter),
          in_place || SameStrides(operands.data, operands.output),
          scatter.kernels.heavy,
          scatter.reduction == STREW_NONE,
          HasLines(scatter),
          /*has_scratch=*/true,
          scatter.FitsVector()};
}

// ---- Execution ----

// Copies the elements of data that lie outside the box that the loops span. Not inline, because
// other calls need no stack space for tensors.
[[gnu::noinline]] Status CopyRest(const Scatter& scatter) {
  int64_t span[kMaxRank];
  FindSpan(scatter, span);
  TensorView data = scatter.operands.data, output = scatter.operands.output;
  data.contiguous = output.contiguous = false;
  // Slabs behind the box along one dim after the other.
  for (int i = 0; i < output.rank; ++i) {
    const int64_t rest = output.shape[i] - span[i];
    if (rest > 0) {
      TensorView to = output, from = data;
      to.shape[i] = from.shape[i] = rest;
      to.data += span[i] * StrideOf(output, i) * output.element_size;
      from.data += span[i] * StrideOf(data, i) * data.element_size;
      STREW_TRY(Copy(scatter.call, from, to));
    }
    output.shape[i] = data.shape[i] = span[i];
  }
  return STREW_OK;
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
    loops.Restrict(cut, staging.strip > 0 ? part : cut.ApartOf(part, schedule.tasks));
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

bool AreElements(const Scatter& scatter) {
  return scatter.loops.EntryUnits() * scatter.width < kCacheLine;
}

}  // namespace

plan::MemoryHints HintsFor(const Scatter& scatter) {
  return plan::MemoryHintsFor(scatter.loops, CircumstancesOf(scatter));
}

Execution::Execution(const Scatter& scatter)
    : about_(CircumstancesOf(scatter)), schedule_(ScheduleOf(scatter, about_)) {
  const int64_t bytes = ScratchBytes(scatter, schedule_);
  Scratch(scatter.call, bytes).Swap(&scratch_);
  if (bytes != 0 && scratch_.memory() == nullptr) {
    about_.has_scratch = false;
    schedule_ = ScheduleOf(scatter, about_);
  }
  if (scatter.call.explains()) plan::Explain(scatter.call, scatter.loops, about_, schedule_);
}

Status Execution::Run(const Scatter& scatter, bool is_copied) const {
  unsigned char* const scratch = scratch_.memory();
  const bool in_place = is_copied || about_.in_place;
  const plan::Staging& staging = in_place ? schedule_.staging_in_place : schedule_.staging;
  if (!in_place && staging.copies_data) {
    STREW_TRY(CopyRest(scatter));
  } else if (!in_place) {
    STREW_TRY(Copy(scatter.call, scatter.operands.data, scatter.operands.output,
                   {about_.touched_lines, schedule_.tasks, AreElements(scatter)}));
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
[[gnu::noinline]] Status Execute(const Scatter& scatter) { return Execution(scatter).Run(scatter); }

}  // namespace strew::share
