// SPDX-License-Identifier: Apache-2.0
// A part of the interface, kernel.h: kernels that read indices and do not write tensors.
#ifndef STREW_KERNEL_INDEX_KERNELS_H_
#define STREW_KERNEL_INDEX_KERNELS_H_

#include <cstdint>
#include <limits>

#include "strew/strew.h"

namespace strew::kernel {

enum OffsetWidth { kOffset32, kOffset64, kOffsetWidths };

// The narrowest width for offsets that differ by at most `span`.
inline OffsetWidth OffsetWidthOf(int64_t span) { return span <= INT32_MAX ? kOffset32 : kOffset64; }

inline int64_t OffsetSize(OffsetWidth width) { return width == kOffset32 ? 4 : 8; }

inline OffsetWidth OffsetWidthOfSize(int64_t size) { return size == 4 ? kOffset32 : kOffset64; }

// A tile of indices: indices[r * row_stride + c * column_stride], r < rows, c < columns.
struct IndexTile {
  const unsigned char* indices;
  int64_t rows;
  int64_t row_stride;
  int64_t columns;
  int64_t column_stride;
  int64_t axis_size;  // n
};

// The result of a check, from worst to best: some index is out of range; all are valid and some are
// negative; all are in [0, n - 1]. The range is [-n, n - 1] with `wrap`, else [0, n - 1].
enum IndexRange { kOutOfRange, kInRange, kNonNegative };
using CheckKernel = IndexRange (*)(const IndexTile&, bool wrap);
// The same for rows that are tuples of several numbers, each with an axis of its own. Requires
// contiguous rows of at most kMostTogether numbers.
using CheckTuplesKernel = IndexRange (*)(const IndexTile&, const int64_t* axis_sizes, bool wrap);
inline constexpr int64_t kMostTogether = 8;

// clamped[r * columns + c] = the nearest valid index, in the dtype of the indices. Requires n > 0.
using ClampKernel = void (*)(const IndexTile&, bool wrap, void* clamped);

// Counts the leading rows that hold a single, valid index in all columns. Requires contiguous
// columns.
using CountConstantRowsKernel = int64_t (*)(const IndexTile&, bool wrap);

// The offset, or the number, of a dropped entry.
template <class T>
inline constexpr T kDropped = std::numeric_limits<T>::min();

// offsets[r * columns + c] (+)= place(index) * output_stride + r * batch_row_stride
//                                                            + c * batch_column_stride
// Here place(i) is i + n for i < 0 and i otherwise, and (+)= adds if `accumulate`, else replaces.
struct ResolveArguments {
  IndexTile tile;
  int64_t output_stride;
  int64_t batch_row_stride;
  int64_t batch_column_stride;
  bool accumulate;
  void* offsets;
};

// Results must fit the type of the offsets and must not be kDropped.
using ResolveKernel = void (*)(const ResolveArguments&);

// Drops the entries whose indices are out of range: sets offsets[r * columns + c] to kDropped.
using DropKernel = void (*)(const IndexTile&, bool wrap, void* offsets);

// Folds rows in which each offset is `step` more than the one before, as in rows with one index. If
// all rows are such, keeps only the first offset of each and returns true; otherwise changes
// nothing.
using FoldKernel = bool (*)(void* offsets, int64_t rows, int64_t columns, int64_t step);

// Selects the offsets of a row that are in [first, last], in order. Dropped entries are never
// selected.
struct SelectArguments {
  const void* offsets;
  int64_t columns;
  int64_t first;
  int64_t last;
  int64_t shift;  // added to the selected offsets
  // The selected offsets and their columns. Both need room for `columns` + kSelectMargin values,
  // because the kernel stores whole vectors.
  void* kept;
  int32_t* kept_columns;
};
inline constexpr int64_t kSelectMargin = 16;

// Returns the number of selected offsets.
using SelectKernel = int64_t (*)(const SelectArguments&);

// Locates the bits of destinations in a bitmap that may omit blocks of 64 bits. `directory` has one
// bit for each block, which is set if the block is present; `directory_ranks` has the number of set
// bits before each of its words.
struct LocateArguments {
  const void* offsets;
  int64_t columns;
  // The number of a destination is ((offset + shift) >> unused_bits) * inverse modulo 2^64, as in
  // plan::DestinationNumbers: `inverse` is the inverse of the odd part of their step.
  int64_t shift;
  int unused_bits;
  uint64_t inverse;
  const uint64_t* directory;  // NULL if no block is omitted
  const uint32_t* directory_ranks;
};

// bits[c] = the position of the bit, which is below 2^31, or kDropped for a dropped entry. The
// bitmap must have a bit for the number of every destination.
using LocateKernel = void (*)(const LocateArguments&, int32_t* bits);

// The number of the destination at an offset, which must not be that of a dropped entry.
inline int64_t NumberAt(const LocateArguments& arguments, int64_t offset) {
  const int64_t steps = (offset + arguments.shift) >> arguments.unused_bits;
  return static_cast<int64_t>(static_cast<uint64_t>(steps) * arguments.inverse);
}

// Replaces each position bits[c] by the number of set bits before it; `ranks` has that number for
// the start of each word. Negative values stay as they are.
using RankKernel = void (*)(const uint64_t* words, const uint32_t* ranks, int32_t* bits,
                            int64_t columns);

struct IndexKernels {
  CheckKernel check;
  CheckTuplesKernel check_tuples;  // may be NULL
  ClampKernel clamp;
  CountConstantRowsKernel count_constant_rows;
  ResolveKernel resolve[kOffsetWidths];
  DropKernel drop[kOffsetWidths];
  FoldKernel fold[kOffsetWidths];
  SelectKernel select[kOffsetWidths];
  LocateKernel locate[kOffsetWidths];
  RankKernel rank;
};

// `dtype` must be one of the eight index dtypes.
const IndexKernels& IndexKernelsFor(strew_dtype dtype, int32_t target);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_INDEX_KERNELS_H_
