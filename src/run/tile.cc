// SPDX-License-Identifier: Apache-2.0
#include "run/tile.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "plan/tuning.h"
#include "run/box.h"

namespace strew::run {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kTuning;
using plan::kUpdates;

// Clamped indices of a tile, which lie on the stack beside their offsets.
constexpr int64_t kMostClamped = 256;
static_assert(EntrySink::kMostColumns <= kMostClamped);

// Where entries are only filtered: 64 MiB of random sums on two threads 8.4 ms, without
// this 10.5.
// Of several rows the first is fetched: they are short, and the CPU finds the others.
void FetchNextReads(const kernel::NextReads& next_reads, const unsigned char* updates,
                    int64_t columns, int64_t width) {
  if (next_reads.indices == nullptr) return;
  kernel::PrefetchOnce(next_reads.indices, columns * next_reads.index_size);
  kernel::PrefetchOnce(updates + next_reads.updates_distance, columns * width);
}

int64_t BlockFor(const plan::IndexSpace& space, const EntrySink* sink,
                 kernel::OffsetWidth offset_width) {
  if (sink != nullptr) return EntrySink::kMostColumns;
  if (space.out_of_range != plan::OutOfRange::kNothing) return kMostClamped;
  return kBlockBytes / kernel::OffsetSize(offset_width);
}

}  // namespace

TileApplier::TileApplier(const Call& call, const IndexedScatter& scatter,
                         const plan::IndexSpace& space, const plan::MemoryHints& hints,
                         const EntrySink* sink)
    : scatter_(scatter),
      space_(space),
      index_kernels_(kernel::IndexKernelsFor(scatter.indices.dtype, call.settings().simd_target)),
      kernels_(IndexedKernelsFor(call, scatter.output, scatter.reduction)),
      run_(hints.streams ? IndexedStreamFor(call, scatter) : kernels_.run),
      sink_(sink),
      hints_(hints),
      offset_width_(sink == nullptr ? kernel::OffsetWidthOf(space.span) : sink->offset_width),
      width_(kernels_.element_size),
      block_(BlockFor(space, sink, offset_width_)),
      wrap_(call.settings().wrap_negative_indices) {}

void TileApplier::Finish() const {
  if (hints_.streams) kernel::FinishStreaming();
}

void TileApplier::ResolveIndices(kernel::ResolveArguments arguments) const {
  const kernel::ResolveKernel resolve = index_kernels_.resolve[offset_width_];
  if (space_.out_of_range == plan::OutOfRange::kNothing) return resolve(arguments);
  alignas(64) unsigned char clamped[kMostClamped * sizeof(int64_t)];
  index_kernels_.clamp(arguments.tile, wrap_, clamped);
  arguments.tile.indices = clamped;
  arguments.tile.row_stride = arguments.tile.columns;
  arguments.tile.column_stride = 1;
  resolve(arguments);
}

void TileApplier::Resolve(const int64_t* offset, const Tile& tile,
                          const TileDestination& destination, void* offsets) const {
  kernel::ResolveArguments arguments;
  arguments.tile.rows = tile.rows;
  arguments.tile.row_stride = space_.row.stride[kIndices];
  arguments.tile.columns = tile.columns + tile.lookahead;
  arguments.tile.column_stride = space_.column.stride[kIndices];
  arguments.lane_row_stride = destination.row_stride;
  arguments.lane_column_stride = destination.column_stride;
  arguments.accumulate = false;
  arguments.offsets = offsets;
  const int64_t first = offset[kIndices] + tile.row * arguments.tile.row_stride +
                        tile.column * arguments.tile.column_stride;
  // Tuples of no numbers all name the whole tensor.
  if (space_.components == 0) {
    const int64_t entries = tile.rows * arguments.tile.columns;
    std::memset(offsets, 0, static_cast<size_t>(entries * kernel::OffsetSize(offset_width_)));
  }
  for (int c = 0; c < space_.components; ++c) {
    const plan::Component& component = space_.component[c];
    arguments.tile.indices =
        scatter_.indices.data + (first + component.indices_base) * scatter_.indices.element_size;
    arguments.tile.axis_size = component.axis_size;
    arguments.output_stride =
        destination.is_strip ? destination.axis_stride : component.output_stride;
    ResolveIndices(arguments);
    arguments.accumulate = true;
    arguments.lane_row_stride = 0;
    arguments.lane_column_stride = 0;
  }
  if (space_.out_of_range != plan::OutOfRange::kDrop) return;
  // At last, because no later component may move what is dropped.
  for (int c = 0; c < space_.components; ++c) {
    const plan::Component& component = space_.component[c];
    arguments.tile.indices =
        scatter_.indices.data + (first + component.indices_base) * scatter_.indices.element_size;
    arguments.tile.axis_size = component.axis_size;
    index_kernels_.drop[offset_width_](arguments.tile, wrap_, offsets);
  }
}

