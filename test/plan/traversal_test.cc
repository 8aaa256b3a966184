// SPDX-License-Identifier: Apache-2.0
//
// Each way through entries, at its threshold and beside it.
#include "plan/traversal.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plan/spaces.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::plan::Cut;
using strew::plan::EntryLoops;
using strew::plan::FlatLoops;
using strew::plan::IndexSpace;
using strew::plan::kIndices;
using strew::plan::kMostPacked;
using strew::plan::kNoStaging;
using strew::plan::kOutput;
using strew::plan::kUpdates;
using strew::plan::SliceLoops;
using strew::plan::Staging;
using strew::plan::Traversal;
using strew::plan::TraversalLoops;
using strew::plan::Tuning;

constexpr int64_t kBlock = 100;
constexpr int64_t kWidth = 4;
constexpr int64_t kHuge = INT64_MAX / 4;

// 6 batches of 8 entries, which the tuning takes flat.
class TraversalChoice : public testing::Test {
 protected:
  TraversalChoice() {
    tuning_.few_turns = kHuge;
    tuning_.least_flat_entries = 0;
    settings_.tuning = &tuning_;
  }

  Traversal Of(const EntryLoops& loops, int64_t block = kBlock,
               const Staging& staging = kNoStaging) {
    const strew::plan::Machine machine(strew::Call(settings_, nullptr));
    return TraversalFor(loops, machine, kWidth, block, staging, false, &chosen_);
  }

  EntryLoops last_axis_{ElementsSpace({6, 50}, {6, 8}, 1), {}};
  EntryLoops first_axis_{ElementsSpace({50, 6}, {8, 6}, 0), {}};
  Tuning tuning_;
  strew::Settings settings_;
  TraversalLoops chosen_;
};

TEST_F(TraversalChoice, IsRowsIfTheScheduleKeepsThem) {
  const strew::plan::Machine machine(strew::Call(settings_, nullptr));
  const auto of = [&](int64_t block, bool keeps_rows) {
    return TraversalFor(last_axis_, machine, kWidth, block, kNoStaging, keeps_rows, &chosen_);
  };
  EXPECT_EQ(of(kBlock, false), Traversal::kFlat);
  EXPECT_EQ(of(kBlock, true), Traversal::kShortRows);
  EXPECT_EQ(of(7, true), Traversal::kLongRows);
}

TEST_F(TraversalChoice, IsStripsWhereTheyHaveScratch) {
  EXPECT_EQ(Of(first_axis_, kBlock, {true, 4, 800}), Traversal::kStrips);
  EXPECT_EQ(Of(first_axis_, kBlock, {false, 4, 800}), Traversal::kStrips);
  EXPECT_NE(Of(first_axis_), Traversal::kStrips);
}

TEST_F(TraversalChoice, IsTheSameForPiecesThatAreCopied) {
  EXPECT_EQ(Of(last_axis_), Traversal::kFlat);
  EXPECT_EQ(Of(last_axis_, kBlock, {true, 0, 0}), Traversal::kFlat);
}

TEST_F(TraversalChoice, IsFlatBelowFewTurns) {
  tuning_.narrow_row = tuning_.narrow_batch = 0;
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
  tuning_.narrow_batch = 6 + 1;
  EXPECT_EQ(Of(first_axis_), Traversal::kFlat);
  tuning_.narrow_batch = 6;
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
  EXPECT_EQ(chosen_.flat.period_turns, 8);
  EXPECT_EQ(chosen_.flat.slab.count, 6);
  EXPECT_EQ(Of(last_axis_, 2 * 8 - 1), Traversal::kShortRows);
  EXPECT_EQ(Of(last_axis_, 2 * 6 * 8), Traversal::kFlat);
  EXPECT_EQ(chosen_.flat.period_turns, 6 * 8);
  EXPECT_EQ(chosen_.flat.slab.count, 1);
}

TEST_F(TraversalChoice, IsFlatWhereOffsetsHave32Bits) {
  const auto of_axis = [this](int64_t size) {
    return Of(EntryLoops(ElementsSpace({8, size}, {8, 8}, 1), {}));
  };
  // The last place lies seven batches and the rest of one behind the first.
  constexpr int64_t kMost = (int64_t{INT32_MAX} + 1) / 8;
  EXPECT_EQ(of_axis(kMost), Traversal::kFlat);
  EXPECT_EQ(of_axis(kMost + 1), Traversal::kShortRows);
}

