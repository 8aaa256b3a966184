// SPDX-License-Identifier: Apache-2.0
// Wide accumulators: a sum and a count for each of some slots. A slot stands for one destination,
// and whoever numbers the destinations decides for which one.
#ifndef STREW_ACCUMULATE_MEAN_SUMS_H_
#define STREW_ACCUMULATE_MEAN_SUMS_H_

#include <cstdint>
#include <cstring>

#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "share/share.h"
#include "share/parts.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Elements of the output that lie `stride` apart: one of each of `count` slots, or a run of one.
struct SlotLine {
  int64_t slot;
  unsigned char* elements;
  int64_t stride;
  int64_t count;
  int64_t unit = 0;  // of the slot, where a run begins

  // Places that are one line: see MeanSums.
  template <class Body>
  void ForEachLine(const Body& body) const {
    (void)body(*this);
  }
};

// Where the sums and counts of some slots are.
struct Slots {
  unsigned char* sums;
  unsigned char* counts;
  bool are_far;  // outside of the L2 cache
};

class MeanSums {
 public:
  explicit MeanSums(const walk::Scatter& scatter);

  const kernel::AccumulateKernels& kernels() const { return kernels_; }
  // Whether a destination may get more updates than 32 bits count.
  bool are_long() const { return are_long_; }
  // Whether slots have one element each, and counts of 32 bits.
  bool are_single() const { return are_single_; }
  int64_t slot_bytes() const { return units_ * sums_.sum_size + count_size_; }

  // `memory` has room for `count` slots.
  Slots At(unsigned char* memory, int64_t count) const {
    return {memory + count * count_size_, memory, count * slot_bytes() > kNearBytes};
  }
  // Those from a slot on.
  Slots From(const Slots& slots, int64_t slot) const {
    return {SumOf(slots, slot, 0), slots.counts + slot * count_size_, slots.are_far};
  }

  // Combines the elements of slots with all that `source` adds to these. Elements whose slot gets
  // nothing stay as they are. `places` has a function ForEachLine(body), which calls body(SlotLine)
  // for all slots; it answers whether elements were written.
  template <class Places, class Source>
  void Combine(const Slots& slots, int64_t count, const Places& places,
               const Source& source) const {
    std::memset(slots.counts, 0, static_cast<size_t>(count * count_size_));
    places.ForEachLine([&](const SlotLine& line) { return Begin(slots, line); });
    source();
    places.ForEachLine([&](const SlotLine& line) { return Finish(slots, line); });
  }

  // What sources call: updates[c * stride] comes to the slot numbers[c], c < columns. Negative
  // numbers are those of updates that are dropped.
  void Add(const Slots& slots, const int32_t* numbers, const unsigned char* updates, int64_t stride,
           int64_t columns) const;
  // How many updates slots have got.
  int64_t Updates(const Slots& slots, int64_t count) const;

 private:
  // Slots of so many bytes are in the L2 cache.
  static constexpr int64_t kNearBytes = 1 << 20;

  unsigned char* SumOf(const Slots& slots, int64_t slot, int64_t unit) const {
    return slots.sums + (slot * units_ + unit) * sums_.sum_size;
  }
  bool Begin(const Slots& slots, const SlotLine& line) const;
  bool Finish(const Slots& slots, const SlotLine& line) const;

  const plan::EntryLoops& loops_;
  const kernel::AccumulateKernels& kernels_;
  const int64_t width_;
  const int64_t units_;  // of an entry
  const bool are_long_;
  const bool are_single_;
  const int64_t count_size_;
  const kernel::SumKernels& sums_;
  const bool excludes_self_;
  alignas(plan::kMostWidth) unsigned char identity_[plan::kMostWidth];
};

// ---- Who adds to them: see mean.cc ----

// What a touched element may take, besides what every call may.
inline constexpr int64_t kMeanBytes = 40;

struct Mean {
  const walk::Scatter& scatter;
  const MeanSums& sums;
  bool in_place;

  // Where a destination, in units from where the loops begin, lies in the output.
  unsigned char* OutputOf(int64_t destination) const {
    return scatter.OutputAt(scatter.loops.outer.base[plan::kOutput] + destination);
  }
  // By how many tasks so many destinations are gone through.
  int64_t TasksFor(int64_t destinations) const {
    const double touched = static_cast<double>(destinations);
    const double bytes = touched * static_cast<double>(scatter.loops.EntryUnits() * scatter.width);
    const plan::Tuning& tuning = scatter.tuning;
    return plan::TasksFor(plan::Machine(scatter.call),
                          touched * tuning.ns_of_touched + bytes * tuning.ns_of_byte);
  }
  int64_t PartsFor(int64_t tasks) const {
    return plan::PartsFor(plan::Machine(scatter.call), tasks);
  }
  Status CopyData() const {
    if (in_place) return STREW_OK;
    return share::Copy(scatter.call, scatter.operands.data, scatter.operands.output);
  }
  Status Refuse() const {
    return scatter.call.Fail(STREW_OUT_OF_MEMORY,
                             "memory to bring updates of means together was refused");
  }
};

// Whether the updates pay for sums of all destinations of a batch.
inline bool PaysForBatches(const walk::Scatter& scatter) {
  const plan::EntryLoops& loops = scatter.loops;
  return loops.DestinationsOfBatch() / scatter.tuning.destinations_of_entry <=
         loops.Entries() / loops.batches;
}

// The ways of mean.cc. Where one is none it does nothing, and *done stays false.
Status CombineBatches(const Mean& mean, bool* done);
Status CombineBuckets(const Mean& mean, bool* done);
Status CombineRanks(const Mean& mean, bool* done);

// Groups, behind which the end of the last one stands, and where their updates lie, in units. The
// output has data already.
Status CombineGroups(const Mean& mean, const kernel::Group* groups, int64_t count,
                     const int64_t* order);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_MEAN_SUMS_H_
