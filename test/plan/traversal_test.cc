// SPDX-License-Identifier: Apache-2.0
//
// Each way through entries, at its threshold and beside it.
#include "plan/traversal.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "plan/spaces.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::plan::EntryLoops;
using strew::plan::FlatLoops;
using strew::plan::kIndices;
using strew::plan::kOutput;
using strew::plan::kUpdates;
using strew::plan::Traversal;
using strew::plan::Tuning;

constexpr int64_t kBlock = 100;
constexpr int64_t kHuge = INT64_MAX / 4;

// 6 batches of 8 entries, which the tuning takes flat.
class TraversalChoice : public testing::Test {
 protected:
  TraversalChoice() {
    tuning_.few_turns = kHuge;
    tuning_.least_flat_entries = 0;
  }

  Traversal Of(const EntryLoops& loops, int64_t block = kBlock) {
    return TraversalFor(loops, block, 0, false, tuning_, &flat_);
  }

  EntryLoops last_axis_{ElementsSpace({6, 50}, {6, 8}, 1), {}};
  EntryLoops first_axis_{ElementsSpace({50, 6}, {8, 6}, 0), {}};
  Tuning tuning_;
  FlatLoops flat_;
};

TEST_F(TraversalChoice, IsStripsWhereTheyHaveScratch) {
  EXPECT_EQ(TraversalFor(first_axis_, kBlock, 4, true, tuning_, &flat_), Traversal::kStrips);
  EXPECT_EQ(TraversalFor(first_axis_, kBlock, 4, false, tuning_, &flat_), Traversal::kStrips);
  EXPECT_NE(TraversalFor(first_axis_, kBlock, 0, false, tuning_, &flat_), Traversal::kStrips);
}

TEST_F(TraversalChoice, IsNotFlatWhereLinesAreCopied) {
  EXPECT_EQ(Of(last_axis_), Traversal::kFlat);
  EXPECT_EQ(TraversalFor(last_axis_, kBlock, 0, true, tuning_, &flat_), Traversal::kShortRows);
}

TEST_F(TraversalChoice, IsFlatBelowFewTurns) {
  tuning_.narrow_row = 0;
  tuning_.few_turns = 6 * 8 + 1;
  EXPECT_EQ(Of(last_axis_), Traversal::kFlat);
  EXPECT_EQ(Of(first_axis_), Traversal::kFlat);
  tuning_.few_turns = 6 * 8;
  EXPECT_EQ(Of(last_axis_), Traversal::kShortRows);
  EXPECT_EQ(Of(first_axis_), Traversal::kBatchColumns);
}

TEST_F(TraversalChoice, IsFlatInNarrowRows) {
  tuning_.few_turns = 0;
  tuning_.narrow_row = 8 + 1;
  EXPECT_EQ(Of(last_axis_), Traversal::kFlat);
  tuning_.narrow_row = 8;
  EXPECT_EQ(Of(last_axis_), Traversal::kShortRows);
  tuning_.narrow_row = 6 + 1;
  EXPECT_EQ(Of(first_axis_), Traversal::kFlat);
  tuning_.narrow_row = 6;
  EXPECT_EQ(Of(first_axis_), Traversal::kBatchColumns);
}

TEST_F(TraversalChoice, IsFlatForMoreThanTheLeastEntries) {
  tuning_.least_flat_entries = 6 * 8 - 1;
  EXPECT_EQ(Of(last_axis_), Traversal::kFlat);
  EXPECT_EQ(Of(first_axis_), Traversal::kFlat);
  tuning_.least_flat_entries = 6 * 8;
  EXPECT_EQ(Of(last_axis_), Traversal::kShortRows);
  EXPECT_EQ(Of(first_axis_), Traversal::kBatchColumns);
}

TEST_F(TraversalChoice, IsFlatWhereAPeriodFitsHalfABlock) {
  EXPECT_EQ(Of(last_axis_, 2 * 8), Traversal::kFlat);
  EXPECT_EQ(flat_.period_turns, 8);
  EXPECT_EQ(flat_.slab.count, 6);
  EXPECT_EQ(Of(last_axis_, 2 * 8 - 1), Traversal::kShortRows);
  EXPECT_EQ(Of(last_axis_, 2 * 6 * 8), Traversal::kFlat);
  EXPECT_EQ(flat_.period_turns, 6 * 8);
  EXPECT_EQ(flat_.slab.count, 1);
}

