// SPDX-License-Identifier: Apache-2.0
//
// Every decision of the schedule of a gather, at its threshold and beside it, by a tuning of round
// numbers.
#include "prepared/schedule.h"

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "api/tensor.h"
#include "prepared/plan_schedules.h"
#include "reference/array.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::ViewOf;
using strew::prepared::GatherLoops;
using strew::prepared::PlanSchedule;
using strew::prepared::Way;

constexpr int64_t kRows = 50;
constexpr int64_t kColumns = 8;

// Rows of eight float32, from a source of which half as many are named.
class GatherScheduleOf : public PlanScheduleOf {
 protected:
  static GatherLoops Loops(const Dims& source_strides, const Dims& output_strides) {
    const Array source(STREW_FLOAT32, {{2 * kRows, kColumns}, source_strides});
    const Array output(STREW_FLOAT32, {{kRows, kColumns}, output_strides});
    return GatherLoops(*Entries(kRows, kRows, 2 * kRows), *ViewOf(source.tensor()), 0,
                       *ViewOf(output.tensor()));
  }
  static GatherLoops InRows() { return Loops({kColumns, 1}, {kColumns, 1}); }

  PlanSchedule Of(const GatherLoops& loops) const {
    return ScheduleGather(machine(), *Entries(kRows), loops);
  }
};

TEST_F(GatherScheduleOf, ContiguousRowsIsByRuns) { EXPECT_EQ(Of(InRows()).way, Way::kRuns); }

TEST_F(GatherScheduleOf, RowsApartInTheSourceIsByElements) {
  EXPECT_EQ(Of(Loops({1, 2 * kRows}, {kColumns, 1})).way, Way::kElements);
  EXPECT_EQ(Of(Loops({1, 2 * kRows}, {kColumns + 1, 1})).way, Way::kRows);
  tuning_.longest_run_of_elements = kColumns - 1;
  EXPECT_EQ(Of(Loops({1, 2 * kRows}, {kColumns, 1})).way, Way::kRows);
}

TEST_F(GatherScheduleOf, RowsApartInTheOutputIsByRows) {
  EXPECT_EQ(Of(Loops({kColumns, 1}, {2 * kColumns, 2})).way, Way::kRows);
}

TEST_F(GatherScheduleOf, ShortRunsApartIsByRuns) {
  const GatherLoops apart = Loops({2 * kColumns, 2}, {3 * kColumns, 3});
  tuning_.longest_run_apart = kColumns;
  EXPECT_EQ(Of(apart).way, Way::kRuns);
  EXPECT_EQ(Of(Loops({kColumns, -1}, {kColumns, 1})).way, Way::kRuns);
  EXPECT_NE(Of(Loops({kColumns, 0}, {kColumns, 1})).way, Way::kRuns);
  const int64_t most = 1024 / (kColumns * 4);
  EXPECT_EQ(Of(Loops({kColumns * most, most}, {kColumns, 1})).way, Way::kRuns);
  EXPECT_NE(Of(Loops({kColumns * most + kColumns, most + 1}, {kColumns, 1})).way, Way::kRuns);
  --tuning_.longest_run_apart;
  EXPECT_NE(Of(apart).way, Way::kRuns);
  tuning_.longest_far_run_apart = kColumns;
  tuning_.cache_bytes = apart.source_bytes - 1;
  EXPECT_EQ(Of(apart).way, Way::kRuns);
  --tuning_.longest_far_run_apart;
  EXPECT_NE(Of(apart).way, Way::kRuns);
}

