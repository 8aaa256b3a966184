// SPDX-License-Identifier: Apache-2.0
//
// Arranged loops: the accesses of their index space, each once and the entries of a destination in
// order; and how the loops are chosen.
#include "plan/entry_loops.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "plan/cut.h"
#include "plan/spaces.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::kernel::kOffset32;
using strew::kernel::kOffset64;
using strew::plan::BatchOrder;
using strew::plan::Cut;
using strew::plan::DestinationNumbers;
using strew::plan::EntryLoops;
using strew::plan::Findings;
using strew::plan::IndexSpace;
using strew::plan::kData;
using strew::plan::kIndices;
using strew::plan::kOutput;
using strew::plan::kUpdates;
using strew::plan::OutOfRange;

const Findings kFine;
const Findings kConstant = {OutOfRange::kNothing, true};

template <class Check>
void ForAnySpace(Check check) {
  const int64_t cases = Cases(2000);
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = Seed() + static_cast<uint64_t>(i);
    Random random(seed);
    const IndexSpace space = AnySpace(random);
    check(random, space);
    ASSERT_FALSE(testing::Test::HasFailure()) << "STREW_SEED=" << seed << " STREW_CASES=1";
  }
}

// ---- What they mean ----------------------------------------------------------------------------

TEST(EntryLoops, GoThroughEveryAccessInOrder) {
  ForAnySpace([](Random&, const IndexSpace& space) {
    const EntryLoops loops(space, kFine);
    EXPECT_EQ(AccessesOf(loops), AccessesOf(space));
  });
}

TEST(EntryLoops, CountEntriesAndUnits) {
  ForAnySpace([](Random&, const IndexSpace& space) {
    const EntryLoops loops(space, kFine);
    int64_t accesses = 0;
    for (const auto& [output, list] : AccessesOf(space)) {
      accesses += static_cast<int64_t>(list.size());
    }
    EXPECT_EQ(loops.Entries() * loops.EntryUnits(), accesses);
    EXPECT_EQ(loops.EntriesAreElements(), loops.EntryUnits() == 1);
  });
}

// Indices that are constant along minor batches: those become inner turns of one entry.
TEST(EntryLoops, TakeConstantBatchesAsInnerTurns) {
  const IndexSpace space = ElementsSpace({6, 4, 8}, {6, 3, 8}, 1);
  const EntryLoops loops(space, kConstant);
  EXPECT_EQ(loops.run.count, 8);
  EXPECT_EQ(loops.batches, 6);
  EXPECT_EQ(loops.Entries(), 6 * 3);
  EXPECT_EQ(AccessesOf(loops).size(), AccessesOf(space).size());
  EXPECT_EQ(EntryLoops(space, kFine).run.count, 1);
}

// Updates that lie the other way round than the batches: tiles of 3 x 2 entries would be small.
TEST(EntryLoops, HaveTheLongestBatchInRowsOfFewEntries) {
  IndexSpace space = ElementsSpace({1000, 3, 4}, {1000, 3, 2}, 2);
  EXPECT_EQ(EntryLoops(space, kFine).row.count, 3000);
  space.batch.loop[0].stride[kUpdates] = 1;
  space.batch.loop[1].stride[kUpdates] = 1000;
  space.entries.loop[0].stride[kUpdates] = 3000;
  const EntryLoops loops(space, kFine);
  EXPECT_EQ(loops.row.count, 1000);
  EXPECT_EQ(loops.column.count, 2);
  EXPECT_EQ(AccessesOf(loops), AccessesOf(space));
  EXPECT_EQ(EntryLoops(space, kFine, BatchOrder::kOfData).row.count, 3);
}

