// SPDX-License-Identifier: Apache-2.0
//
// Every decision of the schedule of a gather, and of a gather_scatter, at its threshold and beside
// it, by a tuning of round numbers.
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
using strew::prepared::GatherScatterFacts;
using strew::prepared::PlanSchedule;
using strew::prepared::SingleFacts;
using strew::prepared::Way;

// ---- Gather ----

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
}

TEST_F(GatherScheduleOf, RowsApartInTheOutputIsByRows) {
  EXPECT_EQ(Of(Loops({kColumns, 1}, {2 * kColumns, 2})).way, Way::kRows);
}

TEST_F(GatherScheduleOf, RunsWithCommonLinesIsInPieces) {
  tuning_.near_group_turns = kColumns - 1;
  const PlanSchedule pieces = Of(Loops({1, 2 * kRows}, {kColumns + 1, 1}));
  EXPECT_TRUE(pieces.has_pieces);
  EXPECT_EQ(pieces.piece, kColumns - 1);
  // Each run has lines of its own, or uses all of their elements.
  EXPECT_FALSE(Of(Loops({kColumns * 16, 16}, {kColumns + 1, 1})).has_pieces);
  EXPECT_FALSE(Of(Loops({15, 1}, {2 * kColumns, 2})).has_pieces);
  tuning_.near_group_turns = kColumns;
  const PlanSchedule whole = Of(Loops({1, 2 * kRows}, {kColumns + 1, 1}));
  EXPECT_FALSE(whole.has_pieces);
  EXPECT_EQ(whole.piece, kColumns);
}

