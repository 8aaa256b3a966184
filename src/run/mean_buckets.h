// SPDX-License-Identifier: Apache-2.0
// Means of single elements that may land anywhere in an output without gaps: entries are sorted into
// buckets of places first, so that sums and counts of a bucket are near the CPU.
#ifndef STREW_RUN_MEAN_BUCKETS_H_
#define STREW_RUN_MEAN_BUCKETS_H_

#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/indexed.h"
#include "run/scatter.h"

namespace strew::run {

class BucketMeans {
 public:
  // About so many places are touched.
  BucketMeans(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
              int64_t touched);

  // Whether the entries may take so much memory, and pay for all places.
  bool IsPossible() const { return buckets_ > 0; }
  Status Run(bool in_place) const;

 private:
  // Entries side by side, those of each bucket together and in order.
  struct Sorted {
    int64_t* first;  // of each bucket, and the end
    int32_t* places;
    unsigned char* updates;
  };

  void Sort(const Sorted& sorted) const;
  template <class Element>
  void Move(const Sorted& sorted) const;
  void RunBucket(const Sorted& sorted, int64_t bucket, unsigned char* scratch) const;

  const Call& call_;
  const IndexedScatter& scatter_;
  const plan::IndexedPlan& plan_;
  const kernel::MeanKernels& kernels_;
  const int64_t width_;
  const int64_t entries_;
  int64_t places_ = 1;
  int64_t tasks_ = 1;
  int shift_ = 0;  // a bucket has 2^shift places
  int64_t buckets_ = 0;
};

}  // namespace strew::run

#endif  // STREW_RUN_MEAN_BUCKETS_H_
