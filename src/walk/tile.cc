// SPDX-License-Identifier: Apache-2.0
#include "walk/tile.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "plan/traversal.h"
#include "walk/element_rows.h"

namespace strew::walk {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

using plan::kMostClamped;
static_assert(EntrySink::kMostColumns <= kMostClamped);

// Prefetches indices and updates of entries that are written later. Of several rows only the first
// is prefetched: rows are short, and the hardware prefetches the others. 64 MiB of random sums on
// two threads took 8.4 ms, and 10.5 ms without this.
void Fetch(const kernel::NextReads& next_reads, const unsigned char* updates, int64_t columns,
           int64_t width) {
  if (next_reads.indices == nullptr) return;
  kernel::PrefetchOnce(next_reads.indices, columns * next_reads.index_size);
  kernel::PrefetchOnce(updates + next_reads.updates_distance, columns * width);
}

}  // namespace

// ---- Offsets ----

TileLocator::TileLocator(const Scatter& scatter, kernel::OffsetWidth offset_width, int64_t block,
                         const plan::LaterReads& next_part)
    : scatter_(scatter),
      offset_width_(offset_width),
      block_(scatter.loops.out_of_range == plan::OutOfRange::kNothing
                 ? block
                 : std::min(block, kMostClamped)),
      next_part_(next_part) {}

// Resolves the indices of one component, and clamps those out of range first.
void TileLocator::Resolve(kernel::ResolveArguments arguments) const {
  const kernel::IndexKernels& kernels = scatter_.index_kernels;
  if (scatter_.loops.out_of_range == plan::OutOfRange::kNothing) {
    return kernels.resolve[offset_width_](arguments);
  }
  alignas(64) unsigned char clamped[kMostClamped * sizeof(int64_t)];
  kernels.clamp(arguments.tile, scatter_.wraps, clamped);
  arguments.tile.indices = clamped;
  arguments.tile.row_stride = arguments.tile.columns;
  arguments.tile.column_stride = 1;
  kernels.resolve[offset_width_](arguments);
}

void TileLocator::Locate(const int64_t* offset, const Tile& tile,
                         const TileDestination& destination, void* offsets) const {
  const plan::EntryLoops& loops = scatter_.loops;
  kernel::ResolveArguments arguments;
  arguments.tile.rows = tile.rows;
  arguments.tile.row_stride = loops.row.stride[kIndices];
  arguments.tile.columns = tile.columns + tile.lookahead;
  arguments.tile.column_stride = loops.column.stride[kIndices];
  arguments.batch_row_stride = destination.row_stride;
  arguments.batch_column_stride = destination.column_stride;
  arguments.accumulate = false;
  arguments.offsets = offsets;
  const int64_t first = offset[kIndices] + tile.row * arguments.tile.row_stride +
                        tile.column * arguments.tile.column_stride;
  // An empty tuple names the whole tensor.
  if (loops.components == 0) {
    const int64_t entries = tile.rows * arguments.tile.columns;
    std::memset(offsets, 0, static_cast<size_t>(entries * kernel::OffsetSize(offset_width_)));
  }
  for (int c = 0; c < loops.components; ++c) {
    const plan::Component& component = loops.component[c];
    arguments.tile.indices = scatter_.IndexAt(first + component.indices_base);
    arguments.tile.axis_size = component.axis_size;
    arguments.output_stride =
        destination.is_strip ? destination.axis_stride : component.output_stride;
    Resolve(arguments);
    arguments.accumulate = true;
    arguments.batch_row_stride = 0;
    arguments.batch_column_stride = 0;
  }
  if (loops.out_of_range != plan::OutOfRange::kDrop) return;
  // Entries are dropped last, because a later component must not change the offset of one.
  for (int c = 0; c < loops.components; ++c) {
    const plan::Component& component = loops.component[c];
    arguments.tile.indices = scatter_.IndexAt(first + component.indices_base);
    arguments.tile.axis_size = component.axis_size;
    scatter_.index_kernels.drop[offset_width_](arguments.tile, scatter_.wraps, offsets);
  }
}

void TileLocator::Locate(const FlatTile& tile, void* offsets) const {
  const plan::EntryLoops& loops = scatter_.loops;
  assert(loops.components == 1 && tile.entries <= block_);
  std::memcpy(offsets, tile.pattern,
              static_cast<size_t>(tile.entries * kernel::OffsetSize(offset_width_)));
  const plan::Component& component = loops.component[0];
  kernel::ResolveArguments arguments;
  arguments.tile = {tile.indices, 1, 0, tile.entries, 1, component.axis_size};
  arguments.output_stride = component.output_stride;
  arguments.batch_row_stride = 0;
  arguments.batch_column_stride = 0;
  arguments.accumulate = true;
  arguments.offsets = offsets;
  Resolve(arguments);
  if (loops.out_of_range != plan::OutOfRange::kDrop) return;
  scatter_.index_kernels.drop[offset_width_](arguments.tile, scatter_.wraps, offsets);
}

