// SPDX-License-Identifier: Apache-2.0
// Accumulates entries that may land anywhere and that buckets do not suit: their destinations are
// collected and ranked first, and each rank has a slot.
#include <algorithm>

#include "accumulate/destination_set.h"
#include "accumulate/entry_rows.h"
#include "accumulate/wide_ways.h"
#include "base/compiler.h"
#include "base/scratch.h"
#include "plan/cut.h"
#include "plan/schedule.h"

namespace strew::accumulate {
namespace {

using plan::kOutput;

// Initial room of a sorted list of destinations, which grows if more are distinct.
constexpr int64_t kKept = int64_t{1} << 16;

// The output elements of all ranks.
class RankedLines {
 public:
  RankedLines(const WideScatter& work, const plan::DestinationNumbers& numbers,
              const DestinationSet& set)
      : work_(work), numbers_(numbers), set_(set) {}

  // Uses several threads. Elements are prefetched kAhead lines before their turn.
  template <class Body>
  void ForEachLine(bool /*writes*/, const Body& body) const {
    const int64_t tasks = work_.TasksFor(set_.count());
    plan::Cut cut;
    cut.Append(set_.pieces(), 1, work_.PartsFor(tasks));
    const bool is_single = work_.sums.are_single();
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
        PrefetchForWrite(OutputOf(number));
      });
      for (int64_t i = std::max<int64_t>(fetched - kAhead, 0); i < fetched; ++i) {
        GiveLines(ahead[i % kAhead], body);
      }
    };
    const Status status = share::ForEachPart(work_.scatter.call, tasks, cut.parts(), run);
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
    return work_.OutputOf(numbers_.DestinationOf(number));
  }

  template <class Body>
  void GiveLines(const Touched& touched, const Body& body) const {
    const plan::EntryLoops& loops = work_.scatter.loops;
    unsigned char* const output = OutputOf(touched.number);
    if (work_.sums.are_single()) {
      const int64_t stride = numbers_.step();
      return body(SlotLine{touched.slot, output, stride, touched.count});
    }
    SlotLine line = {touched.slot, output, loops.run.stride[kOutput], loops.run.count};
    plan::ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
      line.elements = output + inner[kOutput] * work_.scatter.width;
      body(line);
      line.unit += line.count;
    });
  }

  const WideScatter& work_;
  const plan::DestinationNumbers& numbers_;
  const DestinationSet& set_;
  mutable Status status_ = STREW_OK;
};

}  // namespace

Status CombineRanks(const WideScatter& work) {
  const plan::DestinationNumbers numbers(work.scatter.loops);
  DestinationSet set = CollectDestinations(work.scatter, numbers, kKept);
  if (!set.ok() || !RankDestinations(work.scatter, numbers, &set)) return work.Refuse();
  const int64_t bytes = set.count() * work.sums.slot_bytes();
  const Scratch scratch(work.scatter.call, bytes);
  if (bytes != 0 && scratch.memory() == nullptr) return work.Refuse();
  STREW_TRY(work.CopyData());
  if (bytes == 0) return STREW_OK;
  const Slots slots = work.sums.At(scratch.memory(), set.count());
  const auto add = [&](const walk::EntryRow& row, int64_t first, const int32_t* ranks) {
    work.sums.Add(work.sums.From(slots, first), ranks, row.values, row.updates_stride, row.columns);
  };
  const RankedLines lines(work, numbers, set);
  work.sums.Combine(slots, set.count(), lines,
                    [&] { ForEachRanked(work.scatter, numbers, set, add); });
  if (work.scatter.applied_units != nullptr) {
    *work.scatter.applied_units +=
        work.sums.Updates(slots, set.count()) * work.scatter.loops.EntryUnits();
  }
  return lines.status();
}

}  // namespace strew::accumulate
