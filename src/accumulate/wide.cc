// SPDX-License-Identifier: Apache-2.0
// STREW_MEAN and reductions with STREW_WIDE. Both combine the updates of each destination in a wide
// accumulator, here called its sum. There are three ways to divide the entries into parts:
//
//   batches  a part is some of the batches. For batches whose axis is short
//   buckets  a part is a bucket of neighbouring destinations, into which entries are moved. Single
//            elements are then summed in slots, and runs in groups of one destination each
//   ranks    all entries are one part, and slots are the ranks of the touched destinations. For so
//            many more entries than destinations that scratch cannot hold the entries
#include "accumulate/accumulate.h"
#include "accumulate/wide_ways.h"
#include "base/reduction.h"

namespace strew::accumulate {

Status Combine(const WideScatter& work, WideWay* way) {
  *way = WideWay::kBatches;
  bool fit = false;
  STREW_TRY(BatchesFit(work, &fit));
  if (fit) return CombineBatches(work);

  *way = WideWay::kBuckets;
  const BucketLayout layout(work);
  if (layout.Pays()) {
    const Buckets buckets(work.scatter, layout.numbers, layout.shift, layout.LeastTouched());
    if (!buckets.ok()) return work.Refuse();
    if (buckets.is_reached()) return CombineBuckets(layout, buckets);
  }

  *way = WideWay::kRanks;
  return CombineRanks(work);
}

Status ApplyWide(const walk::Scatter& scatter, bool in_place) {
  const SlotSums sums(scatter);
  WideWay way;
  STREW_TRY(Combine({scatter, sums, in_place}, &way));
  if (scatter.call.explains()) {
    constexpr const char* kTold[] = {"some batches at a time have an accumulator for each element",
                                     "entries are sorted into buckets of destinations first",
                                     "each destination that is touched has an accumulator"};
    const char* const what = IsWide(scatter.reduction) ? "Wide" : "Means";
    scatter.call.Explain("%s: %s.", what, kTold[static_cast<int>(way)]);
  }
  return STREW_OK;
}

}  // namespace strew::accumulate
