// SPDX-License-Identifier: Apache-2.0
// All means partition their entries, and combine the updates of each destination in a wide
// accumulator. What differs is where the partition comes from:
//
//   batches  it is there already, where their axis is short: some of them at a time
//   buckets  entries are moved into buckets of neighbouring destinations. Single elements then meet
//            in slots, and runs in groups of the updates of one destination
//   ranks    entries are many more than destinations, so that scratch cannot hold them. All touched
//            destinations are one part, and slots are their ranks
#include "accumulate/mean.h"

#include "accumulate/mean_sums.h"

namespace strew::accumulate {

Status ApplyMean(const walk::Scatter& scatter, bool in_place) {
  const MeanSums sums(scatter);
  const Mean mean = {scatter, sums, in_place};
  bool done = false;
  STREW_TRY(CombineBatches(mean, &done));
  if (done) return STREW_OK;
  STREW_TRY(CombineBuckets(mean, &done));
  return done ? Status(STREW_OK) : CombineRanks(mean);
}

}  // namespace strew::accumulate