TEST(EntryLoops, TakeBatchesAsColumnsWhereEachHasFewEntries) {
  IndexSpace space = ElementsSpace({1000, 8}, {1000, 4}, 1);
  EXPECT_FALSE(EntryLoops(space, kFine).columns_are_batch) << "they lie together";
  space.batch.loop[0].stride[kUpdates] = 6;
  const EntryLoops loops(space, kFine);
  EXPECT_TRUE(loops.columns_are_batch);
  EXPECT_EQ(AccessesOf(loops), AccessesOf(space));
  EXPECT_FALSE(EntryLoops(space, kFine, BatchOrder::kOfData).columns_are_batch);
  space.entries.loop[0].count = 5;
  EXPECT_FALSE(EntryLoops(space, kFine).columns_are_batch);
  space.entries.loop[0].stride[kIndices] = 1000;
  space.batch.loop[0].stride[kIndices] = 1;
  EXPECT_TRUE(EntryLoops(space, kFine).columns_are_batch) << "their indices are farther apart";
}

TEST(EntryLoops, RestrictedToThePartsOfACutAreEachAccessOnce) {
  ForAnySpace([](Random& random, const IndexSpace& space) {
    const EntryLoops loops(space, kFine);
    Cut cut;
    const auto append = [&](int64_t count) {
      cut.Append(count, random.Between(1, 3), random.Between(1, 12));
    };
    for (int i = 0; i < loops.outer_batch_loops; ++i) append(loops.outer.loop[i].count);
    if (loops.columns_are_batch) append(loops.column.count);
    if (loops.rows_are_batch) append(loops.row.count);
    for (int i = 0; i < loops.inner.rank; ++i) append(loops.inner.loop[i].count);
    append(loops.run.count);
    Accesses all;
    for (int64_t part = 0; part < cut.parts(); ++part) {
      EntryLoops of_part = loops;
      of_part.Restrict(cut, part);
      for (const auto& [output, list] : AccessesOf(of_part)) {
        EXPECT_TRUE(all.emplace(output, list).second) << "two parts share a destination";
      }
    }
    EXPECT_EQ(all, AccessesOf(space));
  });
}

TEST(EntryLoops, RepeatOneUpdate) {
  EntryLoops loops(NdSpace({5, 4, 3}, 7, 1), kFine);
  loops.RepeatUpdate(1);
  for (const auto& [output, list] : AccessesOf(loops)) {
    for (const Access& access : list) EXPECT_EQ(access.update, output % 12);
  }
  loops.RepeatUpdate(0);
  for (const auto& [output, list] : AccessesOf(loops)) {
    for (const Access& access : list) EXPECT_EQ(access.update, 0);
  }
}

// ---- How they are chosen -----------------------------------------------------------------------

TEST(EntryLoops, TakeEntriesAsColumnsWhereTheirAxisIsCloser) {
  const EntryLoops loops(ElementsSpace({10, 20}, {10, 7}, 1), kFine);
  EXPECT_FALSE(loops.columns_are_batch);
  EXPECT_TRUE(loops.rows_are_batch);
  EXPECT_EQ(loops.row.count, 10);
  EXPECT_EQ(loops.column.count, 7);
  EXPECT_EQ(loops.row.stride[kOutput], 20);
  EXPECT_EQ(loops.column.stride[kOutput], 0);
}

TEST(EntryLoops, TakeBatchesAsColumnsWhereTheyAreCloser) {
  const EntryLoops loops(ElementsSpace({10, 20}, {7, 20}, 0), kFine);
  EXPECT_TRUE(loops.columns_are_batch);
  EXPECT_FALSE(loops.rows_are_batch);
  EXPECT_EQ(loops.row.count, 7);
  EXPECT_EQ(loops.column.count, 20);
  EXPECT_EQ(loops.column.stride[kOutput], 1);
}

TEST(EntryLoops, TakeBatchesAsColumnsWhereEachHasOneEntry) {
  const EntryLoops loops(ElementsSpace({10, 20}, {10, 1}, 1), kFine);
  EXPECT_TRUE(loops.columns_are_batch);
  EXPECT_EQ(loops.column.count, 10);
  EXPECT_EQ(loops.row.count, 1);
}

