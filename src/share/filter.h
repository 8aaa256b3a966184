// SPDX-License-Identifier: Apache-2.0
// Keeps of all entries those that land in one range of destinations, in order, and writes them. So
// tasks share out entries that may land anywhere: each looks at all of them, which costs little
// beside waiting for the places of those that it keeps.
#ifndef STREW_SHARE_FILTER_H_
#define STREW_SHARE_FILTER_H_

#include <cstdint>

#include "base/call.h"
#include "kernel/kernel.h"
#include "plan/index_space.h"
#include "plan/schedule.h"
#include "walk/entries.h"
#include "walk/scatter.h"

namespace strew::share {

class Filter {
 public:
  Filter(const walk::Scatter& scatter, const plan::MemoryHints& hints,
         const plan::DestinationRange& range);
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  walk::EntrySink sink() { return walk::SinkOf(this, offset_width_, origin_); }

  void Add(const walk::EntryRow& row);
  // At the end: writes what is kept still, and counts what was written.
  void Finish();

 private:
  // A row finds room beside those that are kept already.
  static constexpr int64_t kCapacity = 2 * walk::EntrySink::kMostColumns;
  static constexpr int64_t kRoom = kCapacity + kernel::kSelectMargin;
  static constexpr int64_t kMostWidth = 16;

  void Write(int64_t entries);
  void WriteRows(const kernel::TileArguments& tile) const;
  unsigned char* UpdateAt(int64_t entry) { return updates_ + entry * update_size_; }

  const walk::Scatter& scatter_;
  const kernel::SelectKernel select_;
  const kernel::GatherKernel gather_;  // NULL where entries are more than an element
  const plan::DestinationRange range_;
  const plan::MemoryHints hints_;
  const int64_t prefetch_;
  const kernel::OffsetWidth offset_width_;
  const int64_t offset_size_;
  const int64_t update_size_;
  unsigned char* const origin_;

  int64_t kept_ = 0;
  int64_t written_ = 0;
  alignas(64) unsigned char offsets_[kRoom * sizeof(int64_t)];
  // The updates that are kept or, of more than an element, where they lie: int64_t, in units.
  alignas(64) unsigned char updates_[kRoom * kMostWidth];
  alignas(64) int32_t columns_[walk::EntrySink::kMostColumns + kernel::kSelectMargin];
};

}  // namespace strew::share

#endif  // STREW_SHARE_FILTER_H_
