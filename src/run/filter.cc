// SPDX-License-Identifier: Apache-2.0
#include "run/filter.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "plan/tuning.h"
#include "run/box.h"

namespace strew::run {
namespace {

using plan::kOutput;
using plan::kUpdates;

// Moves the kept ones from `from` on to the front.
void MoveToFront(unsigned char* kept, int64_t from, int64_t count, int64_t size) {
  std::memmove(kept, kept + from * size, static_cast<size_t>(count * size));
}

// Whether rows that other tasks take leave gaps between updates that the CPU does not foresee.
bool LeaveGaps(const plan::IndexSpace& space, int64_t width) {
  return space.run.count * width >= plan::kTuning.least_row_with_gaps;
}

}  // namespace

Filter::Filter(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
               const plan::MemoryHints& hints, const plan::DestinationRange& range)
    : scatter_(scatter),
      space_(space),
      kernels_(IndexedKernelsFor(call, scatter.output, scatter.reduction)),
      run_(hints.streams ? IndexedStreamFor(call, scatter) : kernels_.run),
      select_(kernel::IndexKernelsFor(scatter.indices.dtype, call.settings().simd_target)
                  .select[kernel::OffsetWidthOf(space.whole_span)]),
      gather_(space.run.count == 1 && space.inner.rank == 0
                  ? IndexedMoveKernelsFor(call, scatter.output).gather
                  : nullptr),
      range_(range),
      hints_(hints),
      prefetch_(hints_.prefetch == 0 && LeaveGaps(space, kernels_.element_size)
                    ? plan::RowPrefetch(space.run.count * kernels_.element_size)
                    : hints_.prefetch),
      offset_width_(kernel::OffsetWidthOf(space.whole_span)),
      offset_size_(kernel::OffsetSize(offset_width_)),
      update_size_(gather_ == nullptr ? static_cast<int64_t>(sizeof(int64_t))
                                      : kernels_.element_size),
      origin_(scatter.output.data + space.outer.base[kOutput] * kernels_.element_size) {}

void Filter::Add(const EntryRow& row) {
  assert(row.columns <= EntrySink::kMostColumns);
  if (kept_ + row.columns > kCapacity) Write(kept_ - prefetch_);
  kernel::SelectArguments arguments;
  arguments.offsets = row.offsets;
  arguments.columns = row.columns;
  arguments.first = range_.first - row.output;
  arguments.last = range_.last - row.output;
  arguments.shift = row.output;
  arguments.kept = offsets_ + kept_ * offset_size_;
  arguments.kept_columns = columns_;
  const int64_t count = select_(arguments);
  if (gather_ != nullptr) {
    gather_(UpdateAt(kept_), scatter_.updates.data + row.updates * kernels_.element_size,
            row.updates_stride, columns_, count);
  } else {
    int64_t* const places = reinterpret_cast<int64_t*>(updates_) + kept_;
    for (int64_t i = 0; i < count; ++i) places[i] = row.updates + columns_[i] * row.updates_stride;
  }
  kept_ += count;
}

void Filter::Finish() {
  if (kept_ > 0) Write(kept_);
  if (hints_.streams) kernel::FinishStreaming();
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += written_ * space_.EntryUnits();
}

// Those behind the first `entries` stay, and are fetched meanwhile.
void Filter::Write(int64_t entries) {
  const unsigned char* const updates = gather_ == nullptr ? scatter_.updates.data : updates_;
  kernel::TileArguments tile = kernel::RowTile(origin_, updates, offsets_, entries, prefetch_);
  tile.lookahead = kept_ - entries;
  if (gather_ == nullptr) {
    WriteRows(tile);
  } else {
    kernels_.elements[offset_width_](tile, {});
  }
  kept_ -= entries;
  written_ += entries;
  MoveToFront(offsets_, entries, kept_, offset_size_);
  MoveToFront(updates_, entries, kept_, update_size_);
}

void Filter::WriteRows(const kernel::TileArguments& tile) const {
  kernel::RowsArguments rows;
  rows.tile = tile;
  rows.run = space_.run.count;
  rows.output_run_stride = space_.run.stride[kOutput];
  rows.updates_run_stride = space_.run.stride[kUpdates];
  rows.streams = run_ != kernels_.run;
  rows.updates_offsets = reinterpret_cast<const int64_t*>(updates_);
  plan::ForEachTurn(space_.inner, space_.inner.rank, [&](const int64_t* inner) {
    rows.tile.output = tile.output + inner[kOutput] * kernels_.element_size;
    rows.tile.updates = tile.updates + inner[kUpdates] * kernels_.element_size;
    kernel::WalkRows(run_, kernels_.element_size, offset_width_, rows);
  });
}

}  // namespace strew::run
