// SPDX-License-Identifier: Apache-2.0
#include "share/partition.h"

#include <algorithm>
#include <cassert>

#include "base/cache_size.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/traversal.h"
#include "share/parts.h"
#include "walk/tile.h"

namespace strew::share {
namespace {

using plan::kUpdates;

// The entries that a task has sorted by the range in which they land, and their updates. Entries of
// one range keep their order.
struct PartitionBuffer {
  int64_t* first;          // position of the first entry of each range, and the end
  unsigned char* offsets;  // of all entries, before they are sorted
  unsigned char* kept;     // offsets, sorted
  unsigned char* updates;  // sorted
};

// The layout of a task's scratch.
class Layout {
 public:
  Layout(const plan::EntryLoops& loops, int64_t width, int64_t ranges)
      : table_((ranges + 1) * static_cast<int64_t>(sizeof(int64_t))),
        offset_size_(kernel::OffsetSize(loops.TileOffsets())) {
    const int64_t entry_bytes = 2 * offset_size_ + width;
    const int64_t fixed = table_ + kMargin * offset_size_;
    const int64_t entries = (loops.column.count - 1) / ranges + 1;
    // Keeps the scratch of all tasks together within the limit that strew.h promises.
    const int64_t affordable =
        plan::MostScratch(ranges) + loops.column.count / ranges * kBytesOfEntry - kCacheLine;
    most_ = std::min((std::min(kMostBytes, affordable) - fixed) / entry_bytes, entries);
    // Rounded up to cache lines, not to pages, so that buffers do not fall into the same cache
    // sets.
    bytes_ = (fixed + most_ * entry_bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  }

  int64_t bytes() const { return bytes_; }
  // Number of entries that fit.
  int64_t most() const { return most_; }

  PartitionBuffer At(unsigned char* scratch) const {
    unsigned char* const offsets = scratch + table_;
    unsigned char* const kept = offsets + most_ * offset_size_;
    return {reinterpret_cast<int64_t*>(scratch), offsets, kept,
            kept + (most_ + kMargin) * offset_size_};
  }

 private:
  static constexpr int64_t kMargin = kernel::kSelectMargin;
  // Limit on scratch: with it 10 million entries on two threads take 30 phases, with 2 MiB 58.
  static constexpr int64_t kMostBytes = int64_t{4} << 20;
  static constexpr int64_t kBytesOfEntry = 16;  // scratch that strew.h allows in addition

  const int64_t table_;
  const int64_t offset_size_;
  int64_t most_;
  int64_t bytes_;
};

class Partition {
 public:
  Partition(const walk::Scatter& scatter, const plan::MemoryHints& hints,
            const plan::Ranges& ranges, unsigned char* scratch)
      : scatter_(scatter),
        width_(scatter.width),
        hints_(hints),
        offset_size_(kernel::OffsetSize(scatter.loops.TileOffsets())),
        locator_(scatter, scatter.loops.TileOffsets(),
                 plan::MostOfTile(scatter.loops, scatter.loops.TileOffsets())),
        select_(scatter.index_kernels.select[locator_.offset_width()]),
        ranges_(ranges),
        layout_(scatter.loops, width_, ranges_.count()),
        scratch_(scratch),
        origin_(scatter.origin()) {}

  // Number of entries that fit the scratch of a task.
  int64_t most() const { return layout_.most(); }

  // Sorts entries [first, first + count) into the buffer of a task.
  void Sort(int64_t task, const plan::Turns& entries) const;
  // Writes the entries that all buffers hold for a task.
  void Write(int64_t task) const;

 private:
  PartitionBuffer BufferOf(int64_t task) const {
    return layout_.At(scratch_ + task * layout_.bytes());
  }
  void Locate(const plan::Turns& entries, unsigned char* offsets) const;
  int64_t Pick(const PartitionBuffer& buffer, const plan::Turns& entries,
               const plan::DestinationRange& range, int64_t picked) const;