TEST_F(TraversalChoice, IsNotFlatWithoutBatchesOrForRunsOrForTuples) {
  EXPECT_EQ(Of(EntryLoops(ElementsSpace({50}, {8}, 0), {})), Traversal::kShortRows);
  EXPECT_EQ(Of(EntryLoops(UpdateSpace({50, 3}, 8), {})), Traversal::kShortRows);
  EXPECT_EQ(Of(EntryLoops(NdSpace({5, 3}, 8, 2), {})), Traversal::kShortRows);
}

TEST_F(TraversalChoice, IsNotFlatForAPartOfOneEntry) {
  EntryLoops loops(ElementsSpace({6, 50}, {6, 1}, 1), {});
  Cut cut;
  cut.Append(loops.column.count, 1, 6);
  cut.Append(loops.run.count, 1, 1);
  loops.Restrict(cut, 5);
  EXPECT_EQ(loops.Entries(), 1);
  EXPECT_EQ(Of(loops), Traversal::kBatchColumns);
}

// Every other index: the loops do not lie together.
TEST_F(TraversalChoice, IsNotFlatWhereIndicesHaveGaps) {
  for (const int operand : {kIndices, kUpdates}) {
    EntryLoops loops = last_axis_;
    loops.column.stride[operand] = 2;
    EXPECT_EQ(Of(loops), Traversal::kShortRows);
  }
}

TEST_F(TraversalChoice, IsPackedInSmallTilesWithGaps) {
  EntryLoops loops = last_axis_;
  loops.column.stride[kUpdates] = 2;
  tuning_.most_packed_row = tuning_.packed_tile_of_short_rows = 0;
  tuning_.most_packed_tile = 6 * 8;
  EXPECT_EQ(Of(loops, kMostPacked), Traversal::kPacked);
  EXPECT_EQ(chosen_.flat.period_turns, 6 * 8);
  EXPECT_EQ(Of(loops, kMostPacked - 1), Traversal::kShortRows);
  tuning_.most_packed_tile = 6 * 8 - 1;
  EXPECT_EQ(Of(loops, kMostPacked), Traversal::kShortRows);
  tuning_.most_packed_row = 8;
  EXPECT_EQ(Of(loops, kMostPacked), Traversal::kPacked);
  tuning_.most_packed_row = 7;
  EXPECT_EQ(Of(loops, kMostPacked), Traversal::kShortRows);
  tuning_.packed_tile_of_short_rows = 6 * 8;
  tuning_.short_packed_row = 8;
  EXPECT_EQ(Of(loops, kMostPacked), Traversal::kPacked);
  tuning_.short_packed_row = 7;
  EXPECT_EQ(Of(loops, kMostPacked), Traversal::kShortRows);
  tuning_.short_packed_row = 8;
  tuning_.packed_tile_of_short_rows = 6 * 8 - 1;
  EXPECT_EQ(Of(loops, kMostPacked), Traversal::kShortRows);
}

// The loops over 300 batches do not fit a block, and those over 7 around them would.
TEST_F(TraversalChoice, PacksWhatLiesTogetherAsItIs) {
  EntryLoops loops(ElementsSpace({7, 301, 50}, {7, 300, 10}, 2), {});
  tuning_.least_flat_tile = kHuge;
  tuning_.most_packed_tile = kHuge;
  const auto turns = [&] {
    EXPECT_EQ(Of(loops, kMostPacked), Traversal::kPacked);
    return chosen_.flat.period_turns;
  };
  EXPECT_EQ(turns(), 10);
  EXPECT_EQ(chosen_.flat.slab.count, 300);
  loops.column.stride[kUpdates] = 2;
  EXPECT_EQ(turns(), 10);
  std::swap(loops.column.stride[kUpdates], loops.column.stride[kIndices]);
  EXPECT_EQ(turns(), 10);
  loops.column.stride[kUpdates] = 2;
  EXPECT_EQ(turns(), 7 * 10);
  EXPECT_EQ(chosen_.flat.slab.count, 300);
}

