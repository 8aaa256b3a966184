// SPDX-License-Identifier: Apache-2.0
// Walks that call kernels, compiled once for all dtypes, reductions and targets. A call costs
// little compared with a run, and inlined runs made the library twice as large.
#include <hwy/base.h>
#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/cache_size.h"
#include "base/compiler.h"
#include "kernel/apply_row.h"
#include "kernel/kernel.h"
#include "kernel/pattern.h"
#include "kernel/prefetch.h"
#include "kernel/short_runs.h"

// Loops over one element take 1.25 x the time where they cross a line of the cache of decoded
// instructions, as any change elsewhere may let them (Zen 4). Other files have few such loops.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("align-loops=32")
#endif

namespace strew::kernel {
namespace {

// Parameters of the walks. Sizes are in bytes.
struct Walks {
  // Shortest streamed row whose updates are prefetched: rows of 384 B to 4 KiB took 0.63 to 0.9 x
  // the time, shorter ones 1.03 to 1.1 x.
  int64_t least_read_ahead = 384;
  // Prefetch distance in rows if rows are at least a page apart and at most longest_of_page long:
  // the hardware does not prefetch these. For strips of 384 bytes of a matrix with rows of 16 KiB,
  // it saved 1 ms of 24 on a Zen 5. Strips of 0.7 to 2.8 KiB took 0.7 x the time on a Zen 4.
  int64_t rows_ahead = 12;
  int64_t page = 4096;
  int64_t longest_of_page = 2048;
  // Longest run in bytes of which copies are written out if contiguous rows repeat it: longer ones
  // are as fast one by one. Rows of four float32 in 64 MiB took 0.07 x the time (Zen 5).
  int64_t longest_period = 512;
  // Most bytes of a row that are prefetched; the hardware prefetches the rest. If rows are in the
  // caches, prefetches are useless: 128 rows of 2 to 8 KiB took 0.88 to 0.95 x the time of
  // prefetching whole rows. Random rows of 1 KiB took 1.05 to 1.3 x the time with 512 bytes;
  // streamed rows of 4 KiB took 1.15 to 1.2 x if all of their updates were prefetched.
  int64_t most_fetched_of_row = 1024;
  // Longest row, in bytes, that is replaced without a call. For longer rows the vectors of a kernel
  // are faster than memcpy: rows of 512 B to 1 KiB took 0.75 to 0.9 x the time.
  int64_t longest_inline = 128;
  // Longest strided row, in elements, that is replaced without a call. With every second element of
  // the updates, rows of 2, 5 and 8 int64 took 0.53, 0.66 and 0.8 x the time, of 12 0.92 x; of 2
  // and 8 int8 in columns 0.5 and 0.85 x (Zen 4).
  int64_t longest_by_element = 12;
  // Prefetch distance in the output of moved rows that lie apart, in bytes of rows and in rows at
  // most; the longest such row, the least distance between two, and the least bytes from the first
  // to the last. Random rows of 32 to 64 B took 0.5 to 0.85 x the time, of 64 to 400 B 0.51 to 0.9,
  // of 0.4 to 2 KiB 0.57 to 0.98, shorter ones 0.8 to 1.05, rows nearer to each other up to 1.28;
  // with 16 rows ahead, whatever their length, rows of 1 KiB took 1.1 to 1.2 (Emerald Rapids).
  int64_t moved_ahead = 4096;
  int64_t moved_rows_ahead = 16;
  int64_t longest_moved = 2048;
  int64_t least_moved_step = 32;
  int64_t far_moved = 64 << 10;
};
#ifdef STREW_TUNABLE  // bench/tune.py changes them
Walks kWalks;
#else
constexpr Walks kWalks;
#endif

template <class Offset>
HWY_INLINE void PrefetchAt(const unsigned char* origin, int64_t size, const void* offsets,
                           int64_t n) {
  const Offset* const at = static_cast<const Offset*>(offsets);
  for (int64_t i = 0; i < n; ++i) PrefetchForWrite(origin + at[i] * size);
  // Aligned elements of 1, 2, 4 or 8 bytes lie in one cache line, others may lie in two.
  if (size <= 8 && (size & (size - 1)) == 0) return;
  for (int64_t i = 0; i < n; ++i) PrefetchForWrite(origin + at[i] * size + size - 1);
}

// Prefetches the ends of a run that will be streamed, unless the ends are streamed too.
HWY_INLINE void PrefetchEnds(const unsigned char* output, int64_t bytes) {
  const unsigned char* const end = output + bytes;
  if (StreamsEnds(output, bytes)) return;
  if (reinterpret_cast<uintptr_t>(output) % kCacheLine != 0) PrefetchForWrite(output);
  if (reinterpret_cast<uintptr_t>(end) % kCacheLine != 0) PrefetchForWrite(end - 1);
}

template <class Offset>
int64_t AdjacentRows(const Offset* offsets, int64_t run, int64_t most) {
  int64_t rows = 1;
  while (rows < most && offsets[rows] == offsets[rows - 1] + run) ++rows;
  return rows;
}

// Streamed rows have their own code, and `apply` is passed by value: otherwise walks took 1.02 to
// 1.05 x the time.
template <class Offset, bool kStreams, class ApplyRow>
HWY_INLINE void WalkRowsAt(const ApplyRow apply, int64_t size, const RowsArguments& rows) {
  const TileArguments& tile = rows.tile;
  const Offset* offsets = static_cast<const Offset*>(tile.offsets);
  const int64_t run_bytes = rows.run * size;
  // Strided runs are not prefetched by software.
  const bool prefetches = tile.prefetch != 0 && rows.output_run_stride == 1;
  // In a tile of one row there are as many updates as offsets, lookahead included, so updates can
  // be prefetched too. This pays for updates at given offsets, and for long rows that are streamed.
  const int64_t* const updates_offsets = rows.updates_offsets;
  const bool reads_ahead =
      tile.rows == 1 && rows.updates_run_stride == 1 &&
      (updates_offsets != nullptr || (kStreams && run_bytes >= kWalks.least_read_ahead));
  const int64_t fetched_bytes = std::min(run_bytes, kWalks.most_fetched_of_row);
  const int64_t column_bytes = tile.updates_column_stride * size;
  const auto update_of = [&](const unsigned char* row, int64_t c) {
    return row + (updates_offsets != nullptr ? updates_offsets[c] * size : c * column_bytes);
  };
  // Adjacent rows become one run, of which only the ends fill cache lines in part: rows of 257 B to
  // 1 KiB in order took 0.37 to 0.6 x the time, two thirds of them 0.5 to 0.85 x (Zen 4).
  const bool joins = rows.output_run_stride == 1 && rows.updates_run_stride == 1 &&
                     updates_offsets == nullptr && tile.updates_column_stride == rows.run;
  int64_t ahead = prefetches ? tile.rows * tile.columns + tile.lookahead - tile.prefetch : 0;
  int64_t following = tile.rows * tile.columns;
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* const updates = tile.updates + r * tile.updates_row_stride * size;
    for (int64_t c = 0; c < tile.columns; ++c, ++offsets) {
      if (ahead-- > 0) {
        const unsigned char* const next = tile.output + offsets[tile.prefetch] * size;
        kStreams ? PrefetchEnds(next, run_bytes) : Prefetch<true>(next, fetched_bytes);
        if (reads_ahead) {
          const unsigned char* const read = update_of(updates, c + tile.prefetch);
          Prefetch<false>(read, fetched_bytes);
        }
      }
      // Skip a row that the next one replaces, because streaming would write it to memory for
      // nothing: writing one row of 1 KiB again and again took 4 x the time of random rows.
      if (kStreams && --following > 0 && offsets[0] == offsets[1]) continue;
      unsigned char* const output = tile.output + *offsets * size;
      if constexpr (kStreams && std::is_same_v<ApplyRow, RowByKernel>) {
        const int64_t adjacent = joins ? AdjacentRows(offsets, rows.run, tile.columns - c) : 1;
        apply(output, update_of(updates, c), adjacent);
        c += adjacent - 1, offsets += adjacent - 1;
        ahead -= adjacent - 1, following -= adjacent - 1;
      } else {
        apply(output, update_of(updates, c));
      }
    }
  }
}

template <bool kStreams, class ApplyRow>
[[gnu::noinline]] void WalkRowsBy(const ApplyRow& apply, int64_t size, OffsetWidth offset_width,
                                  const RowsArguments& rows) {
  if (offset_width == kOffset32) return WalkRowsAt<int32_t, kStreams>(apply, size, rows);
  WalkRowsAt<int64_t, kStreams>(apply, size, rows);
}

template <class ApplyRow>
void WalkRowsBy(const ApplyRow& apply, int64_t size, OffsetWidth offset_width,
                const RowsArguments& rows) {
  if constexpr (kHasStreams) {
    if (rows.streams) return WalkRowsBy<true>(apply, size, offset_width, rows);
  }
  WalkRowsBy<false>(apply, size, offset_width, rows);
}

template <int64_t kSize>
void MoveElements(OffsetWidth offset_width, const RowsArguments& rows) {
  const RowByElements<kSize> row = {rows.run, rows.output_run_stride * kSize,
                                    rows.updates_run_stride * kSize};
  // Such short rows are never streamed.
  WalkRowsBy<false>(row, kSize, offset_width, rows);
}

// Returns false if there is no loop for elements of this size.
bool MoveElements(int64_t size, OffsetWidth offset_width, const RowsArguments& rows) {
  switch (size) {
    case 1:
      MoveElements<1>(offset_width, rows);
      return true;
    case 2:
      MoveElements<2>(offset_width, rows);
      return true;
    case 4:
      MoveElements<4>(offset_width, rows);
      return true;
    case 8:
      MoveElements<8>(offset_width, rows);
      return true;
    default:
      return false;
  }
}

template <int64_t kHalf>
void MoveHalves(int64_t size, OffsetWidth offset_width, const RowsArguments& rows) {
  const RowByHalves<kHalf> row = {rows.run * size - kHalf};
  WalkRowsBy<false>(row, size, offset_width, rows);
}

// Moves contiguous rows without calls.
void MoveShortRows(int64_t size, OffsetWidth offset_width, const RowsArguments& rows) {
  const int64_t bytes = rows.run * size;
  if (bytes > 32) return WalkRowsBy<false>(RowByBytes{bytes}, size, offset_width, rows);
  if (bytes >= 16) return MoveHalves<16>(size, offset_width, rows);
  if (bytes >= 8) return MoveHalves<8>(size, offset_width, rows);
  if (bytes >= 4) return MoveHalves<4>(size, offset_width, rows);
  if (bytes >= 2) return MoveHalves<2>(size, offset_width, rows);
  MoveElements<1>(offset_width, rows);
}

// True if the updates are read in order, so that they can be prefetched. WalkRowsAt() prefetches
// for streamed rows.
bool ReadsAhead(const RowsArguments& rows) {
  const TileArguments& tile = rows.tile;
  return rows.read_ahead != 0 && !rows.streams && rows.updates_run_stride == 1 &&
         rows.updates_offsets == nullptr && tile.updates_column_stride == rows.run &&
         (tile.rows == 1 || tile.updates_row_stride == tile.columns * rows.run);
}

bool ReadsPages(const BoxArguments& box, int64_t size) {
  return box.updates_stride == 1 && box.run * size <= kWalks.longest_of_page &&
         std::abs(box.updates_row_stride) * size >= kWalks.page;
}

// Prefetch distance in rows; box.rows for none.
int64_t RowsAhead(const BoxArguments& box, int64_t row_bytes) {
  if (box.read_ahead == 0 || row_bytes == 0) return box.rows;
  return std::max<int64_t>(box.read_ahead / std::abs(row_bytes), 1);
}

// True if each row of the output is prefetched before it is replaced.
bool FetchesMovedRows(const BoxArguments& box, int64_t run_bytes, int64_t step) {
  return !box.streams && box.output_stride == 1 && run_bytes <= kWalks.longest_moved &&
         step != run_bytes && step >= kWalks.least_moved_step &&
         box.rows * step >= kWalks.far_moved && WaitsForStores();
}

// Prefetch distance in the output, in rows; box.rows for none.
int64_t WritesAhead(const BoxArguments& box, int64_t size) {
  const int64_t step = std::abs(box.output_row_stride * size);
  if (!box.moves) return RowsAhead(box, step);
  const int64_t run_bytes = box.run * size;
  if (!FetchesMovedRows(box, run_bytes, step)) return box.rows;
  return std::clamp<int64_t>(kWalks.moved_ahead / run_bytes, 1, kWalks.moved_rows_ahead);
}

// True if contiguous rows repeat one run.
bool RepeatsRuns(const BoxArguments& box, int64_t size) {
  return box.updates_row_stride == 0 && box.output_row_stride == box.run &&
         box.output_stride == 1 && box.updates_stride == 1 &&
         box.run * size <= kWalks.longest_period && box.rows * box.run >= kLeastRepeated;
}

// True if the box may be transposed. Kernels fill longer runs of one element in less time. Elements
// of 8 bytes took 0.5 to 1.9 x the time on CPUs of Intel (Emerald Rapids).
bool IsTransposed(const BoxArguments& box, int64_t size) {
  constexpr int64_t kLongestFilled = 128;  // bytes
  const bool gains = size < 8 || !WaitsForStores();
  return box.transpose != nullptr && gains &&
         (box.updates_stride != 0 || box.run * size <= kLongestFilled);
}

}  // namespace

