// SPDX-License-Identifier: Apache-2.0
#include "run/sieve.h"

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
bool LeaveGaps(const plan::IndexedPlan& plan, int64_t width) {
  return plan.run.count * width >= plan::kTuning.least_row_with_gaps;
}

}  // namespace

Sieve::Sieve(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
             const plan::Pace& pace, const plan::DestinationRange& range)
    : scatter_(scatter),
      plan_(plan),
      kernels_(IndexedKernelsFor(call, scatter.output, scatter.reduction)),
      select_(kernel::IndexKernelsFor(scatter.indices.dtype, call.settings().simd_target)
                  .select[kernel::OffsetWidthOf(plan.whole_span)]),
      gather_(plan.run.count == 1 && plan.inner.rank == 0
                  ? IndexedKernelsFor(call, scatter.output, STREW_NONE).gather
                  : nullptr),
      range_(range),
      pace_(pace),
      prefetch_(pace_.prefetch == 0 && LeaveGaps(plan, kernels_.element_size)
                    ? plan::RowPrefetch(plan.run.count * kernels_.element_size)
                    : pace_.prefetch),
      offset_width_(kernel::OffsetWidthOf(plan.whole_span)),
      offset_size_(kernel::OffsetSize(offset_width_)),
      update_size_(gather_ == nullptr ? static_cast<int64_t>(sizeof(int64_t))
                                      : kernels_.element_size),
      origin_(scatter.output.data + plan.outer.base[kOutput] * kernels_.element_size) {}

void Sieve::Add(const EntryRow& row) {
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

void Sieve::Finish() {
  if (kept_ > 0) Write(kept_);
  if (pace_.streams) kernel::FinishStreaming();
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += written_ * plan_.EntryUnits();
}

// Those behind the first `entries` stay, and are fetched meanwhile.
void Sieve::Write(int64_t entries) {
  const unsigned char* const updates = gather_ == nullptr ? scatter_.updates.data : updates_;
  kernel::SheetArguments sheet = kernel::RowSheet(origin_, updates, offsets_, entries, prefetch_);
  sheet.lookahead = kept_ - entries;
  if (gather_ == nullptr) {
    WriteRows(sheet);
  } else {
    kernels_.elements[offset_width_](sheet);
  }
  kept_ -= entries;
  written_ += entries;
  MoveToFront(offsets_, entries, kept_, offset_size_);
  MoveToFront(updates_, entries, kept_, update_size_);
}

void Sieve::WriteRows(const kernel::SheetArguments& sheet) const {
  kernel::RowsArguments rows;
  rows.sheet = sheet;
  rows.run = plan_.run.count;
  rows.output_run_stride = plan_.run.stride[kOutput];
  rows.updates_run_stride = plan_.run.stride[kUpdates];
  rows.stream = pace_.streams;
  rows.updates_offsets = reinterpret_cast<const int64_t*>(updates_);
  plan::ForEachTurn(plan_.inner, plan_.inner.rank, [&](const int64_t* inner) {
    rows.sheet.output = sheet.output + inner[kOutput] * kernels_.element_size;
    rows.sheet.updates = sheet.updates + inner[kUpdates] * kernels_.element_size;
    kernel::WalkRows(kernels_, offset_width_, rows);
  });
}

}  // namespace strew::run
