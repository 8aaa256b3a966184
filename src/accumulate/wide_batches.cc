// SPDX-License-Identifier: Apache-2.0
// Accumulates some batches at a time: each of their destinations has a slot. Batches are taken
// together only if their slots stay in near caches; those of a single batch may take more memory.
#include <algorithm>

#include "accumulate/bucket_sort.h"
#include "accumulate/touched.h"
#include "accumulate/wide_ways.h"
#include "base/scratch.h"
#include "plan/cut.h"
#include "plan/pass.h"
#include "plan/schedule.h"
#include "walk/entries.h"

namespace strew::accumulate {
namespace {

// The elements of some batches in the output, and their slots. Parts that share cache lines begin
// with different lines, because two tasks that write to one line at the same time wait for each
// other: wide sums of [7935, 100] bfloat16 on two threads took 0.2 x the time (Zen 4).
struct BatchLines {
  BatchLines(const walk::Scatter& of_part, const plan::DestinationNest& destinations,
             const plan::Cut& cut, int64_t part)
      : scatter(of_part), outside(destinations), line(outside.PopInnermost()) {
    if (outside.rank > 0) first = outside.loop[0].count * part / cut.parts();
  }

  template <class Body>
  void ForEachLine(bool /*writes*/, const Body& body) const {
    if (first == 0) return ForEachLineOf(outside, body);
    ForEachLineOf(TurnsOf(first, outside.loop[0].count), body);
    ForEachLineOf(TurnsOf(0, first), body);
  }

  plan::DestinationNest TurnsOf(int64_t begin, int64_t end) const {
    plan::DestinationNest turns = outside;
    turns.Restrict(0, begin, end - begin);
    return turns;
  }

  template <class Body>
  void ForEachLineOf(const plan::DestinationNest& turns, const Body& body) const {
    plan::ForEachTurn(turns, turns.rank, [&](const int64_t* at) {
      body(SlotLine{at[plan::kNumber], scatter.OutputAt(at[plan::kDestination]),
                    line.stride[plan::kDestination], line.count});
    });
  }

  const walk::Scatter& scatter;
  plan::DestinationNest outside;
  plan::Loop<plan::kDestinationOperands> line;
  int64_t first = 0;  // turn of the outermost loop
};

// Adds updates to slots whose numbers are the offsets in the output.
struct Adder {
  const SlotSums& sums;
  const Slots& slots;