int64_t TileLocator::UpdateOf(const int64_t* offset, const Tile& tile) const {
  const plan::EntryLoops& loops = scatter_.loops;
  return offset[kUpdates] + tile.row * loops.row.stride[kUpdates] +
         tile.column * loops.column.stride[kUpdates];
}

const unsigned char* TileLocator::IndicesOf(const int64_t* offset, const Tile& tile) const {
  const plan::EntryLoops& loops = scatter_.loops;
  return scatter_.IndexAt(offset[kIndices] + loops.component[0].indices_base +
                          tile.row * loops.row.stride[kIndices] +
                          tile.column * loops.column.stride[kIndices]);
}

// The reads after a tile with contiguous columns of indices and updates.
plan::LaterReads TileLocator::LaterReadsOf(const Tile& tile, int64_t most_ahead) const {
  if (next_part_.indices != 0) return next_part_;
  const plan::EntryLoops& loops = scatter_.loops;
  const int64_t near = scatter_.tuning.near_indices / scatter_.index_size;
  if (scatter_.operands.indices.size <= near) return {0, 0};
  const int64_t indices = tile.next_rows * loops.row.stride[kIndices] + tile.next_columns;
  const int64_t updates = tile.next_rows * loops.row.stride[kUpdates] + tile.next_columns;
  // The next tile may follow right after this one.
  const bool follows = indices == tile.rows * tile.columns && updates == indices;
  return follows ? plan::LaterReads{std::min(indices, most_ahead), std::min(updates, most_ahead)}
                 : plan::LaterReads{indices, updates};
}

kernel::NextReads TileLocator::NextReadsAfter(const int64_t* offset, const Tile& tile,
                                              const TileDestination& destination,
                                              int64_t most_ahead) const {
  const plan::EntryLoops& loops = scatter_.loops;
  const int64_t step = loops.column.stride[kUpdates];
  const bool lie_together = step == 1 || (step == 0 && next_part_.indices != 0);
  if (!lie_together || loops.column.stride[kIndices] != 1 || loops.components != 1) return {};
  const plan::LaterReads later = LaterReadsOf(tile, most_ahead);
  if (later.indices == 0) return {};
  kernel::NextReads next_reads;
  next_reads.indices = IndicesOf(offset, tile) + later.indices * scatter_.index_size;
  next_reads.indices_row_stride = loops.row.stride[kIndices] * scatter_.index_size;
  next_reads.index_size = scatter_.index_size;
  next_reads.updates_distance = later.updates * scatter_.width;
  // If rows are batches, the next rows write to other lines of the output, which are prefetched
  // too.
  const int64_t row_stride = destination.row_stride * scatter_.width;
  const bool has_lines = !loops.columns_are_batch && row_stride != 0 &&
                         loops.component[0].output_stride == 1 &&
                         tile.row + 2 * tile.rows <= loops.row.count &&
                         tile.column + tile.columns <= loops.component[0].axis_size;
  if (has_lines) {
    next_reads.output = destination.memory + tile.rows * row_stride + tile.column * scatter_.width;
    next_reads.output_row_stride = row_stride;
  }
  return next_reads;
}

kernel::NextReads TileLocator::NextReadsAfter(const FlatTile& tile) const {
  const plan::LaterReads of_tile = {tile.has_next ? tile.entries : 0, tile.entries};
  const plan::LaterReads later = next_part_.indices != 0 ? next_part_ : of_tile;
  kernel::NextReads next_reads;
  if (tile.is_packed || later.indices == 0) return next_reads;
  next_reads.index_size = scatter_.index_size;
  next_reads.indices = tile.indices + later.indices * scatter_.index_size;
  next_reads.updates_distance = later.updates * tile.updates_stride * scatter_.width;
  return next_reads;
}

void TileLocator::LocateAhead(const int64_t* offset, const Tile& tile,
                              const TileDestination& destination, void* offsets) const {
  Locate(offset, tile, destination, offsets);
  Fetch(NextReadsAfter(offset, tile, destination, tile.rows * tile.columns),
        scatter_.UpdateAt(UpdateOf(offset, tile)), tile.columns, scatter_.width);
}

// ---- Entries that are written ----

TileWriter::TileWriter(const Scatter& scatter, const plan::MemoryHints& hints)
    : scatter_(scatter),
      hints_(hints),
      locator_(scatter, scatter.loops.TileOffsets(),
               plan::kBlockBytes / kernel::OffsetSize(scatter.loops.TileOffsets()),
               hints.next_part) {}

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

