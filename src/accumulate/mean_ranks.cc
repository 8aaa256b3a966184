// SPDX-License-Identifier: Apache-2.0
// Means of entries that may land anywhere and are more than scratch may hold: their destinations
// are collected first, and slots are the ranks of these.
#include <algorithm>

#include "accumulate/destination_set.h"
#include "accumulate/entry_rows.h"
#include "accumulate/mean_ways.h"
#include "base/scratch.h"
#include "plan/cut.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "share/parts.h"

namespace strew::accumulate {
namespace {

using plan::kOutput;
using plan::kTuning;

// Destinations of a sorted list before it is known that as many are distinct.
constexpr int64_t kKept = int64_t{1} << 16;
// Slots of so many bytes are in the L1 or L2 cache.
constexpr int64_t kNearBytes = 256 << 10;
// Numbers of so many slots fit 32 bits.
constexpr int64_t kMostShort = int64_t{1} << 30;

// Slots that are fetched before their turn.
constexpr int64_t kAhead = 16;

struct Touched {
  int64_t destination;
  int64_t slot;
};

class Ranks {
 public:
  explicit Ranks(const Mean& mean)
      : mean_(mean),
        kernels_(
            kernel::IndexKernelsFor(mean.scatter.indices.dtype, mean.call.settings().simd_target)),
        offset_width_(kernel::OffsetWidthOf(mean.space.whole_span)),
        numbers_(mean.space),
        set_(mean.call, numbers_.range(), mean.space.Entries(), kKept) {}

  Status Collect();
  Status Combine();

  // Calls body(line) for the runs of all slots, on several threads. Their output is fetched while
  // that of some slots before them is worked on.
  template <class Body>
  void ForEachLine(const Body& body) const;

 private:
  // Adds to slots of which there are so many that rows do not hold their numbers.
  struct Adder {
    const Ranks& ranks;
    const Slots& slots;
    void Fetch(int64_t destination) const { ranks.set_.Fetch(ranks.numbers_.Of(destination)); }
    void Take(int64_t destination, int64_t update) const {
      constexpr int32_t kFirst = 0;
      const MeanSums& sums = ranks.mean_.sums;
      const int64_t slot = ranks.set_.NumberOf(ranks.numbers_.Of(destination));
      sums.Add(sums.From(slots, slot), &kFirst, ranks.mean_.UpdateOf(update), 0, 1);
    }
  };

  void AddAll(const Slots& slots) const;
  void AddRow(const Slots& slots, const walk::EntryRow& row, const int32_t* numbers) const;

  const Mean& mean_;
  const kernel::IndexKernels& kernels_;
  const kernel::OffsetWidth offset_width_;
  const plan::DestinationNumbers numbers_;
  DestinationSet set_;
  mutable Status status_ = STREW_OK;  // of the runner
};

Status Ranks::Collect() {
  if (!CollectDestinations(mean_.call, mean_.scatter, mean_.space, numbers_, &set_)) {
    return mean_.Refuse();
  }
  if (set_.needs_inserting()) {
    ForEachRow(mean_.call, mean_.scatter, mean_.space, numbers_,
               [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
                 int32_t bits[walk::EntrySink::kMostColumns];
                 set_.LocateRow(kernels_, offset_width_, arguments, bits);
                 set_.InsertRow(bits, row.columns);
               });
  }
  return set_.FinishInserting() ? Status(STREW_OK) : mean_.Refuse();
}

template <class Body>
void Ranks::ForEachLine(const Body& body) const {
  const plan::IndexSpace& space = mean_.space;
  const double touched = static_cast<double>(set_.count());
  const double bytes =
      touched * static_cast<double>(space.EntryUnits() * mean_.scatter.output.element_size);
  const int64_t tasks =
      share::TasksFor(mean_.call, touched * kTuning.ns_of_touched + bytes * kTuning.ns_of_byte);
  plan::Cut cut;
  cut.Append(set_.pieces(), 1, plan::PartsFor(tasks));
  const auto give = [&](const Touched& at) {
    SlotLine line = {at.slot, mean_.OutputOf(at.destination + space.inner.base[kOutput]),
                     space.run.stride[kOutput], space.run.count};
    if (space.inner.rank == 0) return (void)body(line);
    plan::ForEachTurn(space.inner, space.inner.rank, [&](const int64_t* inner) {
      line.elements = mean_.OutputOf(at.destination + inner[kOutput]);
      (void)body(line);
      line.unit += line.count;
    });
  };
  const auto run = [&](int64_t part, int64_t) {
    const plan::Turns pieces = cut.TurnsOf(part, 0);
    Touched ahead[kAhead];
    int64_t fetched = 0;
    set_.ForEach(pieces.first, pieces.first + pieces.count, [&](int64_t number, int64_t slot) {
      Touched& next = ahead[fetched % kAhead];
      if (fetched++ >= kAhead) give(next);
      next = {numbers_.DestinationOf(number), slot};
      __builtin_prefetch(mean_.OutputOf(next.destination), 1);
    });
    for (int64_t i = std::max<int64_t>(fetched - kAhead, 0); i < fetched; ++i) {
      give(ahead[i % kAhead]);
    }
  };
  const Status status = share::ForEachPart(mean_.call, tasks, cut.parts(), run);
  if (!status.ok()) status_ = status;
}

void Ranks::AddRow(const Slots& slots, const walk::EntryRow& row, const int32_t* numbers) const {
  if (set_.count() * mean_.sums.slot_bytes() > kNearBytes) {
    for (int64_t c = 0; c < row.columns; ++c) {
      if (numbers[c] >= 0) mean_.sums.Fetch(slots, numbers[c]);
    }
  }
  mean_.sums.Add(slots, numbers, mean_.UpdateOf(row.updates), row.updates_stride, row.columns);
}

void Ranks::AddAll(const Slots& slots) const {
  if (set_.count() > kMostShort) {
    return walk::ForEachEntry(mean_.call, mean_.scatter, mean_.space, Adder{*this, slots});
  }
  ForEachRow(mean_.call, mean_.scatter, mean_.space, numbers_,
             [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
               int32_t numbers[walk::EntrySink::kMostColumns];
               set_.LocateRow(kernels_, offset_width_, arguments, numbers);
               set_.NumberRow(kernels_, numbers, row.columns);
               AddRow(slots, row, numbers);
             });
}

Status Ranks::Combine() {
  const int64_t count = set_.count();
  const Scratch scratch(mean_.call, static_cast<size_t>(count * mean_.sums.slot_bytes()));
  if (count != 0 && scratch.memory() == nullptr) return mean_.Refuse();
  STREW_TRY(mean_.CopyData());
  if (count == 0) return STREW_OK;
  const Slots slots = mean_.sums.At(scratch.memory(), count);
  mean_.sums.Combine(slots, count, *this, [&] { AddAll(slots); });
  if (mean_.scatter.applied_units != nullptr) {
    *mean_.scatter.applied_units += mean_.sums.Updates(slots, count) * mean_.space.EntryUnits();
  }
  return status_;
}

}  // namespace

Status CombineRanks(const Mean& mean) {
  Ranks ranks(mean);
  STREW_TRY(ranks.Collect());
  return ranks.Combine();
}

}  // namespace strew::accumulate
