// SPDX-License-Identifier: Apache-2.0
// Writes the entries of tiles, or passes them to a sink.
#include "walk/tile.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

#include "plan/traversal.h"
#include "plan/unit.h"
#include "walk/element_rows.h"
#include "walk/entry_boxes.h"

namespace strew::walk {

using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

static_assert(EntrySink::kMostColumns <= plan::kMostClamped);

namespace {

// An offset of the first row of a tile.
int64_t OffsetAt(const kernel::TileArguments& entries, kernel::OffsetWidth width, int64_t column) {
  if (width == kernel::kOffset64) return static_cast<const int64_t*>(entries.offsets)[column];
  return static_cast<const int32_t*>(entries.offsets)[column];
}

}  // namespace

// ---- Entries that are written ----

TileWriter::TileWriter(const Scatter& scatter, const plan::MemoryHints& hints)
    : scatter_(scatter),
      hints_(hints),
      combines_in_vectors_(hints.combines_in_vectors && scatter.FitsVector()),
      locator_(scatter, scatter.loops.TileOffsets(),
               plan::MostOfTile(scatter.loops, scatter.loops.TileOffsets()), hints.next_part) {}

void TileWriter::Finish() const {
  if (hints_.streams) kernel::FinishStreaming();
}

// True if all columns of a row read the same index, which is then located once.
bool TileWriter::RepeatsIndex(const Tile& tile) const {
  const plan::EntryLoops& loops = scatter_.loops;
  return tile.columns >= scatter_.tuning.least_folded && loops.run.count == 1 &&
         loops.column.stride[kIndices] == 0;
}

// If every row has a single index, the rows are runs: of adjacent batches, or of entries with one
// destination. Then this returns true and keeps one offset for each row.
bool TileWriter::HasFoldableRows(const Tile& tile, const TileDestination& destination,
                                 void* offsets) const {
  if (tile.columns < scatter_.tuning.least_folded || scatter_.loops.run.count != 1) return false;
  const kernel::FoldKernel fold = scatter_.index_kernels.fold[locator_.offset_width()];
  return fold(offsets, tile.rows, tile.columns, destination.column_stride);
}

void TileWriter::FoldRows(const Tile& tile, const TileDestination& destination,
                          kernel::RowsArguments* rows) const {
  const bool fetches = rows->tile.prefetch != 0;
  rows->tile.columns = 1;
  rows->tile.lookahead = 0;
  rows->tile.prefetch =
      fetches ? plan::RowPrefetch(scatter_.tuning, tile.columns * scatter_.width) : 0;
  rows->run = tile.columns;
  rows->output_run_stride = destination.column_stride;
  rows->updates_run_stride = scatter_.loops.column.stride[kUpdates];
}

// True if the indices serve as offsets. Not in rows that begin and end with equal indices: these
// may have a single index, and only rows of offsets are folded.
bool TileWriter::TakesIndices(const int64_t* offset, const Tile& tile) const {
  if (!hints_.indices_are_offsets || (tile.rows > 1 && hints_.prefetch != 0)) return false;
  const unsigned char* const indices = locator_.IndicesOf(offset, tile);
  const size_t size = static_cast<size_t>(scatter_.index_size);
  const unsigned char* const last = indices + (tile.columns - 1) * scatter_.index_size;
  return tile.columns == 1 || std::memcmp(indices, indices + size, size) != 0 ||
         std::memcmp(indices, last, size) != 0;
}

// The entries of a tile but for their offsets, output and updates.
kernel::TileArguments TileWriter::EntriesOf(const Tile& tile,
                                            const TileDestination& destination) const {
  const plan::EntryLoops& loops = scatter_.loops;
  kernel::TileArguments entries;
  entries.rows = tile.rows;
  entries.output_row_stride = 0;
  entries.offsets_row_stride = tile.columns;
  entries.updates_row_stride = loops.row.stride[kUpdates];
  entries.columns = tile.columns;
  entries.updates_column_stride = loops.column.stride[kUpdates];
  entries.prefetch = destination.is_strip ? hints_.strip_prefetch : hints_.prefetch;
  entries.lookahead = tile.lookahead;
  return entries;
}

// Divides a tile whose indices do not serve as offsets after all. What the first half looks ahead
// at lies in the second.
[[gnu::noinline]] void TileWriter::TakeHalves(const int64_t* offset, const Tile& tile,
                                              TileDestination destination) const {
  Tile half = tile;
  (tile.rows > 1 ? half.rows : half.columns) /= 2;
  Take(offset, half, destination);
  if (tile.rows > 1) {
    half.row += half.rows;
    half.rows = tile.rows - half.rows;
    destination.memory += (half.row - tile.row) * destination.row_stride * scatter_.width;
  } else {
    half.column += half.columns;
    half.columns = tile.columns - half.columns;
  }
  Take(offset, half, destination);
}

void TileWriter::Take(const int64_t* offset, const Tile& tile,
                      const TileDestination& destination) const {
  assert(tile.rows == 1 || tile.lookahead == 0);
  if (TakesIndices(offset, tile)) return WriteAtIndices(offset, tile, destination);
  if (tile.rows * (tile.columns + tile.lookahead) > locator_.block()) {
    return TakeHalves(offset, tile, destination);
  }
  WriteAtOffsets(offset, tile, destination);
}

// Resolves the indices of a tile first.
[[gnu::noinline]] void TileWriter::WriteAtOffsets(const int64_t* offset, const Tile& tile,
                                                  const TileDestination& destination) const {
  alignas(64) unsigned char block[kOffsetBytes];
  const bool repeats = RepeatsIndex(tile);
  Tile located = tile;
  if (repeats) located.columns = 1, located.lookahead = 0;
  locator_.Locate(offset, located, destination, block);
  kernel::TileArguments entries = EntriesOf(tile, destination);
  entries.offsets = block;
  const unsigned char* const updates = scatter_.UpdateAt(locator_.UpdateOf(offset, tile));
  const bool folds = repeats || HasFoldableRows(tile, destination, block);
  if (folds || scatter_.loops.run.count > 1) {
    return WriteRows(entries, tile, destination, updates, folds);
  }
  // Resolving reads the indices of a whole tile at once, so those of the next tile are prefetched.
  WriteElements(entries, destination, updates,
                locator_.NextReadsAfter(offset, tile, destination, tile.rows * tile.columns),
                locator_.offset_width());
}

// Writes entries whose indices serve as offsets. Not inline, like the other ways to write a tile,
// so that only one of them is on the stack.
[[gnu::noinline]] void TileWriter::WriteAtIndices(const int64_t* offset, const Tile& tile,
                                                  const TileDestination& destination) const {
  const plan::EntryLoops& loops = scatter_.loops;
  const kernel::OffsetWidth offset_width = kernel::OffsetWidthOfSize(scatter_.index_size);
  kernel::TileArguments entries = EntriesOf(tile, destination);
  entries.offsets = locator_.IndicesOf(offset, tile);
  entries.output_row_stride = destination.row_stride;
  entries.offsets_row_stride = loops.row.stride[kIndices];
  const unsigned char* const updates = scatter_.UpdateAt(locator_.UpdateOf(offset, tile));
  kernel::NextReads next_reads;
  if (!LeavesReadsToCpu(offset_width, &entries)) {
    next_reads = locator_.NextReadsAfter(offset, tile, destination, scatter_.tuning.read_ahead);
  }
  if (combines_in_vectors_ && entries.rows > 1 && entries.output_row_stride != 0) {
    return WriteShortAxis(entries, destination, updates);
  }
  const bool copies = hints_.next_part.indices != 0 && tile.rows == 1 && tile.columns >= kCopies &&
                      loops.column.stride[kUpdates] == 0;
  if (!copies) return WriteElements(entries, destination, updates, next_reads, offset_width);
  alignas(64) unsigned char copied[kCopies * plan::kMostWidth];
  plan::ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
    entries.output = destination.memory + inner[kOutput] * scatter_.width;
    entries.updates = updates + inner[kUpdates] * scatter_.width;
    WriteCopies(entries, next_reads, offset_width, copied);
  });
}

