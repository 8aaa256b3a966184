// SPDX-License-Identifier: Apache-2.0
// Means of entries that may land anywhere and need more than the allowed scratch: their
// destinations are collected first, and slots are the ranks of these.
#include <algorithm>

#include "accumulate/destination_set.h"
#include "accumulate/entry_rows.h"
#include "accumulate/mean_sums.h"
#include "base/scratch.h"
#include "plan/cut.h"
#include "plan/schedule.h"

namespace strew::accumulate {
namespace {

using plan::kOutput;

// Room in a sorted list until more destinations are known to be distinct.
constexpr int64_t kKept = int64_t{1} << 16;

// The output elements of all ranks.
class RankedPlaces {
 public:
  RankedPlaces(const Mean& mean, const plan::DestinationNumbers& numbers, const DestinationSet& set)
      : mean_(mean), numbers_(numbers), set_(set) {}

  // Uses several threads. Elements are prefetched while those of some earlier slots are processed.
  template <class Body>
  void ForEachLine(const Body& body) const {
    const int64_t tasks = mean_.TasksFor(set_.count());
    plan::Cut cut;
    cut.Append(set_.pieces(), 1, mean_.PartsFor(tasks));
    const bool is_single = mean_.sums.are_single();
    const auto run = [&](int64_t part, int64_t) {
      const plan::Turns pieces = cut.TurnsOf(part, 0);
      Touched ahead[kAhead];
      int64_t fetched = 0;
      set_.ForEach(pieces.first, pieces.first + pieces.count, [&](int64_t number, int64_t slot) {
        Touched& last = ahead[(fetched + kAhead - 1) % kAhead];
        if (is_single && fetched > 0 && number == last.number + last.count) {
          ++last.count;
          return;
        }
        Touched& next = ahead[fetched % kAhead];
        if (fetched++ >= kAhead) GiveLines(next, body);
        next = {number, slot, 1};
        __builtin_prefetch(OutputOf(number), 1);
      });
      for (int64_t i = std::max<int64_t>(fetched - kAhead, 0); i < fetched; ++i) {
        GiveLines(ahead[i % kAhead], body);
      }
    };
    const Status status = share::ForEachPart(mean_.scatter.call, tasks, cut.parts(), run);
    if (!status.ok()) status_ = status;
  }

  // The status of the runner.
  const Status& status() const { return status_; }

 private:
  static constexpr int64_t kAhead = 16;

  // Single elements with consecutive numbers, or one run.
  struct Touched {
    int64_t number;
    int64_t slot;
    int64_t count;
  };

  unsigned char* OutputOf(int64_t number) const {
    return mean_.OutputOf(numbers_.DestinationOf(number));
  }

  template <class Body>
  void GiveLines(const Touched& touched, const Body& body) const {
    const plan::EntryLoops& loops = mean_.scatter.loops;
    unsigned char* const output = OutputOf(touched.number);
    if (mean_.sums.are_single()) {
      const int64_t stride = numbers_.DestinationOf(1) - numbers_.DestinationOf(0);
      return (void)body(SlotLine{touched.slot, output, stride, touched.count});
    }
    SlotLine line = {touched.slot, output, loops.run.stride[kOutput], loops.run.count};
    plan::ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
      line.elements = output + inner[kOutput] * mean_.scatter.width;
      (void)body(line);
      line.unit += line.count;
    });
  }

  const Mean& mean_;
  const plan::DestinationNumbers& numbers_;
  const DestinationSet& set_;
  mutable Status status_ = STREW_OK;
};

}  // namespace

Status CombineRanks(const Mean& mean, bool* done) {
  *done = true;
  const plan::DestinationNumbers numbers(mean.scatter.loops);
  DestinationSet set(mean.scatter.call, numbers.range(), mean.scatter.loops.Entries(), kKept);
  if (!RankDestinations(mean.scatter, numbers, &set)) return mean.Refuse();
  const int64_t bytes = set.count() * mean.sums.slot_bytes();
  const Scratch scratch(mean.scatter.call, static_cast<size_t>(bytes));
  if (bytes != 0 && scratch.memory() == nullptr) return mean.Refuse();
  STREW_TRY(mean.CopyData());
  if (bytes == 0) return STREW_OK;
  const Slots slots = mean.sums.At(scratch.memory(), set.count());
  const auto add = [&](const walk::EntryRow& row, int64_t first, const int32_t* ranks) {
    mean.sums.Add(mean.sums.From(slots, first), ranks, mean.scatter.UpdateAt(row.updates),
                  row.updates_stride, row.columns);
  };
  const RankedPlaces places(mean, numbers, set);
  mean.sums.Combine(slots, set.count(), places,
                    [&] { ForEachRanked(mean.scatter, numbers, set, add); });
  if (mean.scatter.applied_units != nullptr) {
    *mean.scatter.applied_units +=
        mean.sums.Updates(slots, set.count()) * mean.scatter.loops.EntryUnits();
  }
  return places.status();
}

}  // namespace strew::accumulate
