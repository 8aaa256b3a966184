// SPDX-License-Identifier: Apache-2.0
// The interface of the kernels: argument structs, function types and selectors; index_kernels.h has
// those that read indices. Callers pass valid pointers, strides and counts. Kernels cannot fail, do
// not allocate and know nothing of threads.
//
// Counts are > 0. Pointers need no alignment. Strides count elements and may be negative. A stride
// may be 0 for memory that is only read and for the output of a run. (+) is the reduction of the
// kernel.
#ifndef STREW_KERNEL_KERNEL_H_
#define STREW_KERNEL_KERNEL_H_

#include <cstdint>
#include <limits>

#include "base/reduction.h"
#include "kernel/fetch.h"
#include "kernel/index_kernels.h"
#include "kernel/streamed.h"
#include "strew/strew.h"

namespace strew::kernel {

// ---- SIMD targets ----

// The name of the i-th best target that this build contains and this CPU can run; NULL for any
// other i.
const char* TargetName(int32_t i);

// ---- Tables: kernels that write output ----

// A run computes output[i * output_stride] (+)= updates[i * updates_stride] for i < n. With an
// output_stride of 0 all updates go to one element, in order.
using RunKernel = void (*)(unsigned char* output, int64_t output_stride,
                           const unsigned char* updates, int64_t updates_stride, int64_t n);

// A tile of entries. Offsets name their destinations; entries go in row-major order of (r, c):
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
  // The prefetch runs from one row into the next, so a tile of several rows needs an
  // output_row_stride of 0 and rows of offsets without gaps.
  int64_t prefetch;
  int64_t lookahead;
};

// A tile of one row with contiguous updates.
inline TileArguments RowTile(unsigned char* output, const unsigned char* updates,
                             const void* offsets, int64_t columns, int64_t prefetch) {
  return {output, updates, offsets, 1, 0, columns, 0, columns, 1, prefetch, 0};
}

// Memory that is read after this tile. One of `columns` entries (r, c) prefetches its index after
// the tile, and the update `updates_distance` after its own. Prefetches are spread over the tile,
// because a burst of them would wait for memory.
struct NextReads {
  const unsigned char* indices = nullptr;  // NULL for none
  int64_t indices_row_stride = 0;          // bytes
  int64_t index_size = 0;                  // bytes; columns are contiguous
  int64_t updates_distance = 0;            // bytes
  // Destinations of later rows: each prefetch takes two lines.
  const unsigned char* output = nullptr;  // NULL for none
  int64_t output_row_stride = 0;          // bytes
  int64_t output_step = 0;                // bytes from one prefetch to the next

  static constexpr int64_t kGroup = 8;  // the number of 8-byte indices in a cache line
  int64_t columns = kGroup;             // from one prefetch to the next: kGroup times a power of 2
};

// Applies a tile of entries of one element each.
using ElementsKernel = void (*)(const TileArguments&, const NextReads&);

// Applies a tile of such entries whose offsets are in [0, axis), where `axis` elements have at most
// kShortAxisBytes bytes. Prefetches nothing.
using ShortAxisKernel = void (*)(const TileArguments&, int64_t axis, int64_t offset_size);
inline constexpr int64_t kShortAxisBytes = 32;

// Contiguous rows, listed by destination:
//   output[destinations[g] + i] (+)= updates[offsets[k] + i] [* weights[weight_offsets[k]]]
//       for begins[g] <= k < begins[g + 1], in order, g < groups and i < n
// If `beginning` is not NULL, this element takes the place of the old values of destinations. Its
// lanes are equal.
struct GroupedRows {
  unsigned char* output;
  const int64_t* destinations;
  const int64_t* begins;
  int64_t groups;
  const unsigned char* updates;
  const int64_t* offsets;
  const unsigned char* weights;  // read only by kernels for weighted rows
  const int64_t* weight_offsets;
  const unsigned char* beginning;
  int64_t n;
  bool fetches = false;  // updates, and weights
  int64_t fetched = 0;   // first rows that a call before has prefetched
  int64_t later = 0;     // rows after these that a later call combines
};
using GroupedRowsKernel = void (*)(const GroupedRows&);

// Entries of one element each, in the order of their destinations:
//   output[destinations[g] * output_stride] (+)= updates[order[k] * updates_stride]
//       for firsts[g] - firsts[0] <= k < firsts[g + 1] - firsts[0] and k < n
// If `beginning` is not NULL, this element takes the place of the old values of destinations.
struct OrderedElements {
  unsigned char* output;
  int64_t output_stride;
  const unsigned char* updates;
  int64_t updates_stride;
  const uint32_t* order;
  const uint32_t* destinations;
  const uint32_t* firsts;
  const unsigned char* beginning;
  int64_t groups;  // destinations, also of entries after these; firsts[groups] is valid
  int64_t n;
  int64_t prefetch;  // distance of updates that are prefetched, in entries
  int64_t last;      // position of the last valid number of `order`, n - 1 or more
};
using OrderedElementsKernel = void (*)(const OrderedElements&);