// Rows of several batches, whose axis fits a vector.
void TileWriter::WriteShortAxis(kernel::TileArguments entries, const TileDestination& destination,
                                const unsigned char* updates) const {
  const plan::EntryLoops& loops = scatter_.loops;
  const kernel::ShortAxisKernel combine = scatter_.kernels.short_axis;
  plan::ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
    entries.output = destination.memory + inner[kOutput] * scatter_.width;
    entries.updates = updates + inner[kUpdates] * scatter_.width;
    combine(entries, loops.component[0].axis_size, scatter_.index_size);
  });
}

// Bytes by which the destinations of a tile advance from entry to entry, on average, as far as the
// first of them tell; 0 if they do not ascend. In short rows of the output any order is as good.
int64_t TileWriter::AscendingStep(const kernel::TileArguments& entries,
                                  kernel::OffsetWidth offset_width) const {
  const plan::EntryLoops& loops = scatter_.loops;
  const int64_t row = loops.component[0].axis_size * scatter_.width;
  if (entries.output_row_stride != 0 && row <= scatter_.tuning.unfetched_row) {
    return row / loops.column.count;
  }
  constexpr int64_t kSeen = 16;
  if (entries.columns < kSeen) return 0;
  for (int64_t c = 1; c < kSeen; ++c) {
    if (OffsetAt(entries, offset_width, c) < OffsetAt(entries, offset_width, c - 1)) return 0;
  }
  const int64_t advance =
      OffsetAt(entries, offset_width, kSeen - 1) - OffsetAt(entries, offset_width, 0);
  return advance * scatter_.width / (kSeen - 1);
}

