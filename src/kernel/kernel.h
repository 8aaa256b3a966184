// SPDX-License-Identifier: Apache-2.0
// The interface of the kernel room: argument structs, function types and selectors. Kernels get
// valid pointers, strides and counts; they cannot fail, allocate or know threads.
//
// Counts are > 0. Pointers need no alignment. Strides count elements, may be negative, and may be 0
// for memory that is only read and for the output of a run. (+) is the reduction of the kernel.
#ifndef STREW_KERNEL_KERNEL_H_
#define STREW_KERNEL_KERNEL_H_

#include <cstdint>
#include <limits>

#include "base/reduction.h"
#include "kernel/streamed.h"
#include "strew/strew.h"

namespace strew::kernel {

// ---- SIMD targets ----

// The i-th target that this build has and this CPU can run, best first; NULL for any other i.
const char* TargetName(int32_t i);

// ---- Tables: kernels that write output ----

// A run: output[i * output_stride] (+)= updates[i * updates_stride] for i < n. With an
// output_stride of 0 all updates go to one element, in order.
using RunKernel = void (*)(unsigned char* output, int64_t output_stride,
                           const unsigned char* updates, int64_t updates_stride, int64_t n);

// A tile of entries whose places are given by offsets, in row-major order of (r, c):
//   output[r * output_row_stride + offsets[r * offsets_row_stride + c]] (+)=
//       updates[r * updates_row_stride + c * updates_column_stride]      r < rows, c < columns
// Entries with the same offset are applied in order.
struct TileArguments {
  unsigned char* output;
  const unsigned char* updates;
  const void* offsets;  // int32_t or int64_t, in elements
  int64_t rows;
  int64_t output_row_stride;
  int64_t offsets_row_stride;
  int64_t updates_row_stride;
  int64_t columns;
  int64_t updates_column_stride;
  // Prefetch distance in entries, 0 for none. `lookahead` valid offsets follow those of the tile.
  // Rows are prefetched together, so that several need an output_row_stride of 0 and offsets without
  // gaps.
  int64_t prefetch;
  int64_t lookahead;
};

// A tile of one row with contiguous updates.
inline TileArguments RowTile(unsigned char* output, const unsigned char* updates,
                             const void* offsets, int64_t columns, int64_t prefetch) {
  return {output, updates, offsets, 1, 0, columns, 0, columns, 1, prefetch, 0};
}

// Memory that is read after this tile: for the entry (r, c) an index, and the distance from its
// update to the one to fetch. Prefetches are spread over the tile, because a burst of them, or a
// loop that does nothing else, waits for memory.
struct NextReads {
  const unsigned char* indices = nullptr;  // NULL for none
  int64_t indices_row_stride = 0;          // bytes
  int64_t index_size = 0;                  // bytes; columns are contiguous
  int64_t updates_distance = 0;            // bytes
  const unsigned char* output = nullptr;   // destinations of the first row; NULL for none
  int64_t output_row_stride = 0;           // bytes
};

// Applies a tile of entries of one element each.
using ElementsKernel = void (*)(const TileArguments&, const NextReads&);

enum OffsetWidth { kOffset32, kOffset64, kOffsetWidths };

// The narrowest width of offsets that lie at most `span` apart.
inline OffsetWidth OffsetWidthOf(int64_t span) { return span <= INT32_MAX ? kOffset32 : kOffset64; }

inline int64_t OffsetSize(OffsetWidth width) {
  return width == kOffset32 ? sizeof(int32_t) : sizeof(int64_t);
}

inline OffsetWidth OffsetWidthOfSize(int64_t bytes) {
  return bytes == OffsetSize(kOffset32) ? kOffset32 : kOffset64;
}

// Contiguous rows, of which those of one destination lie together in a list:
//   output[destinations[g] + i] (+)= updates[offsets[k] + i] [* weights[k]]
//       for begins[g] <= k < begins[g + 1], in order, g < groups and i < n
struct GroupedRows {
  unsigned char* output;
  const int64_t* destinations;
  const int64_t* begins;
  int64_t groups;
  const unsigned char* updates;
  const int64_t* offsets;
  const unsigned char* weights;  // contiguous; read by kernels of weighted rows only
  int64_t n;
};
using GroupedRowsKernel = void (*)(const GroupedRows&);

// Kernels that a reduction on a dtype and a move of a width have in common.
struct CombineKernels {
  int64_t element_size;
  bool heavy;  // a single element takes much longer than a sum of its width
  // Fewest entries of one destination, one after another, that are better a run; 0: all are entries.
  int64_t least_run;
  RunKernel run;
  ElementsKernel elements[kOffsetWidths];
  GroupedRowsKernel rows;           // NULL for none
  GroupedRowsKernel weighted_rows;  // likewise
};

// Requires that the reduction is defined on the dtype.
const CombineKernels& ReduceKernelsFor(strew_dtype dtype, KernelReduction reduction,
                                       int32_t target);

// Fills a fresh output from updates and data in turn, past the caches if `stream`:
// output[2 * i] = updates[i] and output[2 * i + 1] = data[2 * i + 1] for i < n.
using InterleaveKernel = void (*)(unsigned char* output, const unsigned char* data,
                                  const unsigned char* updates, int64_t n, bool stream);

// Gathers updates: gathered[i] = updates[columns[i] * updates_stride] for i < n.
using GatherKernel = void (*)(unsigned char* gathered, const unsigned char* updates,
                              int64_t updates_stride, const int32_t* columns, int64_t n);

// The kernels that move one width. If it is no power of two, `stream` is the run of `combine` and
// `interleave` is NULL.
struct MoveKernels {
  CombineKernels combine;
  RunKernel stream;  // a run past the caches; FinishStreaming() must follow
  InterleaveKernel interleave;
  GatherKernel gather;
};

// Kernels for elements of `width` bytes, 1 to 16.
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

// A sum and a number of updates for each slot.
struct CountedSums {
  unsigned char* sums;
  uint32_t* counts;
};

// Updates of the sums of slots[i], i < n. Slot INT32_MIN drops the update.
struct SlotUpdates {
  const int32_t* slots;
  const unsigned char* updates;
  int64_t updates_stride;
  int64_t n;
};

// Elements that share their updates: output[i * output_stride], i < n, has the updates
// updates[order[k] + i * updates_stride], k < count.
struct GroupArguments {
  unsigned char* output;
  int64_t output_stride;
  const unsigned char* updates;
  int64_t updates_stride;
  const int64_t* order;
  int64_t count;  // 1 at least
  int64_t n;
  bool excludes_self;
  bool divides;  // by the number of terms
};
using GroupKernel = void (*)(const GroupArguments&);

// Kernels for sums in memory. A sum is whatever updates accumulate to: of STREW_MUL, a product.
struct SumKernels {
  int64_t sum_size;  // bytes
  // sums[i] = elements[i * stride] for i < n
  void (*begin)(unsigned char* sums, const unsigned char* elements, int64_t stride, int64_t n);
  // sums[i] (+)= updates[i * stride] for i < n
  void (*add)(unsigned char* sums, const unsigned char* updates, int64_t stride, int64_t n);
  void (*finish)(const FinishArguments&);
};

// Limit on the terms of a mean, unless it uses long_sums.
inline constexpr int64_t kMostTerms = std::numeric_limits<int32_t>::max();

// Kernels for means, and for reductions with STREW_WIDE, which do not divide. Sums are exact for
// integers, and have the computing type for floats.
struct AccumulateKernels {
  SumKernels sums;
  SumKernels long_sums;
  RunKernel run;  // of means: that of an old value and one update of each element; else NULL
  // output = its old value, unless excluded, (+) its updates in order, divided or not
  GroupKernel group;
  // sums[slots[i]] (+)= updates[i * updates_stride], and a count each
  void (*add_each)(const CountedSums&, const SlotUpdates&);
  int64_t least_run;  // fewest updates of a slot, one after another, that are better a call; or 0
  // sums[g] (+)= updates[k] for begins[g] <= k < begins[g + 1], in order, and g < groups
  void (*add_groups)(unsigned char* sums, const unsigned char* updates, const int64_t* begins,
                     int64_t groups);
  // output[i] = sums[i] / (counts[i] + more) where counts[i] > 0, for i < n; only means divide
  void (*finish_each)(const CountedSums&, int64_t more, unsigned char* output, int64_t n);
};

// Requires STREW_MEAN on a dtype on which means are defined, or the kind of a reduction and a dtype
// on which STREW_WIDE makes a difference.
const AccumulateKernels& AccumulateKernelsFor(strew_dtype dtype, strew_reduction kind,
                                              int32_t target);

// ---- Memory ----

// Prefetch cache lines that will be read once, or rows of bytes that will be written.
void PrefetchOnce(const unsigned char* from, int64_t bytes);
void PrefetchForWriting(const unsigned char* to, int64_t bytes, int64_t rows, int64_t row_bytes);
// Or n elements that will be written.
void PrefetchElements(const unsigned char* origin, int64_t size, OffsetWidth width,
                      const void* offsets, int64_t n);

// gathered[i] = elements[offsets[i]] for i < n, elements having `size` bytes, 1 to 16.
void GatherElements(int64_t size, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered);
void GatherElements(int64_t size, const unsigned char* elements, const int32_t* offsets, int64_t n,
                    unsigned char* gathered);

// Makes streamed stores visible before any later store.
void FinishStreaming();

// ---- Walks: loops that apply runs of elements of `size` bytes ----

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
  // Bytes between a contiguous row and the one that is prefetched, of output and updates; 0 for none.
  int64_t read_ahead = 0;
};
void WalkBox(RunKernel run, int64_t size, const BoxArguments& box);