TEST_F(TraversalChoice, IsPackedWhereFlatTilesAreSmall) {
  tuning_.most_packed_tile = kHuge;
  tuning_.least_flat_tile = 6 * 8;
  EXPECT_EQ(Of(last_axis_, kMostPacked), Traversal::kFlat);
  tuning_.least_flat_tile = 6 * 8 + 1;
  EXPECT_EQ(Of(last_axis_, kMostPacked), Traversal::kPacked);
  tuning_.most_packed_tile = tuning_.most_packed_row = tuning_.packed_tile_of_short_rows = 0;
  EXPECT_EQ(Of(last_axis_, kMostPacked), Traversal::kFlat);
}

TEST_F(TraversalChoice, IsFlatWhereAllEntriesHaveOneUpdate) {
  EXPECT_EQ(Of(last_axis_), Traversal::kFlat);
  EXPECT_EQ(chosen_.flat.update_stride, 1);
  EntryLoops loops = last_axis_;
  loops.column.stride[kUpdates] = 0;
  EXPECT_EQ(Of(loops), Traversal::kShortRows) << "each row has one";
  loops.row.stride[kUpdates] = 0;
  EXPECT_EQ(Of(loops), Traversal::kFlat);
  EXPECT_EQ(chosen_.flat.update_stride, 0);
}

TEST_F(TraversalChoice, IsShortRowsUpToABlock) {
  tuning_.few_turns = tuning_.narrow_row = tuning_.narrow_batch = 0;
  EXPECT_EQ(Of(last_axis_, 8), Traversal::kShortRows);
  EXPECT_EQ(Of(last_axis_, 7), Traversal::kLongRows);
  const EntryLoops line(ElementsSpace({1000}, {kBlock}, 0), {});
  EXPECT_EQ(Of(line), Traversal::kShortRows);
  EXPECT_EQ(Of(line, kBlock - 1), Traversal::kLongRows);
}

TEST_F(TraversalChoice, IsColumnsWhereTheyAreBatch) {
  tuning_.few_turns = tuning_.narrow_row = tuning_.narrow_batch = 0;
  EXPECT_EQ(Of(first_axis_), Traversal::kBatchColumns);
  EXPECT_EQ(Of(first_axis_, 4), Traversal::kBatchColumns);
}

// A part of wider rows: a tile of columns has many rows, but a period would be one.
TEST_F(TraversalChoice, IsNotFlatWhereRowsHaveGaps) {
  EntryLoops loops = first_axis_;
  for (int64_t& stride : loops.row.stride) stride *= 2;
  EXPECT_EQ(Of(loops), Traversal::kBatchColumns);
}

// ---- Slices ------------------------------------------------------------------------------------

// 8 entries, each of a row of 100 units of 4 bytes.
class SliceChoice : public TraversalChoice {
 protected:
  SliceChoice() {
    tuning_.few_slices = 64;
    tuning_.least_slice = 100;
    tuning_.few_slice_rows = 8;
    tuning_.longest_slice_run = 400;
    tuning_.slice_block = tuning_.slice_run_block = 1000;
  }

  struct StridedLoop {
    int64_t count;
    int64_t output_stride;
    int64_t updates_stride;
  };
  // Three entries of an axis of 8, with single elements in two loops.
  static IndexSpace StridedSpace(int64_t axis, int64_t updates_stride, const StridedLoop& outer,
                                 const StridedLoop& inner) {
    IndexSpace space;
    space.component[space.components++] = {axis, 8, 1, 1, 0};
    space.entries.Append(int64_t{3}, 0, updates_stride, 1, 0);
    for (const StridedLoop& loop : {outer, inner}) {
      space.inner.Append(loop.count, loop.output_stride, loop.updates_stride);
    }
    return space;
  }

  // Columns of an axis that is the last one; the strides are those of the rows.
  static IndexSpace ColumnsSpace(int64_t entries, int64_t rows, int64_t output_stride,
                                 int64_t updates_stride) {
    IndexSpace space;
    space.component[space.components++] = {1, 8, 1, 1, 0};
    space.entries.Append(entries, 0, 1, 1, 0);
    space.inner.Append(rows, output_stride, updates_stride);
    return space;
  }

  bool IsSlices(const IndexSpace& space) { return Of(EntryLoops(space, {})) == Traversal::kSlices; }

  const IndexSpace rows_ = UpdateSpace({50, 100}, 8);
};