TEST_F(GatherScheduleOf, RunsWithCommonLinesIsInPieces) {
  tuning_.near_group_turns = kColumns - 1;
  const PlanSchedule pieces = Of(Loops({1, 2 * kRows}, {kColumns + 1, 1}));
  EXPECT_TRUE(pieces.rows.has_pieces);
  EXPECT_EQ(pieces.rows.piece, kColumns - 1);
  // Each run has lines of its own, or uses all of their elements.
  EXPECT_FALSE(Of(Loops({kColumns * 16, 16}, {kColumns + 1, 1})).rows.has_pieces);
  EXPECT_FALSE(Of(Loops({15, 1}, {2 * kColumns, 2})).rows.has_pieces);
  tuning_.near_group_turns = kColumns;
  const PlanSchedule whole = Of(Loops({1, 2 * kRows}, {kColumns + 1, 1}));
  EXPECT_FALSE(whole.rows.has_pieces);
  EXPECT_EQ(whole.rows.piece, kColumns);
}

// The 64 columns of a row lie in four cache lines.
TEST_F(GatherScheduleOf, RowsAreCutBeforeColumnsThatShareLines) {
  constexpr int64_t kTaken = 64, kLine = 16;
  const auto most_columns = [](int64_t rows) {
    const Array source(STREW_FLOAT32, RowMajor({rows, 2 * kTaken}));
    const Array output(STREW_FLOAT32, RowMajor({rows, kTaken}));
    const GatherLoops loops(*Entries(kTaken, kTaken, 2 * kTaken), *ViewOf(source.tensor()), 1,
                            *ViewOf(output.tensor()));
    const strew::plan::Cut cut = loops.CutInto(8, GatherLoops::Cuts::kAll);
    EXPECT_EQ(cut.parts(), 8);
    return cut.MostTurns(0);
  };
  EXPECT_EQ(most_columns(8), kTaken);
  EXPECT_EQ(most_columns(7), kLine);
}

TEST_F(GatherScheduleOf, RunsOfOneEntryIsCutForTasks) {
  const Array source(STREW_FLOAT32, RowMajor({2 * kRows, 1000}));
  const Array output(STREW_FLOAT32, RowMajor({1, 1000}));
  const GatherLoops loops(*Entries(1, 1, 2 * kRows), *ViewOf(source.tensor()), 0,
                          *ViewOf(output.tensor()));
  EXPECT_EQ(loops.CutInto(8, GatherLoops::Cuts::kAll).parts(), 8);
  EXPECT_EQ(loops.CutInto(8, GatherLoops::Cuts::kNoRuns).parts(), 1);
}

// Three of four float32 of each of 50 rows.
class GatherOfShortRows : public PlanScheduleOf {
 protected:
  static constexpr int64_t kRow = 4, kTaken = 3;

  Way WayOf(const Dims& source_strides, const Dims& output_strides) const {
    const Array source(STREW_FLOAT32, {{kRows, kRow}, source_strides});
    const Array output(STREW_FLOAT32, {{kRows, kTaken}, output_strides});
    const auto plan = Entries(kTaken, kTaken, kRow);
    const GatherLoops loops(*plan, *ViewOf(source.tensor()), 1, *ViewOf(output.tensor()));
    return ScheduleGather(machine(), *plan, loops).way;
  }
  Way WayOfContiguous() const { return WayOf({kRow, 1}, {kTaken, 1}); }
};

TEST_F(GatherOfShortRows, EnoughContiguousRowsIsByShuffles) {
  tuning_.least_shuffled = kRows * kTaken;
  tuning_.longest_shuffled_row = 4 * kRow;
  EXPECT_EQ(WayOfContiguous(), Way::kShuffles);
  EXPECT_NE(WayOf({kRow + 1, 1}, {kTaken, 1}), Way::kShuffles)
      << "nothing may be read between rows";
  EXPECT_NE(WayOf({1, kRows}, {kTaken, 1}), Way::kShuffles);
  EXPECT_NE(WayOf({kRow, 1}, {kTaken + 1, 1}), Way::kShuffles);
  EXPECT_NE(WayOf({kRow, 1}, {1, kRows}), Way::kShuffles);
  ++tuning_.least_shuffled;
  EXPECT_NE(WayOfContiguous(), Way::kShuffles);
  tuning_.least_shuffled = 0;
  --tuning_.longest_shuffled_row;
  EXPECT_NE(WayOfContiguous(), Way::kShuffles);
}