// A tile whose entries are runs.
struct RowsArguments {
  TileArguments tile;
  int64_t run;
  int64_t output_run_stride;
  int64_t updates_run_stride;
  bool streams;  // the kernel writes past the caches
  bool moves;    // the kernel only replaces
  // Start of the update of each entry, in elements; NULL: use the strides of the tile.
  const int64_t* updates_offsets;
  // Rows between an update and the one that is prefetched, if they are read in order; 0 for none.
  int64_t read_ahead = 0;
};
void WalkRows(RunKernel run, int64_t size, OffsetWidth offset_width, const RowsArguments& rows);

// Apply entries of one element each, and updates of slots. Many that follow each other and have one
// destination become a run, or a call, which keeps it in a register.
void WalkElements(const CombineKernels& kernels, OffsetWidth offset_width,
                  const TileArguments& tile, const NextReads& next_reads = {});
void WalkSlots(const AccumulateKernels& kernels, int64_t size, const CountedSums& sums,
               const SlotUpdates& updates);

// The updates of one destination.
struct Group {
  int64_t destination;  // offset in the output
  int64_t first;        // position of its first update in `order`; the next group begins at its end
};

// A sentinel with the end of the last group follows `groups`. `all` describes one group with all
// updates and the destination 0, except that its count is the number of groups.
void WalkGroups(GroupKernel group, int64_t size, const Group* groups, const GroupArguments& all);

