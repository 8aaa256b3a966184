// SPDX-License-Identifier: Apache-2.0
// Walks over entries row by row, and numbers their destinations.
#ifndef STREW_ACCUMULATE_ENTRY_ROWS_H_
#define STREW_ACCUMULATE_ENTRY_ROWS_H_

#include "accumulate/destination_set.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "walk/entries.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Calls body(row, arguments) for rows of entries; a LocateKernel numbers their destinations with
// `arguments`.
template <class Body>
void ForEachRow(const walk::Scatter& scatter, const plan::DestinationNumbers& numbers,
                const Body& body, walk::EntrySink::Reads reads) {
  struct Rows {
    const plan::DestinationNumbers& numbers;
    const Body& body;
    void Add(const walk::EntryRow& row) {
      body(row, kernel::LocateArguments{row.offsets, row.columns, row.output - numbers.lowest(),
                                        numbers.shift(), numbers.inverse(), nullptr, nullptr});
    }
  };
  Rows rows = {numbers, body};
  walk::GiveEntries(scatter,
                    walk::SinkOf(&rows, scatter.loops.WholeOffsets(), scatter.origin(), reads));
}

// Collects the destinations of all entries. A sorted list of them starts with room for `kept`.
inline DestinationSet CollectDestinations(const walk::Scatter& scatter,
                                          const plan::DestinationNumbers& numbers, int64_t kept) {
  const auto source = [&](const auto& collect) {
    walk::ForEachEntry(
        scatter, [](int64_t) {},
        [&](int64_t destination, int64_t) { collect(numbers.Of(destination)); });
  };
  return DestinationSet(scatter.call, numbers.range(), scatter.loops.Entries(), kept, source);
}

// Numbers the destinations of all entries, which were collected. Returns false if an allocation
// fails.
inline bool RankDestinations(const walk::Scatter& scatter, const plan::DestinationNumbers& numbers,
                             DestinationSet* set) {
  const auto insert = [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
    int32_t bits[walk::EntrySink::kMostColumns];
    set->LocateRow(scatter.index_kernels, scatter.loops.WholeOffsets(), arguments, bits);
    set->InsertRow(bits, row.columns);
  };
  using Reads = walk::EntrySink::Reads;
  if (set->needs_inserting()) ForEachRow(scatter, numbers, insert, Reads::kNothing);
  return set->Number();
}

// Calls body(row, first, numbers) for rows of entries with their values. first + numbers[c] is the
// rank of a destination; a dropped entry has a negative number.
template <class Body>
void ForEachRanked(const walk::Scatter& scatter, const plan::DestinationNumbers& numbers,
                   const DestinationSet& set, const Body& body) {
  // Ranks that do not fit the 32 bits of the numbers of a row are passed one at a time.
  if (set.count() > scatter.tuning.most_short_ranks) {
    const auto fetch = [&](int64_t destination) { set.Fetch(numbers.Of(destination)); };
    const auto take = [&](int64_t destination, int64_t update) {
      constexpr int32_t kFirst = 0;
      const walk::EntryRow row = {nullptr, 1, destination, update, 0, scatter.UpdateAt(update)};
      body(row, set.NumberOf(numbers.Of(destination)), &kFirst);
    };
    return walk::ForEachEntry(scatter, fetch, take);
  }
  const auto give = [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
    int32_t ranks[walk::EntrySink::kMostColumns];
    set.LocateRow(scatter.index_kernels, scatter.loops.WholeOffsets(), arguments, ranks);
    set.NumberRow(scatter.index_kernels, ranks, row.columns);
    body(row, int64_t{0}, static_cast<const int32_t*>(ranks));
  };
  ForEachRow(scatter, numbers, give, walk::EntrySink::Reads::kValues);
}

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_ENTRY_ROWS_H_
