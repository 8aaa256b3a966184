// SPDX-License-Identifier: Apache-2.0
// Means of entries that may land anywhere: a hash table has a count for each place that is touched,
// and sums where the output cannot hold them.
#ifndef STREW_RUN_MEAN_TABLE_H_
#define STREW_RUN_MEAN_TABLE_H_

#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/indexed.h"
#include "run/parallel.h"
#include "run/scatter.h"
#include "run/scratch.h"

namespace strew::run {

class MeanTable {
 public:
  // About so many places are touched.
  MeanTable(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
            int64_t touched);

  Status Run(bool in_place);

 private:
  // Bytes of a run, and places ahead, that are fetched.
  static constexpr int64_t kMostFetched = 1024;
  static constexpr int64_t kAhead = 16;

  struct Slot {
    int64_t place;  // units from where the plan begins
    int64_t count;  // 0 for an empty slot
  };

  // Updates of one place.
  struct Group {
    int64_t place;
    int64_t first;  // of its updates, in order
  };

  class RowAdder;

  bool AddsRows() const;
  Status Count();
  int64_t CountBytes() const;
  // False where there is no memory.
  bool Resize(int64_t slots);
  int64_t SlotBytes() const;
  bool MayBeRoomy(int64_t touched, int64_t slot_bytes) const;
  int64_t SlotsFor(int64_t touched, int64_t slot_bytes) const;
  Slot* Find(int64_t place) const;
  Status Shrink();
  // What touched elements may take.
  double MostBytes() const;
  int64_t GroupBytes() const;
  bool GroupsPay() const;
  // Calls body(part) for parts of so many slots or groups, of which touched_ are filled.
  template <class Body>
  Status InParts(int64_t count, Body body) const;
  // Calls body(slot, its number) for each that is filled.
  template <class Body>
  Status ForEachTouched(Body body) const;
  // Calls body(output, units before it) for each run of a place.
  template <class Body>
  void ForEachRun(const Slot& slot, Body body) const;
  void FetchGroup(const Group& group, const int64_t* order, int64_t count) const;
  void ReduceGroup(const Group& group, const int64_t* order, int64_t count) const;
  Status ReduceGroups(bool in_place, unsigned char* memory) const;
  Status ReduceInOutput(bool in_place) const;
  Status ReduceInSums(bool in_place) const;
  unsigned char* OutputOf(int64_t place) const;
  void Fetch(const unsigned char* output) const;
  Status Refuse() const;

  const Call& call_;
  const IndexedScatter& scatter_;
  const plan::IndexedPlan& plan_;
  const kernel::MeanKernels& kernels_;
  const kernel::SumKernels& sums_;
  const int64_t width_;
  const int64_t entry_units_;
  const int64_t sum_bytes_;  // of an entry; 0 where the output holds the sums
  const bool adds_rows_;
  int64_t estimate_;  // of touched places
  int64_t slots_ = 0;
  int64_t touched_ = 0;
  int64_t applied_ = 0;  // entries
  Slot* slot_ = nullptr;
  Scratch table_;
};

template <class Body>
Status MeanTable::InParts(int64_t count, Body body) const {
  constexpr double kNanosecondsPerSlot = 3;
  const double bytes = static_cast<double>(touched_ * entry_units_ * width_);
  const int64_t tasks = TasksFor(
      call_, static_cast<double>(count) * kNanosecondsPerSlot + bytes * kNanosecondsPerByte);
  plan::Cut cut;
  cut.Append(count, 1, PartsFor(tasks));
  return ForEachPart(call_, tasks, cut.parts(),
                     [&](int64_t part, int64_t) { body(cut.TurnsOf(part, 0)); });
}

}  // namespace strew::run

#endif  // STREW_RUN_MEAN_TABLE_H_
