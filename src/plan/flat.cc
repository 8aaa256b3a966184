// SPDX-License-Identifier: Apache-2.0
#include "plan/flat.h"

#include <algorithm>

#include "plan/tuning.h"

namespace strew::plan {
namespace {

bool IsWorthIt(const IndexedPlan& plan) {
  const int64_t sheet = plan.row.count * plan.column.count;
  const bool small = sheet < kTuning.small_sheet || plan.column.count < kTuning.narrow_row;
  const int64_t entry_turns = plan.columns_are_lanes ? plan.row.count : plan.column.count;
  return small && plan.lanes_count * entry_turns > kTuning.least_flat_entries;
}

// All loops of the plan, in the order in which indices lie in memory.
IndexedNest InOrderOfIndices(const IndexedPlan& plan) {
  IndexedNest nest;
  for (int o = 0; o < kIndexedOperands; ++o) nest.base[o] = plan.outer.base[o];
  const auto insert = [&nest](const IndexedLoop& loop) {
    if (loop.count == 1) return;
    int place = nest.rank++;
    for (; place > 0 && nest.loop[place - 1].stride[kIndices] < loop.stride[kIndices]; --place) {
      nest.loop[place] = nest.loop[place - 1];
    }
    nest.loop[place] = loop;
  };
  for (int i = 0; i < plan.outer.rank; ++i) insert(plan.outer.loop[i]);
  insert(plan.row);
  insert(plan.column);
  return nest;
}

// How far apart the lanes of a block land.
int64_t PatternSpan(const FlatPlan& flat, int64_t block) {
  const int64_t slabs = std::min(flat.slab.count, block / flat.period_turns);
  int64_t span = (slabs - 1) * flat.slab.stride[kOutput];
  for (int i = 0; i < flat.period.rank; ++i) {
    span += (flat.period.loop[i].count - 1) * flat.period.loop[i].stride[kOutput];
  }
  return span;
}

}  // namespace

bool Flatten(const IndexedPlan& plan, int64_t block, FlatPlan* flat) {
  const bool one_entry_loop = plan.components == 1 && plan.entries.rank == 0;
  if (!one_entry_loop || plan.EntryUnits() > 1 || plan.lanes_count == 1) return false;
  if (!IsWorthIt(plan)) return false;
  const IndexedNest nest = InOrderOfIndices(plan);
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
  return plan.reach + PatternSpan(*flat, block) <= INT32_MAX;
}

}  // namespace strew::plan
