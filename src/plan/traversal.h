// SPDX-License-Identifier: Apache-2.0
// The order in which a task walks its entries.
#ifndef STREW_PLAN_TRAVERSAL_H_
#define STREW_PLAN_TRAVERSAL_H_

#include <algorithm>
#include <cstdint>

#include "plan/entry_loops.h"
#include "plan/pattern.h"
#include "plan/schedule.h"

namespace strew::plan {

enum class Traversal {
  kSlices,        // in blocks of the inner turns, for few and large entries (slices)
  kFlat,          // across short loops, in the order of indices in memory
  kPacked,        // the same, after scattered indices or updates are packed into a buffer
  kStrips,        // batches side by side, while their axis is in scratch
  kBatchColumns,  // batches side by side
  kShortRows,     // several rows of entries in a tile
  kLongRows,      // one row of entries at a time
};

// The loops of kFlat and kPacked. Entries are walked in the order of their indices in memory, and
// the offsets of their batches in the output form a repeating pattern. If flat, several short loops
// are contiguous in indices and in updates (or all entries share one update), and so are periods.
// If packed, the positions of indices and updates form repeating patterns as well.
struct FlatLoops : FlatNest<kIndexedOperands> {
  int64_t update_stride;  // if flat: 1, or 0 if all entries share one update
};

// The loops of kSlices: `rest` around rows, and `between` rows and runs. A block of `row_step` rows
// of `run_step` turns stays in the caches. Runs are cut only if several entries may write to the
// same slice, or if updates are transposed.
struct SliceLoops {
  InnerNest rest;
  InnerLoop row;
  InnerNest between;
  InnerLoop run;
  int64_t row_step;
  int64_t run_step;
  bool fetches_next;   // the next block is prefetched
  bool is_transposed;  // updates of rows share cache lines, those of runs do not
};

// Most entries that are walked as slices, whatever the tuning says.
inline constexpr int64_t kMostSlices = 64;
// Most entries that are packed at a time.
inline constexpr int64_t kMostPacked = 256;

// Most clamped indices of a tile, which are on the stack beside their offsets.
inline constexpr int64_t kMostClamped = 256;

// Most entries of a tile whose offsets have this width.
inline int64_t MostOfTile(const EntryLoops& loops, kernel::OffsetWidth width) {
  const int64_t most = kBlockBytes / kernel::OffsetSize(width);
  return loops.out_of_range == OutOfRange::kNothing ? most : std::min(most, kMostClamped);
}

// The loops of the chosen traversal; the other member is not set.
struct TraversalLoops {
  FlatLoops flat;
  SliceLoops slices;
};

// Chooses the order in which a task walks its entries, at most `block` of them at a time. Units
// have `width` bytes. `staging` and `keeps_rows` are those of its schedule. Flat periods have at
// most half a block of turns.
Traversal TraversalFor(const EntryLoops& loops, const Machine& machine, int64_t width,
                       int64_t block, const Staging& staging, bool keeps_rows,
                       TraversalLoops* chosen);
// The same for entries that go to a sink, without slices and staging.
Traversal TraversalOfSink(const EntryLoops& loops, const Tuning& tuning, int64_t block,
                          FlatLoops* flat);

// The columns of batch that are walked together without a strip, at most `block` of them.
inline int64_t BatchColumns(const EntryLoops& loops, const Tuning& tuning, int64_t width,
                            int64_t block) {
  const bool return_to_columns = loops.outer.Turns() * loops.row.count > 1;
  if (!return_to_columns) return block;
  const int64_t least = std::max(tuning.batch_columns, tuning.batch_bytes / width);
  const int64_t axis = loops.components == 0 ? 1 : loops.component[0].axis_size;
  const int64_t near = std::min(tuning.near_strip / width / axis, tuning.most_batch_columns);
  return std::min(std::max(near, least), block);
}

// The outer loops, those of batches in descending order of their strides in an operand.
IndexedNest OuterByStride(const EntryLoops& loops, int operand);

// True if the entries of a tile, which are runs, are written one after the other as boxes, instead
// of one inner turn after the other. `prefetch` is the distance to destinations, 0 for none.
bool EntriesAreBoxes(const EntryLoops& loops, const Tuning& tuning, int64_t width,
                     int64_t prefetch);

}  // namespace strew::plan

#endif  // STREW_PLAN_TRAVERSAL_H_