  const walk::Scatter& scatter_;
  const int64_t width_;
  const plan::MemoryHints hints_;
  const int64_t offset_size_;
  const walk::TileLocator locator_;
  const kernel::SelectKernel select_;
  const plan::Ranges& ranges_;
  const Layout layout_;
  unsigned char* const scratch_;
  unsigned char* const origin_;
};

void Partition::Locate(const plan::Turns& entries, unsigned char* offsets) const {
  const int64_t end = entries.first + entries.count;
  for (int64_t c = entries.first; c < end; c += locator_.block()) {
    const int64_t count = std::min(locator_.block(), end - c);
    locator_.LocateAhead(scatter_.loops.outer.base, {0, 1, c, count, 0, 0, true},
                         {origin_, 0, 0, false, 0}, offsets + (c - entries.first) * offset_size_);
  }
}

// Appends the entries that land in a range to the `picked` entries before them. Returns the new
// number of picked entries.
int64_t Partition::Pick(const PartitionBuffer& buffer, const plan::Turns& entries,
                        const plan::DestinationRange& range, int64_t picked) const {
  constexpr int64_t kColumns = 1024;
  int32_t columns[kColumns + kernel::kSelectMargin];
  const int64_t stride = scatter_.loops.column.stride[kUpdates];
  const unsigned char* const updates =
      scatter_.UpdateAt(scatter_.loops.outer.base[kUpdates] + entries.first * stride);
  kernel::SelectArguments arguments;
  arguments.first = range.first;
  arguments.last = range.last;
  arguments.shift = 0;
  arguments.kept_columns = columns;
  for (int64_t c = 0; c < entries.count; c += kColumns) {
    arguments.offsets = buffer.offsets + c * offset_size_;
    arguments.columns = std::min(kColumns, entries.count - c);
    arguments.kept = buffer.kept + picked * offset_size_;
    const int64_t count = select_(arguments);
    scatter_.move.gather(buffer.updates + picked * width_, updates + c * stride * width_, stride,
                         columns, count);
    picked += count;
  }
  return picked;
}

void Partition::Sort(int64_t task, const plan::Turns& entries) const {
  const PartitionBuffer buffer = BufferOf(task);
  Locate(entries, buffer.offsets);
  int64_t picked = 0;
  for (int64_t i = 0; i < ranges_.count(); ++i) {
    buffer.first[i] = picked;
    if (!ranges_.At(i).IsEmpty()) picked = Pick(buffer, entries, ranges_.At(i), picked);
  }
  buffer.first[ranges_.count()] = picked;
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += picked;
}

void Partition::Write(int64_t task) const {
  for (int64_t from = 0; from < ranges_.count(); ++from) {
    const PartitionBuffer buffer = BufferOf(from);
    const int64_t first = buffer.first[task];
    const int64_t count = buffer.first[task + 1] - first;
    if (count == 0) continue;
    kernel::CombineEntries(
        scatter_.kernels, locator_.offset_width(),
        kernel::RowTile(origin_, buffer.updates + first * width_,
                        buffer.kept + first * offset_size_, count, hints_.prefetch),
        {});
  }
}

}  // namespace

int64_t PartitionBytes(const plan::EntryLoops& loops, int64_t width, int64_t tasks) {
  return Layout(loops, width, tasks).bytes();
}

Status RunPartition(const walk::Scatter& scatter, const plan::MemoryHints& hints,
                    const plan::Ranges& ranges, unsigned char* scratch) {
  const Partition partition(scatter, hints, ranges, scratch);
  const int64_t tasks = ranges.count();
  const int64_t entries = scatter.loops.column.count;
  assert(entries >= tasks);
  const int64_t rounds = (entries - 1) / (tasks * partition.most()) + 1;
  plan::Cut cut;
  cut.Append(entries, 1, rounds * tasks);
  for (int64_t r = 0; r < rounds; ++r) {
    STREW_TRY(ForEachPart(scatter.call, tasks, tasks, [&](int64_t part, int64_t) {
      partition.Sort(part, cut.TurnsOf(r * tasks + part, 0));
    }));
    STREW_TRY(ForEachPart(scatter.call, tasks, tasks,
                          [&](int64_t part, int64_t) { partition.Write(part); }));
  }
  return STREW_OK;
}

}  // namespace strew::share
