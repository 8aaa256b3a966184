// SPDX-License-Identifier: Apache-2.0
// Accumulates entries that may land anywhere. They are first moved into buckets of neighbouring
// destinations. Single elements are then summed in slots that stay in the caches. For runs, which
// may be long, only their positions are moved, and then grouped by destination.
#include <algorithm>
#include <optional>
#include <utility>

#include "accumulate/bucket_sort.h"
#include "accumulate/entry_rows.h"
#include "accumulate/touched.h"
#include "accumulate/wide_ways.h"
#include "base/scratch.h"
#include "plan/cut.h"
#include "plan/pass.h"
#include "plan/row_loop.h"
#include "plan/schedule.h"

namespace strew::accumulate {
namespace {

using plan::kOutput;
using plan::kUpdates;

// How entries are divided into buckets.
struct BucketLayout {
  explicit BucketLayout(const WideScatter& work);

  int64_t buckets() const { return ((numbers.range() - 1) >> shift) + 1; }
  int64_t TaskBytes() const { return Scratch::RoundUp(destination_bytes << shift) + 64; }
  int64_t MovedBytes() const { return MovedEntries::Bytes(entries, buckets(), update_bytes); }
  // Number of destinations that must be touched to allow scratch for moving all entries.
  int64_t LeastTouched() const;
  // True unless there are too many buckets, or too few entries for them.
  bool Pays() const;
  // True if too many of so many destinations would have no updates.
  bool AreSparse(int64_t of_entries, int64_t destinations) const {
    return !has_no_gaps || of_entries < destinations / work.DestinationsOfEntry();
  }

  const WideScatter& work;
  const plan::DestinationNumbers numbers;
  const bool has_no_gaps;  // every number in range stands for an element
  const int64_t units;     // of an entry
  const int64_t entries;   // including dropped ones
  int64_t update_bytes;
  int64_t destination_bytes;  // scratch of a task for each destination of a bucket
  int64_t tasks = 1;
  int shift = 0;  // a bucket has 2^shift destinations
};

// True if sums of all numbers in range pay off: all of them stand for elements, most of which are
// destinations, and these do not lie far apart. In a contiguous output there is an element between
// any two others.
bool HasNoGaps(const WideScatter& work, const plan::DestinationNumbers& numbers) {
  const plan::EntryLoops& loops = work.scatter.loops;
  const int64_t destinations = loops.batches * loops.DestinationsOfBatch();
  const bool is_contiguous = work.scatter.operands.output.contiguous;
  const bool are_strided = numbers.step() != 1;
  if (are_strided && work.AreFarApart(numbers.range(), numbers.step(), loops.Entries())) {
    return false;
  }
  return destinations == numbers.range() || (is_contiguous && destinations >= numbers.range() / 2);
}

BucketLayout::BucketLayout(const WideScatter& of_call)
    : work(of_call),
      numbers(work.scatter.loops),
      has_no_gaps(HasNoGaps(work, numbers)),
      units(work.scatter.loops.EntryUnits()),
      entries(work.scatter.loops.Entries()),
      update_bytes(EntryGroups::kUpdateBytes),
      destination_bytes(EntryGroups::kScratchBytes) {
  const plan::Tuning& tuning = work.scatter.tuning;
  if (units == 1) {
    update_bytes = work.scatter.width;
    // If touched destinations are listed, each needs two more numbers.
    destination_bytes = work.sums.slot_bytes() + (has_no_gaps ? 0 : 2 * int64_t{sizeof(Remainder)});
    const double ns = static_cast<double>(entries) * tuning.ns_of_bucket_mean_entry;
    tasks = plan::TasksFor(plan::Machine(work.scatter.call), ns);
  }
  // If touched destinations are listed, few of them have slots, and a bucket may be larger.
  const bool is_sparse = entries < numbers.range() / work.DestinationsOfEntry();
  const int64_t near =
      std::min(tuning.bucket_bytes * (is_sparse ? 2 : 1), plan::MostScratch(1) / tasks);
  const int64_t most = int64_t{1} << (units == 1 && has_no_gaps ? 16 : 15);
  while (int64_t{2} << shift <= std::min(near / destination_bytes, most)) ++shift;
}

int64_t BucketLayout::LeastTouched() const {
  const int64_t taken = tasks * TaskBytes() + Buckets::Bytes(buckets()) + MovedBytes();
  const int64_t more = taken - tasks * plan::MostScratch(tasks);
  const int64_t of_group = units > 1 ? int64_t{sizeof(kernel::Group)} : 0;
  return TouchedFor(more, kTouchedBytes * units - of_group);
}

bool BucketLayout::Pays() const {
  const plan::Tuning& tuning = work.scatter.tuning;
  const bool are_few = buckets() == 1 || entries / tuning.least_of_bucket >= buckets();
  return are_few && buckets() <= tuning.most_buckets && !work.sums.are_long() &&
         LeastTouched() <= std::min(entries, numbers.range());
}

// The elements of a bucket whose remainders are listed. They are gathered into a buffer, and
// copied back if they are written.
struct ListedLines {
  const kernel::MoveKernels& move;
  unsigned char* output;  // of the bucket
  int64_t stride;
  const Remainder* list;
  int64_t count;

