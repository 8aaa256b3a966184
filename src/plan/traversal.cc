// SPDX-License-Identifier: Apache-2.0
#include "plan/traversal.h"

#include <algorithm>

namespace strew::plan {
namespace {

bool IsWorthIt(const EntryLoops& loops, const Tuning& tuning) {
  const int64_t turns = loops.row.count * loops.column.count;
  const bool small = turns < tuning.few_turns || loops.column.count < tuning.narrow_row;
  const int64_t entry_turns = loops.columns_are_batch ? loops.row.count : loops.column.count;
  return small && loops.batches * entry_turns > tuning.least_flat_entries;
}

// All loops, in the order in which indices lie in memory.
IndexedNest InOrderOfIndices(const EntryLoops& loops) {
  IndexedNest nest;
  for (int o = 0; o < kIndexedOperands; ++o) nest.base[o] = loops.outer.base[o];
  const auto insert = [&nest](const IndexedLoop& loop) {
    if (loop.count > 1) nest.InsertByStride(kIndices, loop);
  };
  for (int i = 0; i < loops.outer.rank; ++i) insert(loops.outer.loop[i]);
  insert(loops.row);
  insert(loops.column);
  return nest;
}

// How far apart the batches of a block lie.
int64_t PatternSpan(const FlatLoops& flat, int64_t block) {
  const int64_t slabs = std::min(flat.slab.count, block / flat.period_turns);
  int64_t span = (slabs - 1) * flat.slab.stride[kOutput];
  for (int i = 0; i < flat.period.rank; ++i) {
    span += (flat.period.loop[i].count - 1) * flat.period.loop[i].stride[kOutput];
  }
  return span;
}

bool Flatten(const EntryLoops& loops, int64_t block, const Tuning& tuning, FlatLoops* flat) {
  if (!loops.HasOneAxis() || !loops.EntriesAreElements() || loops.batches == 1) return false;
  if (!IsWorthIt(loops, tuning)) return false;
  const IndexedNest nest = InOrderOfIndices(loops);
  // Takes loops into the period from the innermost one on, while they lie together.
  int first = nest.rank;
  int64_t turns = 1;
  const auto lies_together = [&](const IndexedLoop& loop) {
    return loop.stride[kIndices] == turns && loop.stride[kUpdates] == turns;
  };
  while (first > 0 && lies_together(nest.loop[first - 1]) &&
         nest.loop[first - 1].count <= block / 2 / turns) {
    turns *= nest.loop[--first].count;
  }
  if (first == nest.rank) return false;
  // The loop around the period is that of slabs, if it lies together as well.
  const bool has_slab = first > 0 && lies_together(nest.loop[first - 1]);
  flat->slab = has_slab ? nest.loop[first - 1] : IndexedLoop{1, {}};
  const int outside = has_slab ? first - 1 : first;
  flat->outside.rank = outside;
  for (int o = 0; o < kIndexedOperands; ++o) flat->outside.base[o] = nest.base[o];
  for (int i = 0; i < outside; ++i) flat->outside.loop[i] = nest.loop[i];
  flat->period.rank = nest.rank - first;
  for (int i = first; i < nest.rank; ++i) flat->period.loop[i - first] = nest.loop[i];
  flat->period_turns = turns;
  // Offsets of a block span more than those of a tile; where 64 bits are needed rows are long.
  return loops.reach + PatternSpan(*flat, block) <= INT32_MAX;
}

}  // namespace

Traversal TraversalFor(const EntryLoops& loops, int64_t block, int64_t strip, bool copies_data,
                       const Tuning& tuning, FlatLoops* flat) {
  if (strip != 0) return Traversal::kStrips;
  if (!copies_data && Flatten(loops, block, tuning, flat)) return Traversal::kFlat;
  if (loops.columns_are_batch) return Traversal::kBatchColumns;
  return loops.column.count <= block ? Traversal::kShortRows : Traversal::kLongRows;
}

}  // namespace strew::plan
