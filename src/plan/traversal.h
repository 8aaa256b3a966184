// SPDX-License-Identifier: Apache-2.0
// How a task goes through its entries.
#ifndef STREW_PLAN_TRAVERSAL_H_
#define STREW_PLAN_TRAVERSAL_H_

#include <cstdint>

#include "plan/entry_loops.h"
#include "plan/tuning.h"

namespace strew::plan {

enum class Traversal {
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

// Of a task that takes `block` entries in one go, a period being at most half of them, and brings so
// many columns into scratch, 0 for none. Stores the flat loops for kFlat.
Traversal TraversalFor(const EntryLoops& loops, int64_t block, int64_t strip, bool copies_data,
                       const Tuning& tuning, FlatLoops* flat);

}  // namespace strew::plan

#endif  // STREW_PLAN_TRAVERSAL_H_