TEST_F(SliceChoice, IsForFewEntries) {
  EXPECT_TRUE(IsSlices(rows_));
  tuning_.few_slices = 8;
  EXPECT_TRUE(IsSlices(rows_));
  tuning_.few_slices = 7;
  EXPECT_FALSE(IsSlices(rows_));
  tuning_.few_slices = tuning_.few_slice_rows = kHuge;
  EXPECT_TRUE(IsSlices(UpdateSpace({50, 100}, strew::plan::kMostSlices)));
  EXPECT_FALSE(IsSlices(UpdateSpace({50, 100}, strew::plan::kMostSlices + 1)));
}

TEST_F(SliceChoice, IsForLargeEntries) {
  tuning_.least_slice = 101;
  EXPECT_FALSE(IsSlices(rows_));
  tuning_.least_slice = 0;
  EXPECT_TRUE(IsSlices(rows_));
  EXPECT_FALSE(IsSlices(NdSpace({100}, 8, 0))) << "all of the output";
}

TEST_F(SliceChoice, IsForFewRows) {
  tuning_.few_slice_rows = 7;
  EXPECT_FALSE(IsSlices(rows_));
}

// A block has as many rows as fit with the updates of all entries.
TEST_F(SliceChoice, IsForRowsOfOnePlace) {
  const auto rows_of = [](int64_t axis, int64_t entries) {
    IndexSpace space;
    space.component[space.components++] = {1, axis, 3, 3, 0};
    space.entries.Append(entries, 0, 3, 1, 0);
    space.inner.Append(60, 3 * axis, 3 * entries);
    space.inner.Append(3, 1, 1);
    return space;
  };
  tuning_.few_slice_rows = 7;
  tuning_.slice_block = 8 * 18 * 3 * 4 / 2;
  EXPECT_TRUE(IsSlices(rows_of(1, 18)));
  EXPECT_EQ(chosen_.slices.row_step, 8);
  EXPECT_FALSE(IsSlices(rows_of(1, 19))) << "fewer than 8 rows";
  EXPECT_FALSE(IsSlices(rows_of(2, 8))) << "of two places";
}

TEST_F(SliceChoice, IsForLongRunsThatFitNoBlock) {
  tuning_.longest_slice_run = 399;
  EXPECT_FALSE(IsSlices(rows_));
  tuning_.slice_run_block = 400;
  EXPECT_FALSE(IsSlices(rows_));
  tuning_.slice_run_block = 399;
  EXPECT_TRUE(IsSlices(rows_));
  EXPECT_FALSE(IsSlices(UpdateSpace({50, 100}, 1))) << "nobody else writes there";
}

// scatter_update along the last axis: an entry is a column of 10 lines of 32 bytes.
TEST_F(SliceChoice, IsForColumnsThatABlockHoldsEnoughOf) {
  IndexSpace space = ColumnsSpace(3, 10, 8, 3);
  tuning_.least_slice = tuning_.least_slice_block = 10;
  tuning_.slice_block = 320;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.run_step, 10);
  tuning_.slice_block = 319;
  EXPECT_FALSE(IsSlices(space));
  space.entries.loop[0].count = 2;
  EXPECT_TRUE(IsSlices(space)) << "a quarter is enough for two";
  space.entries.loop[0].count = 3;
  tuning_.least_slice_block = 9;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.run_step, 9);
}

// The same column of each of 5 matrices, whose updates lie side by side.
TEST_F(SliceChoice, TakesRowsTogetherWhoseUpdatesAre) {
  const IndexSpace space = StridedSpace(1, 1000, {5, 8000, 1}, {100, 8, 5});
  tuning_.least_slice_block = 50;
  tuning_.slice_block = 10 * 32;
  tuning_.slice_rows = 1 * kWidth;
  EXPECT_FALSE(IsSlices(space)) << "a block of one row has 10 turns";
  tuning_.slice_rows = 4 * kWidth;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.row_step, 4);
  EXPECT_EQ(chosen_.slices.run_step, 50);
  tuning_.slice_rows = kHuge;
  tuning_.least_slice_block = 1000;
  EXPECT_FALSE(IsSlices(space)) << "there are 100 turns";
  EXPECT_EQ(chosen_.slices.row_step, 5);
  EXPECT_EQ(chosen_.slices.run_step, 100);
}

