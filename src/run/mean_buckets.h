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
  BucketMeans(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan);

  // 0 where this is not a way.
  int64_t buckets() const { return buckets_; }
  int64_t places() const { return places_; }
  int64_t BucketOf(int64_t place) const { return place >> shift_; }
  // Of `entries` of each bucket, where at least so many places are touched.
  bool IsPossible(const int64_t* entries, int64_t touched) const;
  Status Run(bool in_place, const int64_t* entries) const;

 private:
  // Within a bucket.
  using Place = uint16_t;

  // Entries side by side, those of each bucket together and in order.
  struct Sorted {
    int64_t* end;  // of each bucket; where its next entry comes as long as they are sorted
    Place* places;
    unsigned char* updates;
  };

  int64_t EntryBytes() const { return width_ + static_cast<int64_t>(sizeof(Place)); }
  int64_t PlaceBytes() const;
  // Scratch of all tasks, besides what entries take.
  int64_t TaskBytes() const { return PlaceBytes() << shift_; }
  int64_t EndBytes() const { return buckets_ * static_cast<int64_t>(sizeof(int64_t)); }
  void Sort(const Sorted& sorted) const;
  template <class Element>
  void Move(const Sorted& sorted) const;
  void Add(const Sorted& sorted, int64_t first, int64_t end, const kernel::CountedSums& sums) const;
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
