// SPDX-License-Identifier: Apache-2.0
// The order in which a task walks its entries.
#ifndef STREW_PLAN_TRAVERSAL_H_
#define STREW_PLAN_TRAVERSAL_H_

#include <cstdint>

#include "plan/entry_loops.h"
#include "plan/schedule.h"

namespace strew::plan {

enum class Traversal {
  kSlices,        // slice by slice, for few and large entries, in blocks of the inner turns
  kFlat,          // in the order of indices in memory, across short loops
  kPacked,        // the same, but indices or updates lie apart, and are brought together first
  kStrips,        // batches side by side, with their axis in scratch
  kBatchColumns,  // batches side by side
  kShortRows,     // several rows of entries in a tile
  kLongRows,      // a row in several tiles
};

// For kFlat. Indices are contiguous across several short loops, and so are updates, or all entries
// have one, so entries are taken in the order of memory; the offsets of their batches in the output
// form a pattern that repeats. For kPacked, the positions of indices and updates do so too.
// `outside` are the loops around all, `slab` is a loop over periods, which are contiguous if flat,
// `period` are the loops within a period, of `period_turns` turns together.
struct FlatLoops {
  IndexedNest outside;
  IndexedLoop slab;
  IndexedNest period;
  int64_t period_turns;
  int64_t update_stride;  // if flat: 1, or 0 if there is one update
};

// For kSlices. `rest` are inner loops around rows of runs; a block of `row_step` rows of `run_step`
// turns stays in the caches. Runs are cut only if several entries may write the same slice.
struct SliceLoops {
  InnerNest rest;
  InnerLoop row;
  InnerLoop run;
  int64_t row_step;
  int64_t run_step;
};

// Upper bound of few entries, whatever the tuning says.
inline constexpr int64_t kMostSlices = 64;
// Most entries whose indices and updates are brought together.
inline constexpr int64_t kMostPacked = 256;

// Most clamped indices of a tile, which are on the stack beside their offsets; and most of a row that
// goes to a sink.
inline constexpr int64_t kMostClamped = 256;

// The loops of the chosen traversal; the other member is not set.
struct TraversalLoops {
  FlatLoops flat;
  SliceLoops slices;
};

// Chooses the order in which a task walks entries of units of `width` bytes, at most `block` of
// them at a time. `staging` is that of its schedule. Periods have at most half a block of turns.
Traversal TraversalFor(const EntryLoops& loops, const Tuning& tuning, int64_t width, int64_t block,
                       const Staging& staging, TraversalLoops* chosen);
// The same for entries that go to a sink: there are no slices and no staging.
Traversal TraversalOfSink(const EntryLoops& loops, const Tuning& tuning, int64_t block,
                          FlatLoops* flat);

}  // namespace strew::plan

#endif  // STREW_PLAN_TRAVERSAL_H_
