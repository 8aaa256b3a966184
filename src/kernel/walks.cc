// SPDX-License-Identifier: Apache-2.0
// The walks that only call kernels: one for all dtypes, reductions and targets. A call is little
// beside a run; with the runs inlined into walks of their own the library was twice as large.
#include <hwy/base.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

#include "kernel/kernel.h"
#include "kernel/short_runs.h"

namespace strew::kernel {
namespace {

// How rows and boxes are walked. Sizes are bytes.
struct Walks {
  // Updates are read ahead where rows of so many are streamed: of 384 B to 4 KiB 0.63 to 0.9 x the
  // time; shorter ones 1.03 to 1.1 x.
  int64_t least_read_ahead = 384;
  // Rows that are read from pages of their own are no stream to the CPU: strips of 384 bytes of a
  // matrix with rows of 16 KiB, brought in 12 rows ahead, saved 1 ms of 24 on a Zen 5.
  int64_t rows_ahead = 12;
  int64_t page = 4096;
  int64_t longest_of_page = 1024;
  // A few updates that are repeated are written out beforehand, as often as fits: kernels then find
  // them side by side, and none needs a loop of its own for this. 64 MiB set to one number on a
  // Zen 5: int8 17 ms one by one, 0.7 so; float32 4.3, 0.7; rows of four float32 10, 0.7.
  int64_t pattern = 4096;
  // Filling a pattern takes as long as about so many elements one by one.
  int64_t least_repeated = 64;
  // Longer rows are as fast one by one.
  int64_t longest_period = 512;
  // Groups ahead, and of each its output and so many updates.
  int64_t groups_ahead = 16;
  int64_t most_fetched_of_group = 1024;
  int64_t fetched_updates = 4;
};
constexpr Walks kWalks;

constexpr int64_t kLine = 64;

template <bool kWrites>
HWY_INLINE void Prefetch(const unsigned char* from, int64_t bytes) {
  constexpr int kLocality = kWrites ? 3 : 0;
  const int64_t before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(from) % kLine);
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(from + i, kWrites, kLocality);
  // One more where it begins in the middle of a line and ends behind the middle of another.
  if (before != 0 && (bytes - 1) % kLine + before >= kLine)
    __builtin_prefetch(from + bytes - 1, kWrites, kLocality);
}

// Of a run that will be streamed only lines of which it writes parts of 16 bytes are read.
void PrefetchEnds(const unsigned char* output, int64_t bytes) {
  const unsigned char* const end = output + bytes;
  if (reinterpret_cast<uintptr_t>(output) % 16 == 0 && bytes % 16 == 0) return;
  if (reinterpret_cast<uintptr_t>(output) % kLine != 0) __builtin_prefetch(output, 1);
  if (reinterpret_cast<uintptr_t>(end) % kLine != 0) __builtin_prefetch(end - 1, 1);
}

template <class Offset>
void WalkRowsAt(RunKernel run, int64_t size, const RowsArguments& rows) {
  const TileArguments& tile = rows.tile;
  const Offset* offsets = static_cast<const Offset*>(tile.offsets);
  const int64_t run_bytes = rows.run * size;
  const bool streams = rows.streams;
  // Runs of strided elements are left to the hardware.
  const bool prefetches = tile.prefetch != 0 && rows.output_run_stride == 1;
  // Updates of a single row of entries go on as far as offsets do. Those that do not lie one behind
  // the other are read ahead too.
  const int64_t* const updates_offsets = rows.updates_offsets;
  const bool reads_ahead =
      tile.rows == 1 && rows.updates_run_stride == 1 &&
      (updates_offsets != nullptr || (streams && run_bytes >= kWalks.least_read_ahead));
  const int64_t column_bytes = tile.updates_column_stride * size;
  const auto update_of = [&](const unsigned char* row, int64_t c) {
    return row + (updates_offsets != nullptr ? updates_offsets[c] * size : c * column_bytes);
  };
  int64_t ahead = prefetches ? tile.rows * tile.columns + tile.lookahead - tile.prefetch : 0;
  int64_t following = tile.rows * tile.columns;
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* const updates = tile.updates + r * tile.updates_row_stride * size;
    for (int64_t c = 0; c < tile.columns; ++c, ++offsets) {
      if (ahead-- > 0) {
        const unsigned char* const next = tile.output + offsets[tile.prefetch] * size;
        streams ? PrefetchEnds(next, run_bytes) : Prefetch<true>(next, run_bytes);
        if (reads_ahead) Prefetch<false>(update_of(updates, c + tile.prefetch), run_bytes);
      }
      // What would be replaced at once would be written to memory for nothing: one row of 1 KiB
      // again and again 4 x the time of random rows.
      if (streams && --following > 0 && offsets[0] == offsets[1]) continue;
      run(tile.output + *offsets * size, rows.output_run_stride, update_of(updates, c),
          rows.updates_run_stride, rows.run);
    }
  }
}

bool ReadsPages(const BoxArguments& box, int64_t size) {
  return box.updates_stride == 1 && box.run * size <= kWalks.longest_of_page &&
         box.updates_row_stride * size >= kWalks.page;
}

// Updates written out as often as fits.
class Pattern {
 public:
  explicit Pattern(int64_t period) : period_(period) {}

