// SPDX-License-Identifier: Apache-2.0
// The border of the kernel room: argument structs, function types and their selection. Kernels get
// pointers, strides and counts that are valid; they cannot fail, allocate or know threads.
//
// Counts are > 0. Pointers may be aligned to a byte. Strides count elements, may be negative, and
// may be 0 where something is read only, and in the output of a run. (+) is the reduction of the
// kernel.
#ifndef STREW_KERNEL_KERNEL_H_
#define STREW_KERNEL_KERNEL_H_

#include <cstdint>
#include <limits>

#include "base/reduction.h"
#include "strew/strew.h"

namespace strew::kernel {

// ---- SIMD targets ----

// The i-th target that this build has and this CPU can run, best first; NULL for any other i.
const char* TargetName(int32_t i);

// ---- Tables: what writes output ----

// A run: output[i * output_stride] (+)= updates[i * updates_stride] for i < n. With an
// output_stride of 0 all updates go to one element, in order.
using RunKernel = void (*)(unsigned char* output, int64_t output_stride,
                           const unsigned char* updates, int64_t updates_stride, int64_t n);

// A tile of entries whose places are given by offsets, in row-major order of (r, c):
//   output[offsets[r * columns + c]] (+)=
//       updates[r * updates_row_stride + c * updates_column_stride]      r < rows, c < columns
// Two entries may name one place; they are applied in order.
struct TileArguments {
  unsigned char* output;
  const unsigned char* updates;
  const void* offsets;  // int32_t or int64_t, in elements
  int64_t rows;
  int64_t updates_row_stride;
  int64_t columns;
  int64_t updates_column_stride;
  // How many entries ahead to prefetch the output, 0 for not at all. `lookahead` valid offsets
  // follow those of the tile.
  int64_t prefetch;
  int64_t lookahead;
};

// A tile of one row, of which the updates lie together.
inline TileArguments RowTile(unsigned char* output, const unsigned char* updates,
                             const void* offsets, int64_t columns, int64_t prefetch) {
  return {output, updates, offsets, 1, 0, columns, 1, prefetch, 0};
}

// What will be read when a tile is done: for the entry (r, c), a place of its index and the bytes
// from its update to that of the entry which comes so much later. It is fetched evenly while the
// tile is worked on: a burst of fetches, or a loop that does nothing else, waits for memory.
struct NextReads {
  const unsigned char* indices = nullptr;  // NULL for nothing
  int64_t indices_row_stride = 0;          // bytes
  int64_t index_size = 0;                  // bytes; columns lie together
  int64_t updates_distance = 0;            // bytes
  const unsigned char* output = nullptr;   // a line of the axis for each row; NULL for none
  int64_t output_row_stride = 0;           // bytes
};

// Entries that are single elements.
using ElementsKernel = void (*)(const TileArguments&, const NextReads&);

enum OffsetWidth { kOffset32, kOffset64, kOffsetWidths };

// The narrowest that hold offsets which lie so far apart.
inline OffsetWidth OffsetWidthOf(int64_t span) { return span <= INT32_MAX ? kOffset32 : kOffset64; }

inline int64_t OffsetSize(OffsetWidth width) {
  return width == kOffset32 ? sizeof(int32_t) : sizeof(int64_t);
}

// What one reduction on one dtype and the move of one width have alike.
struct CombineKernels {
  int64_t element_size;
  bool heavy;  // whether a single element takes much more than a sum of its width
  RunKernel run;
  ElementsKernel elements[kOffsetWidths];
};

// Those of a reduction that is defined on the dtype.
const CombineKernels& ReduceKernelsFor(strew_dtype dtype, KernelReduction reduction,
                                       int32_t target);

// Every other element of a fresh output: output[2 * i] = updates[i] and
// output[2 * i + 1] = data[2 * i + 1] for i < n; past the caches if `stream`.
using InterleaveKernel = void (*)(unsigned char* output, const unsigned char* data,
                                  const unsigned char* updates, int64_t n, bool stream);

// Brings some of the updates together: gathered[i] = updates[columns[i] * updates_stride], i < n.
using GatherKernel = void (*)(unsigned char* gathered, const unsigned char* updates,
                              int64_t updates_stride, const int32_t* columns, int64_t n);

// The move of one width. Those that are no powers of two have the run of `combine` for stream, and
// no interleave.
struct MoveKernels {
  CombineKernels combine;
  RunKernel stream;  // a run past the caches. FinishStreaming() must follow
  InterleaveKernel interleave;
  GatherKernel gather;
};

// Those that move elements of `width` bytes, 1 to 16.
const MoveKernels& MoveKernelsFor(int32_t width, int32_t target);

// output[i * output_stride] = sums[i * sums_stride] / count for i < n
struct FinishArguments {
  unsigned char* output;
  int64_t output_stride;
  const unsigned char* sums;
  int64_t sums_stride;
  int64_t n;
  int64_t count;
};

// A sum for each slot, and how many updates it has.
struct CountedSums {
  unsigned char* sums;
  uint32_t* counts;
};

// Updates that go to the sums of slots[i], i < n. INT32_MIN is no slot: that update is dropped.
struct SlotUpdates {
  const int32_t* slots;
  const unsigned char* updates;
  int64_t updates_stride;
  int64_t n;
};

// Elements that share their updates: output[i * output_stride], i < n, and for each k < count
// updates[order[k] + i * updates_stride].
struct GroupArguments {
  unsigned char* output;
  int64_t output_stride;
  const unsigned char* updates;
  int64_t updates_stride;
  const int64_t* order;
  int64_t count;  // 1 at least
  int64_t n;
  bool excludes_self;
};
using GroupKernel = void (*)(const GroupArguments&);

// Sums in memory.
struct SumKernels {
  int64_t sum_size;  // bytes
  // sums[i] = elements[i * stride] for i < n
  void (*begin)(unsigned char* sums, const unsigned char* elements, int64_t stride, int64_t n);
  // sums[i] += updates[i * stride] for i < n
  void (*add)(unsigned char* sums, const unsigned char* updates, int64_t stride, int64_t n);
  void (*finish)(const FinishArguments&);
};

// Of a mean, but for long_sums.
inline constexpr int64_t kMostTerms = std::numeric_limits<int32_t>::max();

// Means. Sums are exact for integers, and of the computing type for floats.
struct AccumulateKernels {
  SumKernels sums;
  SumKernels long_sums;
  RunKernel run;  // the mean of an old value and one update of each element
  // output = the mean of its old value, unless that is excluded, and its updates in order
  GroupKernel group;
  // sums[slots[i]] += updates[i * updates_stride], and a count each
  void (*add_each)(const CountedSums&, const SlotUpdates&);
  // output[i * stride] = sums[i] / (counts[i] + more) where counts[i] > 0, for i < n
  void (*finish_each)(const CountedSums&, int64_t more, unsigned char* output, int64_t stride,
                      int64_t n);
};

// Those of a dtype on which means are defined.
const AccumulateKernels& AccumulateKernelsFor(strew_dtype dtype, int32_t target);

// ---- Memory ----

// Fetches the lines of cache that will be read once, or written.
void PrefetchOnce(const unsigned char* from, int64_t bytes);
void PrefetchForWriting(const unsigned char* to, int64_t bytes);

// Makes what was streamed visible in the order in which it was written.
void FinishStreaming();

// ---- Walks: what applies runs of elements of `size` bytes ----

// Two nested loops: a run of updates for each of `rows` rows.
struct BoxArguments {
  unsigned char* output;
  const unsigned char* updates;
  int64_t rows;
  int64_t output_row_stride;
  int64_t updates_row_stride;
  int64_t run;
  int64_t output_stride;
  int64_t updates_stride;
  bool moves = false;  // whether it is known that (+) replaces
};
void WalkBox(RunKernel run, int64_t size, const BoxArguments& box);

// A tile whose entries are runs.
struct RowsArguments {
  TileArguments tile;
  int64_t run;
  int64_t output_run_stride;
  int64_t updates_run_stride;
  bool streams;  // whether the kernel is one that writes past the caches
  // Where the update of each entry begins; NULL where the strides of the tile tell.
  const int64_t* updates_offsets;
};
void WalkRows(RunKernel run, int64_t size, OffsetWidth offset_width, const RowsArguments& rows);

// The updates of one destination, brought together.
struct Group {
  int64_t destination;  // from where the output begins
  int64_t first;        // of its updates, which end where those of the next group begin
};

// Groups, behind which the end of the last one stands. `all` is as for one group at destination 0 of
// which all updates are; the count is that of groups.
void WalkGroups(GroupKernel group, int64_t size, const Group* groups, const GroupArguments& all);

// ---- The indices: read them, write nothing of a tensor ----

// A tile of indices: indices[r * row_stride + c * column_stride], r < rows, c < columns.
struct IndexTile {
  const unsigned char* indices;
  int64_t rows;
  int64_t row_stride;
  int64_t columns;
  int64_t column_stride;
  int64_t axis_size;  // n
};

// Whether every index lies in [-n, n - 1], or in [0, n - 1] without wrap.
using CheckKernel = bool (*)(const IndexTile&, bool wrap);

// clamped[r * columns + c] = the nearest index that lies there, in the dtype of the indices. n > 0.
using ClampKernel = void (*)(const IndexTile&, bool wrap, void* clamped);

// How many rows, from the first on, hold one index in all columns, and that in range. Columns lie
// together.
using CountConstantRowsKernel = int64_t (*)(const IndexTile&, bool wrap);

// offsets[r * columns + c] (+)= place(index) * output_stride + r * batch_row_stride
//                                                            + c * batch_column_stride
// where place(i) is i + n for i < 0 and i otherwise; (+)= adds if `accumulate`, else replaces.
struct ResolveArguments {
  IndexTile tile;
  int64_t output_stride;
  int64_t batch_row_stride;
  int64_t batch_column_stride;
  bool accumulate;
  void* offsets;
};

// The results must fit the type of the offsets, and not be its least number.
using ResolveKernel = void (*)(const ResolveArguments&);

// offsets[r * columns + c] = the least number of its type where an index does not lie there: that
// entry is dropped.
using DropKernel = void (*)(const IndexTile&, bool wrap, void* offsets);

// Whether each of the rows of offsets ascends by `step` from column to column, as those with one
// index do. If so, keeps the first offset of each row, so that `rows` offsets remain;
// otherwise changes nothing.
using FoldKernel = bool (*)(void* offsets, int64_t rows, int64_t columns, int64_t step);

// Finds the offsets of a row that lie in [first, last], in order. Dropped entries never do.
struct SelectArguments {
  const void* offsets;
  int64_t columns;
  int64_t first;
  int64_t last;
  int64_t shift;  // is added to those that are kept
  // Receive the offsets that are kept and where they stood. They have room for `columns` of them
  // and kSelectMargin more, because whole vectors are stored.
  void* kept;
  int32_t* kept_columns;
};
inline constexpr int64_t kSelectMargin = 16;

// Returns how many are kept.
using SelectKernel = int64_t (*)(const SelectArguments&);

// Where the bits of destinations stand in a bitmap of which blocks of 64 bits may be left out: a
// bit for each block that is there in `directory`, and how many are before each word of that.
struct LocateArguments {
  const void* offsets;
  int64_t columns;
  int64_t shift;  // (offset + shift) >> unused_bits is a destination
  int unused_bits;
  const uint64_t* directory;  // NULL where no block is left out
  const uint32_t* directory_ranks;
};

// bits[c] = where the bit of a destination stands, INT32_MIN for an entry that is dropped. All are
// in the bitmap, and stand below 2^31.
using LocateKernel = void (*)(const LocateArguments&, int32_t* bits);

// numbers[c] = how many bits are set before the one at bits[c]; `ranks` has how many there are
// before each word. Negative numbers stay.
using RankKernel = void (*)(const uint64_t* words, const uint32_t* ranks, int32_t* bits,
                            int64_t columns);

struct IndexKernels {
  CheckKernel check;
  ClampKernel clamp;
  CountConstantRowsKernel count_constant_rows;
  ResolveKernel resolve[kOffsetWidths];
  DropKernel drop[kOffsetWidths];
  FoldKernel fold[kOffsetWidths];
  SelectKernel select[kOffsetWidths];
  LocateKernel locate[kOffsetWidths];
  RankKernel rank;
};

// For one of the eight index dtypes.
const IndexKernels& IndexKernelsFor(strew_dtype dtype, int32_t target);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_KERNEL_H_
