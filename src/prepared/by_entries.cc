// SPDX-License-Identifier: Apache-2.0
#include "prepared/by_entries.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "base/reduction.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "prepared/element_sums.h"
#include "prepared/entry_pass.h"
#include "prepared/identities.h"
#include "prepared/ordered.h"
#include "prepared/placed_runs.h"
#include "prepared/short_loops.h"
#include "prepared/short_rows.h"
#include "share/parts.h"

namespace strew::prepared {
namespace {

// ---- Entries whose places are lines, and of which none is dropped ----

// Prefetches the places of the next turn, which lie after a gap, across which the hardware does not
// prefetch.
void FetchPlaces(const PlacedTensor& tensor, const int64_t* first, const UpdateLoop& turns,
                 int64_t n) {
  const Numbers& places = tensor.places;
  const int64_t next = first[tensor.entry] + turns.stride[tensor.entry];
  if (next + n > places.count()) return;
  kernel::PrefetchOnce(places.data() + next * places.width(), n * places.width());
}

// Returns the offsets of entries in a tensor: the places themselves if these need no conversion,
// else `memory`.
const void* OffsetsIn(const PlacedTensor& tensor, const int64_t* first, const UpdateLoop& rows,
                      const UpdateLoop& columns, void* memory) {
  const Numbers& places = tensor.places;
  if (places.width() == kernel::OffsetSize(tensor.width) && tensor.numbering.stride() == 1 &&
      columns.stride[tensor.offset] == 0 && rows.count == 1) {
    assert(columns.stride[tensor.entry] == 1 || columns.count == 1);
    return places.data() + first[tensor.entry] * places.width();
  }
  tensor.Locate(first, rows, columns, false, memory);
  return memory;
}

// Gathers rows. If the indices of their plan repeat along rows, all entries of a row take from one
// place.
void GatherRows(const EntryPass& pass, const int64_t* first, const UpdateLoop& rows,
                const UpdateLoop& columns, unsigned char* updates) {
  const PlacedTensor& from = pass.from;
  const int64_t n = columns.count, size = pass.size;
  const int64_t place_stride = from.numbering.stride();
  if (columns.stride[kFromEntry] != 0) {
    return GatherRuns({from.places, false, first[kFromEntry], n, 0, updates, size,
                       from.tensor.data + first[kSource] * size, place_stride * size,
                       columns.stride[kSource] * size, nullptr, size, 1, 0, rows.count,
                       rows.stride[kFromEntry], n * size, rows.stride[kSource] * size});
  }
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t place = from.places.At(first[kFromEntry] + r * rows.stride[kFromEntry]);
    const int64_t source = place * place_stride + first[kSource] + r * rows.stride[kSource];
    pass.move.run(updates + r * n * size, 1, from.tensor.data + source * size,
                  columns.stride[kSource], n);
  }
}

void PassRows(const EntryPass& pass, const int64_t* first, const UpdateLoop& rows,
              const UpdateLoop& columns) {
  alignas(64) unsigned char updates[kPassBytes];
  int64_t to[kPassBlock];
  const int64_t n = columns.count, size = pass.size;
  const void* const offsets = OffsetsIn(pass.to, first, rows, columns, to);
  pass.Fetch(first, offsets, rows.count * n);
  GatherRows(pass, first, rows, columns, updates);
  for (int64_t r = 0; pass.multiply != nullptr && r < rows.count; ++r) {
    pass.multiply(updates + r * n * size, 1, pass.WeightAt(first) + r * rows.stride[kWeight] * size,
                  columns.stride[kWeight], n);
  }
  pass.Combine(first, offsets, rows.count * n, updates);
}

// Passes rows of entries, several rows at a time if they are short. Not inline, like
// PassGathered(), because the other ways do not need its stack space.
[[gnu::noinline]] void PassLines(const EntryPass& pass, UpdateNest nest) {
  const UpdateLoop columns = nest.PopInnermost();
  UpdateLoop rows = {1, {}};
  if (columns.count <= kPassBlock / 2) rows = nest.PopInnermost();
  const int64_t step = std::max<int64_t>(kPassBlock / columns.count, 1);
  UpdateLoop rows_of_block = rows, columns_of_block = columns;
  const bool has_gaps = pass.schedule.entries.blocks.loop >= 0 && nest.rank > 0;
  plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
    for (int64_t r = 0; r < rows.count; r += step) {
      for (int64_t c = 0; c < columns.count; c += kPassBlock) {
        int64_t first[kUpdateOperands];
        plan::MoveToTurn(at, rows, r, first);
        plan::MoveToTurn(first, columns, c, first);
        columns_of_block.count = std::min(kPassBlock, columns.count - c);
        rows_of_block.count = std::min(step, rows.count - r);
        if (has_gaps) {
          const UpdateLoop& turns = nest.loop[nest.rank - 1];
          const int64_t n = columns_of_block.count * rows_of_block.count;
          FetchPlaces(pass.from, first, turns, n);
          FetchPlaces(pass.to, first, turns, n);
        }
        PassRows(pass, first, rows_of_block, columns_of_block);
      }
    }
  });
}