  template <class Body>
  void ForEachLine(bool writes, const Body& body) const {
    constexpr int64_t kBlock = 128;
    alignas(64) unsigned char elements[kBlock * plan::kMostWidth];
    int32_t columns[kBlock];
    int64_t offsets[kBlock];
    for (int64_t first = 0; first < count; first += kBlock) {
      const int64_t n = std::min(kBlock, count - first);
      for (int64_t i = 0; i < n; ++i) {
        columns[i] = list[first + i];
        offsets[i] = list[first + i] * stride;
      }
      move.gather(elements, output, stride, columns, n);
      body(SlotLine{first, elements, 1, n});
      if (!writes) continue;
      move.combine.elements[kernel::kOffset64](kernel::RowTile(output, elements, offsets, n, 0),
                                               {});
    }
  }
};

// True if the entries of each bucket are consecutive columns of the only row.
bool MayStay(const BucketLayout& layout, const Buckets& buckets) {
  const plan::EntryLoops& loops = layout.work.scatter.loops;
  return buckets.ascend() && loops.outer.rank == 0 && loops.row.count == 1 && loops.batches == 1 &&
         !layout.AreSparse(layout.entries, layout.numbers.range());
}

// Sums the single elements of one bucket after another. Entries stay where they are if `moved` is
// NULL.
struct BucketSums {
  const BucketLayout& layout;
  const Buckets& buckets;
  const MovedEntries* moved;