  void Add(const walk::EntryRow& row) {
    sums.Add(sums.From(slots, row.output), static_cast<const int32_t*>(row.offsets), row.values,
             row.updates_stride, row.columns);
  }
};

// Least columns of a piece for each of several tasks. Every piece of columns reads short rows of
// all entries, and begins and finishes short rows of sums.
int64_t LeastTaskColumns(const WideScatter& work) {
  return std::max<int64_t>(work.scatter.tuning.least_task_row / work.sums.slot_bytes(), 1);
}

// Cuts the batches for several tasks into pieces of whole cache lines. Returns the most batches of
// a part. Only long rows have more pieces than tasks.
int64_t CutByLines(const WideScatter& work, int64_t tasks, plan::Cut* cut) {
  const plan::EntryLoops& loops = work.scatter.loops;
  const int64_t parts = work.PartsFor(tasks);
  const int64_t least = LeastTaskColumns(work);
  constexpr int64_t kLong = 4;
  int cuts = 0;
  int64_t batches = 1;
  plan::ForEachCutLoop(loops, [&](const auto& loop) {
    const bool are_columns = cuts == loops.outer_batch_loops && loops.columns_are_batch;
    const int64_t line = plan::LineGranule(loop.stride[plan::kOutput], work.scatter.width);
    const int64_t of_long = loop.count / (kLong * least);
    cut->Append(loop.count, are_columns ? std::max(line, least) : line,
                are_columns ? std::clamp(of_long, tasks, parts) : parts);
    batches *= cut->MostTurns(cuts++);
  });
  return batches;
}

// Number of pieces of at most so many.
int64_t PiecesOf(int64_t count, int64_t most) { return (count - 1) / most + 1; }

// True if the scratch of several tasks has room for so few columns that these take as many passes
// over the entries as those of one task.
bool TakeMorePasses(const plan::EntryLoops& loops, int64_t tasks, int64_t fitting) {
  if (!loops.columns_are_batch) return false;
  const int64_t columns = loops.column.count;
  const int64_t outer = loops.batches / columns;
  const int64_t of_one = outer * PiecesOf(columns, fitting);
  return PiecesOf(outer * PiecesOf(columns, fitting / tasks), tasks) >= of_one;
}

// Number of tasks, of at most so many, for which the batches have enough pieces.
int64_t TasksByLines(const WideScatter& work, int64_t tasks, int64_t fitting) {
  const plan::EntryLoops& loops = work.scatter.loops;
  const bool are_short = fitting / tasks < std::min(LeastTaskColumns(work), loops.column.count);
  if (are_short && TakeMorePasses(loops, tasks, fitting)) return 1;
  plan::Cut cut;
  CutByLines(work, tasks, &cut);
  return std::min(tasks, cut.parts());
}

// Cuts the batches into at least `parts`, none of which has more than `most`. Returns the most
// batches of a part.
int64_t CutBatches(const plan::EntryLoops& loops, int64_t parts, int64_t most, plan::Cut* cut) {
  for (;; parts += parts) {
    *cut = plan::Cut();
    int cuts = 0;
    int64_t batches = 1;
    plan::ForEachCutLoop(loops, [&](const auto& loop) {
      cut->Append(loop.count, 1, parts);
      batches *= cut->MostTurns(cuts++);
    });
    if (batches <= most) return batches;
  }
}

void CombinePart(const WideScatter& work, const plan::Cut& cut, int64_t part,
                 unsigned char* scratch) {
  plan::EntryLoops of_part = work.scatter.loops;
  of_part.Restrict(cut, part);
  const BatchLines lines(work.scatter, of_part.NumberDestinations(), cut, part);
  const int64_t count = of_part.whole_span + 1;
  const Slots slots = work.sums.At(scratch, count);
  Adder adder = {work.sums, slots};
  work.sums.Combine(slots, count, lines, [&] {
    walk::GiveEntries(walk::Scatter(work.scatter, of_part),
                      walk::SinkOf(&adder, kernel::kOffset32, work.scatter.OutputAt(0),
                                   walk::EntrySink::Reads::kValues));
  });
  if (work.scatter.applied_units == nullptr) return;
  *work.scatter.applied_units += work.sums.Updates(slots, count);
}

// True if columns go one by one, because so few of them fit at the same time.
bool TakesSingleColumns(const WideScatter& work, int64_t fitting) {
  const plan::EntryLoops& loops = work.scatter.loops;
  const plan::Tuning& tuning = work.scatter.tuning;
  const int64_t entries = loops.Entries() / loops.batches;
  return loops.columns_are_batch && fitting < loops.column.count &&
         fitting < tuning.least_sum_columns &&
         entries / tuning.most_column_entries <= loops.DestinationsOfBatch();
}

// The most batches whose sums stay in near caches.
int64_t NearBatches(const WideScatter& work, int64_t batch_bytes, int64_t fitting) {
  const plan::Tuning& tuning = work.scatter.tuning;
  const bool are_columns = work.scatter.loops.columns_are_batch;
  const int64_t near = are_columns ? tuning.near_column_sums : tuning.near_batch_sums;
  return std::clamp<int64_t>(near / batch_bytes, 1, fitting);
}

// True if there are enough updates to pay for sums of all destinations of a batch. A column that
// goes by itself costs the more, the more cache lines its destinations lie in.
bool PaysForBatches(const WideScatter& work, int64_t batch_bytes, int64_t fitting) {
  const plan::EntryLoops& loops = work.scatter.loops;
  const int64_t destinations = loops.DestinationsOfBatch();
  const int64_t entries = loops.Entries() / loops.batches;
  if (destinations / work.DestinationsOfEntry() > entries) return false;
  const int64_t most = NearBatches(work, batch_bytes, fitting);
  if (loops.components != 1 || !TakesSingleColumns(work, most)) return true;
  return !work.AreFarApart(destinations, loops.component[0].output_stride, entries);
}

// Most bytes of sums that are slower in buckets.
int64_t MostBytes(const WideScatter& work) {
  const plan::EntryLoops& loops = work.scatter.loops;
  const plan::Tuning& tuning = work.scatter.tuning;
  const int64_t least =
      work.sums.accumulator().are_compact() ? tuning.far_compact_sums : tuning.far_batch_sums;
  const int64_t updates = loops.Entries() / loops.batches;
  const int64_t destinations = loops.DestinationsOfBatch();
  if (updates < destinations) return least;
  const double repeats = static_cast<double>(updates) / static_cast<double>(destinations) - 1;
  const double part = std::min(tuning.far_sums_part + tuning.repeated_far_sums_part * repeats, 1.0);
  const auto cache = static_cast<double>(plan::Machine(work.scatter.call).cache_bytes);
  return std::max(least, static_cast<int64_t>(cache * part));
}

// Number of destinations that must be touched to allow so many bytes of sums.
int64_t LeastTouched(int64_t bytes) {
  return TouchedFor(bytes - plan::MostScratch(1), kTouchedBytes);
}

// Tells whether so many bytes of sums fit scratch.
Status Fit(const WideScatter& work, int64_t bytes, bool* fit) {
  return FindTouched(work.scatter, LeastTouched(bytes), fit) ? Status(STREW_OK) : work.Refuse();
}

// How batches are taken together.
struct BatchLayout {
  explicit BatchLayout(const WideScatter& work)
      : batch_bytes(work.sums.slot_bytes() * work.scatter.loops.DestinationsOfBatch()),
        fitting(std::max<int64_t>(plan::MostScratch(1) / batch_bytes, 1)) {
    const plan::EntryLoops& loops = work.scatter.loops;
    const plan::Tuning& tuning = work.scatter.tuning;
    const double entries = static_cast<double>(loops.Entries());
    const double sums =
        static_cast<double>(loops.batches) * static_cast<double>(loops.DestinationsOfBatch());
    const double ns = entries * tuning.ns_of_batch_mean_entry + sums * tuning.ns_of_begun_sum;
    tasks =
        std::min({plan::TasksFor(plan::Machine(work.scatter.call), ns), loops.batches, fitting});
    if (tasks > 1) tasks = TasksByLines(work, tasks, fitting);
    most = NearBatches(work, batch_bytes, fitting / tasks);
    if (TakesSingleColumns(work, most)) most = 1;
  }