// ---- Other entries ----

// Updates that are applied together: their offsets in the operands.
struct Gathered {
  int64_t n = 0;
  int64_t from[kPassBlock];
  int64_t to[kPassBlock];
  int64_t weights[kPassBlock];
};

// Stores the offsets of the places of entries, or kNoUpdate.
void ReadPlaces(const PlacedTensor& tensor, const int64_t* first, const UpdateLoop& entries,
                int64_t* offsets) {
  const int64_t entry = first[tensor.entry], stride = entries.stride[tensor.entry];
  tensor.places.Read([=](int64_t i) { return entry + i * stride; }, entries.count, offsets);
  tensor.numbering.ResolveMarked(offsets, entries.count);
}

// Adds the entries that neither plan drops.
void Add(const EntryPass& pass, const int64_t* first, const UpdateLoop& entries,
         Gathered* gathered) {
  int64_t* const from = gathered->from + gathered->n;
  int64_t* const to = gathered->to + gathered->n;
  int64_t* const weights = gathered->weights + gathered->n;
  ReadPlaces(pass.from, first, entries, from);
  ReadPlaces(pass.to, first, entries, to);
  const auto& stride = entries.stride;
  int64_t kept = 0;
  for (int64_t i = 0; i < entries.count; ++i) {
    if (from[i] == kNoUpdate || to[i] == kNoUpdate) continue;
    from[kept] = from[i] + first[kSource] + i * stride[kSource];
    to[kept] = to[i] + first[kOutput] + i * stride[kOutput];
    weights[kept++] = first[kWeight] + i * stride[kWeight];
  }
  gathered->n += kept;
}

// Multiplies n gathered updates by their weights. Not inline, so that these are no longer on the
// stack when the updates are combined.
[[gnu::noinline]] void Multiply(const EntryPass& pass, const Gathered& gathered, int64_t n,
                                unsigned char* updates) {
  alignas(64) unsigned char weights[kPassBytes];
  kernel::GatherElements(pass.size, pass.passage.weights->data, gathered.weights, n, weights);
  pass.multiply(updates, 1, weights, 1, n);
}

// Applies the gathered updates, and clears them. Returns their number.
int64_t Apply(const EntryPass& pass, Gathered* gathered) {
  alignas(64) unsigned char updates[kPassBytes];
  const int64_t n = std::exchange(gathered->n, 0);
  if (n == 0) return 0;
  kernel::GatherElements(pass.size, pass.from.tensor.data, gathered->from, n, updates);
  if (pass.multiply != nullptr) Multiply(pass, *gathered, n, updates);
  kernel::CombineEntries(pass.combine, kernel::kOffset64,
                         kernel::RowTile(pass.to.tensor.data, updates, gathered->to, n, 0), {});
  return n;
}

// Passes entries of which some may be dropped, whose places are not lines, or which neither follow
// one another nor repeat in the plan of the source. Returns the number of updates.
[[gnu::noinline]] int64_t PassGathered(const EntryPass& pass, UpdateNest nest) {
  const UpdateLoop row = nest.PopInnermost();
  UpdateLoop entries = row;
  Gathered gathered;
  int64_t applied = 0;
  plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
    for (int64_t c = 0; c < row.count; c += kPassBlock) {
      int64_t first[kUpdateOperands];
      plan::MoveToTurn(at, row, c, first);
      entries.count = std::min(kPassBlock, row.count - c);
      if (gathered.n + entries.count > kPassBlock) applied += Apply(pass, &gathered);
      Add(pass, first, entries, &gathered);
    }
  });
  return applied + Apply(pass, &gathered);
}

// ---- All ways ----

// Returns the number of updates.
int64_t PassNest(const EntryPass& pass, const UpdateNest& nest) {
  switch (pass.schedule.entries.passing) {
    case Passing::kGathered:
      return PassGathered(pass, nest);
    case Passing::kLines:
      if (!PassShortLoops(pass, nest)) PassLines(pass, nest);
      break;
    case Passing::kRows:
      PassShortRows(pass, nest);
      break;
  }
  return nest.Turns();
}