// The same column of each of 100 matrices of 5 rows; updates of these lie side by side.
TEST_F(SliceChoice, GoesAlongTransposedUpdates) {
  const IndexSpace space = StridedSpace(1, 500, {100, 40, 1}, {5, 8, 100});
  constexpr int64_t kTurn = 40 * kWidth, kAll = 100 * (kTurn + 5 * 3 * kWidth);
  tuning_.cache_bytes = tuning_.most_cache = kAll;
  tuning_.near_crossed_part = 1;
  tuning_.crossed_block = 10 * kTurn;
  tuning_.least_crossed_turns = 10;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.run.count, 100);
  EXPECT_EQ(chosen_.slices.run_step, 10);
  EXPECT_EQ(chosen_.slices.row_step, 5);
  tuning_.least_crossed_turns = 11;
  tuning_.least_slice_block = kHuge;
  EXPECT_FALSE(IsSlices(space)) << "a block has too few turns";
  tuning_.near_crossed_part = 0.99;
  tuning_.far_crossed_block = 20 * kTurn;
  tuning_.least_far_crossed_turns = 20;
  tuning_.least_crossed_streams = 15;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.run_step, 20);
  tuning_.least_crossed_streams = 16;
  EXPECT_FALSE(IsSlices(space)) << "CPUs prefetch so few streams";
}

// Each of 3 entries is a matrix of 50 rows, whose updates are its columns.
TEST_F(SliceChoice, CutsRunsOfTransposedUpdates) {
  const auto cut = [&](int64_t row, int64_t run) {
    return IsSlices(StridedSpace(750, 1, {50, 15, row}, {15, 1, run}));
  };
  tuning_.few_slice_rows = 2;
  tuning_.slice_block = 4 * 64 * 10;
  EXPECT_TRUE(cut(3, 150));
  EXPECT_EQ(chosen_.slices.run_step, 10);
  EXPECT_EQ(chosen_.slices.row_step, 4 * 64 * 10 / (10 * 3 * kWidth));
  tuning_.cache_ways = 2;
  EXPECT_TRUE(cut(3, tuning_.cache_way / kWidth * 3));
  EXPECT_EQ(chosen_.slices.run_step, 2) << "all updates of a row fall into one set";
  EXPECT_FALSE(cut(16, 150)) << "rows share no lines";
  EXPECT_FALSE(cut(3, 15)) << "the updates of a run share lines";
}

// 16 of 8 columns of 10 rows, with updates in rows of 64 bytes.
TEST_F(SliceChoice, FetchesFarBlocksOfUpdatesInLinesOfTheirOwn) {
  const auto fetches = [&](int64_t output, int64_t updates) {
    EXPECT_TRUE(IsSlices(ColumnsSpace(16, 10, output, updates)));
    return chosen_.slices.fetches_next;
  };
  tuning_.least_slice = tuning_.least_slice_block = 1;
  tuning_.far_slices_part = 1e9;
  tuning_.cache_bytes = 10 * (32 + 64);
  tuning_.far_slice_blocks_part = 0.99;
  EXPECT_TRUE(fetches(8, 16));
  EXPECT_FALSE(fetches(8, 15)) << "updates of two rows share a line";
  EXPECT_TRUE(fetches(8, 32));
  EXPECT_FALSE(fetches(8, 33)) << "more than half of the updates is not read";
  EXPECT_FALSE(fetches(-8, 16));
  EXPECT_FALSE(fetches(8, -16));
  tuning_.far_slice_blocks_part = 1;
  EXPECT_FALSE(fetches(8, 16));
}

TEST_F(SliceChoice, IsNothingForFarElementsAndUpdatesInLinesOfTheirOwn) {
  const IndexSpace space = ColumnsSpace(16, 10, 16, 16);
  tuning_.least_slice = tuning_.least_slice_block = 1;
  tuning_.cache_bytes = 10 * (64 + 64);
  tuning_.far_slice_blocks_part = 1;
  EXPECT_TRUE(IsSlices(space));
  tuning_.far_slice_blocks_part = 0.99;
  EXPECT_FALSE(IsSlices(space));
}