TEST(EntryLoops, HaveNoBatchOnOneLine) {
  const EntryLoops loops(ElementsSpace({100}, {7}, 0), kFine);
  EXPECT_FALSE(loops.columns_are_batch);
  EXPECT_FALSE(loops.rows_are_batch);
  EXPECT_EQ(loops.row.count, 1);
  EXPECT_EQ(loops.column.count, 7);
  EXPECT_EQ(loops.outer.rank, 0);
  EXPECT_EQ(loops.batches, 1);
}

TEST(EntryLoops, MergeBatchesThatLieTogether) {
  const EntryLoops together(ElementsSpace({3, 4, 5, 20}, {3, 4, 5, 7}, 3), kFine);
  EXPECT_EQ(together.outer.rank, 0);
  EXPECT_EQ(together.row.count, 3 * 4 * 5);
  // One of the dims is not gone through as a whole, so that there are gaps in the output.
  const EntryLoops apart(ElementsSpace({3, 4, 5, 20}, {3, 4, 2, 7}, 3), kFine);
  EXPECT_EQ(apart.outer.rank, 1);
  EXPECT_EQ(apart.outer_batch_loops, 1);
  EXPECT_EQ(apart.row.count, 2);
  EXPECT_EQ(apart.batches, 3 * 4 * 2);
}

TEST(EntryLoops, TakeTheInnermostTurnsAsRun) {
  const EntryLoops loops(UpdateSpace({10, 4, 8}, 3), kFine);
  EXPECT_EQ(loops.run.count, 32);
  EXPECT_EQ(loops.inner.rank, 0);
  EXPECT_FALSE(loops.EntriesAreElements());
}

// scatter_update along the last axis: rows of the matrix one by one, each with all entries.
TEST(EntryLoops, TakeNoRunWhereDestinationsAreCloser) {
  IndexSpace space;
  space.component[space.components++] = {1, 8, 1, 1, 0};
  space.entries.Append(int64_t{3}, 0, 1, 1, 0);
  space.inner.Append(int64_t{10}, 8, 3);
  const EntryLoops loops(space, kFine);
  EXPECT_EQ(loops.run.count, 1);
  ASSERT_EQ(loops.inner.rank, 1);
  EXPECT_EQ(loops.inner.loop[0].count, 10);
  EXPECT_EQ(AccessesOf(loops), AccessesOf(space));
}

// An axis of one element: all updates of a row, if these are many and lie together.
TEST(EntryLoops, TakeNoRunWhereUpdatesOfOneDestinationAreCloser) {
  IndexSpace space;
  space.component[space.components++] = {1, 1, 1, 1, 0};
  space.entries.Append(int64_t{64}, 0, 1, 1, 0);
  space.inner.Append(int64_t{10}, 1, 64);
  EXPECT_EQ(EntryLoops(space, kFine).run.count, 1);
  space.entries.loop[0].count = 63;
  EXPECT_EQ(EntryLoops(space, kFine).run.count, 10) << "few";
  space.entries.loop[0] = {64, {0, 64, 1, 0}};
  EXPECT_EQ(EntryLoops(space, kFine).run.count, 10) << "no closer than those of a run";
}

// The element that all indices name is that of an axis of its own.
TEST(IndexSpaces, KeepTheElementThatAllIndicesName) {
  IndexSpace space = ElementsSpace({5, 10, 3}, {5, 20, 3}, 1);
  const int64_t output = space.batch.base[kOutput];
  space.KeepElement(7);
  EXPECT_EQ(space.component[0].axis_size, 1);
  EXPECT_EQ(space.batch.base[kOutput], output + 7 * 3);
  EXPECT_EQ(space.batch.base[kData], 7 * 3);
  const EntryLoops loops(space, kFine);
  for (const auto& [place, list] : AccessesOf(loops)) {
    EXPECT_EQ(place % 30 / 3, 7);
    EXPECT_EQ(list.size(), 20u);
    for (const Access& access : list) EXPECT_EQ(access.index, 0);
  }
}

