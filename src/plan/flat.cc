// SPDX-License-Identifier: Apache-2.0
#include "plan/flat.h"

#include <algorithm>

#include "plan/tuning.h"

namespace strew::plan {
namespace {

bool IsWorthIt(const IndexSpace& space) {
  const int64_t sheet = space.row.count * space.column.count;
  const bool small = sheet < kTuning.small_sheet || space.column.count < kTuning.narrow_row;
  const int64_t entry_turns = space.columns_are_lanes ? space.row.count : space.column.count;
  return small && space.lanes_count * entry_turns > kTuning.least_flat_entries;
}

// All loops of the index space, in the order in which indices lie in memory.
IndexedNest InOrderOfIndices(const IndexSpace& space) {
  IndexedNest nest;
  for (int o = 0; o < kIndexedOperands; ++o) nest.base[o] = space.outer.base[o];
  const auto insert = [&nest](const IndexedLoop& loop) {
    if (loop.count == 1) return;
    int place = nest.rank++;
    for (; place > 0 && nest.loop[place - 1].stride[kIndices] < loop.stride[kIndices]; --place) {
      nest.loop[place] = nest.loop[place - 1];
    }
    nest.loop[place] = loop;
  };
  for (int i = 0; i < space.outer.rank; ++i) insert(space.outer.loop[i]);
  insert(space.row);
  insert(space.column);
  return nest;
}

// How far apart the lanes of a block land.
int64_t PatternSpan(const FlatWalk& flat, int64_t block) {
  const int64_t slabs = std::min(flat.slab.count, block / flat.period_turns);
  int64_t span = (slabs - 1) * flat.slab.stride[kOutput];
  for (int i = 0; i < flat.period.rank; ++i) {
    span += (flat.period.loop[i].count - 1) * flat.period.loop[i].stride[kOutput];
  }
  return span;
}

}  // namespace

bool Flatten(const IndexSpace& space, int64_t block, FlatWalk* flat) {
  const bool one_entry_loop = space.components == 1 && space.entries.rank == 0;
  if (!one_entry_loop || space.EntryUnits() > 1 || space.lanes_count == 1) return false;
  if (!IsWorthIt(space)) return false;
  const IndexedNest nest = InOrderOfIndices(space);
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
  // Offsets of a block span more than those of a sheet; where 64 bits are needed sheets are large.
  return space.reach + PatternSpan(*flat, block) <= INT32_MAX;
}

}  // namespace strew::plan
