// SPDX-License-Identifier: Apache-2.0
#include "plan/traversal.h"

#include <algorithm>
#include <utility>

#include "base/cache_size.h"
#include "base/checked.h"
#include "plan/row_loop.h"

namespace strew::plan {
namespace {

// Fewest entries for which a pattern of offsets pays. Tiles of at most `small` entries are small.
int64_t LeastOfPattern(const EntryLoops& loops, const Tuning& tuning, int64_t small) {
  const bool are_small = loops.TileEntries() <= small && loops.outer.Turns() >= tuning.many_tiles;
  return are_small ? tuning.least_of_small_tiles : tuning.least_flat_entries;
}

int64_t LeastFlatEntries(const EntryLoops& loops, const Tuning& tuning) {
  const int64_t least = LeastOfPattern(loops, tuning, tuning.small_tile);
  const bool is_narrow = loops.columns_are_batch && loops.column.count <= tuning.narrow_columns;
  return is_narrow ? std::min(tuning.least_of_narrow_columns, least) : least;
}

bool IsWorthIt(const EntryLoops& loops, const Tuning& tuning) {
  const int64_t narrow = loops.columns_are_batch ? tuning.narrow_batch : tuning.narrow_row;
  const bool small = loops.TileEntries() < tuning.few_turns || loops.column.count < narrow;
  return small && loops.Entries() > LeastFlatEntries(loops, tuning);
}

// All loops over entries, sorted by their strides in indices.
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

// The span of the batches of a block in the output, in units.
int64_t PatternSpan(const FlatLoops& flat, int64_t block) {
  const int64_t slabs = std::min(flat.slab.count, block / flat.period_turns);
  int64_t span = (slabs - 1) * flat.slab.stride[kOutput];
  for (int i = 0; i < flat.period.rank; ++i) {
    span += (flat.period.loop[i].count - 1) * flat.period.loop[i].stride[kOutput];
  }
  return span;
}

// Finds contiguous short loops that are taken as one.
bool FindFlatLoops(const EntryLoops& loops, int64_t block, const Tuning& tuning, FlatLoops* flat) {
  if (!loops.HasOneAxis() || !loops.EntriesAreElements() || loops.batches == 1) return false;
  if (!IsWorthIt(loops, tuning)) return false;
  const IndexedNest nest = InOrderOfIndices(loops);
  const bool is_repeated = nest.rank > 0 && nest.loop[nest.rank - 1].stride[kUpdates] == 0;
  const int64_t update_stride = flat->update_stride = is_repeated ? 0 : 1;
  const auto lies_together = [=](const IndexedLoop& loop, int64_t turns) {
    return loop.stride[kIndices] == turns && loop.stride[kUpdates] == turns * update_stride;
  };
  if (!Flatten(nest, block, lies_together, flat)) return false;
  // Contiguous columns alone would only make tiles of a single row: means of a part of the columns
  // of [4096, 4096] took 1.3 x the time.
  const bool joins_loops = flat->slab.count > 1 || flat->period.rank > 1;
  if (!joins_loops && loops.column.stride[kIndices] == 1) return false;
  // If a tile of rows has more entries than the contiguous loops, it saves more calls: sums of 7194
  // rows of 3 with one row of updates took 0.15 x the time, of 3675 columns of 50 0.64 x (Zen 4).
  const int64_t together = flat->period_turns * flat->slab.count;
  const int64_t tile = std::min(loops.TileEntries(), block);
  if (together < std::min(tile, tuning.few_turns)) return false;
  // Offsets of a block span more than those of a tile, and must still fit 32 bits. If they do not,
  // rows are long anyway.
  return loops.reach + PatternSpan(*flat, block) <= INT32_MAX;
}

// Finds the loops of rows of at most `most` entries whose indices or updates are packed: adds loops
// to the period from the innermost one on, contiguous or not.
bool Pack(const EntryLoops& loops, const Tuning& tuning, int64_t most, FlatLoops* flat) {
  if (!loops.HasOneAxis() || !loops.EntriesAreElements() || loops.batches == 1) return false;
  const int64_t tile = loops.TileEntries();
  if (tile <= tuning.packed_tile_of_short_rows) most = std::max(most, tuning.short_packed_row);
  if (tile > tuning.most_packed_tile && loops.column.count > most) return false;
  if (loops.Entries() <= LeastOfPattern(loops, tuning, tuning.small_packed_tile)) return false;
  const IndexedNest nest = InOrderOfIndices(loops);
  flat->outside.rank = flat->period.rank = 0;
  for (int o = 0; o < kIndexedOperands; ++o) flat->outside.base[o] = nest.base[o];
  flat->period_turns = 1;
  bool indices_lie_together = true, updates_lie_together = true, is_complete = false;
  for (int i = nest.rank - 1; i >= 0; --i) {
    const IndexedLoop& loop = nest.loop[i];
    const bool fits = !is_complete && loop.count <= kMostPacked / 2 / flat->period_turns;
    if (flat->outside.rank == 0) {
      indices_lie_together &= loop.stride[kIndices] == flat->period_turns;
      updates_lie_together &= loop.stride[kUpdates] == flat->period_turns;
      // Loops around the slab would only tear apart what lies together.
      is_complete = !fits && (indices_lie_together || updates_lie_together);
    }
    IndexedNest& chosen = fits ? flat->period : flat->outside;
    std::copy_backward(chosen.loop, chosen.loop + chosen.rank, chosen.loop + chosen.rank + 1);
    chosen.loop[0] = loop;
    ++chosen.rank;
    if (fits) flat->period_turns *= loop.count;
  }
  flat->slab = flat->outside.PopInnermost();
  return loops.reach + PatternSpan(*flat, kMostPacked) <= INT32_MAX;
}

// The bytes over which all turns spread, in the output and in the updates.
double BytesOfTurns(const InnerLoop& turns, int64_t width) {
  const double step = static_cast<double>(Magnitude(turns.stride[kOutput])) +
                      static_cast<double>(Magnitude(turns.stride[kUpdates]));
  return static_cast<double>(turns.count) * static_cast<double>(width) * step;
}

// True if the updates of each turn fill cache lines of their own, at least by half, and operands
// are larger than the caches.
bool FillFarLines(const InnerLoop& turns, int64_t entries, const Machine& machine, int64_t width) {
  const int64_t updates = turns.stride[kUpdates];
  if (!AreLinesApart(updates, width) || Magnitude(updates) > static_cast<uint64_t>(2 * entries)) {
    return false;
  }
  return BytesOfTurns(turns, width) >
         static_cast<double>(machine.cache_bytes) * machine.tuning.far_slice_blocks_part;
}

// True if short runs of slices lie in cache lines of their own, and all of them in more of these
// than the cache has.
bool AreFarSlices(const EntryLoops& loops, const Machine& machine, int64_t width,
                  const InnerLoop& row) {
  const Tuning& tuning = machine.tuning;
  const int64_t entries = loops.TileEntries(), run = loops.run.count;
  if (run > 1 && (run * width > tuning.longest_far_run || entries <= 2)) return false;
  if (!AreLinesApart(row.stride[kOutput], width)) return false;
  if (run == 1 && FillFarLines(row, entries, machine, width)) return true;
  const auto stride = static_cast<double>(Magnitude(row.stride[kOutput]));
  const double touched =
      std::min(stride * static_cast<double>(width), static_cast<double>(entries) * kCacheLine);
  const int64_t rows = loops.EntryUnits() / run;
  return static_cast<double>(rows) * touched >
         static_cast<double>(machine.cache_bytes) * tuning.far_slices_part;
}

int64_t StepInUpdates(const InnerLoop& loop, int64_t width) {
  return static_cast<int64_t>(Magnitude(loop.stride[kUpdates])) * width;
}

// The number of rows whose updates share cache lines, or nearly so.
int64_t RowsTogether(const InnerLoop& row, int64_t width, const Tuning& tuning) {
  const int64_t step = StepInUpdates(row, width);
  return step == 0 ? 1 : std::min(tuning.slice_rows / step, row.count);
}

// True if the updates of rows share cache lines, and those of a run do not.
bool IsTransposed(const SliceLoops& slices, int64_t width) {
  return slices.row.count > 1 && StepInUpdates(slices.row, width) < kCacheLine &&
         StepInUpdates(slices.run, width) >= kCacheLine;
}

// Chooses blocks whose updates stay in the L1 cache, so that their lines are read once. Compared
// with runs as they are or of one turn, 2 to 20 entries of 250 rows of 15 to 200 elements took 0.1
// to 1.0 x the time, with float64 and 200 1.2 x (Zen 5).
void CutTransposed(int64_t width, const Tuning& tuning, SliceLoops* slices) {
  constexpr int64_t kLinesOfTurn = 4;
  const int64_t near = LinesInSets(tuning, StepInUpdates(slices->run, width));
  const int64_t fitting = tuning.slice_block / kCacheLine / kLinesOfTurn;
  const int64_t turns = std::max<int64_t>(std::min(near, fitting), 1);
  slices->run_step = std::min(slices->run.count, turns);
  const int64_t row_bytes = std::max(StepInUpdates(slices->row, width), width);
  slices->row_step = std::max<int64_t>(tuning.slice_block / (slices->run_step * row_bytes), 1);
}

// Makes the rows of strided slices the runs, if the updates of rows lie together and blocks of rows
// stay in the caches. Returns false otherwise.
bool Cross(const Machine& machine, int64_t entries, int64_t width, SliceLoops* slices) {
  if (!IsTransposed(*slices, width)) return false;
  const Tuning& tuning = machine.tuning;
  const InnerLoop& run = slices->row;
  const int64_t streams = slices->run.count * entries;
  const auto step = std::max<int64_t>(static_cast<int64_t>(Magnitude(run.stride[kOutput])), 1);
  const int64_t turn_bytes = step * width;
  const double bytes =
      static_cast<double>(run.count) * static_cast<double>(turn_bytes + streams * width);
  const double near = static_cast<double>(machine.cache_bytes) * tuning.near_crossed_part;
  const bool are_near = bytes <= near;
  const int64_t block = are_near ? tuning.crossed_block : tuning.far_crossed_block;
  const int64_t least = are_near ? tuning.least_crossed_turns : tuning.least_far_crossed_turns;
  const int64_t turns = std::min(run.count, block / turn_bytes);
  if (turns < least || (!are_near && streams < tuning.least_crossed_streams)) return false;
  std::swap(slices->run, slices->row);
  slices->run_step = turns;
  slices->row_step = slices->row.count;
  slices->fetches_next = slices->is_transposed = false;
  return true;
}

// Cuts short rows all of whose entries name the only place of an axis into blocks whose updates
// stay near the CPU. Returns false if such blocks would have few rows. Entry by entry, each row
// waits for the one before: 10 rows of 3 bfloat16 took 0.12 x the time, of float32 0.5 x, 30 to 60
// rows of 3 to 40 elements 0.35 to 1.2 x (Zen 5).
bool CutOfOnePlace(const EntryLoops& loops, int64_t width, const Tuning& tuning,
                   SliceLoops* slices) {
  constexpr int64_t kLeastRows = 8;
  if (loops.components != 1 || loops.component[0].axis_size != 1) return false;
  const int64_t updates = loops.TileEntries() * loops.run.count * width;
  const int64_t rows = 2 * tuning.slice_block / updates;
  if (rows < kLeastRows) return false;
  slices->row_step = std::min(slices->row_step, rows);
  return true;
}

// Finds the loops of few entries that are slices of many inner turns. A block of these turns should
// stay in the caches while all entries write to it.
bool FindSlices(const EntryLoops& loops, const Machine& machine, int64_t width,
                SliceLoops* slices) {
  const Tuning& tuning = machine.tuning;
  const int64_t entries = loops.TileEntries();
  if (entries > std::min(kMostSlices, tuning.few_slices) || loops.components == 0) return false;
  if (loops.EntryUnits() < tuning.least_slice) return false;
  slices->rest = loops.inner;
  slices->run = loops.run.count == 1 ? slices->rest.PopInnermost() : loops.run;
  const int row_loop = RowLoopOf(slices->rest, slices->run.count, tuning);
  slices->row = slices->rest.PopLoop(row_loop, &slices->between);
  const bool is_strided = loops.run.count == 1;
  if (is_strided && Cross(machine, entries, width, slices)) return true;
  // With loops between rows and runs, entries would be walked once for each of their turns. As
  // slices, 8 to 30 of 20,000 rows of 2 x 3 to 5 x 2 elements took 0.2 to 1.0 x the time (Zen 5).
  if (slices->between.rank == 0 &&
      AreFarSlices(loops, machine, width, is_strided ? slices->run : slices->row)) {
    return false;
  }
  // Inner turns may come in any order, so the longer loop becomes the run. With runs of 2, all with
  // one update, two of 4 columns of 129,000 rows took 6 x the time (Zen 4).
  if (is_strided && slices->run.count < std::min(tuning.short_run, slices->row.count)) {
    std::swap(slices->run, slices->row);
  }
  const auto turns_of_block = [&](const InnerLoop& loop, int64_t block) {
    const uint64_t stride =
        std::max(Magnitude(loop.stride[kOutput]), Magnitude(loop.stride[kUpdates]));
    const int64_t bytes = std::max<int64_t>(static_cast<int64_t>(stride) * width, 1);
    return std::max<int64_t>(block / bytes, 1);
  };
  const bool is_contiguous = slices->run.stride[kOutput] == 1 && slices->run.stride[kUpdates] <= 1;
  const int64_t block = is_contiguous ? tuning.slice_run_block : tuning.slice_block;
  slices->run_step = std::min(slices->run.count, turns_of_block(slices->run, block));
  const int64_t run_bytes = std::max(slices->run.count * width, kCacheLine);
  slices->row_step = std::max<int64_t>(tuning.slice_block / run_bytes, 1);
  const int64_t together = is_strided ? RowsTogether(slices->row, width, tuning) : 1;
  if (together > slices->row_step) {
    slices->row_step = together;
    slices->run_step =
        std::min(slices->run.count, std::max(slices->run_step, tuning.least_slice_block));
  }
  slices->is_transposed = !is_strided && IsTransposed(*slices, width);
  if (slices->is_transposed) CutTransposed(width, tuning, slices);
  // The next block must follow in memory.
  slices->fetches_next = is_strided && slices->row.count == 1 && slices->run.stride[kOutput] > 0 &&
                         slices->run.stride[kUpdates] > 0 &&
                         FillFarLines(slices->run, entries, machine, width);
  // Strided runs have the axis between their elements. Two slices pay for shorter blocks than more
  // do.
  const int64_t part = entries > 2 ? 1 : 4;
  if (is_strided) return slices->run_step >= tuning.least_slice_block / part;
  // Slices are walked by WalkBox(), which alone writes a repeated update from a pattern and many
  // short runs at once: 10 to 60 entries of 270 to 50,000 runs of 2 to 8 elements took 0.12 to
  // 0.8 x the time (Zen 5).
  const bool are_many = slices->row.count >= tuning.many_rows;
  const bool repeats = loops.run.stride[kUpdates] == 0;
  if (repeats && (are_many || loops.run.count >= tuning.least_slice)) return true;
  if (slices->is_transposed) return true;
  // Long runs are as fast in the order of memory, unless several entries write to the same run.
  if (run_bytes > tuning.longest_slice_run) {
    return loops.inner.rank == 0 && slices->run_step < slices->run.count && entries > 1;
  }
  return entries <= tuning.few_slice_rows || CutOfOnePlace(loops, width, tuning, slices);
}

Traversal InRowsAndColumns(const EntryLoops& loops, int64_t block) {
  if (loops.columns_are_batch) return Traversal::kBatchColumns;
  return loops.column.count <= block ? Traversal::kShortRows : Traversal::kLongRows;
}

Traversal TraversalOfElements(const EntryLoops& loops, const Tuning& tuning, int64_t block,
                              int64_t most_packed_row, FlatLoops* flat) {
  const bool is_flat = FindFlatLoops(loops, block, tuning, flat);
  if (is_flat && flat->period_turns * flat->slab.count >= tuning.least_flat_tile) {
    return Traversal::kFlat;
  }
  FlatLoops packed;
  if (block >= kMostPacked && Pack(loops, tuning, most_packed_row, &packed)) {
    *flat = packed;
    return Traversal::kPacked;
  }
  return is_flat ? Traversal::kFlat : InRowsAndColumns(loops, block);
}

}  // namespace

Traversal TraversalFor(const EntryLoops& loops, const Machine& machine, int64_t width,
                       int64_t block, const Staging& staging, bool keeps_rows,
                       TraversalLoops* chosen) {
  if (staging.strip != 0) return Traversal::kStrips;
  if (FindSlices(loops, machine, width, &chosen->slices)) return Traversal::kSlices;
  if (keeps_rows) return InRowsAndColumns(loops, block);
  const Tuning& tuning = machine.tuning;
  return TraversalOfElements(loops, tuning, block, tuning.most_packed_row, &chosen->flat);
}

Traversal TraversalOfSink(const EntryLoops& loops, const Tuning& tuning, int64_t block,
                          FlatLoops* flat) {
  return TraversalOfElements(loops, tuning, block, tuning.most_given_row, flat);
}

IndexedNest OuterByStride(const EntryLoops& loops, int operand) {
  IndexedNest nest;
  std::copy_n(loops.outer.base, kIndexedOperands, nest.base);
  for (int i = 0; i < loops.outer.rank; ++i) {
    const IndexedLoop& loop = loops.outer.loop[i];
    if (i < loops.outer_batch_loops) {
      nest.InsertByStride(operand, loop);
    } else {
      nest.loop[nest.rank++] = loop;
    }
  }
  return nest;
}

bool EntriesAreBoxes(const EntryLoops& loops, const Tuning& tuning, int64_t width,
                     int64_t prefetch) {
  if (loops.inner.rank == 0) return false;
  // An update that lies between others is read with them.
  const uint64_t step = Magnitude(loops.column.stride[kUpdates]);
  if (Magnitude(loops.run.stride[kUpdates]) > step) return false;
  for (int i = 0; i < loops.inner.rank; ++i) {
    if (Magnitude(loops.inner.loop[i].stride[kUpdates]) > step) return false;
  }
  // Kernels take many short runs at once.
  const InnerLoop& rows = loops.inner.loop[loops.inner.rank - 1];
  if (loops.run.count <= tuning.short_run && rows.count >= tuning.many_rows) return true;
  const int64_t bytes = loops.EntryUnits() * width;
  const int64_t short_run = prefetch == 0 ? tuning.short_run_of_box : tuning.far_run_of_box;
  return bytes >= (loops.run.count <= short_run ? tuning.least_box_of_runs : tuning.least_box);
}

}  // namespace strew::plan