// With more entries than a tile has, each row takes all of them before the next row begins.
TEST(EntryLoops, TakeInnerTurnsAsBatchForManyEntries) {
  const auto loops_of = [](int64_t entries) {
    IndexSpace space;
    space.component[space.components++] = {2, 8, 1, 1, 0};
    space.entries.Append(entries, 0, 1, 1, 0);
    space.inner.Append(int64_t{2}, -99, 3 * entries);
    space.inner.Append(int64_t{3}, 8, entries);
    const EntryLoops loops(space, kFine);
    EXPECT_EQ(AccessesOf(loops), AccessesOf(space));
    return loops;
  };
  const EntryLoops few = loops_of(2048);
  EXPECT_EQ(few.inner.rank, 2);
  EXPECT_EQ(few.batches, 1);
  EXPECT_TRUE(few.batch_has_data);
  const EntryLoops many = loops_of(2049);
  EXPECT_EQ(many.inner.rank, 0);
  EXPECT_EQ(many.batches, 6);
  EXPECT_TRUE(many.rows_are_batch);
  EXPECT_EQ(many.row.count, 3);
  EXPECT_EQ(many.column.count, 2049);
  EXPECT_FALSE(many.batch_has_data);
}

// ---- How far apart -----------------------------------------------------------------------------

TEST(EntryLoops, MeasureSpans) {
  const EntryLoops loops(ElementsSpace({3, 4, 100}, {2, 3, 7}, 2), kFine);
  EXPECT_EQ(loops.reach, 99);
  EXPECT_EQ(loops.tile_span, 99 + 2 * 100);
  EXPECT_EQ(loops.whole_span, 99 + 2 * 100 + 400);
  const EntryLoops pairs(NdSpace({3, 4, 5}, 6, 2), kFine);
  EXPECT_EQ(pairs.reach, 2 * 20 + 3 * 5);
  EXPECT_EQ(pairs.whole_span, pairs.reach);
}

TEST(EntryLoops, SpanTheInnerTurnsOfRows) {
  EXPECT_EQ(EntryLoops(UpdateSpace({100, 8}, 3), kFine).DestinationSpan(), 99 * 8);
  IndexSpace space;
  space.component[space.components++] = {1, 20, 8, 8, 0};
  space.entries.Append(int64_t{3}, 0, 8, 1, 0);
  space.inner.Append(int64_t{10}, 160, 24);
  EXPECT_EQ(EntryLoops(space, kFine).DestinationSpan(), 19 * 8) << "single elements";
  space.inner.Append(int64_t{4}, 1, 1);
  const EntryLoops rows(space, kFine);
  EXPECT_EQ(rows.run.count, 4);
  EXPECT_EQ(rows.DestinationSpan(), 19 * 8 + 9 * 160);
}

TEST(EntryLoops, HaveOffsetsOf32BitsAsFarAsTheyReach) {
  const auto line = [](int64_t size) { return EntryLoops(ElementsSpace({size}, {9}, 0), kFine); };
  constexpr int64_t kMost = int64_t{1} << 31;
  EXPECT_EQ(line(kMost).TileOffsets(), kOffset32);
  EXPECT_EQ(line(kMost + 1).TileOffsets(), kOffset64);
  const auto outer = [](int64_t size) {
    return EntryLoops(ElementsSpace({2, 3, size}, {2, 2, 9}, 2), kFine);
  };
  // 2 rows of a tile, and 2 x 3 rows in all.
  EXPECT_EQ(outer(kMost / 2).TileOffsets(), kOffset32);
  EXPECT_EQ(outer(kMost / 2).WholeOffsets(), kOffset64);
  EXPECT_EQ(outer(kMost / 2 + 1).TileOffsets(), kOffset64);
}

