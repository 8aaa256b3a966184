// SPDX-License-Identifier: Apache-2.0
// WalkElements() and WalkSlots(): apply entries one by one, but many consecutive entries of one
// destination as a run.
#include <algorithm>
#include <cstdint>

#include "kernel/kernel.h"

namespace strew::kernel {
namespace {

// A row of entries in which consecutive ones may have one destination, as with sorted indices. Runs
// of these are found by blocks of `least` entries.
template <class Place>
class EntryRow {
 public:
  // Finds runs of at least `least` entries that fill a block.
  EntryRow(const Place* places, int64_t entries, int64_t least)
      : places_(places), entries_(entries), least_(least) {}

  // Counts the runs among the first `blocks` blocks.
  int64_t CountRuns(int64_t blocks) const {
    int64_t runs = 0;
    for (int64_t b = 0; b < blocks; ++b) runs += IsRun(b * least_) ? 1 : 0;
    return runs;
  }

  // Calls run(first, end) for each run that is found, and part(first, end) for the entries between
  // runs.
  template <class Run, class Part>
  void ForEach(const Run& run, const Part& part) const {
    int64_t done = 0;
    int64_t block = FindRun(done);
    while (block < entries_) {
      const int64_t first = BeginOf(block, done);
      if (done < first) part(done, first);
      done = EndOf(block);
      run(first, done);
      block = FindRun(done);
    }
    if (done < entries_) part(done, entries_);
  }

 private:
  bool IsRun(int64_t first) const {
    if (places_[first] != places_[first + least_ - 1]) return false;
    Place difference = 0;
    for (int64_t i = 1; i < least_ - 1; ++i) difference |= places_[first] ^ places_[first + i];
    return difference == 0;
  }

  // The start of the first block from `first` on that is a run; the number of entries if there is
  // none.
  int64_t FindRun(int64_t first) const {
    while (first + least_ <= entries_ && !IsRun(first)) first += least_;
    return first + least_ <= entries_ ? first : entries_;
  }

  int64_t BeginOf(int64_t block, int64_t least) const {
    while (block > least && places_[block - 1] == places_[block]) --block;
    return block;
  }

  int64_t EndOf(int64_t block) const {
    int64_t end = block + least_;
    // Whole blocks first, because vectors compare them.
    while (end + least_ <= entries_ && places_[end] == places_[block] && IsRun(end)) end += least_;
    while (end < entries_ && places_[end] == places_[block]) ++end;
    return end;
  }

  const Place* const places_;
  const int64_t entries_;
  const int64_t least_;
};

// The number of blocks in the sample of a tile. Most of them must be runs: tiles with few runs took
// up to 1.7 x the time with a call for each run (sums of 1 M sorted float32 in runs of 16, Zen 5).
constexpr int64_t kSample = 8;

template <class Offset>
class ElementTile {
 public:
  ElementTile(const CombineKernels& kernels, ElementsKernel elements, const TileArguments& tile,
              const NextReads& next_reads)
      : kernels_(kernels), elements_(elements), tile_(tile), next_reads_(next_reads) {}

  bool HasRuns() const {
    if (kernels_.least_run == 0) return false;
    const int64_t of_row = tile_.columns / kernels_.least_run;
    int64_t blocks = 0;
    int64_t runs = 0;
    for (int64_t r = 0; of_row > 0 && r < tile_.rows && blocks < kSample; ++r) {
      const int64_t more = std::min(of_row, kSample - blocks);
      runs += RowAt(r).CountRuns(more);
      blocks += more;
    }
    return 2 * runs > blocks;
  }

  void Walk() const {
    for (int64_t r = 0; r < tile_.rows; ++r) {
      RowAt(r).ForEach([&](int64_t first, int64_t end) { WalkRun(r, first, end); },
                       [&](int64_t first, int64_t end) { WalkPart(r, first, end); });
    }
  }

 private:
  const Offset* OffsetsOf(int64_t row) const {
    return static_cast<const Offset*>(tile_.offsets) + row * tile_.offsets_row_stride;
  }

  EntryRow<Offset> RowAt(int64_t row) const {
    return {OffsetsOf(row), tile_.columns, kernels_.least_run};
  }

  unsigned char* OutputOf(int64_t row) const {
    return tile_.output + row * tile_.output_row_stride * kernels_.element_size;
  }

  const unsigned char* UpdateOf(int64_t row, int64_t column) const {
    return tile_.updates + (row * tile_.updates_row_stride + column * tile_.updates_column_stride) *
                               kernels_.element_size;
  }

  void WalkRun(int64_t row, int64_t first, int64_t end) const {
    unsigned char* const output = OutputOf(row) + OffsetsOf(row)[first] * kernels_.element_size;
    kernels_.run(output, 0, UpdateOf(row, first), tile_.updates_column_stride, end - first);
  }

  void WalkPart(int64_t row, int64_t first, int64_t end) const {
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
      next_reads.output += row * next_reads.output_row_stride + first * kernels_.element_size;
    }
    elements_(part, next_reads);
  }

  const CombineKernels& kernels_;
  const ElementsKernel elements_;
  const TileArguments& tile_;
  const NextReads& next_reads_;
};

template <class Offset>
void Walk(const CombineKernels& kernels, ElementsKernel elements, const TileArguments& tile,
          const NextReads& next_reads) {
  const ElementTile<Offset> all(kernels, elements, tile, next_reads);
  if (all.HasRuns()) return all.Walk();
  elements(tile, next_reads);
}

}  // namespace

void WalkElements(const CombineKernels& kernels, OffsetWidth offset_width,
                  const TileArguments& tile, const NextReads& next_reads) {
  const ElementsKernel elements = kernels.elements[offset_width];
  if (offset_width == kOffset32) return Walk<int32_t>(kernels, elements, tile, next_reads);
  Walk<int64_t>(kernels, elements, tile, next_reads);
}

void WalkSlots(const AccumulateKernels& kernels, int64_t size, const CountedSums& sums,
               const SlotUpdates& all) {
  const int64_t least = kernels.least_run;
  const int64_t blocks = least == 0 ? 0 : std::min(all.n / least, kSample);
  const EntryRow<int32_t> row(all.slots, all.n, least);
  const bool is_run = all.slots[0] == all.slots[all.n - 1];
  if (is_run || 2 * row.CountRuns(blocks) <= blocks) {
    return kernels.add_each(sums, all);
  }
  const auto add = [&](int64_t first, int64_t end) {
    const unsigned char* const updates = all.updates + first * all.updates_stride * size;
    kernels.add_each(sums, {all.slots + first, updates, all.updates_stride, end - first});
  };
  row.ForEach(add, add);
}

}  // namespace strew::kernel
