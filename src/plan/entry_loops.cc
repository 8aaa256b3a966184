// SPDX-License-Identifier: Apache-2.0
#include "plan/entry_loops.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/compiler.h"

namespace strew::plan {

EntryLoops::EntryLoops(const IndexSpace& space, const Findings& findings, BatchOrder order)
    : components(space.components),
      out_of_range(findings.out_of_range),
      indices_are_non_negative(findings.non_negative),
      batch_has_data(true),
      inner(space.inner) {
  std::copy_n(space.component, components, component);
  IndexedNest entries = space.entries;
  IndexedNest batch = space.batch;
  for (int i = 0; findings.constant && i < space.minor_batch_loops; ++i) {
    const IndexedLoop loop = batch.PopInnermost();
    inner.Append(loop.count, loop.stride[kOutput], loop.stride[kUpdates]);
  }
  entries.Merge();
  batch.Canonicalise();
  inner.Canonicalise();
  ChooseRun(entries);
  batches = batch.Turns();
  ChooseRowsAndColumns(order, &entries, &batch);
  // Inner loops within each of several tiles would return to all of their cache lines in every
  // tile.
  constexpr int64_t kMostOfTile = kBlockBytes / int64_t{sizeof(int32_t)};
  const bool is_line =
      HasOneAxis() && !columns_are_batch && run.count == 1 && (rows_are_batch || row.count == 1);
  if (is_line && column.count > kMostOfTile) TurnInnerLoopsIntoBatch();
  MeasureSpans();
}

EntryLoops::EntryLoops(const EntryLoops& other)
    : components(other.components),
      out_of_range(other.out_of_range),
      indices_are_non_negative(other.indices_are_non_negative),
      batch_has_data(other.batch_has_data),
      outer(other.outer),
      outer_batch_loops(other.outer_batch_loops),
      row(other.row),
      column(other.column),
      inner(other.inner),
      run(other.run),
      rows_are_batch(other.rows_are_batch),
      columns_are_batch(other.columns_are_batch),
      batches(other.batches),
      reach(other.reach),
      tile_span(other.tile_span),
      whole_span(other.whole_span) {
  std::copy_n(other.component, components, component);
}

int64_t EntryLoops::Entries() const { return TileEntries() * outer.Turns(); }

int64_t EntryLoops::EntryUnits() const { return run.count * inner.Turns(); }

void EntryLoops::ChooseRun(const IndexedNest& entries) {
  run = inner.PopInnermost();
  if (run.count == 1 || components == 0 || entries.rank == 0) return;
  // If destinations lie closer together than inner turns, each inner turn goes through all
  // destinations: on the last axis of a matrix row by row, not column by column. If there is one
  // destination with many updates, the distances between updates decide.
  constexpr int64_t kMany = 64;
  const Component& axis = component[components - 1];
  const IndexedLoop& entry = entries.loop[entries.rank - 1];
  const int operand = axis.axis_size > 1 ? kOutput : kUpdates;
  const int64_t distance = axis.axis_size > 1 ? axis.output_stride : entry.stride[kUpdates];
  if (axis.axis_size == 1 && entry.count < kMany) return;
  if (Magnitude(distance) >= Magnitude(run.stride[operand])) return;
  inner.loop[inner.rank++] = run;
  run = {1, {}};
}

namespace {

// A tile costs more than a few entries do. So if tiles would have only a few entries, the longest
// loop over batches becomes the innermost one, unless the short loops may be walked as one line.
// Sums of [46615, 3, 1] float32 with transposed updates took 0.1 x the time.
void BringLongBatchInward(const IndexedLoop& entry, IndexedNest* batch) {
  constexpr int64_t kFew = 64;
  constexpr int64_t kLonger = 4;
  if (batch->rank < 2) return;
  IndexedLoop* const inner = &batch->loop[batch->rank - 1];
  IndexedLoop* const longest =
      std::max_element(batch->loop, batch->loop + batch->rank,
                       [](const auto& a, const auto& b) { return a.count < b.count; });
  if (entry.count * inner->count >= kFew || longest->count < kLonger * inner->count) return;
  const bool entries_are_closer =
      entry.count > 1 && Magnitude(entry.stride[kIndices]) < Magnitude(inner->stride[kIndices]);
  const IndexedLoop& closest = entries_are_closer ? entry : *inner;
  if (closest.stride[kIndices] == 1 && closest.stride[kUpdates] == 1) return;
  std::swap(*inner, *longest);
}

// True if the entries of a batch are so few that batches side by side make better tiles, whose
// destinations are still near each other. Rows that are contiguous in indices and updates are
// walked as one instead. Sums of [443300, 2] float16 with pitched indices took 0.83 x the time, of
// [1687, 5] with strided ones 0.38 x, moves of [100000, 8] with transposed ones 0.45 x (Zen 4).
bool AreFew(const IndexedLoop& entry, const IndexedLoop& row) {
  constexpr int64_t kNear = 8;
  constexpr int64_t kLong = 64;
  if (row.count < kLong || Magnitude(row.stride[kOutput]) > kNear) return false;
  const bool batches_are_closer =
      Magnitude(row.stride[kIndices]) < Magnitude(entry.stride[kIndices]);
  if (entry.count > (batches_are_closer ? kNear : kNear / 2)) return false;
  const auto lie_together = [&](int operand) {
    return entry.stride[operand] == 1 && row.stride[operand] == entry.count;
  };
  return !lie_together(kIndices) || !lie_together(kUpdates);
}

// True if in indices and updates the entries of a batch lie closer together than batches do. With
// transposed data, moves and sums of int8 to float64 took 0.3 to 0.8 x the time along the entries,
// of 4 to 16 entries 0.6 to 0.9 x; if some batches lie closer together than entries, 1.5 to 2.8 x
// (Zen 4).
bool EntriesLieTogether(const IndexedLoop& entry, const IndexedLoop& row,
                        const IndexedNest& batch) {
  constexpr int64_t kFew = 4;
  if (entry.count < kFew) return false;
  const auto are_closer = [&](const IndexedLoop& loop) {
    const uint64_t update = Magnitude(loop.stride[kUpdates]);  // 0: the same update for all turns
    return Magnitude(entry.stride[kIndices]) < Magnitude(loop.stride[kIndices]) &&
           (update == 0 || Magnitude(entry.stride[kUpdates]) < update);
  };
  return are_closer(row) && std::all_of(batch.loop, batch.loop + batch.rank, are_closer);
}

}  // namespace

void EntryLoops::ChooseRowsAndColumns(BatchOrder order, IndexedNest* entries, IndexedNest* batch) {
  const IndexedLoop entry = entries->PopInnermost();
  if (order == BatchOrder::kAny && EntryUnits() == 1) BringLongBatchInward(entry, batch);
  rows_are_batch = batch->rank > 0;
  columns_are_batch = false;
  column = entry;
  row = rows_are_batch ? batch->PopInnermost() : entries->PopInnermost();
  // Columns get the loop along which writes lie closer together, unless that would spread the
  // reads. If entries are runs, the order does not matter.
  const bool batches_are_closer =
      rows_are_batch && run.count == 1 &&
      Magnitude(row.stride[kOutput]) < Magnitude(component[0].output_stride) &&
      !(order == BatchOrder::kAny && EntriesLieTogether(entry, row, *batch));
  if (rows_are_batch && (entry.count == 1 || batches_are_closer ||
                         (order == BatchOrder::kAny && run.count == 1 && AreFew(entry, row)))) {
    std::swap(rows_are_batch, columns_are_batch);
    std::swap(row, column);
  }
  outer_batch_loops = batch->rank;
  std::copy_n(batch->base, kIndexedOperands, outer.base);
  for (int i = 0; i < batch->rank; ++i) outer.loop[outer.rank++] = batch->loop[i];
  for (int i = 0; i < entries->rank; ++i) outer.loop[outer.rank++] = entries->loop[i];
}

void EntryLoops::MeasureSpans() {
  // Nothing overflows: the sum of the products is at most the byte extent of the output.
  reach = 0;
  for (int c = 0; c < components; ++c) {
    const int64_t last = component[c].axis_size - 1;
    if (last > 0) reach += last * static_cast<int64_t>(Magnitude(component[c].output_stride));
  }
  // Strides of batch loops are positive.
  tile_span =
      reach + (row.count - 1) * row.stride[kOutput] + (column.count - 1) * column.stride[kOutput];
  whole_span = tile_span;
  for (int i = 0; i < outer.rank; ++i) {
    whole_span += (outer.loop[i].count - 1) * outer.loop[i].stride[kOutput];
  }
}

int64_t EntryLoops::DestinationSpan() const {
  int64_t span = reach;
  for (int i = 0; run.count > 1 && i < inner.rank; ++i) {
    const int64_t stride = static_cast<int64_t>(Magnitude(inner.loop[i].stride[kOutput]));
    span += (inner.loop[i].count - 1) * stride;
  }
  return span;
}

void EntryLoops::Restrict(const Cut& cut, int64_t part) {
  assert(!columns_are_batch || !rows_are_batch);
  int next = 0;
  const auto restrict_loop = [&](auto* loop, int64_t* base, int operands) {
    const Turns turns = cut.TurnsOf(part, next++);
    loop->count = turns.count;
    for (int o = 0; o < operands; ++o) base[o] += turns.first * loop->stride[o];
  };
  for (int i = 0; i < outer_batch_loops; ++i) {
    restrict_loop(&outer.loop[i], outer.base, kIndexedOperands);
  }
  if (columns_are_batch) restrict_loop(&column, outer.base, kIndexedOperands);
  if (rows_are_batch) restrict_loop(&row, outer.base, kIndexedOperands);
  for (int i = 0; i < inner.rank; ++i) restrict_loop(&inner.loop[i], inner.base, kIndices);
  restrict_loop(&run, inner.base, kIndices);
}

void EntryLoops::KeepColumns(const Turns& columns) {
  column.count = columns.count;
  for (int o = 0; o < kIndexedOperands; ++o) outer.base[o] += columns.first * column.stride[o];
}

int64_t EntryLoops::DestinationsOfBatch() const {
  int64_t destinations = 1;
  for (int c = 0; c < components; ++c) destinations *= component[c].axis_size;
  return destinations;
}

DestinationNest EntryLoops::NumberDestinations() {
  DestinationNest nest;
  nest.base[kDestination] = std::exchange(outer.base[kOutput], 0);
  struct Strided {
    int64_t count;
    int64_t* stride;
  };
  Strided all[2 * kMaxLoops + 2];
  int rank = 0;
  int64_t numbers = 1;
  // Keeps loops sorted by descending stride, and equal strides in the order of insertion.
  const auto insert = [&](int64_t count, int64_t* stride) {
    int i = rank++;
    for (; i > 0 && Magnitude(*all[i - 1].stride) < Magnitude(*stride); --i) all[i] = all[i - 1];
    all[i] = {count, stride};
    numbers *= count;
  };
  for (int i = 0; i < outer_batch_loops; ++i) {
    insert(outer.loop[i].count, &outer.loop[i].stride[kOutput]);
  }
  if (rows_are_batch) insert(row.count, &row.stride[kOutput]);
  for (int c = 0; c < components; ++c) {
    insert(component[c].axis_size, &component[c].output_stride);
  }
  if (columns_are_batch) insert(column.count, &column.stride[kOutput]);
  // A turn advances by the number of destinations of the loops inside it.
  for (int i = 0; i < rank; ++i) {
    numbers /= all[i].count;
    nest.Append(all[i].count, *all[i].stride, numbers);
    *all[i].stride = numbers;
  }
  nest.Merge();
  MeasureSpans();
  return nest;
}

void EntryLoops::TurnInnerLoopsIntoBatch() {
  assert(run.count == 1 && (rows_are_batch || row.count == 1));
  assert(batch_has_data);
  batch_has_data = inner.rank == 0;
  for (int o = 0; o < kIndices; ++o) outer.base[o] += std::exchange(inner.base[o], 0);
  while (inner.rank > 0) {
    const InnerLoop loop = inner.PopInnermost();
    batches *= loop.count;
    const IndexedLoop batch = {loop.count, {loop.stride[kOutput], loop.stride[kUpdates], 0, 0}};
    if (row.count == 1) {
      row = batch;
      rows_are_batch = true;
      continue;
    }
    std::copy_backward(outer.loop + outer_batch_loops, outer.loop + outer.rank,
                       outer.loop + outer.rank + 1);
    outer.loop[outer_batch_loops++] = batch;
    ++outer.rank;
  }
  MeasureSpans();
}

void EntryLoops::RepeatUpdate(int64_t run_stride) {
  outer.base[kUpdates] = 0;
  inner.base[kUpdates] = 0;
  for (int i = 0; i < outer.rank; ++i) outer.loop[i].stride[kUpdates] = 0;
  for (int i = 0; i < inner.rank; ++i) inner.loop[i].stride[kUpdates] = 0;
  row.stride[kUpdates] = 0;
  column.stride[kUpdates] = 0;
  run.stride[kUpdates] = run_stride;
}

namespace {

// The inverse of an odd number modulo 2^64. Each step doubles the number of correct bits.
uint64_t InverseOf(uint64_t odd) {
  uint64_t inverse = odd;  // 3 bits
  for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - odd * inverse;
  return inverse;
}

}  // namespace

DestinationNumbers::DestinationNumbers(const EntryLoops& loops) {
  for (int c = 0; c < loops.components; ++c) {
    const int64_t last = loops.component[c].axis_size - 1;
    if (last > 0) lowest_ += std::min<int64_t>(last * loops.component[c].output_stride, 0);
  }
  uint64_t step = 0;
  const auto add = [&](int64_t stride) {
    if (step != 1) step = std::gcd(step, Magnitude(stride));
  };
  if (loops.row.count > 1) add(loops.row.stride[kOutput]);
  if (loops.column.count > 1) add(loops.column.stride[kOutput]);
  for (int i = 0; i < loops.outer.rank; ++i) add(loops.outer.loop[i].stride[kOutput]);
  for (int c = 0; c < loops.components; ++c) add(loops.component[c].output_stride);
  if (step == 0) step = 1;
  step_ = static_cast<int64_t>(step);
  shift_ = TrailingZeros(step);
  inverse_ = InverseOf(step >> shift_);
  range_ = loops.whole_span / step_ + 1;
}

}  // namespace strew::plan