TEST(EntryLoops, TellWhetherTheyHaveOneAxis) {
  EXPECT_TRUE(EntryLoops(ElementsSpace({3, 4, 5}, {2, 3, 7}, 2), kFine).HasOneAxis());
  EXPECT_TRUE(EntryLoops(UpdateSpace({10, 4}, 3), kFine).HasOneAxis());
  EXPECT_FALSE(EntryLoops(NdSpace({10, 4}, 3, 2), kFine).HasOneAxis());
  EXPECT_FALSE(EntryLoops(NdSpace({10, 4}, 3, 0), kFine).HasOneAxis());
}

// ---- Numbers of destinations -------------------------------------------------------------------

TEST(EntryLoops, NumberDestinationsWithoutGaps) {
  ForAnySpace([](Random&, const IndexSpace& space) {
    EntryLoops loops(space, kFine);
    if (!loops.HasOneAxis()) return;
    loops.NumberDestinations();
    std::set<int64_t> numbers;
    ForEachTurn(loops.outer, loops.outer.rank, [&](const int64_t* outer) {
      const int64_t rows = loops.rows_are_batch ? loops.row.count : 1;
      const int64_t columns = loops.columns_are_batch ? loops.column.count : 1;
      for (int64_t i = 0; i < rows * columns * loops.component[0].axis_size; ++i) {
        const int64_t r = i % rows;
        const int64_t c = i / rows % columns;
        numbers.insert(outer[kOutput] + r * loops.row.stride[kOutput] +
                       c * loops.column.stride[kOutput] +
                       i / rows / columns * loops.component[0].output_stride);
      }
    });
    const int64_t count = loops.batches * loops.component[0].axis_size;
    ASSERT_EQ(static_cast<int64_t>(numbers.size()), count);
    EXPECT_EQ(*numbers.begin(), 0);
    EXPECT_EQ(*numbers.rbegin(), count - 1);
    EXPECT_EQ(loops.whole_span, count - 1);
  });
}

// All destinations of some loops, in units from where the loops begin.
std::set<int64_t> DestinationsOf(const EntryLoops& loops) {
  std::set<int64_t> batches;
  for (const auto& [output, list] : AccessesOf(loops)) {
    batches.insert(output - loops.outer.base[kOutput]);
  }
  std::set<int64_t> destinations = batches;
  for (int c = 0; c < loops.components; ++c) {
    std::set<int64_t> next;
    for (const int64_t before : destinations) {
      for (int64_t i = 0; i < loops.component[c].axis_size; ++i) {
        next.insert(before + i * loops.component[c].output_stride);
      }
    }
    destinations = next;
  }
  return destinations;
}

TEST(DestinationNumbers, AreDifferentAndFindTheirWayBack) {
  ForAnySpace([](Random&, const IndexSpace& space) {
    EntryLoops loops(space, kFine);
    const DestinationNumbers numbers(loops);
    // Keep the first element of each entry: it stands for the one destination.
    loops.run = {1, {}};
    loops.inner = {};
    std::set<int64_t> seen;
    for (const int64_t destination : DestinationsOf(loops)) {
      const int64_t number = numbers.Of(destination);
      EXPECT_GE(number, 0);
      EXPECT_LT(number, numbers.range());
      EXPECT_EQ(numbers.DestinationOf(number), destination);
      const int64_t steps = (destination - numbers.lowest()) >> numbers.shift();
      EXPECT_EQ(number, static_cast<int64_t>(static_cast<uint64_t>(steps) * numbers.inverse()));
      EXPECT_TRUE(seen.insert(number).second);
    }
  });
}

TEST(DestinationNumbers, DivideByTheCommonDivisorOfAllStrides) {
  for (const int64_t row : {1, 2, 3, 12, 1001, 20001, 4096}) {
    const DestinationNumbers numbers(EntryLoops(UpdateSpace({10, row}, 3), kFine));
    EXPECT_EQ(numbers.range(), 10) << row;
    EXPECT_EQ(numbers.Of(9 * row), 9) << row;
    EXPECT_EQ(numbers.DestinationOf(9), 9 * row) << row;
  }
}

}  // namespace
}  // namespace strew_test
