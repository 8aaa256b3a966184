// SPDX-License-Identifier: Apache-2.0
// CombineRepeats() and WalkSlots(): many consecutive entries of one destination are combined in a
// register.
#include <algorithm>
#include <cstring>

#include "kernel/kernel.h"

namespace strew::kernel {
namespace {

// Finds repeats in a row of destinations: consecutive equal ones, of which at least one block of
// `least` is full.
template <class Destination>
class RepeatFinder {
 public:
  RepeatFinder(const Destination* row, int64_t entries, int64_t least)
      : row_(row), entries_(entries), least_(least) {}

  // Counts the repeats among the first `blocks` blocks.
  int64_t Count(int64_t blocks) const {
    int64_t repeats = 0;
    for (int64_t b = 0; b < blocks; ++b) repeats += IsRepeat(b * least_) ? 1 : 0;
    return repeats;
  }

  // Calls repeat(first, end) for each repeat that is found, and part(first, end) for the entries
  // between repeats.
  template <class Repeat, class Part>
  void ForEach(const Repeat& repeat, const Part& part) const {
    int64_t done = 0;
    int64_t block = FindBlock(done);
    while (block < entries_) {
      const int64_t first = BeginOf(block, done);
      if (done < first) part(done, first);
      done = EndOf(block);
      repeat(first, done);
      block = FindBlock(done);
    }
    if (done < entries_) part(done, entries_);
  }

 private:
  bool IsRepeat(int64_t first) const {
    if (row_[first] != row_[first + least_ - 1]) return false;
    Destination difference = 0;
    for (int64_t i = 1; i < least_ - 1; ++i) difference |= row_[first] ^ row_[first + i];
    return difference == 0;
  }

  // The start of the first block from `first` on that repeats; the number of entries if there is
  // none.
  int64_t FindBlock(int64_t first) const {
    while (first + least_ <= entries_ && !IsRepeat(first)) first += least_;
    return first + least_ <= entries_ ? first : entries_;
  }

  int64_t BeginOf(int64_t block, int64_t least) const {
    while (block > least && row_[block - 1] == row_[block]) --block;
    return block;
  }

  int64_t EndOf(int64_t block) const {
    int64_t end = block + least_;
    // Whole blocks first, because vectors compare them.
    while (end + least_ <= entries_ && row_[end] == row_[block] && IsRepeat(end)) end += least_;
    while (end < entries_ && row_[end] == row_[block]) ++end;
    return end;
  }

  const Destination* const row_;
  const int64_t entries_;
  const int64_t least_;
};

// The number of blocks in the sample of a tile. Most of them must repeat: tiles with few repeats
// took up to 1.7 x the time with a call for each (sums of 1 M sorted float32, 16 to a destination,
// Zen 5).
constexpr int64_t kSample = 8;

template <class Offset>
class RepeatingTile {
 public:
  RepeatingTile(const CombineKernels& kernels, ElementsKernel elements, const TileArguments& tile,
                const NextReads& next_reads)
      : kernels_(kernels), elements_(elements), tile_(tile), next_reads_(next_reads) {}

  bool HasManyRepeats() const {
    const int64_t of_row = tile_.columns / kernels_.least_repeats;
    int64_t blocks = 0;
    int64_t repeats = 0;
    for (int64_t r = 0; of_row > 0 && r < tile_.rows && blocks < kSample; ++r) {
      const int64_t more = std::min(of_row, kSample - blocks);
      repeats += RowAt(r).Count(more);
      blocks += more;
    }
    return 2 * repeats > blocks;
  }

  void Combine() const {
    for (int64_t r = 0; r < tile_.rows; ++r) {
      RowAt(r).ForEach([&](int64_t first, int64_t end) { CombineRepeat(r, first, end); },
                       [&](int64_t first, int64_t end) { CombinePart(r, first, end); });
    }
  }

 private:
  const Offset* OffsetsOf(int64_t row) const {
    return static_cast<const Offset*>(tile_.offsets) + row * tile_.offsets_row_stride;
  }