// The CPU itself prefetches what is read for destinations that ascend, and most of these.
bool TileWriter::LeavesReadsToCpu(kernel::OffsetWidth offset_width,
                                  kernel::TileArguments* entries) const {
  if (hints_.unfetched_step == 0 || hints_.next_part.indices != 0) return false;
  const int64_t step = AscendingStep(*entries, offset_width);
  if (step < hints_.unfetched_step) return false;
  const plan::Tuning& tuning = scatter_.tuning;
  const int64_t most = step < tuning.fetched_step ? 0 : tuning.ascending_prefetch;
  entries->prefetch = std::min(entries->prefetch, most);
  return true;
}

// True if the destinations of a row lie close to each other, as far as its first, middle and last
// entries tell.
bool TileWriter::AreDense(const kernel::TileArguments& entries,
                          kernel::OffsetWidth offset_width) const {
  const int64_t near = entries.columns * scatter_.tuning.dense_step / scatter_.width;
  const int64_t middle = OffsetAt(entries, offset_width, entries.columns / 2);
  return std::abs(middle - OffsetAt(entries, offset_width, 0)) <= near &&
         std::abs(OffsetAt(entries, offset_width, entries.columns - 1) - middle) <= near;
}

// Writes entries of one element each.
[[gnu::noinline]] void TileWriter::WriteElements(kernel::TileArguments entries,
                                                 const TileDestination& destination,
                                                 const unsigned char* updates,
                                                 kernel::NextReads next_reads,
                                                 kernel::OffsetWidth offset_width) const {
  const plan::EntryLoops& loops = scatter_.loops;
  if (entries.prefetch != 0 && entries.rows == 1 && AreDense(entries, offset_width)) {
    entries.prefetch = 0;
  }
  int rank = loops.inner.rank;
  if (rank > 0 && entries.rows == 1 && entries.prefetch == 0) {
    // Inner turns become rows that share offsets: 0.2 to 0.6 times the time of one call per turn.
    const plan::InnerLoop& turns = loops.inner.loop[--rank];
    entries.rows = turns.count;
    entries.output_row_stride = turns.stride[kOutput];
    entries.offsets_row_stride = 0;
    entries.updates_row_stride = turns.stride[kUpdates];
    next_reads = {};
  }
  plan::ForEachTurn(loops.inner, rank, [&](const int64_t* inner) {
    entries.output = destination.memory + inner[kOutput] * scatter_.width;
    entries.updates = updates + inner[kUpdates] * scatter_.width;
    kernel::CombineEntries(scatter_.kernels, offset_width, entries, next_reads);
  });
}

// Writes entries that are runs, or rows of the tile that are folded into runs.
[[gnu::noinline]] void TileWriter::WriteRows(const kernel::TileArguments& entries, const Tile& tile,
                                             const TileDestination& destination,
                                             const unsigned char* updates, bool folds) const {
  const plan::EntryLoops& loops = scatter_.loops;
  const kernel::OffsetWidth offset_width = locator_.offset_width();
  const kernel::RunKernel run = scatter_.RunFor(hints_.streams);
  kernel::RowsArguments rows = scatter_.RowsOf(entries, run);
  rows.read_ahead = hints_.row_read_ahead;
  if (folds) FoldRows(tile, destination, &rows);
  if (!folds && plan::EntriesAreBoxes(loops, scatter_.tuning, scatter_.width, hints_.prefetch)) {
    return WriteEntryBoxes(scatter_, offset_width, rows, destination.memory, updates);
  }
  if (!folds && AreElementRows(scatter_, rows)) {
    return WriteElementRows(scatter_, offset_width, rows, destination.memory, updates);
  }
  plan::ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
    rows.tile.output = destination.memory + inner[kOutput] * scatter_.width;
    rows.tile.updates = updates + inner[kUpdates] * scatter_.width;
    kernel::WalkRows(run, scatter_.width, offset_width, rows);
  });
}