TEST_F(GatherScheduleOf, RunsOfOneEntryIsCutForTasks) {
  const Array source(STREW_FLOAT32, RowMajor({2 * kRows, 1000}));
  const Array output(STREW_FLOAT32, RowMajor({1, 1000}));
  const GatherLoops loops(*Entries(1, 1, 2 * kRows), *ViewOf(source.tensor()), 0,
                          *ViewOf(output.tensor()));
  EXPECT_EQ(loops.CutInto(8, /*cuts_runs=*/true).parts(), 8);
  EXPECT_EQ(loops.CutInto(8, /*cuts_runs=*/false).parts(), 1);
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

TEST_F(GatherOfBoxes, EntriesBetweenElementsOfOthersIsByRows) {
  const Dims rows = {kEntry, 6, 1}, apart = {kColumns * 16, 16, 2};
  tuning_.least_gathered_box = 1;
  EXPECT_EQ(WayOf(rows, apart), Way::kBoxes);
  EXPECT_EQ(WayOf({6, 6 * 2 * kRows, 1}, apart), Way::kRows);
  EXPECT_EQ(WayOf(rows, {16, 16 * kRows, 2}), Way::kRows);
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

TEST_F(GatherScheduleOf, LongRowsStreamsThoseThatFillTheCache) {
  GatherLoops loops = InRows();
  tuning_.least_streamed_row = loops.RunBytes();
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

// ---- Gather and scatter ----

constexpr int64_t kLine = 64;

// float32, one batch of single elements.
class GatherScatterScheduleOf : public PlanScheduleOf {
 protected:
  GatherScatterScheduleOf() {
    facts_.dtype = STREW_FLOAT32;
    facts_.element_size = facts_.sum_bytes = facts_.run_bytes = 4;
    facts_.elements = kHuge;
    facts_.entry_elements = facts_.units = 1;
    facts_.has_rows = facts_.has_turns = false;
    singles_.places_are_lines = true;
    singles_.place_span = 4000;
    singles_.nest.Append(100, 1, 1, 0, 0, 0);
  }

  PlanSchedule Of(strew_reduction reduction) const {
    const SingleFacts* const singles =
        MayGoByEntries(machine(), *from_, facts_, reduction) ? &singles_ : nullptr;
    return ScheduleGatherScatter(machine(), *from_, *to_, facts_, singles, reduction);
  }
  Way WayOf(strew_reduction reduction) const { return Of(reduction).way; }

  PlanContents from_ = Entries(100);
  PlanContents to_ = Entries(100);
  GatherScatterFacts facts_;
  SingleFacts singles_;
};

TEST_F(GatherScatterScheduleOf, ElementsIsByEntries) {
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(WayOf(STREW_ADD | STREW_WIDE), Way::kInOrder);
  facts_.has_turns = true;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  facts_.units = 2;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

// Rows of `length` elements, or turns outside the entries if the loops are exchanged.
class GatherScatterOfRows : public GatherScatterScheduleOf {
 protected:
  void Have(int64_t length) {
    facts_.has_rows = true;
    facts_.entry_elements = length;
    singles_.nest.Append(length, 0, 0, 1, 1, 1);
  }
};

TEST_F(GatherScatterOfRows, ShortOnesIsByEntries) {
  tuning_.longest_passed_row = 4;
  tuning_.longest_passed_weighted_row = 5;
  Have(5);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  facts_.has_weights = true;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_TRUE(Of(STREW_ADD).in_rows);
  ++facts_.entry_elements;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  facts_.entry_elements = 4;
  facts_.has_weights = false;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(WayOf(STREW_ADD | STREW_EXCLUDE_SELF), Way::kInOrder);
}

TEST_F(GatherScatterOfRows, TurnsOutsideEntriesIsByEntries) {
  tuning_.longest_passed_row = 4;
  Have(4);
  std::swap(singles_.nest.loop[0], singles_.nest.loop[1]);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_FALSE(Of(STREW_ADD).in_rows);
  EXPECT_TRUE(Of(STREW_ADD).in_lines);
}

TEST_F(GatherScatterOfRows, DroppedEntriesIsInOrder) {
  tuning_.longest_passed_row = 4;
  Have(4);
  singles_.places_are_lines = false;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  singles_.places_are_lines = true;
  DropOne(to_.get());
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

TEST_F(GatherScatterOfRows, ManyElementsIsInOrderUnlessOneTaskHasThem) {
  GatherScatterScheduleOf::Have(4);
  tuning_.longest_passed_row = 4;
  Have(4);
  tuning_.ns_of_passed_entry = 5;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  tuning_.ns_of_passed_entry = 4.9;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
}

TEST_F(GatherScatterScheduleOf, NewSumsIsByEntriesIfAnIdentityCanBeStoredOnce) {
  EXPECT_EQ(WayOf(STREW_ADD | STREW_EXCLUDE_SELF), Way::kByEntries);
  EXPECT_EQ(WayOf(STREW_SUB | STREW_EXCLUDE_SELF), Way::kInOrder);
  facts_.has_turns = true;
  EXPECT_EQ(WayOf(STREW_ADD | STREW_EXCLUDE_SELF), Way::kInOrder);
  facts_.has_turns = false;
  DropOne(from_.get());
  EXPECT_EQ(WayOf(STREW_ADD | STREW_EXCLUDE_SELF), Way::kInOrder);
}

TEST_F(GatherScatterScheduleOf, MeansIsBySumsIfTheseAreElements) {
  const PlanSchedule schedule = Of(STREW_MEAN);
  EXPECT_EQ(schedule.way, Way::kByEntries);
  EXPECT_TRUE(schedule.divides);
  EXPECT_EQ(schedule.reduction, STREW_ADD);
  facts_.sum_bytes = 8;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
  EXPECT_EQ(Of(STREW_MEAN).reduction, STREW_MEAN);
  EXPECT_FALSE(Of(STREW_MEAN).divides);
  facts_.sum_bytes = 4;
  DropOne(from_.get());
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
}

TEST_F(GatherScatterScheduleOf, FarDestinationsIsInOrder) {
  tuning_.far_pass_part = 0.25;
  tuning_.cache_bytes = 4 * 99 * kLine;
  singles_.place_span = 99 * kLine + 1;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  facts_.has_weights = true;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  facts_.has_weights = false;
  singles_.place_span = 99 * kLine;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  tuning_.cache_bytes = 4 * 100 * kLine;
  singles_.place_span = kHuge;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
}

TEST_F(GatherScatterScheduleOf, ManyEntriesIsInOrderUnlessBatchesAreEnoughForTasks) {
  Have(4);
  tuning_.ns_of_passed_entry = 20;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  tuning_.ns_of_passed_entry = 19;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  tuning_.ns_of_passed_entry = 40;
  singles_.nest = {};
  singles_.nest.Append(4, 25, 25, 10, 10, 0);
  singles_.nest.Append(25, 1, 1, 0, 0, 0);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(Of(STREW_ADD).pass.parts, 4);
  singles_.nest.loop[0].count = 3;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

TEST_F(GatherScatterScheduleOf, BatchesWithinEntriesIsInBlocks) {
  singles_.nest = {};
  singles_.nest.Append(10, 1000, 1000, 0, 0, 0);
  singles_.nest.Append(1000, 1, 1, 1, 1, 0);
  tuning_.pass_block = 4 * 10 * 300;
  EXPECT_EQ(Of(STREW_ADD).blocks.loop, 1);
  EXPECT_EQ(Of(STREW_ADD).blocks.turns, 300);
  tuning_.pass_block = 1;
  EXPECT_EQ(Of(STREW_ADD).blocks.turns, strew::prepared::kPassBlock);
  singles_.nest.loop[1].count = strew::prepared::kPassBlock;
  EXPECT_EQ(Of(STREW_ADD).blocks.loop, -1);
  singles_.nest.loop[1].count = 1000;
  singles_.nest.loop[0].stride[strew::prepared::kOutput] = 1000;
  EXPECT_EQ(Of(STREW_ADD).blocks.loop, -1);
}

TEST_F(GatherScatterScheduleOf, DestinationsBeyondNearCachesPrefetches) {
  tuning_.cache_bytes = 4000;
  EXPECT_FALSE(Of(STREW_ADD).fetches_output);
  --tuning_.cache_bytes;
  EXPECT_FALSE(Of(STREW_ADD).way == Way::kByEntries);
  tuning_.far_pass_part = 2;
  EXPECT_TRUE(Of(STREW_ADD).fetches_output);
}

TEST_F(GatherScatterScheduleOf, EntriesInARowIsInLines) {
  EXPECT_TRUE(Of(STREW_ADD).in_lines);
  singles_.nest.loop[0].stride[strew::prepared::kFromEntry] = 0;
  EXPECT_TRUE(Of(STREW_ADD).in_lines);
  singles_.nest.loop[0].stride[strew::prepared::kFromEntry] = 2;
  EXPECT_FALSE(Of(STREW_ADD).in_lines);
  singles_.nest.rank = 0;
  EXPECT_TRUE(Of(STREW_ADD).in_lines);
  singles_.places_are_lines = false;
  EXPECT_FALSE(Of(STREW_ADD).in_lines);
  singles_.places_are_lines = true;
  DropOne(to_.get());
  EXPECT_FALSE(Of(STREW_ADD).in_lines);
}

TEST_F(GatherScatterScheduleOf, WholeOutputsCopiesNoDataUnlessEntriesAreDropped) {
  facts_.elements = 100;
  EXPECT_FALSE(Of(STREW_NONE).copies_data);
  EXPECT_TRUE(Of(STREW_ADD).copies_data);
  DropOne(from_.get());
  EXPECT_TRUE(Of(STREW_NONE).copies_data);
}

}  // namespace
}  // namespace strew_test