  const int64_t batch_bytes;
  const int64_t fitting;  // most batches whose sums fit the scratch of every call
  int64_t tasks;
  int64_t most;  // batches at a time
};

// True if all columns of batch may have sums at the same time, more than fit the scratch of every
// call but no more than those of a single batch may be.
bool MayTakeAllColumns(const WideScatter& work, const BatchLayout& layout) {
  const int64_t batches = work.scatter.loops.batches;
  return work.scatter.loops.columns_are_batch && layout.tasks == 1 && layout.fitting < batches &&
         layout.most < work.scatter.tuning.least_columns_of_pass &&
         layout.batch_bytes <= MostBytes(work) / batches;
}

// Cuts the batches. Returns the most batches of a part.
int64_t CutLayout(const WideScatter& work, const BatchLayout& layout, plan::Cut* cut) {
  if (layout.tasks > 1) {
    const int64_t batches = CutByLines(work, layout.tasks, cut);
    if (batches <= layout.most) return batches;
  }
  const plan::EntryLoops& loops = work.scatter.loops;
  const int64_t least = PiecesOf(loops.batches, layout.most);
  return CutBatches(loops, std::max(layout.tasks, least), layout.most, cut);
}

Status CombineLayout(const WideScatter& work, const BatchLayout& layout) {
  plan::Cut cut;
  const int64_t task_bytes = Scratch::RoundUp(CutLayout(work, layout, &cut) * layout.batch_bytes);

  const Scratch scratch(work.scatter.call, layout.tasks * task_bytes);
  if (scratch.memory() == nullptr) return work.Refuse();
  STREW_TRY(work.CopyData());
  const auto run = [&](int64_t part, int64_t task) {
    CombinePart(work, cut, part, scratch.memory() + task * task_bytes);
  };
  return share::ForEachPart(work.scatter.call, layout.tasks, cut.parts(), run);
}

// True if the sums of a batch are so large that buckets are faster.
bool AreLarge(const WideScatter& work, const BatchLayout& layout) {
  return layout.batch_bytes > std::max(MostBytes(work), plan::MostScratch(1));
}

}  // namespace

// Buckets are filled by one task.
bool PrefersBuckets(const WideScatter& work) {
  const plan::EntryLoops& loops = work.scatter.loops;
  const plan::Tuning& tuning = work.scatter.tuning;
  if (!loops.columns_are_batch) return false;
  if (loops.DestinationsOfBatch() < tuning.least_column_destinations) return false;
  const BatchLayout layout(work);
  if (MayTakeAllColumns(work, layout)) return false;
  const int64_t passes = PiecesOf(loops.column.count, layout.most);
  return layout.tasks == 1 && passes > tuning.most_column_passes;
}

Status CombineBatches(const WideScatter& work, bool* done) {
  *done = false;
  if (!work.sums.are_single()) return STREW_OK;
  const BatchLayout layout(work);
  if (MayTakeAllColumns(work, layout)) {
    BatchLayout all = layout;
    all.most = work.scatter.loops.batches;
    STREW_TRY(Fit(work, all.most * all.batch_bytes, done));
    if (*done) return CombineLayout(work, all);
  }
  if (!PaysForBatches(work, layout.batch_bytes, layout.fitting)) return STREW_OK;
  if (AreLarge(work, layout)) return STREW_OK;
  STREW_TRY(Fit(work, layout.batch_bytes, done));
  return *done ? CombineLayout(work, layout) : Status(STREW_OK);
}

// Compared with ranks, means of 0.7 to 3 M places with 3 to 4 updates of each, two of three for a
// tenth of the places, took 0.38 to 0.48 times the time (Zen 5).
Status CombineLargeBatches(const WideScatter& work, const TouchedRange& touched, bool* done) {
  *done = false;
  if (!work.sums.are_single()) return STREW_OK;
  const BatchLayout layout(work);
  if (!AreLarge(work, layout)) return STREW_OK;
  if (!PaysForBatches(work, layout.batch_bytes, layout.fitting)) return STREW_OK;
  const int64_t least = LeastTouched(layout.batch_bytes);
  if (least > touched.most) return STREW_OK;
  *done = least <= touched.least;
  if (!*done) STREW_TRY(Fit(work, layout.batch_bytes, done));
  return *done ? CombineLayout(work, layout) : Status(STREW_OK);
}

}  // namespace strew::accumulate