// Kernels apply only contiguous updates in groups, with prefetch. So a row in which all entries
// have one update becomes rows that all read the same copies of it. 10 M int32 into 256 bins took
// 0.77 times the time of a plain loop with checks, and 0.89 times without copies. If the indices
// are in the caches, copies cost 5 to 10 % (Zen 4).
void TileWriter::WriteCopies(kernel::TileArguments entries, kernel::NextReads next_reads,
                             kernel::OffsetWidth offset_width, unsigned char* copies) const {
  scatter_.move.combine.run(copies, 1, entries.updates, 0, kCopies);
  const int64_t rest = entries.columns % kCopies;
  const int64_t done = entries.columns - rest;
  entries.updates = copies;
  entries.updates_row_stride = 0;
  entries.updates_column_stride = 1;
  entries.rows = entries.columns / kCopies;
  entries.columns = entries.offsets_row_stride = kCopies;
  entries.output_row_stride = 0;
  entries.lookahead += rest;
  next_reads.updates_distance = 0;
  next_reads.indices_row_stride = kCopies * next_reads.index_size;
  next_reads.output_row_stride = kCopies / next_reads.columns * next_reads.output_step;
  kernel::CombineEntries(scatter_.kernels, offset_width, entries, next_reads);
  if (rest == 0) return;
  entries.offsets =
      static_cast<const unsigned char*>(entries.offsets) + done * kernel::OffsetSize(offset_width);
  entries.rows = 1;
  entries.columns = rest;
  entries.lookahead -= rest;
  kernel::CombineEntries(scatter_.kernels, offset_width, entries, {});
}

void TileWriter::Take(const FlatTile& tile, const UpdateRows&, unsigned char* output) const {
  alignas(64) unsigned char offsets[kOffsetBytes];
  locator_.Locate(tile, offsets);
  kernel::TileArguments entries =
      kernel::RowTile(output, tile.updates, offsets, tile.entries, hints_.prefetch);
  entries.updates_column_stride = tile.updates_stride;
  // Kernels prefetch only within a call, and packed tiles are short: with all their destinations
  // prefetched first, moves of padded rows of 2 took 0.6 to 0.75 times the time (Emerald Rapids).
  if (tile.is_packed && hints_.prefetch != 0) {
    kernel::PrefetchElements(output, scatter_.width, locator_.offset_width(), offsets,
                             tile.entries);
    entries.prefetch = 0;
  }
  kernel::CombineEntries(scatter_.kernels, locator_.offset_width(), entries,
                         locator_.NextReadsAfter(tile));
}

// ---- Entries that go to a sink ----

TileGiver::TileGiver(const Scatter& scatter, const EntrySink& sink)
    : scatter_(scatter),
      sink_(sink),
      locator_(scatter, sink.offset_width, EntrySink::kMostColumns) {}

// Not inline, because sinks need the stack space that the larger blocks of a writer would take.
[[gnu::noinline]] void TileGiver::Take(const int64_t* offset, const Tile& tile,
                                       const TileDestination& destination) const {
  alignas(64) unsigned char offsets[kOffsetBytes];
  locator_.LocateAhead(offset, tile, destination, offsets);
  const plan::EntryLoops& loops = scatter_.loops;
  const int64_t updates = locator_.UpdateOf(offset, tile);
  EntryRow row;
  row.output = (destination.memory - sink_.origin) / scatter_.width;
  row.updates_stride = loops.column.stride[kUpdates];
  // Rows whose updates have one stride are given as one, because sinks take long rows faster.
  const bool are_one = loops.row.stride[kUpdates] == tile.columns * row.updates_stride;
  const int64_t rows = are_one ? 1 : tile.rows;
  row.columns = tile.rows * tile.columns / rows;
  const int64_t row_bytes = row.columns * kernel::OffsetSize(sink_.offset_width);
  for (int64_t r = 0; r < rows; ++r) {
    row.offsets = offsets + r * row_bytes;
    row.updates = updates + r * loops.row.stride[kUpdates];
    row.values = scatter_.UpdateAt(row.updates);
    sink_.add(sink_.self, row);
  }
}

void TileGiver::Take(const FlatTile& tile, const UpdateRows& rows, unsigned char* output) const {
  alignas(64) unsigned char offsets[kOffsetBytes];
  locator_.Locate(tile, offsets);
  locator_.Fetch(locator_.NextReadsAfter(tile), tile.updates, tile.entries);
  const int64_t batch = (output - sink_.origin) / scatter_.width;
  if (sink_.reads != EntrySink::Reads::kPositions) {
    return sink_.add(sink_.self,
                     {offsets, tile.entries, batch, 0, tile.updates_stride, tile.updates});
  }
  const int64_t offset_size = kernel::OffsetSize(sink_.offset_width);
  for (int64_t i = 0; i < tile.entries; i += rows.columns) {
    const int64_t update = rows.first + (rows.position == nullptr ? 0 : rows.position[i]);
    sink_.add(sink_.self, {offsets + i * offset_size, rows.columns, batch, update, rows.stride,
                           scatter_.UpdateAt(update)});
  }
}

}  // namespace strew::walk
