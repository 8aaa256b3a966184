// SPDX-License-Identifier: Apache-2.0
#include "kernel/short_runs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "kernel/apply_row.h"
#include "kernel/prefetch.h"

namespace strew::kernel {
namespace {

// Fewest runs for these loops: fewer are as fast one by one.
constexpr int64_t kLeastRows = 16;
// Longest run in bytes: if it is copied, if it repeats one element, and otherwise. Longer runs
// deserve a call, which takes 3 ns. Copies of up to 16 bytes take 0.7 ns.
constexpr int64_t kMostBytes = 64;
constexpr int64_t kMostSpreadBytes = 72;
constexpr int64_t kMostBytesOfColumns = 256;
// Bytes of updates that are packed at a time.
constexpr int64_t kPackedBytes = 4096;
// Longest run, in elements, that is walked column by column, at 0.2 ns an element, in blocks of
// rows that stay in the L1 cache. Contiguous runs of 5 elements, or of 17 bytes, and more are
// faster as vectors.
constexpr int64_t kMostColumns = 24;
constexpr int64_t kMostColumnsOfVector = 4;
constexpr int64_t kMostBytesOfVector = 16;
constexpr int64_t kRowsOfColumn = 64;
// Most bytes of the output that are near, and the longest run that is copied without a call then:
// 1000 to 60,000 runs of 72 to 96 bytes took 0.75 to 0.93 x the time of calls, beyond the caches
// 1.07 to 1.3 x (Zen 5).
constexpr int64_t kNearBytes = 16 << 20;
constexpr int64_t kMostNearBytes = 96;
// Beyond these, the next block of columns is prefetched if runs span at most so many bytes of the
// output. Sums into every second and third element took 0.4 to 1.0 x the time in 24 to 210 MB, but
// 1.05 to 1.2 x in 14 MB, which a cache holds (Zen 5).
constexpr int64_t kMostFetchedSpan = 512;
// Least bytes of a moved run that is walked by itself although its elements lie apart.
constexpr int64_t kLeastBytesApart = 16;

// Rows of bytes to copy. Steps are in bytes.
struct Rows {
  unsigned char* to;
  int64_t to_step;
  const unsigned char* from;
  int64_t from_step;
  int64_t rows;
  int64_t ahead;  // prefetch distance in `to`, in rows; `rows` or more for none
};

template <class CopyRow>
void CopyRows(const Rows& rows, int64_t bytes, const CopyRow copy) {
  unsigned char* to = rows.to;
  const unsigned char* from = rows.from;
  const int64_t ahead = rows.ahead * rows.to_step;
  int64_t r = 0;
  for (; r + rows.ahead < rows.rows; ++r, to += rows.to_step, from += rows.from_step) {
    PrefetchLine<true>(to + ahead);
    PrefetchLine<true>(to + ahead + bytes - 1);
    copy(to, from);
  }
  for (; r < rows.rows; ++r, to += rows.to_step, from += rows.from_step) copy(to, from);
}

template <int64_t kHalf>
void CopyHalves(const Rows& rows, int64_t bytes) {
  CopyRows(rows, bytes, RowByHalves<kHalf>{bytes - kHalf});
}

void Copy(const Rows& rows, int64_t bytes) {
  // Halves of 32 bytes would be copied through the stack, which took 1.3 to 1.8 x the time.
  if (bytes > 32) return CopyRows(rows, bytes, RowByBytes{bytes});
  if (bytes >= 16) return CopyHalves<16>(rows, bytes);
  if (bytes >= 8) return CopyHalves<8>(rows, bytes);
  if (bytes >= 4) return CopyHalves<4>(rows, bytes);
  if (bytes >= 2) return CopyHalves<2>(rows, bytes);
  CopyHalves<1>(rows, bytes);
}

// Fills each row with its only element.
template <int64_t kSize>
void SpreadElements(const Rows& rows, int64_t run) {
  unsigned char* to = rows.to;
  const unsigned char* from = rows.from;
  for (int64_t r = 0; r < rows.rows; ++r, to += rows.to_step, from += rows.from_step) {
    unsigned char element[kSize];
    std::memcpy(element, from, kSize);
    for (int64_t i = 0; i < run; ++i) std::memcpy(to + i * kSize, element, kSize);
  }
}

void Spread(const Rows& rows, int64_t run, int64_t size) {
  switch (size) {
    case 1:
      return SpreadElements<1>(rows, run);
    case 2:
      return SpreadElements<2>(rows, run);
    case 4:
      return SpreadElements<4>(rows, run);
    case 8:
      return SpreadElements<8>(rows, run);
    default:
      return SpreadElements<16>(rows, run);
  }
}

// Bytes of the output between the first element of a run and the end of the last one.
int64_t SpanOf(int64_t size, const BoxArguments& box) {
  return ((box.run - 1) * std::abs(box.output_stride) + 1) * size;
}

// True if a cache holds the lines of the output.
bool IsNear(int64_t size, const BoxArguments& box) {
  const int64_t step = std::abs(box.output_row_stride) * size;
  return box.rows * std::min(step, SpanOf(size, box) + kCacheLine) <= kNearBytes;
}

// True if the updates of a row are contiguous, or one element.
bool IsCopied(int64_t size, const BoxArguments& box) {
  const int64_t bytes = box.run * size;
  if (box.output_stride != 1) return false;
  if (box.updates_stride == 1) {
    return bytes <= kMostBytes || (box.moves && bytes <= kMostNearBytes && IsNear(size, box));
  }
  return box.updates_stride == 0 && bytes <= kMostSpreadBytes && (size & (size - 1)) == 0;
}

void CopyUpdates(int64_t size, const BoxArguments& box, const Rows& rows) {
  if (box.updates_stride == 0) return Spread(rows, box.run, size);
  Copy(rows, box.run * size);
}

// Packs the updates, so that one call serves many rows. The output must be contiguous.
void WalkPacked(RunKernel run, int64_t size, const BoxArguments& box) {
  alignas(64) unsigned char packed[kPackedBytes];
  const int64_t bytes = box.run * size;
  const int64_t step = kPackedBytes / bytes;
  const int64_t from_step = box.updates_row_stride * size;
  for (int64_t r = 0; r < box.rows; r += step) {
    const int64_t rows = std::min(step, box.rows - r);
    CopyUpdates(size, box, {packed, bytes, box.updates + r * from_step, from_step, rows, rows});
    run(box.output + r * bytes, 1, packed, 1, rows * box.run);
  }
}

// True if the next block of rows is prefetched: columns jump over all lines of a block again and
// again, which keeps the hardware from prefetching more.
bool FetchesBlocks(int64_t size, const BoxArguments& box) {
  return box.output_stride > 1 && SpanOf(size, box) <= kMostFetchedSpan &&
         std::abs(box.output_row_stride) * size >= kCacheLine && !IsNear(size, box);
}

void WalkColumns(RunKernel run, int64_t size, const BoxArguments& box) {
  const bool fetches = FetchesBlocks(size, box);
  const int64_t step = box.output_row_stride * size;
  for (int64_t r = 0; r < box.rows; r += kRowsOfColumn) {
    unsigned char* const output = box.output + r * step;
    const unsigned char* const updates = box.updates + r * box.updates_row_stride * size;
    const int64_t rows = std::min(kRowsOfColumn, box.rows - r);
    const int64_t later = fetches ? std::min(kRowsOfColumn, box.rows - r - rows) : 0;
    for (int64_t c = 0; c < box.run; ++c) {
      if (later > 0) {
        const int64_t first = rows + later * c / box.run, end = rows + later * (c + 1) / box.run;
        PrefetchForWriting(output + first * step, SpanOf(size, box), end - first, step);
      }
      run(output + c * box.output_stride * size, box.output_row_stride,
          updates + c * box.updates_stride * size, box.updates_row_stride, rows);
    }
  }
}

// Moves the elements of each row one after another. Returns false for rows that are faster in
// columns, which are short or have elements of 1 byte: 3 to 5 elements of 1 and 2 bytes took 1.0 to
// 1.5 x the time of columns. Rows of 10 to 22 elements of 2 bytes, and of 3 to 22 of 4 and 8 bytes,
// took 0.8 to 1.05 x, and 0.3 to 0.8 x beyond the caches, because columns go through all lines of a
// block again and again (Zen 5).
bool MoveApart(int64_t size, const BoxArguments& box) {
  const Rows rows = {box.output,  box.output_row_stride * size,
                     box.updates, box.updates_row_stride * size,
                     box.rows,    box.rows};
  const auto move = [&](auto constant) {
    constexpr int64_t kSize = constant;
    CopyRows(rows, 0,
             RowByElements<kSize>{box.run, box.output_stride * kSize, box.updates_stride * kSize});
    return true;
  };
  if (box.run * size < kLeastBytesApart) return false;
  if (size == 2) return move(std::integral_constant<int64_t, 2>());
  if (size == 4) return move(std::integral_constant<int64_t, 4>());
  if (size == 8) return move(std::integral_constant<int64_t, 8>());
  if (size == 16) return move(std::integral_constant<int64_t, 16>());
  return false;
}

}  // namespace

bool WalkShortRuns(RunKernel run, int64_t size, const BoxArguments& box, int64_t ahead) {
  if (box.rows < kLeastRows || box.run == 1 || box.run * size > kMostBytesOfColumns) {
    return false;
  }
  if (IsCopied(size, box)) {
    if (box.moves) {
      CopyUpdates(size, box,
                  {box.output, box.output_row_stride * size, box.updates,
                   box.updates_row_stride * size, box.rows, ahead});
      return true;
    }
    if (box.output_row_stride == box.run) {
      WalkPacked(run, size, box);
      return true;
    }
  }
  const bool repeats = box.output_stride == 1 && box.updates_stride == 0;
  if (repeats && box.run * size > kMostSpreadBytes) return false;
  const bool are_vectors = box.output_stride == 1 && box.updates_stride == 1;
  if (are_vectors && box.run * size > kMostBytesOfVector) return false;
  if (box.run > (are_vectors ? kMostColumnsOfVector : kMostColumns)) return false;
  if (box.moves && MoveApart(size, box)) return true;
  WalkColumns(run, size, box);
  return true;
}

}  // namespace strew::kernel
