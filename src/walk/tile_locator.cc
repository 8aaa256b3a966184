// SPDX-License-Identifier: Apache-2.0
// Turns the indices of tiles into offsets.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "plan/traversal.h"
#include "walk/kernels.h"
#include "walk/tile.h"

namespace strew::walk {

using plan::kIndices;
using plan::kUpdates;

namespace {

double BytesOf(const TensorView& tensor) {
  return static_cast<double>(tensor.size) * static_cast<double>(tensor.element_size);
}

bool FetchesReads(const Scatter& scatter) {
  const double bytes = BytesOf(scatter.operands.indices) + BytesOf(scatter.operands.updates);
  return bytes > static_cast<double>(plan::NearReads(plan::Machine(scatter.call)));
}

// One prefetch for all columns of a cache line: plans of sums of int8 took 0.94 x the time of one
// for 8 columns, moves of 8 and 16 bits 0.9 and 0.94 x (4096 x 4096, Zen 4).
void SpreadPrefetches(int64_t width, kernel::NextReads* next_reads) {
  constexpr int64_t kGroup = kernel::NextReads::kGroup;
  const int64_t output = (next_reads->output_step + kGroup - 1) / kGroup;
  const int64_t column = std::max({width, next_reads->index_size, output});
  while (2 * next_reads->columns * column <= kCacheLine) {
    next_reads->columns *= 2;
    next_reads->output_step *= 2;
  }
}

}  // namespace

TileLocator::TileLocator(const Scatter& scatter, kernel::OffsetWidth offset_width, int64_t block,
                         const plan::LaterReads& next_part)
    : scatter_(scatter),
      offset_width_(offset_width),
      block_(block),
      next_part_(next_part),
      fetches_reads_(FetchesReads(scatter)) {}

void TileLocator::Resolve(const kernel::ResolveArguments& arguments) const {
  ResolveTile(scatter_.index_kernels, offset_width_, scatter_.wraps, scatter_.loops.out_of_range,
              arguments);
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

// The reads after a tile with contiguous columns of indices and updates. Reads further away than
// `most_ahead` would leave the L1 cache before their turn: moves of rows of 6000 int8, in tiles of
// 2048, took 1.16 x the time (Zen 4).
plan::LaterReads TileLocator::LaterReadsOf(const Tile& tile, int64_t most_ahead) const {
  if (next_part_.indices != 0) return next_part_;
  if (!fetches_reads_) return {0, 0};
  const plan::EntryLoops& loops = scatter_.loops;
  const plan::IndexedLoop& row = loops.row;
  const int64_t columns = loops.column.count;
  const bool has_gaps = row.stride[kIndices] != columns || row.stride[kUpdates] != columns;
  if (tile.in_order) {
    const int64_t rows = has_gaps ? 1 : row.count - tile.row;
    const int64_t left = rows * columns - tile.column - tile.rows * tile.columns;
    if (left > 0) return {std::min(left, most_ahead), std::min(left, most_ahead)};
  }
  if (tile.next_rows == 0) return {0, 0};
  const int64_t back = tile.in_order ? tile.column : 0;
  return {tile.next_rows * row.stride[kIndices] - back,
          tile.next_rows * row.stride[kUpdates] - back};
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
  AddNextLines(tile, destination, most_ahead, &next_reads);
  SpreadPrefetches(scatter_.width, &next_reads);
  return next_reads;
}

// If rows are batches, later rows write to other lines of the output, which are prefetched whether
// an entry names them or not. 300 to 100,000 entries for each of many rows of 700 to 200,000
// elements took 0.44 to 0.95 x the time of prefetching one element an entry. With more than 32
// bytes of output an entry, prefetches took 1.02 to 1.2 x the time (Zen 4).
void TileLocator::AddNextLines(const Tile& tile, const TileDestination& destination,
                               int64_t most_ahead, kernel::NextReads* next_reads) const {
  constexpr int64_t kGroup = kernel::NextReads::kGroup;
  const plan::EntryLoops& loops = scatter_.loops;
  const int64_t columns = loops.column.count;
  const int64_t row = loops.component[0].axis_size * scatter_.width;
  const int64_t row_stride = destination.row_stride * scatter_.width;
  if (loops.columns_are_batch || row_stride == 0 || loops.component[0].output_stride != 1) return;
  const int64_t rows = std::clamp<int64_t>(most_ahead / columns, 1, tile.rows);
  if (tile.row + tile.rows + rows > loops.row.count || row < 2 * kCacheLine) return;
  const int64_t step = (row - kCacheLine) * kGroup / columns;
  if (step > 4 * kCacheLine) return;
  next_reads->output = destination.memory + rows * row_stride + tile.column / kGroup * step;
  next_reads->output_row_stride = row_stride;
  next_reads->output_step = step;
}

kernel::NextReads TileLocator::NextReadsAfter(const FlatTile& tile) const {
  const bool fetches = tile.has_next && fetches_reads_;
  const plan::LaterReads of_tile = {fetches ? tile.entries : 0, tile.entries};
  const plan::LaterReads later = next_part_.indices != 0 ? next_part_ : of_tile;
  kernel::NextReads next_reads;
  if (tile.is_packed || later.indices == 0) return next_reads;
  next_reads.index_size = scatter_.index_size;
  next_reads.indices = tile.indices + later.indices * scatter_.index_size;
  next_reads.updates_distance = later.updates * tile.updates_stride * scatter_.width;
  SpreadPrefetches(scatter_.width, &next_reads);
  return next_reads;
}

void TileLocator::LocateAhead(const int64_t* offset, const Tile& tile,
                              const TileDestination& destination, void* offsets) const {
  Locate(offset, tile, destination, offsets);
  Fetch(NextReadsAfter(offset, tile, destination, tile.rows * tile.columns),
        scatter_.UpdateAt(UpdateOf(offset, tile)), tile.columns);
}

// Prefetches only the first of several rows: rows are short, and the hardware prefetches the
// others. 64 MiB of random sums on two threads took 8.4 ms, and 10.5 ms without this.
void TileLocator::Fetch(const kernel::NextReads& next_reads, const unsigned char* updates,
                        int64_t columns) const {
  if (next_reads.indices == nullptr) return;
  kernel::PrefetchOnce(next_reads.indices, columns * next_reads.index_size);
  kernel::PrefetchOnce(updates + next_reads.updates_distance, columns * scatter_.width);
}

}  // namespace strew::walk