void PrefetchOnce(const unsigned char* from, int64_t bytes) {
  KeepCalls();
  Prefetch<false>(from, bytes);
}
void PrefetchForWriting(const unsigned char* to, int64_t bytes, int64_t rows, int64_t row_bytes) {
  KeepCalls();
  for (int64_t r = 0; r < rows; ++r) Prefetch<true>(to + r * row_bytes, bytes);
}
void PrefetchElements(const unsigned char* origin, int64_t size, OffsetWidth width,
                      const void* offsets, int64_t n) {
  KeepCalls();
  if (width == kOffset32) return PrefetchAt<int32_t>(origin, size, offsets, n);
  PrefetchAt<int64_t>(origin, size, offsets, n);
}

void FinishStreaming() { hwy::FlushStream(); }

void WalkBox(RunKernel run, int64_t size, const BoxArguments& box) {
  if (RepeatsRuns(box, size)) {
    return CombineRepeated(run, size, box.output, box.updates, box.run, box.rows * box.run);
  }
  if (IsTransposed(box, size) && box.transpose(box)) return;
  const int64_t writes = WritesAhead(box, size);
  if (WalkShortRuns(run, size, box, writes)) return;
  const int64_t row_bytes = box.updates_row_stride * size;
  const int64_t output_row_bytes = box.output_row_stride * size;
  const int64_t run_bytes = box.run * size;
  const int64_t reads = ReadsPages(box, size) ? kWalks.rows_ahead : RowsAhead(box, row_bytes);
  for (int64_t r = 0; r < box.rows; ++r) {
    unsigned char* const output = box.output + r * output_row_bytes;
    const unsigned char* const updates = box.updates + r * row_bytes;
    if (r + reads < box.rows) Prefetch<false>(updates + reads * row_bytes, run_bytes);
    if (r + writes < box.rows) Prefetch<true>(output + writes * output_row_bytes, run_bytes);
    run(output, box.output_stride, updates, box.updates_stride, box.run);
  }
}