// The kernels of a reduction on a dtype, or of moves of elements of one width.
struct CombineKernels {
  int64_t element_size;
  bool heavy;             // one element takes much longer than a sum of the same width
  int64_t least_repeats;  // fewest entries that CombineRepeats() combines at once; 0: none
  RunKernel run;
  ElementsKernel elements[kOffsetWidths];
  ShortAxisKernel short_axis;       // NULL for none
  GroupedRowsKernel rows;           // likewise
  GroupedRowsKernel weighted_rows;  // likewise
  OrderedElementsKernel ordered;    // likewise
};

// Requires that the reduction is defined on the dtype.
const CombineKernels& ReduceKernelsFor(strew_dtype dtype, KernelReduction reduction,
                                       int32_t target);

// Fills a new output with updates and data alternately, past the caches if `stream`:
//   output[2 * i] = updates[i] and output[2 * i + 1] = data[2 * i + 1] for i < n
using InterleaveKernel = void (*)(unsigned char* output, const unsigned char* data,
                                  const unsigned char* updates, int64_t n, bool stream);

// Gathers updates: gathered[i] = updates[columns[i] * updates_stride] for i < n.
using GatherKernel = void (*)(unsigned char* gathered, const unsigned char* updates,
                              int64_t updates_stride, const int32_t* columns, int64_t n);

// Fewest bytes of the shorter side of a box that is transposed, by the size of an element. With 2
// to 7 elements of 8 bytes, moves took 1.04 to 1.9 x the time (Zen 5).
constexpr int64_t LeastTransposed(int64_t size) { return size < 8 ? 16 : 64; }

// Moves a box that is a transpose; does nothing and returns false for other boxes.
using TransposeKernel = bool (*)(const struct BoxArguments& box);

