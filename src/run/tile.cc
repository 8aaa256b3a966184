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

// Where entries are only sorted out: sieves of 64 MiB of random sums on two threads 8.4 ms, without
// this 10.5.
// Of several rows the first is fetched: they are short, and the CPU finds the others.
void FetchUpcoming(const kernel::Upcoming& upcoming, const unsigned char* updates, int64_t columns,
                   int64_t width) {
  if (upcoming.indices == nullptr) return;
  kernel::PrefetchOnce(upcoming.indices, columns * upcoming.index_size);
  kernel::PrefetchOnce(updates + upcoming.updates_distance, columns * width);
}

int64_t BlockFor(const plan::IndexedPlan& plan, const EntrySink* sink,
                 kernel::OffsetWidth offset_width) {
  if (sink != nullptr) return EntrySink::kMostColumns;
  if (plan.out_of_range != plan::OutOfRange::kNothing) return kMostClamped;
  return kBlockBytes / kernel::OffsetSize(offset_width);
}

}  // namespace

TileApplier::TileApplier(const Call& call, const IndexedScatter& scatter,
                         const plan::IndexedPlan& plan, const plan::Pace& pace,
                         const EntrySink* sink)
    : scatter_(scatter),
      plan_(plan),
      index_kernels_(kernel::IndexKernelsFor(scatter.indices.dtype, call.settings().simd_target)),
      kernels_(IndexedKernelsFor(call, scatter.output, scatter.reduction)),
      sink_(sink),
      pace_(pace),
      offset_width_(sink == nullptr ? kernel::OffsetWidthOf(plan.span) : sink->offset_width),
      width_(kernels_.element_size),
      block_(BlockFor(plan, sink, offset_width_)),
      wrap_(call.settings().wrap_negative_indices) {}

void TileApplier::Finish() const {
  if (pace_.streams) kernel::FinishStreaming();
}

void TileApplier::ResolveIndices(kernel::ResolveArguments arguments) const {
  const kernel::ResolveKernel resolve = index_kernels_.resolve[offset_width_];
  if (plan_.out_of_range == plan::OutOfRange::kNothing) return resolve(arguments);
  alignas(64) unsigned char clamped[kMostClamped * sizeof(int64_t)];
  index_kernels_.clamp(arguments.sheet, wrap_, clamped);
  arguments.sheet.indices = clamped;
  arguments.sheet.row_stride = arguments.sheet.columns;
  arguments.sheet.column_stride = 1;
  resolve(arguments);
}

void TileApplier::Resolve(const int64_t* offset, const Tile& tile, const Landing& landing,
                          void* offsets) const {
  kernel::ResolveArguments arguments;
  arguments.sheet.rows = tile.rows;
  arguments.sheet.row_stride = plan_.row.stride[kIndices];
  arguments.sheet.columns = tile.columns + tile.lookahead;
  arguments.sheet.column_stride = plan_.column.stride[kIndices];
  arguments.lane_row_stride = landing.row_stride;
  arguments.lane_column_stride = landing.column_stride;
  arguments.accumulate = false;
  arguments.offsets = offsets;
  const int64_t first = offset[kIndices] + tile.row * arguments.sheet.row_stride +
                        tile.column * arguments.sheet.column_stride;
  // Tuples of no numbers all name the whole tensor.
  if (plan_.components == 0) {
    const int64_t entries = tile.rows * arguments.sheet.columns;
    std::memset(offsets, 0, static_cast<size_t>(entries * kernel::OffsetSize(offset_width_)));
  }
  for (int c = 0; c < plan_.components; ++c) {
    const plan::Component& component = plan_.component[c];
    arguments.sheet.indices =
        scatter_.indices.data + (first + component.indices_base) * scatter_.indices.element_size;
    arguments.sheet.axis_size = component.axis_size;
    arguments.output_stride = landing.is_strip ? landing.axis_stride : component.output_stride;
    ResolveIndices(arguments);
    arguments.accumulate = true;
    arguments.lane_row_stride = 0;
    arguments.lane_column_stride = 0;
  }
  if (plan_.out_of_range != plan::OutOfRange::kDrop) return;
  // At last, because no later component may move what is dropped.
  for (int c = 0; c < plan_.components; ++c) {
    const plan::Component& component = plan_.component[c];
    arguments.sheet.indices =
        scatter_.indices.data + (first + component.indices_base) * scatter_.indices.element_size;
    arguments.sheet.axis_size = component.axis_size;
    index_kernels_.drop[offset_width_](arguments.sheet, wrap_, offsets);
  }
}

