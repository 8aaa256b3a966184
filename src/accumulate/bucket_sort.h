// SPDX-License-Identifier: Apache-2.0
// Sorts entries that may land anywhere by destination: first into buckets of neighbouring
// destinations and then, on request, into groups of one destination each.
#ifndef STREW_ACCUMULATE_BUCKET_SORT_H_
#define STREW_ACCUMULATE_BUCKET_SORT_H_

#include <algorithm>
#include <cstdint>

#include "base/scratch.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "walk/scatter.h"

namespace strew::accumulate {

class BucketSort {
 public:
  // The number of a destination within its bucket.
  using Place = uint16_t;

  // The sort moves updates that are single elements, or only the positions of updates.
  enum class Moves { kElements, kPositions };

  BucketSort(const walk::Scatter& scatter, Moves moves);

  // Sets the size of a bucket to 2^shift places.
  void SetShift(int shift) { shift_ = shift; }
  int64_t places() const { return int64_t{1} << shift_; }
  int64_t buckets() const { return ((numbers_.range() - 1) >> shift_) + 1; }
  const plan::DestinationNumbers& numbers() const { return numbers_; }
  // True if every number in range stands for an element.
  bool has_no_gaps() const { return has_no_gaps_; }

  // Counts the entries of each bucket. Sets *reached if at least `least_touched` destinations are
  // touched; if not, the counts are unusable. Returns false if an allocation fails.
  bool Count(int64_t least_touched, bool* reached);
  // Number of entries that are not dropped.
  int64_t entries() const { return entries_; }
  // True if no entry is dropped and the buckets ascend: entries may Stay() where they are.
  bool ascends() const { return ascends_; }
  void Stay();
  int64_t first(int64_t bucket) const { return bucket == 0 ? 0 : end_[bucket - 1]; }
  int64_t end(int64_t bucket) const { return end_[bucket]; }

  // Bytes for Move() and Order(), for all entries and buckets.
  int64_t bytes() const {
    return Scratch::RoundUp(all_ * kPlaceBytes) + all_ * (entry_bytes() - kPlaceBytes);
  }
  // Bytes for each entry.
  int64_t entry_bytes() const {
    return kPlaceBytes + (moves_ == Moves::kElements ? width_ : 2 * int64_t{sizeof(int64_t)});
  }
  int64_t count_bytes() const { return buckets() * int64_t{sizeof(int64_t)}; }
  // Moves all entries into their buckets, in order within each. `memory` has bytes().
  void Move(unsigned char* memory);
  const Place* places_of(int64_t entry) const { return places_ + entry; }
  const unsigned char* elements_of(int64_t entry) const { return updates_ + entry * width_; }

  // Lists the places of a bucket in the order of their first entries, and replaces the places of
  // entries by positions in the list. Both arrays have room for all places, of which there are at
  // most 2^15 unless the bucket has fewer entries. Returns the length of the list.
  int64_t List(int64_t bucket, Place* position_of, Place* list) const;

  // Groups the updates of each destination, in order. A sentinel with the end of the last group
  // follows `groups`. Returns false if their allocation fails.
  bool Order(unsigned char* scratch, Scratch* groups, int64_t* count) const;
  static constexpr int64_t kOrderBytes = 2 * sizeof(Place) + sizeof(uint32_t);  // for each place
  const int64_t* order() const { return positions() + all_; }

 private:
  static constexpr int64_t kPlaceBytes = sizeof(Place);

  int64_t* positions() const { return reinterpret_cast<int64_t*>(updates_); }
  template <class BeginRow, class Take, class TakeRow>
  void Distribute(const BeginRow& begin_row, const Take& take, const TakeRow& take_row) const;
  template <class Update, class Load>
  void MoveEach(const Load& load) const;
  template <int kWidth>
  void MoveElements() const;
  kernel::Group* OrderBucket(int64_t bucket, unsigned char* scratch, kernel::Group* groups) const;

  const walk::Scatter& scatter_;
  const Moves moves_;
  const plan::DestinationNumbers numbers_;
  const int64_t width_;
  const int64_t all_;  // entries, including dropped ones
  bool has_no_gaps_;
  int shift_ = 0;
  int64_t entries_ = 0;
  bool ascends_ = false;
  Scratch end_memory_;
  int64_t* end_ = nullptr;  // of each bucket; the position of its next entry during a move
  Place* places_ = nullptr;
  unsigned char* updates_ = nullptr;  // elements, or positions and room for their order
};

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_BUCKET_SORT_H_