void WalkRows(RunKernel run, int64_t size, OffsetWidth offset_width, const RowsArguments& rows) {
  const bool is_contiguous = rows.output_run_stride == 1 && rows.updates_run_stride == 1;
  const int64_t bytes = rows.run * size;
  if (rows.moves && !rows.streams && is_contiguous && bytes <= kWalks.longest_inline) {
    return MoveShortRows(size, offset_width, rows);
  }
  if (rows.moves && !is_contiguous && rows.run <= kWalks.longest_by_element &&
      MoveElements(size, offset_width, rows)) {
    return;
  }
  const RowByKernel apply = {run, rows.output_run_stride, rows.updates_run_stride, rows.run};
  if (!ReadsAhead(rows)) return WalkRowsBy(apply, size, offset_width, rows);
  const unsigned char* const end = rows.tile.updates + rows.tile.rows * rows.tile.columns * bytes;
  WalkRowsBy<false>(RowReadAhead{apply, rows.read_ahead * bytes, bytes, end}, size, offset_width,
                    rows);
}

void WalkGroups(GroupKernel group, int64_t size, const Group* groups, const GroupArguments& all,
                bool are_far) {
  const int64_t first = groups[0].first, updates = groups[all.count].first - first;
  // Strided elements share cache lines with other groups, so they are not prefetched.
  const bool fetches = are_far && all.output_stride == 1 && all.updates_stride == 1;
  RowFetcher fetcher(all.updates, all.order, size, all.n, first, first + updates);
  const int64_t ahead = fetches ? fetcher.ahead() * all.count / updates + 1 : all.count;
  GroupArguments one = all;
  for (int64_t g = 0; g < all.count; ++g) {
    if (fetches) fetcher.Fetch(groups[g + 1].first);
    if (g + ahead < all.count) {
      PrefetchForWriting(all.output + groups[g + ahead].destination * size,
                         std::min(all.n * size, kWalks.most_fetched_of_row), 1, 0);
    }
    one.output = all.output + groups[g].destination * size;
    one.order = all.order + groups[g].first;
    one.count = groups[g + 1].first - groups[g].first;
    group(one);
  }
}

}  // namespace strew::kernel
