// SPDX-License-Identifier: Apache-2.0
// Means and reductions with STREW_WIDE, which both accumulate: they partition their entries, and
// combine the updates of each destination in a wide accumulator, here called its sum. The ways
// differ in the partition:
//
//   batches  the batches themselves, if their axis is short: some of them at a time
//   buckets  entries are moved into buckets of neighbouring destinations. Single elements are then
//            summed in slots, and runs in groups of the updates of one destination
//   ranks    for so many more entries than destinations that scratch cannot hold them. All touched
//            destinations are one part, and slots are their ranks
#include "accumulate/accumulate.h"

#include "accumulate/mean_sums.h"
#include "base/reduction.h"

namespace strew::accumulate {

namespace {

// Inner turns that lie farther apart than the destinations are batches of their own where strided
// groups of them would be short.
bool HasInnerBatches(const walk::Scatter& scatter) {
  const plan::EntryLoops& loops = scatter.loops;
  return loops.run.count == 1 && loops.inner.rank > 0 && !loops.columns_are_batch &&
         loops.EntryUnits() < scatter.tuning.least_strided_group &&
         (loops.rows_are_batch || loops.row.count == 1) && PaysForBatches(scatter);
}

}  // namespace

Status ApplyWide(const walk::Scatter& bound, bool in_place) {
  plan::EntryLoops loops = bound.loops;
  if (HasInnerBatches(bound)) loops.TurnInnerLoopsIntoBatch();
  const walk::Scatter scatter(bound, loops);
  struct Way {
    Status (*combine)(const Accumulation&, bool* done);
    const char* told;
  };
  constexpr Way kWays[] = {
      {CombineBatches, "some batches at a time have an accumulator for each element"},
      {CombineBuckets, "entries are sorted into buckets of destinations first"},
      {CombineRanks, "each destination that is touched has an accumulator"}};
  const SlotSums sums(scatter);
  const Accumulation work = {scatter, sums, in_place};
  bool done = false;
  const Way* way = kWays;
  // The last way is taken if no other is.
  for (; !done; ++way) STREW_TRY(way->combine(work, &done));
  if (scatter.call.explains()) {
    const char* const what = IsWide(scatter.reduction) ? "Wide" : "Means";
    scatter.call.Explain("%s: %s.", what, (way - 1)->told);
  }
  return STREW_OK;
}

}  // namespace strew::accumulate