  RepeatFinder<Offset> RowAt(int64_t row) const {
    return {OffsetsOf(row), tile_.columns, kernels_.least_repeats};
  }

  unsigned char* OutputOf(int64_t row) const {
    return tile_.output + row * tile_.output_row_stride * kernels_.element_size;
  }

  const unsigned char* UpdateOf(int64_t row, int64_t column) const {
    return tile_.updates + (row * tile_.updates_row_stride + column * tile_.updates_column_stride) *
                               kernels_.element_size;
  }

  void CombineRepeat(int64_t row, int64_t first, int64_t end) const {
    unsigned char* const output = OutputOf(row) + OffsetsOf(row)[first] * kernels_.element_size;
    kernels_.run(output, 0, UpdateOf(row, first), tile_.updates_column_stride, end - first);
  }

  void CombinePart(int64_t row, int64_t first, int64_t end) const {
    TileArguments part = tile_;
    part.output = OutputOf(row);
    part.updates = UpdateOf(row, first);
    part.offsets = OffsetsOf(row) + first;
    part.rows = 1;
    part.columns = end - first;
    // If destinations are prefetched, rows of offsets have no gaps.
    if (tile_.prefetch != 0) part.lookahead += (tile_.rows - row) * tile_.columns - end;
    NextReads next_reads = next_reads_;
    if (next_reads.indices != nullptr) {
      next_reads.indices += row * next_reads.indices_row_stride + first * next_reads.index_size;
    }
    if (next_reads.output != nullptr) {
      next_reads.output +=
          row * next_reads.output_row_stride + first / next_reads.columns * next_reads.output_step;
    }
    elements_(part, next_reads);
  }

  const CombineKernels& kernels_;
  const ElementsKernel elements_;
  const TileArguments& tile_;
  const NextReads& next_reads_;
};

// Compares each slot with the next one.
bool AreEqual(const int32_t* slots, int64_t n) {
  return std::memcmp(slots, slots + 1, static_cast<size_t>(n - 1) * sizeof(*slots)) == 0;
}

template <class Offset>
bool CombineRepeatsOf(const CombineKernels& kernels, ElementsKernel elements,
                      const TileArguments& tile, const NextReads& next_reads) {
  const RepeatingTile<Offset> repeating(kernels, elements, tile, next_reads);
  if (!repeating.HasManyRepeats()) return false;
  repeating.Combine();
  return true;
}

}  // namespace

bool CombineRepeats(const CombineKernels& kernels, OffsetWidth offset_width,
                    const TileArguments& tile, const NextReads& next_reads) {
  if (kernels.least_repeats == 0) return false;
  const auto combine =
      offset_width == kOffset32 ? &CombineRepeatsOf<int32_t> : &CombineRepeatsOf<int64_t>;
  return combine(kernels, kernels.elements[offset_width], tile, next_reads);
}

void WalkSlots(const SlotKernels& kernels, int64_t size, const CountedSums& sums,
               const SlotUpdates& all) {
  const int64_t least = kernels.least_repeats;
  const int64_t blocks = least == 0 ? 0 : std::min(all.n / least, kSample);
  const RepeatFinder<int32_t> row(all.slots, all.n, least);
  const auto add = [&](int64_t first, int64_t end, bool are_of_one) {
    const unsigned char* const updates = all.updates + first * all.updates_stride * size;
    are_of_one = are_of_one && all.slots[first] >= 0;
    kernels.add_each(sums,
                     {all.slots + first, updates, all.updates_stride, end - first, are_of_one});
  };
  // 3 M updates of one slot with float32 took 0.67 x the time (Zen 4).
  if (all.slots[0] == all.slots[all.n - 1]) return add(0, all.n, AreEqual(all.slots, all.n));
  if (2 * row.Count(blocks) <= blocks) return add(0, all.n, false);
  row.ForEach([&](int64_t first, int64_t end) { add(first, end, true); },
              [&](int64_t first, int64_t end) { add(first, end, false); });
}

}  // namespace strew::kernel