// Columns of 10 rows of 64 bytes, and the same of runs.
TEST_F(SliceChoice, IsNothingForMoreLinesThanTheCachesHold) {
  const auto columns = [](int64_t entries, int64_t stride, int64_t run) {
    IndexSpace space;
    space.component[space.components++] = {1, 8, run, 1, 0};
    space.entries.Append(entries, 0, 1, 1, 0);
    space.inner.Append(int64_t{10}, stride, 3 * run);
    if (run > 1) space.inner.Append(run, 1, 1);
    return space;
  };
  tuning_.least_slice = tuning_.least_slice_block = 1;
  tuning_.cache_bytes = 2 * 10 * 64;
  tuning_.far_slices_part = 0.5;
  tuning_.longest_far_run = 8;
  EXPECT_TRUE(IsSlices(columns(3, 16, 1)));
  tuning_.far_slices_part = 0.499;
  EXPECT_FALSE(IsSlices(columns(3, 16, 1)));
  EXPECT_TRUE(IsSlices(columns(3, 15, 1))) << "rows share lines";
  EXPECT_FALSE(IsSlices(columns(3, 16, 2)));
  EXPECT_TRUE(IsSlices(columns(2, 16, 2))) << "runs of two entries";
  EXPECT_TRUE(IsSlices(columns(3, 16, 3))) << "longer runs";
  tuning_.far_slices_part = 1;
  EXPECT_TRUE(IsSlices(columns(2, 32, 1)));
  tuning_.far_slices_part = 0.999;
  EXPECT_FALSE(IsSlices(columns(2, 32, 1)));
  EXPECT_TRUE(IsSlices(columns(1, 32, 1))) << "one line of each row";
}

// Lines of 100 and 2 turns, whose updates lie apart: the longer one makes the runs.
TEST_F(SliceChoice, HasRunsOfTheLongerOfTwoStridedLoops) {
  const IndexSpace space = StridedSpace(2, 1, {100, 16, 0}, {2, 8, 3});
  tuning_.least_slice_block = 1;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.run.count, 100);
  EXPECT_EQ(chosen_.slices.row.count, 2);
  tuning_.short_run = 2;
  IsSlices(space);
  EXPECT_EQ(chosen_.slices.run.count, 2) << "which is not short";
}

// Entries of 50 rows of 2 x 3 units, whose pairs of runs have gaps in the updates.
TEST_F(SliceChoice, HasRowsOfTheLongerOfTwoLoopsAroundShortRuns) {
  IndexSpace space;
  space.component[space.components++] = {1, 8, 6, 1, 0};
  space.entries.Append(int64_t{3}, 0, 8, 1, 0);
  space.inner.Append(int64_t{50}, int64_t{8 * 6}, int64_t{3 * 8});
  space.inner.Append(int64_t{2}, int64_t{3}, int64_t{4});
  space.inner.Append(int64_t{3}, int64_t{1}, int64_t{1});
  tuning_.short_run = 3;
  tuning_.many_rows = 3;
  tuning_.far_slices_part = 0;
  tuning_.longest_far_run = kHuge;
  EXPECT_TRUE(IsSlices(space)) << "though the lines are far";
  EXPECT_EQ(chosen_.slices.row.count, 50);
  EXPECT_EQ(chosen_.slices.between.rank, 1);
  tuning_.many_rows = 2;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.row.count, 2);
  EXPECT_EQ(chosen_.slices.between.rank, 0);
  tuning_.many_rows = 3;
  tuning_.short_run = 2;
  EXPECT_TRUE(IsSlices(space));
  EXPECT_EQ(chosen_.slices.row.count, 2) << "runs are not short";
}

TEST_F(SliceChoice, IsNothingForSinks) {
  const EntryLoops loops(rows_, {});
  FlatLoops flat;
  EXPECT_EQ(TraversalOfSink(loops, tuning_, kBlock, &flat), Traversal::kShortRows);
}

