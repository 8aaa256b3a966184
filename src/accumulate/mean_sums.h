// SPDX-License-Identifier: Apache-2.0
// Wide accumulators: a sum and a count for each of some slots. A slot stands for one destination,
// and whoever numbers the destinations decides for which one.
#ifndef STREW_ACCUMULATE_MEAN_SUMS_H_
#define STREW_ACCUMULATE_MEAN_SUMS_H_

#include <cstdint>
#include <cstring>

#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/index_space.h"
#include "plan/tuning.h"
#include "plan/unit.h"
#include "share/boxes.h"
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
};

class MeanSums {
 public:
  MeanSums(const Call& call, const walk::IndexedScatter& scatter, const plan::IndexSpace& space);

  const kernel::MeanKernels& kernels() const { return kernels_; }
  // Whether a destination may get more updates than 32 bits count.
  bool are_long() const { return are_long_; }
  // Whether slots have one element each, and counts of 32 bits.
  bool are_single() const { return are_single_; }
  int64_t slot_bytes() const { return units_ * sums_.sum_size + count_size_; }

  // `memory` has room for `count` slots.
  Slots At(unsigned char* memory, int64_t count) const {
    return {memory + count * count_size_, memory};
  }
  // Those from a slot on.
  Slots From(const Slots& slots, int64_t slot) const {
    return {SumOf(slots, slot, 0), slots.counts + slot * count_size_};
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
  // What that changes first.
  void Fetch(const Slots& slots, int64_t number) const {
    __builtin_prefetch(SumOf(slots, number, 0), 1);
    __builtin_prefetch(slots.counts + number * count_size_, 1);
  }

  // How many updates slots have got.
  int64_t Updates(const Slots& slots, int64_t count) const;

 private:
  unsigned char* SumOf(const Slots& slots, int64_t slot, int64_t unit) const {
    return slots.sums + (slot * units_ + unit) * sums_.sum_size;
  }
  bool Begin(const Slots& slots, const SlotLine& line) const;
  bool Finish(const Slots& slots, const SlotLine& line) const;

  const plan::IndexSpace& space_;
  const kernel::MeanKernels& kernels_;
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
  const Call& call;
  const walk::IndexedScatter& scatter;
  const plan::IndexSpace& space;
  const MeanSums& sums;
  bool in_place;

  // Where a destination, in units from where the index space begins, lies in the output.
  unsigned char* OutputOf(int64_t destination) const {
    const int64_t unit = space.outer.base[plan::kOutput] + destination;
    return scatter.output.data + unit * scatter.output.element_size;
  }
  const unsigned char* UpdateOf(int64_t update) const {
    return scatter.updates.data + update * scatter.updates.element_size;
  }
  // By how many tasks so many destinations are gone through.
  int64_t TasksFor(int64_t destinations) const {
    const double touched = static_cast<double>(destinations);
    const double bytes =
        touched * static_cast<double>(space.EntryUnits() * scatter.output.element_size);
    return share::TasksFor(
        call, touched * plan::kTuning.ns_of_touched + bytes * plan::kTuning.ns_of_byte);
  }
  Status CopyData() const {
    return in_place ? Status(STREW_OK) : share::Copy(call, scatter.data, scatter.output);
  }
  Status Refuse() const {
    return call.Fail(STREW_OUT_OF_MEMORY, "memory to bring updates of means together was refused");
  }
};

// Both do nothing and answer false in *done where they are no way.
Status CombineLanes(const Mean& mean, bool* done);
Status CombineBuckets(const Mean& mean, bool* done);
Status CombineRanks(const Mean& mean);

// Groups, behind which the end of the last one stands, and where their updates lie, in units. The
// output has data already.
Status CombineGroups(const Mean& mean, const kernel::Group* groups, int64_t count,
                     const int64_t* order);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_MEAN_SUMS_H_
