// SPDX-License-Identifier: Apache-2.0
// How a task goes through its entries.
#ifndef STREW_PLAN_TRAVERSAL_H_
#define STREW_PLAN_TRAVERSAL_H_

#include <cstdint>

#include "plan/entry_loops.h"
#include "plan/schedule.h"

namespace strew::plan {

enum class Traversal {
  kSlices,        // one by one, because they are few and large, in blocks of the inner turns
  kFlat,          // in the order in which indices lie in memory, across short loops
  kStrips,        // batches side by side, while their axis is in scratch
  kBatchColumns,  // batches side by side
  kShortRows,     // several rows of entries in a tile
  kLongRows,      // a row in several tiles
};

// For kFlat: where indices and updates lie together across several short loops, entries can be taken
// in the order of memory; only where their batches lie in the output has a pattern, and that
// repeats. `outside` are loops around all; `slab` is a loop of periods that lie one behind the other;
// `period` are the loops within, of `period_turns` turns together.
struct FlatLoops {
  IndexedNest outside;
  IndexedLoop slab;
  IndexedNest period;
  int64_t period_turns;
};

// For kSlices: `rest` are inner loops around rows of runs, of which blocks of so many stay near. Runs
// are cut only where several entries may write the same slice.
struct SliceLoops {
  InnerNest rest;
  InnerLoop row;
  InnerLoop run;
  int64_t row_step;
  int64_t run_step;
};

// So many entries are few, whatever the tuning says.
inline constexpr int64_t kMostSlices = 64;

// The traversals of which one is chosen; each of the loops is stored where that is.
struct TraversalLoops {
  FlatLoops flat;
  SliceLoops slices;
};

// How a task goes through its entries, of units of `width` bytes, if it takes `block` of them in one
// go. `staging` is that of its schedule. Periods are at most half a block.
Traversal TraversalFor(const EntryLoops& loops, const Tuning& tuning, int64_t width, int64_t block,
                       const Staging& staging, TraversalLoops* chosen);
// The same where a sink takes the entries: none are slices, and nothing is staged.
Traversal TraversalOfSink(const EntryLoops& loops, const Tuning& tuning, int64_t block,
                          FlatLoops* flat);

}  // namespace strew::plan

#endif  // STREW_PLAN_TRAVERSAL_H_