  void Add(int64_t bucket, const Slots& slots) const;
  void AddColumns(int64_t bucket, const Slots& slots) const;
  void Combine(int64_t bucket, unsigned char* scratch) const;
};

void BucketSums::Add(int64_t bucket, const Slots& slots) const {
  if (moved == nullptr) return AddColumns(bucket, slots);
  const WideScatter& work = layout.work;
  constexpr int64_t kColumns = 512;
  int32_t numbers[kColumns];
  const int64_t end = buckets.end(bucket);
  for (int64_t i = buckets.first(bucket); i < end; i += kColumns) {
    const int64_t columns = std::min(kColumns, end - i);
    std::copy_n(moved->remainders + i, columns, numbers);
    work.sums.Add(slots, numbers, moved->updates + i * work.scatter.width, 1, columns);
  }
}

// Adds the entries that stay where they are.
void BucketSums::AddColumns(int64_t bucket, const Slots& slots) const {
  const WideScatter& work = layout.work;
  plan::EntryLoops loops = work.scatter.loops;
  loops.KeepColumns({buckets.first(bucket), buckets.end(bucket) - buckets.first(bucket)});
  const walk::Scatter scatter(work.scatter, loops);
  const int64_t first = bucket * buckets.size();
  const auto locate = scatter.index_kernels.locate[loops.WholeOffsets()];
  const auto add = [&](const walk::EntryRow& row, kernel::LocateArguments arguments) {
    int32_t numbers[walk::EntrySink::kMostColumns];
    arguments.shift -= first * layout.numbers.step();
    locate(arguments, numbers);
    work.sums.Add(slots, numbers, row.values, row.updates_stride, row.columns);
  };
  ForEachRow(scatter, layout.numbers, add, walk::EntrySink::Reads::kValues);
}

// If few destinations of the bucket are touched, only these have slots.
void BucketSums::Combine(int64_t bucket, unsigned char* scratch) const {
  const int64_t entries = buckets.end(bucket) - buckets.first(bucket);
  if (entries == 0) return;
  const SlotSums& sums = layout.work.sums;
  const plan::DestinationNumbers& numbers = layout.numbers;
  const int64_t number = bucket * buckets.size();
  const int64_t destinations = std::min(buckets.size(), numbers.range() - number);
  const int64_t stride = numbers.step();
  unsigned char* const output = layout.work.OutputOf(numbers.DestinationOf(number));
  if (moved == nullptr || !layout.AreSparse(entries, destinations)) {
    const Slots slots = sums.At(scratch, destinations);
    return sums.Combine(slots, destinations, SlotLine{0, output, stride, destinations},
                        [&] { Add(bucket, slots); });
  }
  Remainder* const position_of = reinterpret_cast<Remainder*>(scratch);
  Remainder* const list = position_of + buckets.size();
  const int64_t count =
      ListDistinct(moved->remainders + buckets.first(bucket), entries, position_of, list);
  const Slots slots = sums.At(reinterpret_cast<unsigned char*>(list + (count + 3) / 4 * 4), count);
  sums.Combine(slots, count, ListedLines{layout.work.scatter.move, output, stride, list, count},
               [&] { Add(bucket, slots); });
}

Status CombineElements(const BucketLayout& layout, const Buckets& buckets) {
  const WideScatter& work = layout.work;
  const bool stay = MayStay(layout, buckets);
  const int64_t tasks_bytes = layout.tasks * layout.TaskBytes();
  const Scratch scratch(work.scatter.call, tasks_bytes + (stay ? 0 : layout.MovedBytes()));
  if (scratch.memory() == nullptr) return work.Refuse();
  std::optional<MovedEntries> moved;
  if (!stay) {
    moved.emplace(buckets, MovedEntries::Moves::kElements, scratch.memory() + tasks_bytes);
  }
  STREW_TRY(work.CopyData());
  const BucketSums sums = {layout, buckets, moved.has_value() ? &*moved : nullptr};
  return share::ForEachPart(work.scatter.call, layout.tasks, buckets.count(),
                            [&](int64_t bucket, int64_t task) {
                              sums.Combine(bucket, scratch.memory() + task * layout.TaskBytes());
                            });
}

// Bytes of all updates and destinations. Not computed in int64_t: broadcast updates may have more
// bytes than any memory.
double RowBytes(const WideScatter& work, const EntryGroups& groups) {
  const double entry = static_cast<double>(work.scatter.loops.EntryUnits() * work.scatter.width);
  return static_cast<double>(work.scatter.loops.Entries() + groups.count) * entry;
}

// The loops of an entry. The run is contiguous, or the longest loop that a kernel may take.
struct GroupLoops {
  explicit GroupLoops(const WideScatter& work) : outside(work.scatter.loops.inner) {
    const plan::EntryLoops& loops = work.scatter.loops;
    const plan::Tuning& tuning = work.scatter.tuning;
    run = loops.run.count > 1 ? loops.run : outside.PopInnermost();
    if (run.count >= tuning.least_group_run) return;
    if (run.count * work.scatter.width >= tuning.least_group_run_bytes) return;
    const int longer = plan::RowLoopOf(outside, run.count, tuning);
    if (longer < 0 || outside.loop[longer].count <= run.count) return;
    std::swap(run, outside.loop[longer]);
  }

