// SPDX-License-Identifier: Apache-2.0
// Entries whose destinations are numbered, row by row.
#ifndef STREW_ACCUMULATE_ENTRY_ROWS_H_
#define STREW_ACCUMULATE_ENTRY_ROWS_H_

#include "accumulate/destination_set.h"
#include "base/call.h"
#include "kernel/kernel.h"
#include "plan/index_space.h"
#include "walk/entries.h"
#include "walk/entry_walk.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Calls body(row, arguments) for rows of entries, with what a LocateKernel needs to number their
// destinations.
template <class Body>
void ForEachRow(const Call& call, const walk::IndexedScatter& scatter,
                const plan::IndexSpace& space, const plan::DestinationNumbers& numbers,
                const Body& body) {
  struct Rows {
    const plan::DestinationNumbers& numbers;
    const Body& body;
    void Add(const walk::EntryRow& row) {
      body(row, kernel::LocateArguments{row.offsets, row.columns, row.output - numbers.lowest(),
                                        numbers.shift(), nullptr, nullptr});
    }
  };
  Rows rows = {numbers, body};
  const int64_t base = space.outer.base[plan::kOutput] * scatter.output.element_size;
  walk::GiveSheets(
      call, scatter, space,
      walk::SinkOf(&rows, kernel::OffsetWidthOf(space.whole_span), scatter.output.data + base));
}

// Begins a set and collects the destinations of all entries. False where memory is refused.
inline bool CollectDestinations(const Call& call, const walk::IndexedScatter& scatter,
                                const plan::IndexSpace& space,
                                const plan::DestinationNumbers& numbers, DestinationSet* set) {
  struct Collector {
    const plan::DestinationNumbers& numbers;
    DestinationSet* set;
    bool* refused;
    void Fetch(int64_t) const {}
    void Take(int64_t destination, int64_t) const {
      *refused = *refused || !set->Collect(numbers.Of(destination));
    }
  };
  bool refused = !set->Begin();
  if (!refused && set->needs_collecting()) {
    walk::ForEachEntry(call, scatter, space, Collector{numbers, set, &refused});
  }
  return !refused && set->FinishCollecting();
}

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_ENTRY_ROWS_H_