// Three entries of scatter_elements beside the axis, whose turns are rows: they name elements of
// different lines.
TEST_F(GatherOfShortRows, EntriesOfSeveralLinesIsByNoShuffles) {
  tuning_.least_shuffled = 0;
  const auto plan = Entries(kTaken, kTaken, kRow);
  NameElements({1, kTaken, kRows}, plan.get());
  plan->is_inner[2] = true;
  const auto way_of = [&](int64_t line) {
    const Array source(STREW_FLOAT32, {{kRow, kTaken, kRows}, {1, line, kRow}});
    const Array output(STREW_FLOAT32, {{1, kTaken, kRows}, {kTaken * kRows, 1, kTaken}});
    const GatherLoops loops(*plan, *ViewOf(source.tensor()), 0, *ViewOf(output.tensor()));
    return ScheduleGather(machine(), *plan, loops).way;
  };
  EXPECT_EQ(way_of(0), Way::kShuffles);
  EXPECT_NE(way_of(kRow * kRows), Way::kShuffles);
}

// Two slices of 50 rows of three float32, with a gap behind each row of the source.
class GatherOfShortLoops : public PlanScheduleOf {
 protected:
  static constexpr int64_t kSlices = 2, kRow = 3;

  static PlanContents Slices() {
    PlanContents plan = Entries(kSlices * kRows * kRow, kSlices * kRows * kRow, kSlices);
    NameElements({kSlices, kRows, kRow}, plan.get());
    return plan;
  }
  Way WayOf(const PlanContents& plan, const Dims& output_strides) const {
    const Array source(STREW_FLOAT32, {{kSlices, kRows, kRow}, {4 * kRows, 4, 1}});
    const Array output(STREW_FLOAT32, {{kSlices, kRows, kRow}, output_strides});
    const GatherLoops loops(*plan, *ViewOf(source.tensor()), 0, *ViewOf(output.tensor()));
    return ScheduleGather(machine(), *plan, loops).way;
  }
  Way WayOfContiguous() const { return WayOf(Slices(), {kRows * kRow, kRow, 1}); }
};

TEST_F(GatherOfShortLoops, NearElementsOfShortRowsAreTakenAsOne) {
  tuning_.longest_gathered_loop = kRow;
  EXPECT_EQ(WayOfContiguous(), Way::kShortLoops);
  EXPECT_NE(WayOf(Slices(), {4 * kRows, 4, 1}), Way::kShortLoops) << "rows of output lie apart";
  PlanContents drops = Slices();
  DropOne(drops.get());
  EXPECT_NE(WayOf(drops, {kRows * kRow, kRow, 1}), Way::kShortLoops);
  tuning_.cache_bytes = 1;
  EXPECT_NE(WayOfContiguous(), Way::kShortLoops);
  tuning_.cache_bytes = kHuge;
  --tuning_.longest_gathered_loop;
  EXPECT_NE(WayOfContiguous(), Way::kShortLoops);
}

TEST_F(GatherOfShortLoops, InAnotherOrderInTheOutputFewOfThemAreTakenAsOne) {
  const auto way = [&] { return WayOf(Slices(), {kRow, kSlices * kRow, 1}); };
  const auto transposed = [&] { return WayOf(Slices(), {1, kSlices, kSlices * kRows}); };
  tuning_.most_gathered_apart = kRows * kRow;
  EXPECT_EQ(transposed(), Way::kShortLoops);
  EXPECT_NE(way(), Way::kShortLoops) << "rows are in order";
  --tuning_.most_gathered_apart;
  EXPECT_NE(transposed(), Way::kShortLoops);
}

