// SPDX-License-Identifier: Apache-2.0
// Means of entries that may land anywhere: destinations are numbered, and each has a count and,
// where the output cannot hold it, a sum.
#ifndef STREW_ACCUMULATE_MEAN_TABLE_H_
#define STREW_ACCUMULATE_MEAN_TABLE_H_

#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/entry_loops.h"
#include "plan/tuning.h"
#include "accumulate/destination_set.h"
#include "share/parts.h"
#include "walk/scatter.h"
#include "base/scratch.h"

namespace strew::accumulate {

class MeanTable {
 public:
  MeanTable(const walk::Scatter& scatter);

  Status Run(bool in_place);

 private:
  // Bytes of a run that are fetched, and groups ahead.
  static constexpr int64_t kMostFetched = 1024;
  static constexpr int64_t kAhead = 16;

  // Updates of one destination.
  struct Group {
    int64_t destination;
    int64_t first;  // of its updates, in order
  };

  template <class Body>
  class RowWalk;

  // Calls body(row, bits of its destinations in the set) for rows of entries.
  template <class Body>
  void ForEachRow(const Body& body) const;
  Status NumberDestinations();
  Status Count();
  int64_t NumberOf(int64_t destination) const { return set_.NumberOf(numbers_.Of(destination)); }
  int64_t GroupBytes() const;
  bool GroupsPay() const;
  // Calls body(part) for parts of so many turns, which touch all destinations together.
  template <class Body>
  Status InParts(int64_t count, Body body) const;
  // Calls body(destination, its number) for each that is touched.
  template <class Body>
  Status ForEachTouched(Body body) const;
  // Calls body(output, units before it) for each run of a destination.
  template <class Body>
  void ForEachRun(int64_t destination, Body body) const;
  void FetchGroup(const Group& group, const int64_t* order, int64_t count) const;
  void ReduceGroup(const Group& group, const int64_t* order, int64_t count) const;
  Status ReduceGroups(bool in_place, unsigned char* memory) const;
  Status StoreIdentities() const;
  Status ReduceInOutput(bool in_place) const;
  Status BeginSums(unsigned char* sums) const;
  int64_t AddSingles(const kernel::CountedSums& sums) const;
  Status ReduceSingles(bool in_place);
  Status ReduceInSums(bool in_place) const;
  Status Reduce(bool in_place);
  unsigned char* OutputOf(int64_t destination) const;
  void Fetch(const unsigned char* output) const;
  Status Refuse() const;

  const walk::Scatter& scatter_;
  const kernel::AccumulateKernels& kernels_;
  const kernel::SumKernels& sums_;
  const int64_t width_;
  const int64_t entry_units_;
  const int64_t sum_bytes_;  // of an entry
  const plan::DestinationNumbers numbers_;
  DestinationSet set_;
  int64_t applied_ = 0;        // entries
  int64_t* counts_ = nullptr;  // of updates, by number
  Scratch count_memory_;
};

template <class Body>
Status MeanTable::InParts(int64_t count, Body body) const {
  const double touched = static_cast<double>(set_.count());
  const double bytes = touched * static_cast<double>(entry_units_ * width_);
  const int64_t tasks =
      plan::TasksFor(plan::Machine(scatter_.call),
                     touched * plan::kTuning.ns_of_touched + bytes * plan::kTuning.ns_of_byte);
  plan::Cut cut;
  cut.Append(count, 1, plan::PartsFor(plan::Machine(scatter_.call), tasks));
  return share::ForEachPart(scatter_.call, tasks, cut.parts(),
                            [&](int64_t part, int64_t) { body(cut.TurnsOf(part, 0)); });
}

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_MEAN_TABLE_H_
