// SPDX-License-Identifier: Apache-2.0
// Sorts entries that may land anywhere by destination: first into buckets of neighbouring
// destinations and then, on request, into groups of one destination each.
#ifndef STREW_ACCUMULATE_BUCKET_SORT_H_
#define STREW_ACCUMULATE_BUCKET_SORT_H_

#include <cstdint>

#include "accumulate/touched.h"
#include "base/scratch.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// The number of a destination within its bucket.
using Remainder = uint16_t;

// Buckets of 2^shift neighbouring destinations, and the entries of each that are not dropped.
class Buckets {
 public:
  // Bytes of the counts.
  static int64_t Bytes(int64_t buckets) { return (buckets + 1) * int64_t{sizeof(int64_t)}; }

  // Counts the entries, or gives up if fewer than `least_touched` destinations are touched.
  Buckets(const walk::Scatter& scatter, const plan::DestinationNumbers& numbers, int shift,
          int64_t least_touched);

  // False if an allocation failed.
  bool ok() const { return ok_; }
  // True if at least `least_touched` destinations are touched; if not, the counts are unusable.
  bool is_reached() const { return is_reached_; }
  const TouchedRange& touched() const { return touched_; }

  const walk::Scatter& scatter() const { return scatter_; }
  const plan::DestinationNumbers& numbers() const { return numbers_; }
  int shift() const { return shift_; }
  int64_t size() const { return int64_t{1} << shift_; }
  int64_t count() const { return ((numbers_.range() - 1) >> shift_) + 1; }
  // True if no entry is dropped and the buckets of the entries ascend.
  bool ascend() const { return ascend_; }
  // Number of entries, and the first and the end of a bucket if buckets follow one another.
  int64_t entries() const { return firsts_[count()]; }
  const int64_t* firsts() const { return firsts_; }
  int64_t first(int64_t bucket) const { return firsts_[bucket]; }
  int64_t end(int64_t bucket) const { return firsts_[bucket + 1]; }

 private:
  const walk::Scatter& scatter_;
  const plan::DestinationNumbers& numbers_;
  const int shift_;
  Scratch memory_;
  int64_t* const firsts_;  // of each bucket, and their end
  bool ok_ = false;
  bool is_reached_ = false;
  TouchedRange touched_;
  bool ascend_ = false;
};

// The entries of all buckets, bucket by bucket and in order within each.
struct MovedEntries {
  // Moves updates that are single elements, or only the positions of updates.
  enum class Moves { kElements, kPositions };

  // Bytes of memory for entries with updates of so many bytes.
  static int64_t Bytes(int64_t entries, int64_t buckets, int64_t update_bytes);

  MovedEntries(const Buckets& buckets, Moves moves, unsigned char* memory);

  Remainder* const remainders;
  unsigned char* const updates;
};

// Lists the distinct ones of n remainders in the order of their first occurrence, and replaces
// remainders by positions in the list. `position_of` and `list` have room for a whole bucket, of at
// most 2^15 destinations unless there are fewer entries. Returns the length of the list.
int64_t ListDistinct(Remainder* remainders, int64_t n, Remainder* position_of, Remainder* list);

// The updates of each destination together, in order.
struct EntryGroups {
  // Bytes of scratch for each destination of a bucket; of two positions of each update, one of them
  // in order.
  static constexpr int64_t kScratchBytes = 2 * sizeof(Remainder) + sizeof(uint32_t);
  static constexpr int64_t kUpdateBytes = 2 * sizeof(int64_t);

  // Groups positions that were moved to memory of kUpdateBytes for each update.
  EntryGroups(const Buckets& buckets, const MovedEntries& moved, unsigned char* scratch);

  // NULL if an allocation failed. A sentinel with the end of the last group follows.
  const kernel::Group* groups() const {
    return reinterpret_cast<const kernel::Group*>(memory.memory());
  }

  int64_t* const order;  // positions of updates
  const int64_t step;    // units between neighbouring destinations
  int64_t count = 0;
  Scratch memory;
};

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_BUCKET_SORT_H_
