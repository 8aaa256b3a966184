// SPDX-License-Identifier: Apache-2.0
// The walk of one task through its entries, tile by tile.
#ifndef STREW_WALK_ENTRIES_H_
#define STREW_WALK_ENTRIES_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernel/kernel.h"
#include "plan/schedule.h"
#include "walk/scatter.h"

namespace strew::walk {

// ---- Where entries go that are not written at once: to whoever sorts, counts or compares them ----

// A row of entries that have offsets.
struct EntryRow {
  const void* offsets;
  int64_t columns;  // EntrySink::kMostColumns at most
  int64_t output;   // from where offsets count, in units from where the loops begin
  int64_t updates;  // where the update of the first lies, in units
  int64_t updates_stride;
};

// Entries of one destination come in order. Those that are dropped come too: see kernel.h.
struct EntrySink {
  static constexpr int64_t kMostColumns = 256;

  void (*add)(void* self, const EntryRow& row);
  void* self;
  kernel::OffsetWidth offset_width;
  unsigned char* origin;  // where the loops begin in the output
};

// The sink that is the member function Add of an object.
template <class T>
EntrySink SinkOf(T* object, kernel::OffsetWidth offset_width, unsigned char* origin) {
  return {[](void* self, const EntryRow& row) { static_cast<T*>(self)->Add(row); }, object,
          offset_width, origin};
}

// ---- The walk ----

// Writes all entries. `scratch` has what the staging asks for.
void WriteEntries(const Scatter& scatter, const plan::MemoryHints& hints,
                  const plan::Staging& staging, unsigned char* scratch);

// Gives them to a sink instead.
void GiveEntries(const Scatter& scatter, const EntrySink& sink);

// Calls body->Take(destination, update), both in units and the destination from where the loops
// begin, for each entry that is not dropped, and body->Fetch(destination) some entries before,
// perhaps also for one that is dropped.
template <class Body>
void ForEachEntry(const Scatter& scatter, Body body);

// ---- Implementation ----

template <class Body>
class EntryVisitor {
 public:
  EntryVisitor(const Scatter& scatter, Body* body)
      : offset_width_(scatter.loops.WholeOffsets()), body_(body) {}

  EntrySink sink(unsigned char* origin) { return SinkOf(this, offset_width_, origin); }

  void Add(const EntryRow& row) {
    if (offset_width_ == kernel::kOffset32) return Visit<int32_t>(row);
    Visit<int64_t>(row);
  }

 private:
  // Entries ahead that a destination is announced.
  static constexpr int64_t kAhead = 16;

  template <class Offset>
  void Visit(const EntryRow& row) {
    constexpr Offset kDropped = std::numeric_limits<Offset>::min();
    const Offset* offsets = static_cast<const Offset*>(row.offsets);
    for (int64_t c = 0; c < row.columns; ++c) {
      body_->Fetch(row.output + offsets[std::min(c + kAhead, row.columns - 1)]);
      if (offsets[c] == kDropped) continue;
      body_->Take(row.output + offsets[c], row.updates + c * row.updates_stride);
    }
  }

  const kernel::OffsetWidth offset_width_;
  Body* const body_;
};

template <class Body>
void ForEachEntry(const Scatter& scatter, Body body) {
  EntryVisitor<Body> visitor(scatter, &body);
  GiveEntries(scatter, visitor.sink(scatter.origin()));
}

}  // namespace strew::walk

#endif  // STREW_WALK_ENTRIES_H_