// The kernels that move elements of one width. If the width is not a power of two, `stream` is the
// run of `combine`.
struct MoveKernels {
  CombineKernels combine;
  RunKernel stream;  // a run past the caches; FinishStreaming() must follow
  // The same for parts of a longer run, in words of kStreamedWord bytes.
  RunKernel stream_part;
  InterleaveKernel interleave;  // may be NULL
  GatherKernel gather;
  TransposeKernel transpose;  // may be NULL
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

// The sum and the number of updates of each slot. Compact slots do not use `counts`.
struct CountedSums {
  unsigned char* sums;
  uint32_t* counts;
};

// Update i belongs to the sum of slots[i], i < n. The slot kDropped drops its update.
struct SlotUpdates {
  const int32_t* slots;
  const unsigned char* updates;
  int64_t updates_stride;
  int64_t n;
  bool are_of_one = false;  // all updates belong to slots[0], which is not kDropped
};

// Elements that share a list of updates: output[i * output_stride], i < n, receives
// updates[order[k] + i * updates_stride] for k < count.
struct GroupArguments {
  unsigned char* output;
  int64_t output_stride;
  const unsigned char* updates;
  int64_t updates_stride;
  const int64_t* order;
  int64_t count;  // at least 1
  int64_t n;
  bool excludes_self;
  bool divides;  // by the number of terms
};
using GroupKernel = void (*)(const GroupArguments&);

// Kernels for sums in memory. A `sum` is the accumulated value; for STREW_MUL it is a product.
struct SumKernels {
  int64_t sum_size;  // bytes
  // sums[i] = elements[i * stride] for i < n
  void (*begin)(unsigned char* sums, const unsigned char* elements, int64_t stride, int64_t n);
  // sums[i] (+)= updates[i * stride] for i < n
  void (*add)(unsigned char* sums, const unsigned char* updates, int64_t stride, int64_t n);
  void (*finish)(const FinishArguments&);
};

// Most terms of a mean that does not use long_sums.
inline constexpr int64_t kMostTerms = std::numeric_limits<int32_t>::max();

// Kernels for slots of single elements. A sum and a count may share a word of 64 bits, whose lower
// bits are the count.
struct SlotKernels {
  int64_t most_updates;  // of a slot, and the mask of a count in a word
  bool has_counts;
  // sums[i] = elements[i * stride] for i < n; counts in words are 0
  void (*begin)(unsigned char* sums, const unsigned char* elements, int64_t stride, int64_t n);
  // sums[slots[i]] (+)= updates[i * updates_stride] and ++counts[slots[i]]
  void (*add_each)(const CountedSums&, const SlotUpdates&);
  // Fewest consecutive updates of one slot that are worth a call of their own; 0: none are.
  int64_t least_repeats;
  // output[i] = sums[i] / (counts[i] + more) if counts[i] > 0, for i < n; only means divide.
  // Without counts, output[i] still has the value with which sums[i] began.
  void (*finish_each)(const CountedSums&, int64_t more, unsigned char* output, int64_t n);
};

// Kernels for means, and for reductions with STREW_WIDE, which do not divide. Sums of integers are
// exact; sums of floats have the computing type.
struct AccumulateKernels {
  SumKernels sums;
  SumKernels long_sums;
  RunKernel run;  // for means: averages each element with one update; else NULL
  // output = old value (unless excluded) (+) updates in order, divided if `divides`
  GroupKernel group;
  SlotKernels counted;  // counts have 32 bits of their own
  // Means of integers of 8 and 16 bits: sums and counts share words. Sums of floats of 16 bits with
  // STREW_WIDE: there are no counts. NULL for none.
  const SlotKernels* compact;
  // sums[g] (+)= updates[k] for begins[g] <= k < begins[g + 1], in order, and g < groups
  void (*add_groups)(unsigned char* sums, const unsigned char* updates, const int64_t* begins,
                     int64_t groups);
  OrderedElementsKernel ordered;  // NULL for none
};

// Requires STREW_MEAN and a dtype for which means are defined, or a reduction and a dtype for which
// STREW_WIDE changes the result.
const AccumulateKernels& AccumulateKernelsFor(strew_dtype dtype, strew_reduction kind,
                                              int32_t target);

// ---- Memory ----

// gathered[i] = elements[offsets[i]] for i < n. An element has `size` bytes, 1 to 16. Elements are
// prefetched if `fetches`.
void GatherElements(int64_t size, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered, bool fetches = false);
void GatherElements(int64_t size, const unsigned char* elements, const int32_t* offsets, int64_t n,
                    unsigned char* gathered, bool fetches = false);

// Contiguous rows of `row` elements, of which each output row has n: output[r * n + c] =
// source[r * row + columns[c]] for r < rows and c < n.
struct ShuffleArguments {
  unsigned char* output;
  const unsigned char* source;
  int64_t size;  // bytes of an element, a multiple of 4
  int64_t rows;
  int64_t row;
  const int32_t* columns;
  int64_t n;
};
// Gathers the first rows. Returns their number, which is 0 if vectors cannot shuffle them.
using ShuffleKernel = int64_t (*)(const ShuffleArguments&);
// NULL for none.
ShuffleKernel ShuffleKernelFor(int32_t target);

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
  bool moves = false;                   // (+) is known to replace
  bool streams = false;                 // the kernel writes past the caches
  TransposeKernel transpose = nullptr;  // of moves
  // Prefetch distance in bytes, in output and updates, if rows are contiguous; 0 for none.
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
  bool moves;    // the kernel replaces
  // Offset of the update of each entry, in elements; NULL: use the strides of the tile.
  const int64_t* updates_offsets;
  // Prefetch distance in the updates, in rows, if they are read in order; 0 for none.
  int64_t read_ahead = 0;
};
void WalkRows(RunKernel run, int64_t size, OffsetWidth offset_width, const RowsArguments& rows);

// Combines a tile in which many consecutive entries have one destination, as with sorted indices.
// Through memory each of them would wait for the one before, so their destination is kept in a
// register. Does nothing and returns false if there are few.
bool CombineRepeats(const CombineKernels& kernels, OffsetWidth offset_width,
                    const TileArguments& tile, const NextReads& next_reads);

// Combines a tile.
inline void CombineEntries(const CombineKernels& kernels, OffsetWidth offset_width,
                           const TileArguments& tile, const NextReads& next_reads) {
  if (CombineRepeats(kernels, offset_width, tile, next_reads)) return;
  kernels.elements[offset_width](tile, next_reads);
}

// Applies updates of slots. If all of them, or many consecutive ones, belong to one slot, they have
// a call of their own, which keeps the sum in a register.
void WalkSlots(const SlotKernels& kernels, int64_t size, const CountedSums& sums,
               const SlotUpdates& updates);

// The updates of one destination.
struct Group {
  int64_t destination;  // offset in the output
  int64_t first;        // position in `order` of its first update; it ends where the next begins
};

// After the groups comes a sentinel whose `first` is the end of the last group. `all` describes all
// groups at once: `output` is the element at offset 0, `order` has the updates of all groups, and
// `count` is the number of groups. Updates and destinations are prefetched if they `are_far`.
void WalkGroups(GroupKernel group, int64_t size, const Group* groups, const GroupArguments& all,
                bool are_far);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_KERNEL_H_
