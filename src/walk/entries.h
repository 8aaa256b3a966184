// SPDX-License-Identifier: Apache-2.0
// Walks through the entries of a task, tile by tile, and writes them or passes them to a sink.
#ifndef STREW_WALK_ENTRIES_H_
#define STREW_WALK_ENTRIES_H_

#include <algorithm>
#include <cstdint>

#include "kernel/kernel.h"
#include "plan/schedule.h"
#include "walk/scatter.h"

namespace strew::walk {

// ---- Sinks: receivers of entries that are sorted, counted or compared, not written at once ----

// A row of entries as offsets in the output.
struct EntryRow {
  const void* offsets;
  int64_t columns;  // EntrySink::kMostColumns at most
  int64_t output;   // origin of the offsets, in units from that of the loops
  int64_t updates;  // position of the first update, in units
  int64_t updates_stride;
  const unsigned char* values;  // the first update itself
};

// Receives the entries of each destination in order. Dropped entries are passed too, with the
// offset that kernel::DropKernel stores.
struct EntrySink {
  static constexpr int64_t kMostColumns = 256;
  enum class Reads { kNothing, kPositions, kValues };  // of updates

  void (*add)(void* self, const EntryRow& row);
  void* self;
  kernel::OffsetWidth offset_width;
  unsigned char* origin;  // of the loops, in the output
  // With kValues, rows have no positions of updates, and `values` may point to copies of them. With
  // kNothing they have neither. Rows are then longer if loops are short.
  Reads reads = Reads::kPositions;
};

// A sink that calls the member function Add of an object.
template <class T>
EntrySink SinkOf(T* object, kernel::OffsetWidth offset_width, unsigned char* origin,
                 EntrySink::Reads reads = EntrySink::Reads::kPositions) {
  return {[](void* self, const EntryRow& row) { static_cast<T*>(self)->Add(row); }, object,
          offset_width, origin, reads};
}

// ---- The walk ----

// Writes all entries. `scratch` has staging.scratch_bytes.
void WriteEntries(const Scatter& scatter, const plan::MemoryHints& hints,
                  const plan::Staging& staging, unsigned char* scratch);

// Passes all entries to a sink instead.
void GiveEntries(const Scatter& scatter, const EntrySink& sink);

// Calls take(destination, update) for each entry that is not dropped, and fetch(destination) some
// entries earlier, perhaps also for a dropped entry. All arguments are in units; destinations count
// from the origin of the loops.
template <class Fetch, class Take>
void ForEachEntry(const Scatter& scatter, const Fetch& fetch, const Take& take);

// ---- Implementation ----

template <class Fetch, class Take>
struct EntryVisitor {
  const Scatter& scatter;
  const Fetch& fetch;
  const Take& take;

  void Add(const EntryRow& row) {
    if (scatter.loops.WholeOffsets() == kernel::kOffset32) return Visit<int32_t>(row);
    Visit<int64_t>(row);
  }

  template <class Offset>
  void Visit(const EntryRow& row) {
    const Offset* offsets = static_cast<const Offset*>(row.offsets);
    const int64_t ahead = scatter.tuning.visit_prefetch;
    for (int64_t c = 0; c < row.columns; ++c) {
      fetch(row.output + offsets[std::min(c + ahead, row.columns - 1)]);
      if (offsets[c] == kernel::kDropped<Offset>) continue;
      take(row.output + offsets[c], row.updates + c * row.updates_stride);
    }
  }
};

template <class Fetch, class Take>
void ForEachEntry(const Scatter& scatter, const Fetch& fetch, const Take& take) {
  EntryVisitor<Fetch, Take> visitor = {scatter, fetch, take};
  GiveEntries(scatter, SinkOf(&visitor, scatter.loops.WholeOffsets(), scatter.origin()));
}

}  // namespace strew::walk

#endif  // STREW_WALK_ENTRIES_H_
