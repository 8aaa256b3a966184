// SPDX-License-Identifier: Apache-2.0
//
// Filters by range against a plain loop: each entry that is kept is written once and in order, the
// others and those that are dropped are not.
#include "share/filter.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "plan/spread.h"
#include "reference/random.h"
#include "support/reference.h"
#include "walk/bound_scatter.h"
#include "walk/entries.h"

namespace strew_test {
namespace {

using strew::plan::DestinationRange;
using strew::plan::IndexSpace;
using strew::plan::kEverywhere;
using strew::plan::MemoryHints;
using strew::share::Filter;
using strew::walk::EntryRow;

void RunFilter(const BoundScatter& bound, const MemoryHints& hints, const DestinationRange& range) {
  Filter filter(bound.scatter(), hints, range);
  strew::walk::GiveEntries(bound.scatter(), filter.sink());
  filter.Finish();
}

// Spaces of single elements and of rows, on one line and on several.
IndexSpace AnyEntries(Random& random) {
  const int64_t entries = random.OneIn(2) ? random.Between(1, 20) : random.Between(1, 1500);
  const int64_t size = random.Between(1, 200);
  switch (random.Between(0, 4)) {
    case 0:
      return ElementsSpace({size}, {entries}, 0);
    case 1:
      return ElementsSpace({5, size}, {5, entries}, 1);
    case 2:
      return ElementsSpace({size, 7}, {entries, 7}, 0);
    case 3:
      return UpdateSpace({size, random.Between(2, 20)}, entries);
    default:
      return NdSpace({size, 9, 3}, entries, 2);
  }
}

MemoryHints AnyHints(Random& random) {
  return {random.Pick(std::vector<int64_t>{0, 1, 128, 255}), 0, random.OneIn(3), false, false};
}

TEST(Filter, WritesWhatLandsInItsRange) {
  const int64_t cases = Cases(400);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const strew_reduction reduction = random.OneIn(2) ? STREW_NONE : STREW_ADD;
    BoundScatter bound(random, AnyEntries(random), reduction, random.OneIn(2) ? 5 : 0);
    // A range tells whole entries apart: by where they begin.
    const int64_t units = bound.loops().EntryUnits();
    const int64_t last = static_cast<int64_t>(bound.output().size()) - 1;
    const int64_t first = random.Between(0, last) / units * units;
    const DestinationRange range = {first, random.Between(first - 1, last) / units * units};
    const auto is_wanted = [&](int64_t destination) {
      const int64_t entry = destination / units * units;
      return entry >= range.first && entry <= range.last;
    };
    if (range.IsEmpty()) continue;
    const BoundScatter::Words expected = bound.Expected(bound.output(), is_wanted);
    RunFilter(bound, AnyHints(random), range);
    EXPECT_EQ(bound.output(), expected);
    if (bound.scatter().applied_units != nullptr) {
      EXPECT_EQ(bound.applied(), bound.CountWanted(is_wanted));
    }
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

TEST(Filter, WritesEverythingByRangesOnce) {
  const int64_t cases = Cases(100);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    BoundScatter bound(random, AnyEntries(random), random.OneIn(2) ? STREW_NONE : STREW_ADD, 7);
    const BoundScatter::Words expected = bound.Expected();
    strew::plan::Spread spread;
    const int64_t last = static_cast<int64_t>(bound.output().size()) - 1;
    for (int64_t s = 0; s < 100; ++s) spread.Add(random.Between(0, last));
    spread.Finish(1, 0);
    const strew::plan::Ranges ranges(spread, random.Between(1, 10));
    for (int64_t r = ranges.count(); r > 0; --r) {
      if (!ranges.At(r - 1).IsEmpty()) RunFilter(bound, AnyHints(random), ranges.At(r - 1));
    }
    EXPECT_EQ(bound.output(), expected);
    EXPECT_EQ(bound.applied(), bound.CountWanted([](int64_t) { return true; }));
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

// Rows of all lengths up to the longest, so that what is kept fills the buffers to the brim.
TEST(Filter, TakesRowsOfAnyLength) {
  constexpr int64_t kMost = strew::walk::EntrySink::kMostColumns;
  Random random(Seed());
  BoundScatter bound(random, ElementsSpace({100}, {10 * kMost}, 0), STREW_ADD);
  for (const int64_t prefetch : {0, 1, 128, 255}) {
    for (int64_t length = 1; length <= kMost; length += length < 8 ? 1 : 31) {
      bound.RestoreOutput();
      BoundScatter::Words expected = bound.output();
      Filter filter(bound.scatter(), {prefetch, 0, false, false, false}, kEverywhere);
      std::vector<int32_t> offsets(kMost);
      for (int64_t first = 0; first + length <= 10 * kMost; first += length) {
        for (int64_t c = 0; c < length; ++c) {
          const auto at = static_cast<size_t>(c);
          const bool is_dropped = random.OneIn(20);
          offsets[at] = is_dropped ? std::numeric_limits<int32_t>::min()
                                   : static_cast<int32_t>(random.Between(-40, 49));
          if (is_dropped) continue;
          uint32_t update;
          std::memcpy(&update, bound.scatter().UpdateAt(first + c), sizeof(update));
          expected[static_cast<size_t>(50 + offsets[at])] += update;
        }
        filter.Add(EntryRow{offsets.data(), length, 50, first, 1, bound.scatter().UpdateAt(first)});
      }
      filter.Finish();
      ASSERT_EQ(bound.output(), expected) << length << " columns, prefetch " << prefetch;
    }
  }
}

}  // namespace
}  // namespace strew_test