kernel::NextReads TileApplier::NextReadsAfter(const int64_t* offset, const Tile& tile,
                                              const TileDestination& destination) const {
  const bool lie_together =
      space_.column.stride[kIndices] == 1 && space_.column.stride[kUpdates] == 1;
  if (scatter_.indices.size <= kTuning.near_indices / scatter_.indices.element_size) return {};
  if (!lie_together || space_.components != 1 || (tile.next_rows | tile.next_columns) == 0)
    return {};
  const int64_t index_size = scatter_.indices.element_size;
  const int64_t index = offset[kIndices] + space_.component[0].indices_base +
                        (tile.row + tile.next_rows) * space_.row.stride[kIndices] + tile.column +
                        tile.next_columns;
  const int64_t updates = tile.next_rows * space_.row.stride[kUpdates] + tile.next_columns;
  kernel::NextReads next_reads;
  next_reads.indices = scatter_.indices.data + index * index_size;
  next_reads.indices_row_stride = space_.row.stride[kIndices] * index_size;
  next_reads.index_size = index_size;
  next_reads.updates_distance = updates * width_;
  // The lines on which the next rows write, where those are lanes.
  const int64_t row_stride = destination.row_stride * width_;
  const bool has_lines = !space_.columns_are_lanes && row_stride != 0 &&
                         space_.component[0].output_stride == 1 &&
                         tile.row + 2 * tile.rows <= space_.row.count &&
                         tile.column + tile.columns <= space_.component[0].axis_size;
  if (has_lines) {
    next_reads.output = destination.memory + tile.rows * row_stride + tile.column * width_;
    next_reads.output_row_stride = row_stride;
  }
  return next_reads;
}

// Where each row has one index the tile is one of runs: of lanes, which lie side by side, or of
// entries that all meet one element.
bool TileApplier::FoldRows(const Tile& tile, const TileDestination& destination, void* offsets,
                           kernel::RowsArguments* rows) const {
  if (tile.columns < kTuning.least_folded || space_.run.count != 1) return false;
  const kernel::FoldKernel fold = index_kernels_.fold[offset_width_];
  if (!fold(offsets, tile.rows, tile.columns, destination.column_stride)) return false;
  rows->tile.columns = 1;
  rows->tile.lookahead = 0;
  rows->tile.prefetch = rows->tile.prefetch == 0 ? 0 : plan::RowPrefetch(tile.columns * width_);
  rows->run = tile.columns;
  rows->output_run_stride = destination.column_stride;
  rows->updates_run_stride = space_.column.stride[kUpdates];
  return true;
}

void TileApplier::Locate(const int64_t* offset, const Tile& tile,
                         const TileDestination& destination, unsigned char* offsets) const {
  Resolve(offset, tile, destination, offsets);
  FetchNextReads(NextReadsAfter(offset, tile, destination),
                 scatter_.updates.data + UpdateOf(offset, tile) * width_, tile.columns, width_);
}

// Not inline, because sinks need the stack that larger blocks of offsets take.
[[gnu::noinline]] void TileApplier::GiveTile(const int64_t* offset, const Tile& tile,
                                             const TileDestination& destination) const {
  alignas(64) unsigned char offsets[kGivenBytes];
  Locate(offset, tile, destination, offsets);
  const int64_t row_bytes = tile.columns * kernel::OffsetSize(offset_width_);
  const int64_t updates = UpdateOf(offset, tile);
  EntryRow row;
  row.columns = tile.columns;
  row.output = (destination.memory - sink_->origin) / width_;
  row.updates_stride = space_.column.stride[kUpdates];
  for (int64_t r = 0; r < tile.rows; ++r) {
    row.offsets = offsets + r * row_bytes;
    row.updates = updates + r * space_.row.stride[kUpdates];
    sink_->add(sink_->self, row);
  }
}

int64_t TileApplier::UpdateOf(const int64_t* offset, const Tile& tile) const {
  return offset[kUpdates] + tile.row * space_.row.stride[kUpdates] +
         tile.column * space_.column.stride[kUpdates];
}