  plan::InnerNest outside;
  plan::InnerLoop run;
};

// Estimated time to combine groups whose entries have such runs.
double NanosecondsOf(const WideScatter& work, const EntryGroups& groups,
                     const plan::InnerLoop& run) {
  const plan::Tuning& tuning = work.scatter.tuning;
  const bool is_strided = run.stride[kOutput] != 1 || run.stride[kUpdates] > 1;
  const double bytes = RowBytes(work, groups);
  const double elements = bytes / static_cast<double>(work.scatter.width);
  const double of_rows = is_strided
                             ? elements * tuning.ns_of_group_element
                             : elements / static_cast<double>(run.count) * tuning.ns_of_group_run +
                                   bytes * tuning.ns_of_byte;
  return static_cast<double>(groups.count) * tuning.ns_of_touched + of_rows;
}

// Cuts the loops outside of groups first, because groups share cache lines, to which two tasks that
// go along with each other would write at the same time. Pieces share no lines of updates either.
plan::Cut CutGroups(const WideScatter& work, const EntryGroups& groups, const GroupLoops& loops,
                    int64_t tasks) {
  const int64_t parts = work.PartsFor(tasks);
  const auto line = [&work](int64_t stride) {
    return plan::LineGranule(stride, work.scatter.width);
  };
  const auto lines = [&line](const plan::InnerLoop& loop) {
    return std::max(line(loop.stride[kOutput]), line(loop.stride[kUpdates]));
  };
  plan::Cut cut;
  for (int i = 0; i < loops.outside.rank; ++i) {
    cut.Append(loops.outside.loop[i].count, lines(loops.outside.loop[i]), parts);
  }
  cut.Append(groups.count, line(groups.step), parts);
  const int64_t least_piece = work.scatter.tuning.least_run_piece / work.scatter.width;
  cut.Append(loops.run.count, std::max(lines(loops.run), least_piece), parts);
  return cut;
}

// Combines all updates of a destination at once, so that sums stay in registers. With prefetch,
// means of 20,000 to 200,000 rows of 64 B to 2 KiB took 0.5 to 0.75 times the time, if they stay in
// the caches 1.05 to 1.3 times (Zen 5).
Status CombineGroups(const WideScatter& work, const EntryGroups& groups) {
  if (groups.count == 0) return STREW_OK;
  const Accumulator& accumulator = work.sums.accumulator();
  const GroupLoops loops(work);
  const plan::InnerLoop& run = loops.run;
  // Strided elements share cache lines with elements of other groups and turns. With few of them at
  // a time, those groups and turns follow while the lines are in the caches.
  const int64_t near = work.scatter.tuning.near_group_turns;
  const int64_t step = run.stride[kOutput] == 1 ? run.count : near;

  const bool are_far = RowBytes(work, groups) >
                       static_cast<double>(plan::NearBytes(plan::Machine(work.scatter.call)));
  const double ns = NanosecondsOf(work, groups, run);
  const int64_t tasks = plan::TasksFor(plan::Machine(work.scatter.call), ns);
  const plan::Cut cut = CutGroups(work, groups, loops, tasks);
  return share::ForEachPart(work.scatter.call, tasks, cut.parts(), [&](int64_t part, int64_t) {
    plan::InnerNest outside = loops.outside;
    cut.KeepPart(part, &outside);
    const plan::Turns of_groups = cut.TurnsOf(part, outside.rank);
    const plan::Turns of_run = cut.TurnsOf(part, outside.rank + 1);
    const int64_t end = of_run.first + of_run.count;
    for (int64_t i = of_run.first; i < end; i += step) {
      plan::ForEachTurn(outside, outside.rank, [&](const int64_t* inner) {
        kernel::WalkGroups(
            accumulator.kernels.group, work.scatter.width, groups.groups() + of_groups.first,
            {work.OutputOf(inner[kOutput] + i * run.stride[kOutput]), run.stride[kOutput],
             work.scatter.UpdateAt(inner[kUpdates] + i * run.stride[kUpdates]),
             run.stride[kUpdates], groups.order, of_groups.count, std::min(step, end - i),
             accumulator.excludes_self, accumulator.divides},
            are_far);
      });
    }
  });
}

Status CombineRuns(const BucketLayout& layout, const Buckets& buckets) {
  const WideScatter& work = layout.work;
  const Scratch scratch(work.scatter.call, layout.TaskBytes() + layout.MovedBytes());
  if (scratch.memory() == nullptr) return work.Refuse();
  const MovedEntries moved(buckets, MovedEntries::Moves::kPositions,
                           scratch.memory() + layout.TaskBytes());
  const EntryGroups groups(buckets, moved, scratch.memory());
  if (groups.groups() == nullptr) return work.Refuse();
  STREW_TRY(work.CopyData());
  return CombineGroups(work, groups);
}

}  // namespace

Status CombineBuckets(const WideScatter& work, TouchedRange* touched, bool* done) {
  *done = false;
  const BucketLayout layout(work);
  if (!layout.Pays()) return STREW_OK;
  const Buckets buckets(work.scatter, layout.numbers, layout.shift, layout.LeastTouched());
  if (!buckets.ok()) return work.Refuse();
  *touched = buckets.touched();
  if (!buckets.is_reached()) return STREW_OK;
  *done = true;
  if (work.scatter.applied_units != nullptr) {
    *work.scatter.applied_units += buckets.entries() * layout.units;
  }
  return layout.units == 1 ? CombineElements(layout, buckets) : CombineRuns(layout, buckets);
}

}  // namespace strew::accumulate