// All inner turns, of which each lies in one run of one row.
TEST(SliceLoops, GoThroughEveryInnerTurn) {
  Tuning tuning;
  tuning.few_slices = tuning.few_slice_rows = tuning.longest_slice_run = kHuge;
  tuning.least_slice = tuning.least_slice_block = 0;
  int64_t slices_found = 0;
  const int64_t cases = Cases(2000);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const EntryLoops loops(AnySpace(random), {});
    tuning.slice_block = tuning.slice_run_block = random.Between(1, 100);
    tuning.crossed_block = tuning.far_crossed_block = random.Between(1, 400);
    tuning.least_crossed_turns = random.Between(1, 4);
    strew::Settings settings;
    settings.tuning = &tuning;
    const strew::plan::Machine machine(strew::Call(settings, nullptr));
    TraversalLoops chosen;
    const Traversal traversal =
        TraversalFor(loops, machine, kWidth, kBlock, kNoStaging, false, &chosen);
    if (traversal != Traversal::kSlices) continue;
    ++slices_found;
    const SliceLoops& slices = chosen.slices;
    EXPECT_GE(slices.row_step, 1);
    EXPECT_GE(slices.run_step, 1);
    EXPECT_LE(slices.run_step, slices.run.count);
    std::map<int64_t, int64_t> update_of_output;
    ForEachTurn(slices.rest, slices.rest.rank, [&](const int64_t* rest) {
      ForEachTurn(slices.between, slices.between.rank, [&](const int64_t* between) {
        for (int64_t turn = 0; turn < slices.row.count * slices.run.count; ++turn) {
          const auto place = [&](int operand) {
            return rest[operand] + between[operand] +
                   turn / slices.run.count * slices.row.stride[operand] +
                   turn % slices.run.count * slices.run.stride[operand];
          };
          EXPECT_TRUE(update_of_output.emplace(place(kOutput), place(kUpdates)).second);
        }
      });
    });
    EXPECT_EQ(static_cast<int64_t>(update_of_output.size()), loops.EntryUnits());
    ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
      for (int64_t u = 0; u < loops.run.count; ++u) {
        const int64_t output = inner[kOutput] + u * loops.run.stride[kOutput];
        EXPECT_EQ(update_of_output[output], inner[kUpdates] + u * loops.run.stride[kUpdates]);
      }
    });
    ASSERT_FALSE(testing::Test::HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
  if (cases >= 100) {
    EXPECT_GT(10 * slices_found, cases);
  }
}

// ---- Entries as boxes --------------------------------------------------------------------------

// scatter_update of slices [8, 5]: 160 bytes each.
class BoxChoice : public testing::Test {
 protected:
  BoxChoice() {
    tuning_.least_box = kHuge;
    tuning_.least_box_of_runs = 8 * 5 * kWidth;
    tuning_.short_run_of_box = tuning_.far_run_of_box = 5;
  }

  // `update` and `row`: strides in updates.
  bool AreBoxes(int64_t update = 48, int64_t row = 6, int64_t prefetch = 0) const {
    IndexSpace space;
    space.component[space.components++] = {0, 50, 40, 40, 0};
    space.entries.Append(int64_t{40}, 0, update, 1, 0);
    space.inner.Append(int64_t{8}, 5, row);
    space.inner.Append(int64_t{5}, 1, 1);
    return EntriesAreBoxes(EntryLoops(space, {}), tuning_, kWidth, prefetch);
  }

  Tuning tuning_;
};

TEST_F(BoxChoice, IsForLargeEntries) {
  EXPECT_TRUE(AreBoxes());
  ++tuning_.least_box_of_runs;
  EXPECT_FALSE(AreBoxes());
  tuning_.least_box = 8 * 5 * kWidth;
  EXPECT_FALSE(AreBoxes()) << "runs are short";
  tuning_.short_run_of_box = 4;
  EXPECT_TRUE(AreBoxes());
  ++tuning_.least_box;
  EXPECT_FALSE(AreBoxes());
}

TEST_F(BoxChoice, IsForManyShortRows) {
  tuning_.least_box_of_runs = kHuge;
  tuning_.many_rows = 8;
  tuning_.short_run = 5;
  EXPECT_TRUE(AreBoxes());
  tuning_.short_run = 4;
  EXPECT_FALSE(AreBoxes());
  tuning_.short_run = 5;
  tuning_.many_rows = 9;
  EXPECT_FALSE(AreBoxes());
}

TEST_F(BoxChoice, IsForLongerRunsFarAway) {
  tuning_.short_run_of_box = 4;
  EXPECT_FALSE(AreBoxes());
  EXPECT_TRUE(AreBoxes(48, 6, /*prefetch=*/8));
  tuning_.far_run_of_box = 4;
  EXPECT_FALSE(AreBoxes(48, 6, /*prefetch=*/8));
}