[[gnu::noinline]] void TileWriter::Take(const int64_t* offset, const Tile& tile,
                                        const TileDestination& destination) const {
  assert(tile.rows * (tile.columns + tile.lookahead) <= locator_.block());
  assert(tile.rows == 1 || tile.lookahead == 0);
  alignas(64) unsigned char offsets[kOffsetBytes];
  const plan::EntryLoops& loops = scatter_.loops;
  // Resolving reads the indices of a whole tile at once, so those of the next tile are prefetched.
  const bool takes_indices = TakesIndices(offset, tile);
  const int64_t most_ahead = takes_indices ? scatter_.tuning.read_ahead : tile.rows * tile.columns;
  kernel::NextReads next_reads = locator_.NextReadsAfter(offset, tile, destination, most_ahead);
  const kernel::RunKernel run = scatter_.RunFor(hints_.streams);
  kernel::RowsArguments rows;
  kernel::TileArguments& entries = rows.tile;
  entries.offsets = offsets;
  entries.rows = tile.rows;
  entries.output_row_stride = 0;
  entries.offsets_row_stride = tile.columns;
  entries.updates_row_stride = loops.row.stride[kUpdates];
  entries.columns = tile.columns;
  entries.updates_column_stride = loops.column.stride[kUpdates];
  entries.prefetch = destination.is_strip ? hints_.strip_prefetch : hints_.prefetch;
  entries.lookahead = tile.lookahead;
  rows.run = loops.run.count;
  rows.output_run_stride = loops.run.stride[kOutput];
  rows.updates_run_stride = loops.run.stride[kUpdates];
  rows.streams = run != scatter_.kernels.run;
  rows.moves = scatter_.reduction == STREW_NONE;
  rows.updates_offsets = nullptr;
  rows.read_ahead = hints_.row_read_ahead;
  bool runs = loops.run.count > 1;
  kernel::OffsetWidth offset_width = locator_.offset_width();
  if (takes_indices) {
    offset_width = kernel::OffsetWidthOfSize(scatter_.index_size);
    entries.offsets = locator_.IndicesOf(offset, tile);
    entries.output_row_stride = destination.row_stride;
    entries.offsets_row_stride = loops.row.stride[kIndices];
  } else {
    const bool repeats = RepeatsIndex(tile);
    Tile located = tile;
    if (repeats) located.columns = 1, located.lookahead = 0;
    locator_.Locate(offset, located, destination, offsets);
    if (repeats || HasFoldableRows(tile, destination, offsets)) {
      FoldRows(tile, destination, &rows);
      runs = true;
    }
  }
  const bool copies = takes_indices && hints_.next_part.indices != 0 && tile.rows == 1 &&
                      tile.columns >= kCopies && loops.column.stride[kUpdates] == 0;
  const unsigned char* const updates = scatter_.UpdateAt(locator_.UpdateOf(offset, tile));
  if (loops.run.count > 1 && AreElementRows(scatter_, rows)) {
    return WriteElementRows(scatter_, offset_width, rows, destination.memory, updates);
  }
  int rank = loops.inner.rank;
  if (rank > 0 && !runs && !copies && tile.rows == 1 && entries.prefetch == 0) {
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
    if (runs) return kernel::WalkRows(run, scatter_.width, offset_width, rows);
    if (copies) return WriteCopies(entries, next_reads, offset_width, offsets);
    kernel::WalkElements(scatter_.kernels, offset_width, entries, next_reads);
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
  next_reads.indices_row_stride = kCopies * next_reads.index_size;
  next_reads.output_row_stride = kCopies * scatter_.width;
  kernel::WalkElements(scatter_.kernels, offset_width, entries, next_reads);
  if (rest == 0) return;
  entries.offsets =
      static_cast<const unsigned char*>(entries.offsets) + done * kernel::OffsetSize(offset_width);
  entries.rows = 1;
  entries.columns = rest;
  entries.lookahead -= rest;
  kernel::WalkElements(scatter_.kernels, offset_width, entries);
}

void TileWriter::Take(const FlatTile& tile, const UpdateRows&, unsigned char* output) const {
  alignas(64) unsigned char offsets[kOffsetBytes];
  locator_.Locate(tile, offsets);
  kernel::TileArguments entries =
      kernel::RowTile(output, tile.updates, offsets, tile.entries, hints_.prefetch);
  entries.updates_column_stride = tile.updates_stride;
  kernel::WalkElements(scatter_.kernels, locator_.offset_width(), entries,
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
  const int64_t row_bytes = tile.columns * kernel::OffsetSize(sink_.offset_width);
  const int64_t updates = locator_.UpdateOf(offset, tile);
  EntryRow row;
  row.columns = tile.columns;
  row.output = (destination.memory - sink_.origin) / scatter_.width;
  row.updates_stride = scatter_.loops.column.stride[kUpdates];
  for (int64_t r = 0; r < tile.rows; ++r) {
    row.offsets = offsets + r * row_bytes;
    row.updates = updates + r * scatter_.loops.row.stride[kUpdates];
    row.values = scatter_.UpdateAt(row.updates);
    sink_.add(sink_.self, row);
  }
}

void TileGiver::Take(const FlatTile& tile, const UpdateRows& rows, unsigned char* output) const {
  alignas(64) unsigned char offsets[kOffsetBytes];
  locator_.Locate(tile, offsets);
  Fetch(locator_.NextReadsAfter(tile), tile.updates, tile.entries, scatter_.width);
  const int64_t batch = (output - sink_.origin) / scatter_.width;
  if (reads_values()) {
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