TEST_F(TraversalChoice, IsFlatWhereOffsetsHave32Bits) {
  const auto of_axis = [this](int64_t size) {
    return Of(EntryLoops(ElementsSpace({6, size}, {6, 8}, 1), {}));
  };
  // Five batches lie between the first place and the last.
  constexpr int64_t kMost = (int64_t{INT32_MAX} + 1) / 6;
  EXPECT_EQ(of_axis(kMost), Traversal::kFlat);
  EXPECT_EQ(of_axis(kMost + 1), Traversal::kShortRows);
}

TEST_F(TraversalChoice, IsNotFlatWithoutBatchesOrForRunsOrForTuples) {
  EXPECT_EQ(Of(EntryLoops(ElementsSpace({50}, {8}, 0), {})), Traversal::kShortRows);
  EXPECT_EQ(Of(EntryLoops(UpdateSpace({50, 3}, 8), {})), Traversal::kShortRows);
  EXPECT_EQ(Of(EntryLoops(NdSpace({5, 3}, 8, 2), {})), Traversal::kShortRows);
}

// Every other index: the loops do not lie together.
TEST_F(TraversalChoice, IsNotFlatWhereIndicesHaveGaps) {
  for (const int operand : {kIndices, kUpdates}) {
    EntryLoops loops = last_axis_;
    loops.column.stride[operand] = 2;
    EXPECT_EQ(Of(loops), Traversal::kShortRows);
  }
}

TEST_F(TraversalChoice, IsShortRowsUpToABlock) {
  tuning_.few_turns = tuning_.narrow_row = 0;
  EXPECT_EQ(Of(last_axis_, 8), Traversal::kShortRows);
  EXPECT_EQ(Of(last_axis_, 7), Traversal::kLongRows);
  const EntryLoops line(ElementsSpace({1000}, {kBlock}, 0), {});
  EXPECT_EQ(Of(line), Traversal::kShortRows);
  EXPECT_EQ(Of(line, kBlock - 1), Traversal::kLongRows);
}

TEST_F(TraversalChoice, IsColumnsWhereTheyAreBatch) {
  tuning_.few_turns = tuning_.narrow_row = 0;
  EXPECT_EQ(Of(first_axis_), Traversal::kBatchColumns);
  EXPECT_EQ(Of(first_axis_, 4), Traversal::kBatchColumns);
}

// The accesses of flat loops are those of the loops, in the order of the indices in memory.
TEST(FlatLoops, GoThroughEveryEntryInTheOrderOfIndices) {
  Tuning tuning;
  tuning.few_turns = kHuge;
  tuning.least_flat_entries = 0;
  int64_t flat_ones = 0;
  const int64_t cases = Cases(2000);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const strew::plan::IndexSpace space = AnySpace(random);
    const EntryLoops loops(space, {});
    FlatLoops flat;
    const int64_t block = random.Between(2, 100);
    if (TraversalFor(loops, block, 0, false, tuning, &flat) != Traversal::kFlat) continue;
    ++flat_ones;
    EXPECT_LE(2 * flat.period_turns, block);
    Accesses accesses;
    ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* outside) {
      for (int64_t s = 0; s < flat.slab.count; ++s) {
        int64_t turn = s * flat.period_turns;
        ForEachTurn(flat.period, flat.period.rank, [&](const int64_t* offset) {
          const int64_t output = outside[kOutput] + s * flat.slab.stride[kOutput] + offset[kOutput];
          accesses[output].push_back({outside[kUpdates] + turn, outside[kIndices] + turn});
          ++turn;
        });
      }
    });
    EXPECT_EQ(accesses, AccessesOf(space));
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
  if (cases >= 100) {
    EXPECT_GT(10 * flat_ones, cases);
  }
}

}  // namespace
}  // namespace strew_test