kernel::Upcoming TileApplier::UpcomingAfter(const int64_t* offset, const Tile& tile,
                                            const Landing& landing) const {
  const bool lie_together =
      plan_.column.stride[kIndices] == 1 && plan_.column.stride[kUpdates] == 1;
  if (scatter_.indices.size <= kTuning.near_indices / scatter_.indices.element_size) return {};
  if (!lie_together || plan_.components != 1 || (tile.next_rows | tile.next_columns) == 0)
    return {};
  const int64_t index_size = scatter_.indices.element_size;
  const int64_t index = offset[kIndices] + plan_.component[0].indices_base +
                        (tile.row + tile.next_rows) * plan_.row.stride[kIndices] + tile.column +
                        tile.next_columns;
  const int64_t updates = tile.next_rows * plan_.row.stride[kUpdates] + tile.next_columns;
  kernel::Upcoming upcoming;
  upcoming.indices = scatter_.indices.data + index * index_size;
  upcoming.indices_row_stride = plan_.row.stride[kIndices] * index_size;
  upcoming.index_size = index_size;
  upcoming.updates_distance = updates * width_;
  // The lines on which the next rows write, where those are lanes.
  const int64_t row_stride = landing.row_stride * width_;
  const bool has_lines = !plan_.columns_are_lanes && row_stride != 0 &&
                         plan_.component[0].output_stride == 1 &&
                         tile.row + 2 * tile.rows <= plan_.row.count &&
                         tile.column + tile.columns <= plan_.component[0].axis_size;
  if (has_lines) {
    upcoming.output = landing.memory + tile.rows * row_stride + tile.column * width_;
    upcoming.output_row_stride = row_stride;
  }
  return upcoming;
}

// Where each row has one index the tile is one of runs: of lanes, which lie side by side, or of
// entries that all meet one element.
bool TileApplier::FoldRows(const Tile& tile, const Landing& landing, void* offsets,
                           kernel::RowsArguments* rows) const {
  if (tile.columns < kTuning.least_folded || plan_.run.count != 1) return false;
  const kernel::FoldKernel fold = index_kernels_.fold[offset_width_];
  if (!fold(offsets, tile.rows, tile.columns, landing.column_stride)) return false;
  rows->sheet.columns = 1;
  rows->sheet.lookahead = 0;
  rows->sheet.prefetch = rows->sheet.prefetch == 0 ? 0 : plan::RowPrefetch(tile.columns * width_);
  rows->run = tile.columns;
  rows->output_run_stride = landing.column_stride;
  rows->updates_run_stride = plan_.column.stride[kUpdates];
  return true;
}

void TileApplier::Locate(const int64_t* offset, const Tile& tile, const Landing& landing,
                         unsigned char* offsets) const {
  Resolve(offset, tile, landing, offsets);
  FetchUpcoming(UpcomingAfter(offset, tile, landing),
                scatter_.updates.data + UpdateOf(offset, tile) * width_, tile.columns, width_);
}

// Not inline, because sinks need the stack that larger blocks of offsets take.
[[gnu::noinline]] void TileApplier::GiveTile(const int64_t* offset, const Tile& tile,
                                             const Landing& landing) const {
  alignas(64) unsigned char offsets[kGivenBytes];
  Locate(offset, tile, landing, offsets);
  const int64_t row_bytes = tile.columns * kernel::OffsetSize(offset_width_);
  const int64_t updates = UpdateOf(offset, tile);
  EntryRow row;
  row.columns = tile.columns;
  row.output = (landing.memory - sink_->origin) / width_;
  row.updates_stride = plan_.column.stride[kUpdates];
  for (int64_t r = 0; r < tile.rows; ++r) {
    row.offsets = offsets + r * row_bytes;
    row.updates = updates + r * plan_.row.stride[kUpdates];
    sink_->add(sink_->self, row);
  }
}

