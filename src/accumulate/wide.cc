// SPDX-License-Identifier: Apache-2.0
// STREW_MEAN and reductions with STREW_WIDE. Both combine the updates of each destination in a wide
// accumulator, here called its sum. There are three ways to do so:
//
//   batches  some batches at a time, with a slot for each of their destinations; also for calls
//            whose slots fit scratch, but whose entries do not
//   buckets  entries are first moved into buckets of neighbouring destinations
//   ranks    each touched destination has a slot; for calls whose entries do not fit scratch, or
//            are too few for buckets
#include "accumulate/accumulate.h"
#include "accumulate/wide_ways.h"
#include "base/reduction.h"
#include "kernel/kernel.h"

namespace strew::accumulate {

Status Combine(const WideScatter& work, WideWay* way) {
  constexpr WideWay kOrders[2][2] = {{WideWay::kBatches, WideWay::kBuckets},
                                     {WideWay::kBuckets, WideWay::kBatches}};
  TouchedRange touched;
  bool done;
  for (const WideWay next : kOrders[PrefersBuckets(work) ? 1 : 0]) {
    *way = next;
    STREW_TRY(next == WideWay::kBatches ? CombineBatches(work, &done)
                                        : CombineBuckets(work, &touched, &done));
    if (done) return STREW_OK;
  }
  *way = WideWay::kBatches;
  STREW_TRY(CombineLargeBatches(work, touched, &done));
  if (done) return STREW_OK;
  *way = WideWay::kRanks;
  return CombineRanks(work);
}

Status ApplyWide(const walk::Scatter& scatter) {
  const SlotSums sums(scatter);
  WideWay way;
  STREW_TRY(Combine({scatter, sums}, &way));
  if (scatter.call.explains()) {
    constexpr const char* kTold[] = {"some batches at a time have an accumulator for each element",
                                     "entries are sorted into buckets of destinations first",
                                     "each destination that is touched has an accumulator"};
    const char* const what = IsWide(scatter.reduction) ? "Wide" : "Means";
    scatter.call.Explain("%s: %s.", what, kTold[static_cast<int>(way)]);
  }
  return STREW_OK;
}

int64_t SumBytes(const Call& call, const TensorView& output) {
  return kernel::AccumulateKernelsFor(output.dtype, STREW_MEAN, call.settings().simd_target)
      .sums.sum_size;
}

int64_t SlotBytes(const Call& call, const TensorView& output, strew_reduction reduction,
                  int64_t most_updates, bool counts_updates) {
  const Accumulator accumulator(call, output.dtype, reduction, most_updates, counts_updates);
  return accumulator.slot_bytes();
}

}  // namespace strew::accumulate