TEST_F(GatherOfShortLoops, AlongTheAxisShorterOnesAreTakenAsOne) {
  PlanContents plan = Entries(kRows * kRow, kRows * kRow, 4);
  NameElements({kRows, kRow}, plan.get());
  plan->axis = 1;
  const Array source(STREW_FLOAT32, {{kRows, 4}, {4, 1}});
  const Array output(STREW_FLOAT32, {{kRows, kRow}, {kRow, 1}});
  const GatherLoops loops(*plan, *ViewOf(source.tensor()), 1, *ViewOf(output.tensor()));
  tuning_.longest_gathered_line = kRow;
  EXPECT_EQ(ScheduleGather(machine(), *plan, loops).way, Way::kShortLoops);
  --tuning_.longest_gathered_line;
  EXPECT_NE(ScheduleGather(machine(), *plan, loops).way, Way::kShortLoops);
}

// Entries of eight rows of six float32, by default in rows of eight.
class GatherOfBoxes : public PlanScheduleOf {
 protected:
  static constexpr int64_t kEntry = kColumns * 6;

  Way WayOf(const Dims& source_strides, const Dims& output_strides) const {
    const Array source(STREW_FLOAT32, {{2 * kRows, kColumns, 6}, source_strides});
    const Array output(STREW_FLOAT32, {{kRows, kColumns, 6}, output_strides});
    const GatherLoops loops(*Entries(kRows, kRows, 2 * kRows), *ViewOf(source.tensor()), 0,
                            *ViewOf(output.tensor()));
    return ScheduleGather(machine(), *Entries(kRows), loops).way;
  }
};

TEST_F(GatherOfBoxes, LargeEntriesIsByThem) {
  const Dims rows = {kEntry, 6, 1}, apart = {kColumns * 16, 16, 2};
  tuning_.least_gathered_box = 4 * kEntry;
  EXPECT_EQ(WayOf(rows, apart), Way::kBoxes);
  EXPECT_EQ(WayOf(rows, rows), Way::kRuns);
  ++tuning_.least_gathered_box;
  EXPECT_EQ(WayOf(rows, apart), Way::kRows);
}

TEST_F(GatherOfBoxes, FarEntriesThatShareLinesIsByRows) {
  const Dims rows = {kEntry, 6, 1}, apart = {kColumns * 16, 16, 2};
  tuning_.least_gathered_box = 1;
  // Entries between elements of others, 6 or 12 elements apart, or a line of 16.
  const Dims source = {6, 6 * 2 * kRows, 1}, output = {12, 12 * kRows, 2};
  tuning_.near_gathered = 4 * kEntry * 2 * kRows;
  EXPECT_EQ(WayOf(source, apart), Way::kBoxes);
  EXPECT_EQ(WayOf(rows, output), Way::kBoxes);
  tuning_.near_gathered = 4 * kEntry * kRows - 1;
  EXPECT_EQ(WayOf(rows, apart), Way::kBoxes);
  EXPECT_NE(WayOf(source, apart), Way::kBoxes);
  EXPECT_NE(WayOf({6, 6 * 2 * kRows, 1}, output), Way::kBoxes);
  EXPECT_NE(WayOf(rows, output), Way::kBoxes);
  EXPECT_EQ(WayOf({16, 16 * 2 * kRows, 1}, apart), Way::kBoxes);
  EXPECT_EQ(WayOf(rows, {16, 16 * kRows, 2}), Way::kBoxes);
}

TEST_F(GatherScheduleOf, FarSourcesPrefetches) {
  GatherLoops loops = InRows();
  tuning_.row_prefetch_bytes = 320;
  tuning_.cache_bytes = loops.source_bytes;
  EXPECT_EQ(Of(loops).prefetch, 0);
  --tuning_.cache_bytes;
  EXPECT_EQ(Of(loops).prefetch, 10);
  tuning_.row_prefetch_bytes = kHuge;
  tuning_.element_prefetch = kHuge;
  EXPECT_EQ(Of(loops).prefetch, strew::prepared::kMostGatherAhead);
}

// The row of one place is read again and again, the rows of batches are not.
TEST_F(GatherScheduleOf, OnePlacePrefetchesNothing) {
  const GatherLoops loops = InRows();
  tuning_.cache_bytes = loops.source_bytes - 1;
  const auto plan = Entries(kRows);
  plan->names_one_place = true;
  EXPECT_EQ(ScheduleGather(machine(), *plan, loops).prefetch, 0);
  GatherLoops batches = loops;
  batches.column.stride[strew::prepared::kGatheredSource] = kColumns;
  EXPECT_NE(ScheduleGather(machine(), *plan, batches).prefetch, 0);
}