void TileApplier::Apply(const int64_t* offset, const Tile& tile,
                        const TileDestination& destination) const {
  return sink_ != nullptr ? GiveTile(offset, tile, destination)
                          : WriteTile(offset, tile, destination);
}

[[gnu::noinline]] void TileApplier::WriteTile(const int64_t* offset, const Tile& tile,
                                              const TileDestination& destination) const {
  assert(tile.rows * (tile.columns + tile.lookahead) <= block_);
  assert(tile.rows == 1 || tile.lookahead == 0);
  alignas(64) unsigned char offsets[kBlockBytes];
  Resolve(offset, tile, destination, offsets);

  kernel::RowsArguments rows;
  kernel::TileArguments& entries = rows.tile;
  entries.offsets = offsets;
  entries.rows = tile.rows;
  entries.updates_row_stride = space_.row.stride[kUpdates];
  entries.columns = tile.columns;
  entries.updates_column_stride = space_.column.stride[kUpdates];
  entries.prefetch = destination.is_strip ? hints_.strip_prefetch : hints_.prefetch;
  entries.lookahead = tile.lookahead;
  const kernel::NextReads next_reads = NextReadsAfter(offset, tile, destination);
  rows.run = space_.run.count;
  rows.output_run_stride = space_.run.stride[kOutput];
  rows.updates_run_stride = space_.run.stride[kUpdates];
  rows.streams = run_ != kernels_.run;
  rows.updates_offsets = nullptr;
  const bool runs = FoldRows(tile, destination, offsets, &rows) || space_.run.count > 1;
  const unsigned char* const updates = scatter_.updates.data + UpdateOf(offset, tile) * width_;
  plan::ForEachTurn(space_.inner, space_.inner.rank, [&](const int64_t* inner) {
    entries.output = destination.memory + inner[kOutput] * width_;
    entries.updates = updates + inner[kUpdates] * width_;
    if (runs) return kernel::WalkRows(run_, width_, offset_width_, rows);
    kernels_.elements[offset_width_](entries, next_reads);
  });
}

void TileApplier::LocateFlat(const FlatTile& tile, unsigned char* offsets) const {
  assert(space_.components == 1 && tile.entries <= block_);
  std::memcpy(offsets, tile.pattern,
              static_cast<size_t>(tile.entries * kernel::OffsetSize(offset_width_)));
  const plan::Component& component = space_.component[0];
  kernel::ResolveArguments arguments;
  arguments.tile = {
      scatter_.indices.data + (tile.index + component.indices_base) * scatter_.indices.element_size,
      1,
      0,
      tile.entries,
      1,
      component.axis_size};
  arguments.output_stride = component.output_stride;
  arguments.lane_row_stride = 0;
  arguments.lane_column_stride = 0;
  arguments.accumulate = true;
  arguments.offsets = offsets;
  ResolveIndices(arguments);
  if (space_.out_of_range == plan::OutOfRange::kDrop) {
    index_kernels_.drop[offset_width_](arguments.tile, wrap_, offsets);
  }
}

kernel::NextReads TileApplier::NextReadsAfter(const FlatTile& tile) const {
  kernel::NextReads next_reads;
  if (!tile.has_next) return next_reads;
  const int64_t index = tile.index + space_.component[0].indices_base + tile.entries;
  next_reads.index_size = scatter_.indices.element_size;
  next_reads.indices = scatter_.indices.data + index * next_reads.index_size;
  next_reads.updates_distance = tile.entries * width_;
  return next_reads;
}

void TileApplier::ApplyFlat(const FlatTile& tile, unsigned char* output) const {
  alignas(64) unsigned char offsets[kBlockBytes];
  LocateFlat(tile, offsets);
  kernels_.elements[offset_width_](
      kernel::RowTile(output, scatter_.updates.data + tile.update * width_, offsets, tile.entries,
                      hints_.prefetch),
      NextReadsAfter(tile));
}

void TileApplier::GiveFlat(const FlatTile& tile, unsigned char* output) const {
  alignas(64) unsigned char offsets[kGivenBytes];
  LocateFlat(tile, offsets);
  FetchNextReads(NextReadsAfter(tile), scatter_.updates.data + tile.update * width_, tile.entries,
                 width_);
  const int64_t lane = (output - sink_->origin) / width_;
  sink_->add(sink_->self, {offsets, tile.entries, lane, tile.update, 1});
}

}  // namespace strew::run
