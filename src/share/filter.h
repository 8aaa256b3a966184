// SPDX-License-Identifier: Apache-2.0
// Keeps the entries that land in one range of destinations, in order, and writes them. In this way
// tasks share entries that may land anywhere: each task looks at all entries, which costs little
// compared with waiting for the destinations of those that it keeps.
#ifndef STREW_SHARE_FILTER_H_
#define STREW_SHARE_FILTER_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "walk/entries.h"
#include "walk/scatter.h"

namespace strew::share {

class Filter {
 public:
  Filter(const walk::Scatter& scatter, const plan::MemoryHints& hints,
         const plan::DestinationRange& range);
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  walk::EntrySink sink() {
    using Reads = walk::EntrySink::Reads;
    const Reads reads = gather_ == nullptr ? Reads::kPositions : Reads::kValues;
    return walk::SinkOf(this, offset_width_, origin_, reads);
  }

  void Add(const walk::EntryRow& row);
  // False if Add() will write entries first.
  bool HasRoomFor(int64_t columns) const { return kept_ + columns <= kCapacity; }
  // Writes the entries that are still kept.
  void Flush();
  // Calls Flush(), makes streamed stores visible, and counts all entries that were written.
  void Finish();

 private:
  // Limits: room for a row of entries beside those that wait for their prefetch. Two filters, which
  // exclude_self.cc needs for first updates and all others, fit the stack of a call.
  static constexpr int64_t kMostAhead = 192;
  static constexpr int64_t kCapacity = kMostAhead + walk::EntrySink::kMostColumns;
  static constexpr int64_t kRoom = kCapacity + kernel::kSelectMargin;

  void Keep(const walk::EntryRow& row);
  void Write(int64_t entries);
  void WriteTurns(kernel::TileArguments tile) const;
  void WriteRows(const kernel::TileArguments& tile) const;
  unsigned char* UpdateAt(int64_t entry) { return updates_ + entry * update_size_; }

  const walk::Scatter& scatter_;
  const kernel::SelectKernel select_;
  const kernel::GatherKernel gather_;  // NULL if entries are more than one element
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
  // Kept updates or, if they are more than one element, their positions: int64_t, in units.
  alignas(64) unsigned char updates_[kRoom * plan::kMostWidth];
};

}  // namespace strew::share

#endif  // STREW_SHARE_FILTER_H_