// Elements along an axis of three, whose entries turn along contiguous rows.
TEST_F(GatherScheduleOf, ElementsOfFewRowsPrefetchesNothing) {
  constexpr int64_t kPlaces = 3;
  const auto plan = Entries(kRows, kRows, kPlaces);
  NameElements({1, kRows}, plan.get());
  tuning_.cache_bytes = 1;
  tuning_.most_gathered_rows = kPlaces;
  const auto prefetch_of = [&](const Dims& source_strides) {
    const Array source(STREW_FLOAT32, {{kPlaces, kRows}, source_strides});
    const Array output(STREW_FLOAT32, RowMajor({1, kRows}));
    const GatherLoops loops(*plan, *ViewOf(source.tensor()), 0, *ViewOf(output.tensor()));
    return ScheduleGather(machine(), *plan, loops).prefetch;
  };
  EXPECT_EQ(prefetch_of({kRows, 1}), 0);
  EXPECT_NE(prefetch_of({2 * kRows, 2}), 0);
  EXPECT_NE(prefetch_of({1, kPlaces}), 0);
  --tuning_.most_gathered_rows;
  EXPECT_NE(prefetch_of({kRows, 1}), 0);
}

TEST_F(GatherScheduleOf, LongRowsStreamsThoseThatFillTheCache) {
  GatherLoops loops = InRows();
  tuning_.least_streamed_row = loops.run.count * loops.units.width;
  tuning_.streamed_part = 0.5;
  tuning_.cache_bytes = 2 * loops.output_bytes;
  EXPECT_TRUE(Of(loops).streams);
  tuning_.cache_bytes += 2;
  EXPECT_FALSE(Of(loops).streams);
  tuning_.streamed_part = 0;
  EXPECT_TRUE(Of(loops).streams);
  EXPECT_FALSE(Of(Loops({kColumns, 1}, {2 * kColumns, 2})).streams);
  ++tuning_.least_streamed_row;
  EXPECT_FALSE(Of(loops).streams);
  tuning_.least_streamed_row = 1;
  EXPECT_TRUE(Of(Loops({1, 2 * kRows}, {kColumns + 1, 1})).streams);
  tuning_.near_group_turns = kColumns - 1;
  EXPECT_FALSE(Of(Loops({1, 2 * kRows}, {kColumns + 1, 1})).streams) << "in pieces";
}

TEST_F(GatherScheduleOf, RowsHasATaskForEnoughOfThem) {
  Have(8);
  tuning_.ns_of_gathered_entry = 8;
  tuning_.ns_of_gathered_byte = 1;
  const PlanSchedule schedule = Of(InRows());
  EXPECT_EQ(schedule.pass.nanoseconds, 2000);
  EXPECT_EQ(schedule.pass.tasks, 2);
  EXPECT_EQ(schedule.pass.parts, 2);
  tuning_.ns_of_gathered_entry = 7;
  EXPECT_EQ(Of(InRows()).pass.tasks, 1);
}

// Each of the eight elements of a row is read and written.
TEST_F(GatherScheduleOf, RowsCountStridedElements) {
  tuning_.ns_of_gathered_byte = 1;
  tuning_.ns_of_strided_element = 3;
  EXPECT_EQ(Of(InRows()).pass.nanoseconds, kRows * 8 * 4);
  EXPECT_EQ(Of(Loops({1, 2 * kRows}, {kColumns, 1})).pass.nanoseconds, kRows * 8 * 6);
  tuning_.ns_of_strided_element = 1;
  EXPECT_EQ(Of(Loops({1, 2 * kRows}, {kColumns, 1})).pass.nanoseconds, kRows * 8 * 4);
}

}  // namespace
}  // namespace strew_test
