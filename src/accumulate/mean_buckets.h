// SPDX-License-Identifier: Apache-2.0
// Means of single elements: entries are partitioned into buckets of neighbouring destinations
// first, so that the sums and counts of a bucket are near the CPU.
#ifndef STREW_ACCUMULATE_MEAN_BUCKETS_H_
#define STREW_ACCUMULATE_MEAN_BUCKETS_H_

#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "walk/scatter.h"

namespace strew::accumulate {

class BucketMeans {
 public:
  BucketMeans(const walk::Scatter& scatter);

  // 0 where this is not a way.
  int64_t buckets() const { return buckets_; }
  const plan::DestinationNumbers& numbers() const { return numbers_; }
  // Of the number of a destination.
  int64_t BucketOf(int64_t number) const { return number >> shift_; }
  // Of `entries` of each bucket, where at least so many destinations are touched.
  bool IsPossible(const int64_t* entries, int64_t touched) const;
  Status Run(bool in_place, const int64_t* entries) const;

 private:
  // A number within a bucket.
  using Place = uint16_t;

  // Entries side by side, those of each bucket together and in order.
  struct Sorted {
    int64_t* end;  // of each bucket; where its next entry comes as long as they are sorted
    Place* places;
    unsigned char* updates;
  };

  // Entries [first, end) of those.
  struct Turns {
    int64_t first;
    int64_t end;
  };

  int64_t EntryBytes() const { return width_ + static_cast<int64_t>(sizeof(Place)); }
  int64_t PlaceBytes() const;
  int64_t TaskBytes() const { return PlaceBytes() << shift_; }
  int64_t EndBytes() const { return buckets_ * static_cast<int64_t>(sizeof(int64_t)); }
  void Sort(const Sorted& sorted) const;
  template <class Element>
  void Move(const Sorted& sorted) const;
  void BeginSums(unsigned char* sums, const unsigned char* elements, int64_t n) const;
  void Add(const Sorted& sorted, const Turns& entries, const kernel::CountedSums& sums) const;
  void RunBucket(const Sorted& sorted, int64_t bucket, unsigned char* scratch) const;
  void RunDense(const Sorted& sorted, const Turns& entries, unsigned char* output, int64_t places,
                unsigned char* scratch) const;
  void RunSparse(const Sorted& sorted, const Turns& entries, unsigned char* output,
                 unsigned char* scratch) const;
  template <class Body>
  void ForEachBlock(const Place* places, int64_t count, unsigned char* output, Body body) const;

  const walk::Scatter& scatter_;
  const kernel::AccumulateKernels& kernels_;
  const plan::DestinationNumbers numbers_;
  const int64_t width_;
  const int64_t entries_;
  bool is_dense_;  // whether every number has an element, and these lie together
  int64_t tasks_ = 1;
  int shift_ = 0;  // a bucket has 2^shift places
  int64_t buckets_ = 0;
};

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_MEAN_BUCKETS_H_