  // For `bytes` of updates that begin anew every `period` bytes.
  void Fill(const unsigned char* updates, int64_t bytes) {
    filled_ = std::min(bytes, kWalks.pattern / period_ * period_);
    if (period_ == 1) {
      std::memset(pattern_, *updates, static_cast<size_t>(filled_));
      return;
    }
    int64_t done = period_;
    std::memcpy(pattern_, updates, static_cast<size_t>(done));
    for (; done < filled_; done += std::min(done, filled_ - done)) {
      std::memcpy(pattern_ + done, pattern_, static_cast<size_t>(std::min(done, filled_ - done)));
    }
  }

  // output (+)= the first `bytes` bytes.
  void Run(RunKernel run, int64_t size, unsigned char* output, int64_t bytes) const {
    for (int64_t i = 0; i < bytes; i += filled_) {
      run(output + i, 1, pattern_, 1, std::min(filled_, bytes - i) / size);
    }
  }

 private:
  alignas(64) unsigned char pattern_[kWalks.pattern];
  const int64_t period_;
  int64_t filled_ = 0;
};

// Whether every run repeats one element.
bool RepeatsElements(const BoxArguments& box) {
  return box.output_stride == 1 && box.updates_stride == 0 && box.run >= kWalks.least_repeated;
}

// Whether the rows repeat one run, and lie together.
bool RepeatsRuns(const BoxArguments& box, int64_t size) {
  return box.updates_row_stride == 0 && box.output_row_stride == box.run &&
         box.output_stride == 1 && box.updates_stride == 1 &&
         box.run * size <= kWalks.longest_period && box.rows * box.run >= kWalks.least_repeated;
}

// Not in WalkBox, whose small boxes need no room for a pattern.
[[gnu::noinline]] void WalkRepeatedElements(RunKernel run, int64_t size, const BoxArguments& box) {
  const int64_t bytes = box.run * size;
  Pattern pattern(size);
  for (int64_t r = 0; r < box.rows; ++r) {
    if (r == 0 || box.updates_row_stride != 0) {
      pattern.Fill(box.updates + r * box.updates_row_stride * size, bytes);
    }
    pattern.Run(run, size, box.output + r * box.output_row_stride * size, bytes);
  }
}

[[gnu::noinline]] void WalkRepeatedRuns(RunKernel run, int64_t size, const BoxArguments& box) {
  const int64_t bytes = box.rows * box.run * size;
  Pattern pattern(box.run * size);
  pattern.Fill(box.updates, bytes);
  pattern.Run(run, size, box.output, bytes);
}

// The output of a group, and its first updates.
void FetchGroup(int64_t size, const Group* group, const GroupArguments& all) {
  const int64_t bytes = std::min(all.n * size, kWalks.most_fetched_of_group);
  const int64_t end = std::min(group[1].first, group->first + kWalks.fetched_updates);
  Prefetch<true>(all.output + group->destination * size, bytes);
  for (int64_t k = group->first; k < end; ++k) {
    Prefetch<false>(all.updates + all.order[k] * size, bytes);
  }
}

}  // namespace

void PrefetchOnce(const unsigned char* from, int64_t bytes) { Prefetch<false>(from, bytes); }
void PrefetchForWriting(const unsigned char* to, int64_t bytes) { Prefetch<true>(to, bytes); }

void FinishStreaming() { hwy::FlushStream(); }

void WalkBox(RunKernel run, int64_t size, const BoxArguments& box) {
  if (RepeatsElements(box)) return WalkRepeatedElements(run, size, box);
  if (RepeatsRuns(box, size)) return WalkRepeatedRuns(run, size, box);
  if (WalkShortRuns(run, size, box)) return;
  const int64_t row_bytes = box.updates_row_stride * size;
  const int64_t prefetched = ReadsPages(box, size) ? box.rows - kWalks.rows_ahead : 0;
  for (int64_t r = 0; r < box.rows; ++r) {
    const unsigned char* const updates = box.updates + r * row_bytes;
    if (r < prefetched) PrefetchOnce(updates + kWalks.rows_ahead * row_bytes, box.run * size);
    run(box.output + r * box.output_row_stride * size, box.output_stride, updates,
        box.updates_stride, box.run);
  }
}

void WalkRows(RunKernel run, int64_t size, OffsetWidth offset_width, const RowsArguments& rows) {
  if (offset_width == kOffset32) return WalkRowsAt<int32_t>(run, size, rows);
  WalkRowsAt<int64_t>(run, size, rows);
}

void WalkGroups(GroupKernel group, int64_t size, const Group* groups, const GroupArguments& all) {
  // Elements that lie apart share lines with those of other groups.
  const int64_t fetched = all.output_stride == 1 ? all.count - kWalks.groups_ahead : 0;
  GroupArguments one = all;
  for (int64_t g = 0; g < all.count; ++g) {
    if (g < fetched) FetchGroup(size, groups + g + kWalks.groups_ahead, all);
    one.output = all.output + groups[g].destination * size;
    one.order = all.order + groups[g].first;
    one.count = groups[g + 1].first - groups[g].first;
    group(one);
  }
}

}  // namespace strew::kernel
