// SPDX-License-Identifier: Apache-2.0
#include "plan/draft.h"

#include "base/checked.h"

namespace strew::plan {
namespace {

// The loop with the largest stride in indices. Entries with one destination stay in order if the
// first of their loops is cut; batches may be cut anywhere.
IndexedLoop* OutermostLoop(IndexSpace* space) {
  IndexedLoop* const entries = space->entries.rank > 0 ? &space->entries.loop[0] : nullptr;
  IndexedLoop* const batch = space->batch.rank > 0 ? &space->batch.loop[0] : nullptr;
  if (entries == nullptr || batch == nullptr) return entries == nullptr ? batch : entries;
  const bool entries_are_outer =
      Magnitude(entries->stride[kIndices]) > Magnitude(batch->stride[kIndices]);
  return entries_are_outer ? entries : batch;
}

// Counts indices in memory. Loops of stride 0 repeat the same indices. Not in int64_t: with other
// overlapping strides there may be 2^63 in little memory.
double CountDistinct(const IndexSpace& space) {
  double count = space.components;
  for (const IndexedNest* nest : {&space.entries, &space.batch}) {
    for (int i = 0; i < nest->rank; ++i) {
      if (nest->loop[i].stride[kIndices] != 0) count *= static_cast<double>(nest->loop[i].count);
    }
  }
  return count;
}

}  // namespace

DraftSchedule MakeDraftSchedule(const Machine& machine, const TensorView& indices,
                                const TensorView& updates, const TensorView& output,
                                IndexSpace* space) {
  constexpr DraftSchedule kNone = {nullptr, 0, 0, 0, {0, 0}};
  const Tuning& tuning = machine.tuning;
  const double bytes = CountDistinct(*space) * static_cast<double>(indices.element_size);
  const int64_t scratch = output.highest - output.lowest;
  const double least = tuning.least_drafted * static_cast<double>(machine.cache_bytes);
  if (machine.workers > 1 || bytes < least) return kNone;
  if (scratch > MostScratch(1) || scratch > tuning.most_draft) return kNone;
  const double updates_bytes = static_cast<double>(updates.highest - updates.lowest);
  const bool are_short = bytes < updates_bytes * tuning.least_long_indices;
  if (are_short && scratch > tuning.most_draft_of_short_indices) return kNone;
  IndexedLoop* const loop = OutermostLoop(space);
  if (loop == nullptr || loop->stride[kIndices] == 0) return kNone;
  const double turn = bytes / static_cast<double>(loop->count);
  const int64_t turns = static_cast<int64_t>(static_cast<double>(tuning.drafted_part) / turn);
  if (turns == 0) return kNone;
  const LaterReads next_part = {turns * loop->stride[kIndices], turns * loop->stride[kUpdates]};
  return {loop, turns, (loop->count + turns - 1) / turns, scratch, next_part};
}

}  // namespace strew::plan