// The same, block by block.
int64_t PassBlocks(const EntryPass& pass, const UpdateNest& nest) {
  const BatchBlocks& blocks = pass.schedule.entries.blocks;
  if (blocks.loop < 0) return PassNest(pass, nest);
  int64_t applied = 0;
  const int64_t turns = nest.loop[blocks.loop].count;
  for (int64_t i = 0; i < turns; i += blocks.turns) {
    UpdateNest block = nest;
    block.Restrict(blocks.loop, i, std::min(blocks.turns, turns - i));
    applied += PassNest(pass, block);
  }
  return applied;
}

// Stores the identity, instead of the old value, at destinations, for all turns along which the
// plan of the output does not change.
void StartAnew(const EntryPass& pass, const UpdateNest& nest, const Groups& groups,
               strew_reduction kind) {
  UpdateNest turns;
  std::copy_n(nest.base, kUpdateOperands, turns.base);
  for (int i = 0; i < nest.rank; ++i) {
    if (nest.loop[i].stride[kToEntry] == 0) turns.loop[turns.rank++] = nest.loop[i];
  }
  const Passage& passage = pass.passage;
  const Identities identities(passage.call, passage.to, passage.output, passage.of_to.destinations,
                              {1, {0}}, kind);
  identities.Store(groups, [&](const auto& store) {
    plan::ForEachTurn(turns, turns.rank, [&](const int64_t* at) {
      store(passage.output.data + at[kOutput] * pass.size);
    });
  });
}

// Passes entries to accumulators, part by part. Returns the number of updates.
int64_t PassToSums(const Passage& passage, const UpdateNest& nest, const PlanSchedule& schedule,
                   ElementSums* sums) {
  const EntrySchedule& entries = schedule.entries;
  const int64_t elements = schedule.summed_elements, turns = nest.loop[0].count;
  const EntryPass pass(passage, schedule, sums);
  int64_t applied = 0, first = 0;
  for (int64_t turn = 0; turn < turns; turn += entries.summed_turns, first += elements) {
    UpdateNest part = nest;
    part.Restrict(0, turn, std::min(entries.summed_turns, turns - turn));
    sums->Begin(first, std::min(elements, passage.output.size - first));
    applied += PassBlocks(pass, part);
    sums->Finish();
  }
  return applied;
}

}  // namespace

Status PassByEntries(const Passage& passage, const UpdateNest& nest, const PlanSchedule& schedule,
                     ElementSums* sums, int64_t* applied) {
  if (sums != nullptr) {
    *applied = PassToSums(passage, nest, schedule, sums);
    return STREW_OK;
  }
  const strew_reduction kind = ReductionKind(schedule.reduction);
  const EntryPass pass(passage, schedule, nullptr);
  const int64_t tasks = schedule.pass.tasks, parts = schedule.pass.parts;
  const Plan& to = passage.to;
  const bool by_groups = parts > 1 && HasAscendingEntries(nest, to);
  const int loop = schedule.entries.cut;
  plan::Cut cut;
  if (parts > 1) cut.Append(nest.loop[loop].count, 1, parts);
  const bool starts_anew = ExcludesSelf(schedule.reduction);
  // If the plan of the output does not change along the loop that is cut, or if parts are groups,
  // each part stores the identities of its own destinations. Otherwise those of all parts are
  // stored before any part.
  const bool are_apart = by_groups || (parts > 1 && nest.loop[loop].stride[kToEntry] == 0);
  if (starts_anew && !are_apart) StartAnew(pass, nest, {0, to.groups()}, kind);
  std::atomic<int64_t> sum{0};
  STREW_TRY(share::ForEachPart(passage.call, tasks, parts, [&](int64_t part, int64_t) {
    UpdateNest kept = nest;
    Groups groups = {0, to.groups()};
    if (by_groups) {
      groups = GroupsOf(to, schedule.pass, part);
      if (groups.first == groups.end) return;
      const int64_t first = to.FirstOf(groups.first);
      kept.Restrict(0, first, to.FirstOf(groups.end) - first);
    } else if (parts > 1) {
      const plan::Turns turns = cut.TurnsOf(part, 0);
      kept.Restrict(loop, turns.first, turns.count);
    }
    if (starts_anew && are_apart) StartAnew(pass, kept, groups, kind);
    sum += PassBlocks(pass, kept);
  }));
  *applied = sum;
  return STREW_OK;
}

}  // namespace strew::prepared