int64_t TileApplier::UpdateOf(const int64_t* offset, const Tile& tile) const {
  return offset[kUpdates] + tile.row * plan_.row.stride[kUpdates] +
         tile.column * plan_.column.stride[kUpdates];
}

void TileApplier::Apply(const int64_t* offset, const Tile& tile, const Landing& landing) const {
  return sink_ != nullptr ? GiveTile(offset, tile, landing) : WriteTile(offset, tile, landing);
}

[[gnu::noinline]] void TileApplier::WriteTile(const int64_t* offset, const Tile& tile,
                                              const Landing& landing) const {
  assert(tile.rows * (tile.columns + tile.lookahead) <= block_);
  assert(tile.rows == 1 || tile.lookahead == 0);
  alignas(64) unsigned char offsets[kBlockBytes];
  Resolve(offset, tile, landing, offsets);

  kernel::RowsArguments rows;
  kernel::SheetArguments& sheet = rows.sheet;
  sheet.offsets = offsets;
  sheet.rows = tile.rows;
  sheet.updates_row_stride = plan_.row.stride[kUpdates];
  sheet.columns = tile.columns;
  sheet.updates_column_stride = plan_.column.stride[kUpdates];
  sheet.prefetch = landing.is_strip ? pace_.strip_prefetch : pace_.prefetch;
  sheet.lookahead = tile.lookahead;
  sheet.upcoming = UpcomingAfter(offset, tile, landing);
  rows.run = plan_.run.count;
  rows.output_run_stride = plan_.run.stride[kOutput];
  rows.updates_run_stride = plan_.run.stride[kUpdates];
  rows.stream = pace_.streams;
  rows.updates_offsets = nullptr;
  const bool runs = FoldRows(tile, landing, offsets, &rows) || plan_.run.count > 1;
  const unsigned char* const updates = scatter_.updates.data + UpdateOf(offset, tile) * width_;
  plan::ForEachTurn(plan_.inner, plan_.inner.rank, [&](const int64_t* inner) {
    sheet.output = landing.memory + inner[kOutput] * width_;
    sheet.updates = updates + inner[kUpdates] * width_;
    if (runs) return kernel::WalkRows(kernels_, offset_width_, rows);
    kernels_.elements[offset_width_](sheet);
  });
}

void TileApplier::LocateFlat(const FlatTile& tile, unsigned char* offsets) const {
  assert(plan_.components == 1 && tile.entries <= block_);
  std::memcpy(offsets, tile.pattern,
              static_cast<size_t>(tile.entries * kernel::OffsetSize(offset_width_)));
  const plan::Component& component = plan_.component[0];
  kernel::ResolveArguments arguments;
  arguments.sheet = {
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
  if (plan_.out_of_range == plan::OutOfRange::kDrop) {
    index_kernels_.drop[offset_width_](arguments.sheet, wrap_, offsets);
  }
}

kernel::Upcoming TileApplier::UpcomingAfter(const FlatTile& tile) const {
  kernel::Upcoming upcoming;
  if (!tile.has_next) return upcoming;
  const int64_t index = tile.index + plan_.component[0].indices_base + tile.entries;
  upcoming.index_size = scatter_.indices.element_size;
  upcoming.indices = scatter_.indices.data + index * upcoming.index_size;
  upcoming.updates_distance = tile.entries * width_;
  return upcoming;
}

void TileApplier::ApplyFlat(const FlatTile& tile, unsigned char* output) const {
  alignas(64) unsigned char offsets[kBlockBytes];
  LocateFlat(tile, offsets);
  kernel::SheetArguments sheet = kernel::RowSheet(
      output, scatter_.updates.data + tile.update * width_, offsets, tile.entries, pace_.prefetch);
  sheet.upcoming = UpcomingAfter(tile);
  kernels_.elements[offset_width_](sheet);
}

void TileApplier::GiveFlat(const FlatTile& tile, unsigned char* output) const {
  alignas(64) unsigned char offsets[kGivenBytes];
  LocateFlat(tile, offsets);
  FetchUpcoming(UpcomingAfter(tile), scatter_.updates.data + tile.update * width_, tile.entries,
                width_);
  const int64_t lane = (output - sink_->origin) / width_;
  sink_->add(sink_->self, {offsets, tile.entries, lane, tile.update, 1});
}

}  // namespace strew::run
