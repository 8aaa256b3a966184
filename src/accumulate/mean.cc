// SPDX-License-Identifier: Apache-2.0
// All means partition their entries, and combine the updates of each destination in a wide
// accumulator. They differ in the partition:
//
//   batches  the batches themselves, if their axis is short: some of them at a time
//   buckets  entries are moved into buckets of neighbouring destinations. Single elements are then
//            summed in slots, and runs in groups of the updates of one destination
//   ranks    for so many more entries than destinations that scratch cannot hold them. All touched
//            destinations are one part, and slots are their ranks
#include "accumulate/accumulate.h"

#include "accumulate/mean_sums.h"

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

Status ApplyMean(const walk::Scatter& bound, bool in_place) {
  plan::EntryLoops loops = bound.loops;
  if (HasInnerBatches(bound)) loops.TurnInnerLoopsIntoBatch();
  const walk::Scatter scatter(bound, loops);
  struct Way {
    Status (*combine)(const Mean&, bool* done);
    const char* told;
  };
  constexpr Way kWays[] = {
      {CombineBatches, "some batches at a time have a sum for each element"},
      {CombineBuckets, "entries are sorted into buckets of destinations first"},
      {CombineRanks, "each destination that is touched has a sum"}};
  const MeanSums sums(scatter);
  const Mean mean = {scatter, sums, in_place};
  bool done = false;
  for (const Way& way : kWays) {
    STREW_TRY(way.combine(mean, &done));
    if (done && scatter.call.explains()) scatter.call.Explain("Means: %s.", way.told);
    if (done) break;
  }
  return STREW_OK;
}

}  // namespace strew::accumulate
