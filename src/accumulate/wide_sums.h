// SPDX-License-Identifier: Apache-2.0
// Slots of wide accumulators: a sum and a count for each. A sum is whatever updates accumulate to;
// for STREW_MUL it is a product. A slot stands for one destination, and the code that numbers the
// destinations decides which.
#ifndef STREW_ACCUMULATE_WIDE_SUMS_H_
#define STREW_ACCUMULATE_WIDE_SUMS_H_

#include <cstdint>
#include <cstring>

#include "accumulate/accumulator.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Elements of the output, `stride` apart: one element for each of `count` slots, or a run of
// `count` elements for one slot.
struct SlotLine {
  int64_t slot;
  unsigned char* elements;
  int64_t stride;
  int64_t count;
  int64_t unit = 0;  // of the slot at which a run begins

  // Makes a single line serve as the `lines` of SlotSums::Combine().
  template <class Body>
  void ForEachLine(bool /*writes*/, const Body& body) const {
    body(*this);
  }
};

// Addresses of the sums and counts of some slots.
struct Slots {
  unsigned char* sums;
  unsigned char* counts;
  bool are_far;  // too many for the caches
};

class SlotSums {
 public:
  explicit SlotSums(const walk::Scatter& scatter);

  const Accumulator& accumulator() const { return accumulator_; }
  // True if a destination may have more updates than 32 bits can count.
  bool are_long() const { return most_updates_ >= kernel::kMostTerms; }
  // True if slots have one element each, and counts of at most 32 bits.
  bool are_single() const { return are_single_; }
  int64_t slot_bytes() const { return units_ * sum_size() + count_size_; }

  // `memory` has room for `count` slots, and is aligned to 8 bytes. Sums come before counts of 32
  // bits, which are never wider, and after counts of 64 bits, so that all are aligned.
  Slots At(unsigned char* memory, int64_t count) const {
    const bool are_far = count * slot_bytes() > kNearBytes;
    if (are_single_) return {memory, memory + count * sum_size(), are_far};
    return {memory + count * count_size_, memory, are_far};
  }
  // The slots from `slot` on.
  Slots From(const Slots& slots, int64_t slot) const {
    return {SumOf(slots, slot, 0), slots.counts + slot * count_size_, slots.are_far};
  }

  // Combines the elements of slots with all updates that `source` adds to the slots. Elements whose
  // slot has no update stay as they are. lines.ForEachLine(writes, body) calls body(SlotLine) for
  // all slots; `writes` tells whether body writes their elements.
  template <class Lines, class Source>
  void Combine(const Slots& slots, int64_t count, const Lines& lines, const Source& source) const {
    std::memset(slots.counts, 0, static_cast<size_t>(count * count_size_));
    lines.ForEachLine(/*writes=*/false, [&](const SlotLine& line) { Begin(slots, line); });
    source();
    lines.ForEachLine(/*writes=*/true, [&](const SlotLine& line) { Finish(slots, line); });
  }

  // For sources: combines updates[c * stride] with the slot numbers[c], c < columns. A negative
  // number drops the update.
  void Add(const Slots& slots, const int32_t* numbers, const unsigned char* updates, int64_t stride,
           int64_t columns) const;
  // Number of updates that were added to the slots, if they count them.
  int64_t Updates(const Slots& slots, int64_t count) const;

 private:
  // Slots of up to this many bytes are in the last-level cache, from which the CPU fetches them
  // early enough. With prefetching, 300,000 float32 into 1.2 MB of slots took 1.5 x the time, 1 M
  // into 4 MB 1.3 x, 600,000 into 4.8 MB 1.25 to 1.3 x, 750,000 into 6 MB 1.15 to 1.2 x, the last
  // two also beside a program that used that cache (Zen 4).
  static constexpr int64_t kNearBytes = 9 << 20;

  int64_t CountOf(const Slots& slots, int64_t slot) const;
  int64_t sum_size() const { return accumulator_.sums.sum_size; }
  unsigned char* SumOf(const Slots& slots, int64_t slot, int64_t unit) const {
    return slots.sums + (slot * units_ + unit) * sum_size();
  }
  // Calls body(elements, first, n) for copies of the elements of a line in contiguous blocks, and
  // copies these back if the body writes.
  template <class Body>
  void ForEachBlock(const SlotLine& line, bool writes, const Body& body) const;
  void Begin(const Slots& slots, const SlotLine& line) const;
  void Finish(const Slots& slots, const SlotLine& line) const;
  void FinishLine(const kernel::CountedSums& from, const SlotLine& line) const;

  const plan::EntryLoops& loops_;
  const kernel::CombineKernels& move_;
  const int64_t width_;
  const int64_t units_;         // of an entry
  const int64_t most_updates_;  // of a destination
  const bool are_single_;
  const Accumulator accumulator_;
  const int64_t count_size_;  // 0 for compact slots
};

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_WIDE_SUMS_H_
