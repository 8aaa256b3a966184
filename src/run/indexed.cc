// SPDX-License-Identifier: Apache-2.0
#include "run/indexed.h"

#include <algorithm>
#include <cstring>

#include "kernel/kernel.h"
#include "plan/unit.h"
#include "run/box.h"
#include "run/index_check.h"

namespace strew::run {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

// Offsets of a block stay in the L1 cache between their making and their use.
constexpr int64_t kBlockBytes = 8192;
// Where lanes are columns, a strip of so many keeps the lines of a whole axis near.
constexpr int64_t kStrip = 128;
// Entries ahead, of single elements and of rows.
constexpr int64_t kElementPrefetch = 128;
constexpr int64_t kRowPrefetch = 4;
// Outputs that the L2 cache holds anyway need no prefetch.
constexpr int64_t kPrefetchedBytes = 512 << 10;

// A part of a sheet: rows [row, row + rows) of columns [column, column + columns).
struct Tile {
  int64_t row;
  int64_t rows;
  int64_t column;
  int64_t columns;
};

class Applier {
 public:
  Applier(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan);
  void Apply() const;

 private:
  void ApplySheet(const int64_t* offset) const;
  void ApplyTile(const int64_t* offset, const Tile& tile, int64_t lookahead) const;
  void Resolve(const int64_t* offset, const Tile& tile, void* offsets) const;

  const IndexedScatter& scatter_;
  const plan::IndexedPlan& plan_;
  int64_t width_;
  int64_t block_;  // entries of which the offsets fit a block
  int64_t prefetch_;
  kernel::OffsetWidth offset_width_;
  kernel::ResolveKernel resolve_;
  kernel::ScatterKernel scatter_kernel_;
};

Applier::Applier(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan)
    : scatter_(scatter), plan_(plan), width_(plan::UnitsOf(scatter.output.element_size).width) {
  offset_width_ = plan.offsets_fit_32 ? kernel::kOffset32 : kernel::kOffset64;
  block_ =
      kBlockBytes / static_cast<int64_t>(plan.offsets_fit_32 ? sizeof(int32_t) : sizeof(int64_t));
  const int32_t target = call.settings().simd_target;
  resolve_ = kernel::IndexKernelsFor(scatter.indices.dtype, target).resolve[offset_width_];
  const kernel::Walks& walks = WalksFor(call, scatter.output, scatter.reduction);
  const bool single = plan.run.count == 1;
  scatter_kernel_ = (single ? walks.elements : walks.rows)[offset_width_];
  const bool far = scatter.output.highest - scatter.output.lowest > kPrefetchedBytes;
  prefetch_ = !far || plan.columns_are_lanes ? 0 : single ? kElementPrefetch : kRowPrefetch;
}

void Applier::Apply() const {
  plan::ForEachTurn(plan_.outer, plan_.outer.rank,
                    [this](const int64_t* offset) { ApplySheet(offset); });
}

void Applier::ApplySheet(const int64_t* offset) const {
  const int64_t rows = plan_.row.count;
  const int64_t columns = plan_.column.count;
  if (plan_.columns_are_lanes || columns <= block_) {
    const int64_t strip = plan_.columns_are_lanes ? std::min(columns, kStrip) : columns;
    for (int64_t c = 0; c < columns; c += strip) {
      const int64_t width = std::min(strip, columns - c);
      const int64_t height = block_ / width;
      for (int64_t r = 0; r < rows; r += height) {
        ApplyTile(offset, {r, std::min(height, rows - r), c, width}, 0);
      }
    }
    return;
  }
  const int64_t step = block_ - prefetch_;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; c += step) {
      const int64_t left = columns - c;
      ApplyTile(offset, {r, 1, c, std::min(left, step)},
                std::min(prefetch_, std::max<int64_t>(left - step, 0)));
    }
  }
}

void Applier::Resolve(const int64_t* offset, const Tile& tile, void* offsets) const {
  if (plan_.components == 0) {
    std::memset(offsets, 0, kBlockBytes);
    return;
  }
  kernel::ResolveArguments arguments;
  arguments.sheet.rows = tile.rows;
  arguments.sheet.row_stride = plan_.row.stride[kIndices];
  arguments.sheet.columns = tile.columns;
  arguments.sheet.column_stride = plan_.column.stride[kIndices];
  arguments.offsets = offsets;
  const int64_t first = offset[kIndices] + tile.row * arguments.sheet.row_stride +
                        tile.column * arguments.sheet.column_stride;
  for (int c = 0; c < plan_.components; ++c) {
    const plan::Component& component = plan_.component[c];
    arguments.sheet.indices =
        scatter_.indices.data + (first + component.indices_base) * scatter_.indices.element_size;
    arguments.sheet.axis_size = component.axis_size;
    arguments.output_stride = component.output_stride;
    arguments.accumulate = c != 0;
    arguments.lane_row_stride = c == 0 ? plan_.row.stride[kOutput] : 0;
    arguments.lane_column_stride = c == 0 ? plan_.column.stride[kOutput] : 0;
    resolve_(arguments);
  }
}

void Applier::ApplyTile(const int64_t* offset, const Tile& tile, int64_t lookahead) const {
  alignas(64) unsigned char offsets[kBlockBytes];
  Tile resolved = tile;
  resolved.columns += lookahead;
  Resolve(offset, resolved, offsets);

  kernel::ScatterArguments sheet;
  sheet.offsets = offsets;
  sheet.rows = tile.rows;
  sheet.updates_row_stride = plan_.row.stride[kUpdates];
  sheet.columns = tile.columns;
  sheet.updates_column_stride = plan_.column.stride[kUpdates];
  sheet.run = plan_.run.count;
  sheet.output_run_stride = plan_.run.stride[kOutput];
  sheet.updates_run_stride = plan_.run.stride[kUpdates];
  sheet.prefetch = prefetch_;
  sheet.lookahead = lookahead;
  // Offsets have the lanes in them already.
  const int64_t output = offset[kOutput] + tile.row * plan_.row.stride[kOutput] +
                         tile.column * plan_.column.stride[kOutput];
  const int64_t updates = offset[kUpdates] + tile.row * sheet.updates_row_stride +
                          tile.column * sheet.updates_column_stride;
  plan::ForEachTurn(plan_.inner, plan_.inner.rank, [&](const int64_t* inner) {
    sheet.output = scatter_.output.data + (output + inner[kOutput]) * width_;
    sheet.updates = scatter_.updates.data + (updates + inner[kUpdates]) * width_;
    scatter_kernel_(sheet);
  });
}

}  // namespace

Status Run(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan) {
  if (scatter.indices.size != 0) STREW_TRY(CheckIndices(call, scatter.indices, *plan));
  const bool in_place = SameElements(scatter.data, scatter.output);
  if (!in_place && scatter.data.size != 0) Copy(call, scatter.data, scatter.output);
  if (scatter.updates.size != 0) {
    plan->Arrange();
    Applier(call, scatter, *plan).Apply();
  }
  return call.Succeed(scatter.updates.size);
}

}  // namespace strew::run
