// SPDX-License-Identifier: Apache-2.0
// Goes through the entries of an index space one by one, those that are dropped left out.
#ifndef STREW_WALK_ENTRY_WALK_H_
#define STREW_WALK_ENTRY_WALK_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/call.h"
#include "plan/index_space.h"
#include "walk/entry_sink.h"
#include "walk/scatter.h"
#include "walk/entries.h"

namespace strew::walk {

template <class Body>
class EntryWalk {
 public:
  EntryWalk(const plan::IndexSpace& space, Body* body)
      : offset_width_(kernel::OffsetWidthOf(space.whole_span)), body_(body) {}

  EntrySink sink(unsigned char* origin) { return SinkOf(this, offset_width_, origin); }

  void Add(const EntryRow& row) {
    if (offset_width_ == kernel::kOffset32) return Walk<int32_t>(row);
    Walk<int64_t>(row);
  }

 private:
  // Entries ahead that a place is announced.
  static constexpr int64_t kAhead = 16;

  template <class Offset>
  void Walk(const EntryRow& row) {
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

// Calls body.Take(place, update), both in units and the place from where the index space begins,
// for each entry, and body.Fetch(place) some entries before, perhaps also for one that is dropped.
template <class Body>
void ForEachEntry(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
                  Body body) {
  EntryWalk<Body> walk(space, &body);
  const int64_t base = space.outer.base[plan::kOutput] * scatter.output.element_size;
  GiveSheets(call, scatter, space, walk.sink(scatter.output.data + base));
}

}  // namespace strew::walk

#endif  // STREW_WALK_ENTRY_WALK_H_