// ---- Indices: kernels that read them and write no tensor ----

// A tile of indices: indices[r * row_stride + c * column_stride], r < rows, c < columns.
struct IndexTile {
  const unsigned char* indices;
  int64_t rows;
  int64_t row_stride;
  int64_t columns;
  int64_t column_stride;
  int64_t axis_size;  // n
};

// The result of a check, from the worst to the best: some index is not in [-n, n - 1], or not in
// [0, n - 1] without wrap; all are valid and some are negative; all are in [0, n - 1].
enum IndexRange { kOutOfRange, kInRange, kNonNegative };
using CheckKernel = IndexRange (*)(const IndexTile&, bool wrap);

// clamped[r * columns + c] = the nearest valid index, in the dtype of the indices. n > 0.
using ClampKernel = void (*)(const IndexTile&, bool wrap, void* clamped);

// Counts the leading rows that hold a single, valid index in all columns. Requires contiguous
// columns.
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

// Results must fit the type of the offsets and must not be its least value.
using ResolveKernel = void (*)(const ResolveArguments&);

// offsets[r * columns + c] = the least value of its type where the index is out of range: that
// entry is dropped.
using DropKernel = void (*)(const IndexTile&, bool wrap, void* offsets);

// Returns true if all neighbours in each row of offsets differ by `step`, as in rows with one
// index. Then it keeps the first offset of each row, `rows` in all; otherwise it changes nothing.
using FoldKernel = bool (*)(void* offsets, int64_t rows, int64_t columns, int64_t step);

// Selects the offsets of a row that lie in [first, last], in order. Dropped entries never do.
struct SelectArguments {
  const void* offsets;
  int64_t columns;
  int64_t first;
  int64_t last;
  int64_t shift;  // added to the selected offsets
  // Receive the selected offsets and their columns. Both have room for `columns` + kSelectMargin,
  // because whole vectors are stored.
  void* kept;
  int32_t* kept_columns;
};
inline constexpr int64_t kSelectMargin = 16;

// Returns the number of selected offsets.
using SelectKernel = int64_t (*)(const SelectArguments&);

// Locates the bits of destinations in a bitmap that may omit blocks of 64 bits. `directory` has a
// bit for each block, set if the block is present; `directory_ranks` counts the set bits before
// each word.
struct LocateArguments {
  const void* offsets;
  int64_t columns;
  int64_t shift;  // (offset + shift) >> unused_bits is a destination
  int unused_bits;
  const uint64_t* directory;  // NULL if no block is omitted
  const uint32_t* directory_ranks;
};

// bits[c] = the position of the bit, below 2^31, or INT32_MIN for a dropped entry. The bitmap must
// have a bit for every destination.
using LocateKernel = void (*)(const LocateArguments&, int32_t* bits);

// Replaces each position bits[c] by the number of set bits before it; `ranks` has that number for
// each word. Negative values stay.
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

// `dtype` is one of the eight index dtypes.
const IndexKernels& IndexKernelsFor(strew_dtype dtype, int32_t target);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_KERNEL_H_