TEST_F(BoxChoice, NeedsGapsAndUpdatesThatLieApart) {
  EXPECT_FALSE(AreBoxes(40, 5)) << "the slice is one run";
  EXPECT_FALSE(AreBoxes(6, 6 * 40)) << "rows of all updates lie side by side";
  EXPECT_FALSE(AreBoxes(0, 6)) << "all have one update";
}

// ---- Flat loops --------------------------------------------------------------------------------

// Calls go(flat, turn, add) for random spaces that take the traversal, at least a tenth of all: it
// must call add(output, update, index) for each entry of a turn of the loops outside. These
// accesses are those of the space.
template <class Go>
void ExpectAccesses(const Tuning& tuning, Traversal traversal, int64_t least_block,
                    int64_t most_block, const Go& go) {
  int64_t taken = 0;
  const int64_t cases = Cases(2000);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const IndexSpace space = AnySpace(random);
    const EntryLoops loops(space, {});
    FlatLoops flat;
    const int64_t block = random.Between(least_block, most_block);
    if (TraversalOfSink(loops, tuning, block, &flat) != traversal) continue;
    ++taken;
    EXPECT_LE(2 * flat.period_turns, block);
    Accesses accesses;
    ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* turn) {
      go(flat, turn, [&](int64_t output, int64_t update, int64_t index) {
        accesses[output].push_back({update, index});
      });
    });
    EXPECT_EQ(accesses, AccessesOf(space));
    ASSERT_FALSE(testing::Test::HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
  if (cases >= 100) {
    EXPECT_GT(10 * taken, cases);
  }
}

// In the order of the indices in memory.
TEST(FlatLoops, GoThroughEveryEntryInTheOrderOfIndices) {
  Tuning tuning;
  tuning.few_turns = kHuge;
  tuning.least_flat_entries = 0;
  ExpectAccesses(tuning, Traversal::kFlat, 2, 100,
                 [](const FlatLoops& flat, const int64_t* outside, const auto& add) {
                   for (int64_t s = 0; s < flat.slab.count; ++s) {
                     int64_t turn = s * flat.period_turns;
                     ForEachTurn(flat.period, flat.period.rank, [&](const int64_t* offset) {
                       add(outside[kOutput] + s * flat.slab.stride[kOutput] + offset[kOutput],
                           outside[kUpdates] + turn * flat.update_stride, outside[kIndices] + turn);
                       ++turn;
                     });
                   }
                 });
}

// Indices and updates may lie anywhere.
TEST(PackedLoops, GoThroughEveryEntry) {
  Tuning tuning;
  tuning.most_packed_tile = tuning.least_flat_tile = kHuge;
  tuning.least_flat_entries = 0;
  ExpectAccesses(tuning, Traversal::kPacked, kMostPacked, kMostPacked,
                 [](const FlatLoops& flat, const int64_t* outside, const auto& add) {
                   for (int64_t s = 0; s < flat.slab.count; ++s) {
                     ForEachTurn(flat.period, flat.period.rank, [&](const int64_t* offset) {
                       const auto at = [&](int operand) {
                         return outside[operand] + s * flat.slab.stride[operand] + offset[operand];
                       };
                       add(at(kOutput), at(kUpdates), at(kIndices));
                     });
                   }
                 });
}

TEST(OuterLoops, AreThoseOfBatchesByStrideAndThenThoseOfEntries) {
  const int64_t cases = Cases(2000);
  int64_t moved = 0;
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const EntryLoops loops(AnySpace(random), {});
    EntryLoops sorted = loops;
    sorted.outer = OuterByStride(loops, kUpdates);
    for (int k = 0; k + 1 < loops.outer_batch_loops; ++k) {
      EXPECT_GE(sorted.outer.loop[k].stride[kUpdates], sorted.outer.loop[k + 1].stride[kUpdates]);
      moved += loops.outer.loop[k].stride[kUpdates] < loops.outer.loop[k + 1].stride[kUpdates];
    }
    EXPECT_EQ(AccessesOf(sorted), AccessesOf(loops));
    ASSERT_FALSE(testing::Test::HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
  if (cases >= 100) {
    EXPECT_GT(100 * moved, cases);
  }
}

}  // namespace
}  // namespace strew_test
