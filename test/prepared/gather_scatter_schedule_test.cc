// SPDX-License-Identifier: Apache-2.0
//
// Every decision of the schedule of a gather_scatter, at its threshold and beside it, by a tuning
// of round numbers.
#include "prepared/schedule.h"

#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "prepared/plan_schedules.h"

namespace strew_test {
namespace {

using strew::prepared::GatherScatterFacts;
using strew::prepared::Passing;
using strew::prepared::PlanSchedule;
using strew::prepared::SingleFacts;
using strew::prepared::Way;

constexpr int64_t kLine = 64;

// float32, one batch of single elements.
class GatherScatterScheduleOf : public PlanScheduleOf {
 protected:
  GatherScatterScheduleOf() {
    facts_.dtype = STREW_FLOAT32;
    facts_.element_size = facts_.sum_bytes = 4;
    facts_.elements = kHuge;
    facts_.entry_elements = facts_.units = 1;
    facts_.has_slices = facts_.weighs_rows = false;
    facts_.row_elements = 1;
    singles_.places_are_lines = true;
    singles_.place_span = 4000;
    singles_.source_span = 0;
    singles_.nest.Append(100, 1, 1, 0, 0, 0);
    tuning_.tasks_of_passed_part = 1;
  }

  PlanSchedule Of(strew_reduction reduction) const {
    const SingleFacts* const singles =
        MayGoByEntries(machine(), *from_, *to_, facts_, reduction) ? &singles_ : nullptr;
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
  facts_.units = 2;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

// Rows of `length` elements, or turns outside the entries if the loops are exchanged.
class GatherScatterOfRows : public GatherScatterScheduleOf {
 protected:
  void Have(int64_t length) {
    facts_.row_elements = facts_.entry_elements = length;
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
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kRows);
  ++facts_.row_elements;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  facts_.row_elements = 4;
  facts_.has_weights = false;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(WayOf(STREW_ADD | STREW_EXCLUDE_SELF), Way::kByEntries);
}

TEST_F(GatherScatterOfRows, RowsOfOneBlockIsInRows) {
  tuning_.longest_passed_row = kHuge;
  Have(strew::prepared::kPassBlock);
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kRows);
  ++singles_.nest.loop[1].count;
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kLines);
}

TEST_F(GatherScatterOfRows, TurnsOutsideEntriesIsByEntries) {
  tuning_.longest_passed_row = 4;
  Have(4);
  std::swap(singles_.nest.loop[0], singles_.nest.loop[1]);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kLines);
}

// Slices outside the entries.
class GatherScatterOfSlices : public GatherScatterScheduleOf {
 protected:
  GatherScatterOfSlices() {
    tuning_.slices_area = 1600;
    tuning_.least_slices = 2;
    tuning_.most_slices = 8;
    tuning_.most_passed_slices = 4;
    tuning_.most_passed_slices_of_moves = 3;
    tuning_.most_passed_slices_of_repeats = 2;
    tuning_.least_repeats_of_moves = 4;
    tuning_.least_repeats_in_order = 10;
    tuning_.least_sliced_elements = 0;
  }
  void Have(int64_t slices, double bytes) {
    facts_.has_slices = true;
    facts_.slices = facts_.entry_elements = slices;
    facts_.slice_bytes = bytes;
  }
};

TEST_F(GatherScatterOfSlices, ManyIsInOrder) {
  Have(4, 0);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  Have(5, 0);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

TEST_F(GatherScatterOfSlices, LongOnesIsByEntries) {
  Have(100, 100);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  Have(100, 64);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

TEST_F(GatherScatterOfSlices, RepeatedMovesIsInOrder) {
  Have(4, 0);
  to_ = Entries(100, 51, 101);
  EXPECT_EQ(WayOf(STREW_NONE), Way::kByEntries);
  to_ = Entries(100, 50, 101);
  EXPECT_EQ(WayOf(STREW_NONE), Way::kInOrder);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  Have(3, 0);
  EXPECT_EQ(WayOf(STREW_NONE), Way::kByEntries);
}

TEST_F(GatherScatterOfSlices, MovesWithManyRepeatsIsInOrder) {
  Have(3, 0);
  to_ = Entries(100, 26, 101);
  EXPECT_EQ(WayOf(STREW_NONE), Way::kByEntries);
  to_ = Entries(100, 25, 101);
  EXPECT_EQ(WayOf(STREW_NONE), Way::kInOrder);
  Have(2, 0);
  EXPECT_EQ(WayOf(STREW_NONE), Way::kByEntries);
}

TEST_F(GatherScatterOfSlices, RepeatedSumsIsInOrder) {
  Have(3, 0);
  to_ = Entries(100, 11, 101);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  to_ = Entries(100, 10, 101);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  ASSERT_TRUE(to_->order.Allocate(100, 1));
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
}

TEST_F(GatherScatterOfSlices, WeightedRowsIsInOrder) {
  Have(3, 0);
  facts_.has_weights = true;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  facts_.weighs_rows = true;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

TEST_F(GatherScatterOfSlices, DroppedEntriesIsInOrder) {
  Have(3, 0);
  DropOne(to_.get());
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
}

TEST_F(GatherScatterOfSlices, ShuffledMovesIsInOrder) {
  Have(4, 0);
  ASSERT_TRUE(to_->order.Allocate(100, 1));
  EXPECT_EQ(WayOf(STREW_NONE), Way::kInOrder);
  Have(3, 0);
  EXPECT_EQ(WayOf(STREW_NONE), Way::kByEntries);
  Have(4, 0);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
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

// Accumulators of 12 bytes for batches of 100 elements, each with 50 updates.
class GatherScatterOfBatches : public GatherScatterScheduleOf {
 protected:
  static constexpr int64_t kFitting = (2 << 20) / 12 / 100;  // batches

  void Have(int64_t batches) {
    facts_.sum_bytes = 8;
    facts_.slot_bytes = 12;
    facts_.elements = 100 * batches;
    singles_.place_span = 4 * 99;
    singles_.nest = {};
    singles_.nest.Append(batches, 50, 50, 10, 100, 0);
    singles_.nest.Append(50, 1, 1, 0, 0, 0);
    from_ = Entries(50 * batches);
    to_ = Entries(50 * batches);
  }
};

TEST_F(GatherScatterOfBatches, MeansIsBySumsOfParts) {
  Have(kFitting);
  for (const strew_reduction reduction : {STREW_MEAN | 0, STREW_ADD | STREW_WIDE}) {
    const PlanSchedule schedule = Of(reduction);
    EXPECT_EQ(schedule.way, Way::kByEntries);
    EXPECT_EQ(schedule.reduction, reduction);
    EXPECT_FALSE(schedule.divides);
    EXPECT_EQ(schedule.entries.summed_turns, kFitting);
    EXPECT_EQ(schedule.summed_elements, 100 * kFitting);
  }
  EXPECT_EQ(Of(STREW_ADD).summed_elements, 0);
  Have(10 * kFitting);
  EXPECT_EQ(Of(STREW_MEAN).entries.summed_turns, kFitting);
  EXPECT_EQ(Of(STREW_MEAN).summed_elements, 100 * kFitting);
  facts_.slot_bytes = 0;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
}

TEST_F(GatherScatterOfBatches, LargeOnesIsInOrder) {
  Have(2);
  facts_.elements = 2 * ((2 << 20) / 12);
  singles_.nest.loop[0].stride[strew::prepared::kOutput] = facts_.elements / 2;
  tuning_.most_summed_elements = kHuge;
  EXPECT_EQ(Of(STREW_MEAN).entries.summed_turns, 1);
  ++singles_.nest.loop[0].stride[strew::prepared::kOutput];
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
  singles_.nest.loop[0].stride[strew::prepared::kOutput] = 0;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder) << "batches share destinations";
}

// Places, and turns of inner loops, that lie a turn of the outermost loop apart.
TEST_F(GatherScatterOfBatches, CommonRangesIsInOrder) {
  Have(2 * kFitting);
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kByEntries);
  singles_.place_span = 4 * 100;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
  singles_.place_span = 4 * 50;
  singles_.nest.loop[1].stride[strew::prepared::kOutput] = 1;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kByEntries);
  ++singles_.place_span;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kByEntries) << "less than an element";
  singles_.place_span = 4 * 51;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
}

TEST_F(GatherScatterOfBatches, FewUpdatesIsInOrder) {
  Have(4);
  tuning_.most_summed_elements = 2;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kByEntries);
  ++facts_.elements;
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
}

TEST_F(GatherScatterOfBatches, DroppedOrLongOnesIsInOrder) {
  Have(4);
  tuning_.ns_of_passed_entry = 10;
  PlanScheduleOf::Have(2);
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder) << "two tasks";
  PlanScheduleOf::Have(1);
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kByEntries);
  DropOne(to_.get());
  EXPECT_EQ(WayOf(STREW_MEAN), Way::kInOrder);
}

TEST_F(GatherScatterScheduleOf, FarSourceAndDestinationsIsInOrder) {
  tuning_.far_pass_part = 0.25;
  tuning_.cache_bytes = 4 * 99 * kLine;
  singles_.place_span = 98 * kLine;
  singles_.source_span = kLine + 1;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries) << "all places ascend";
  ASSERT_TRUE(to_->order.Allocate(100, 1));
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries) << "the places of the source ascend";
  ASSERT_TRUE(from_->order.Allocate(100, 1));
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  facts_.has_weights = true;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  facts_.has_weights = false;
  singles_.source_span = kLine;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  tuning_.cache_bytes = 4 * 100 * kLine;
  singles_.place_span = kHuge;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
}

TEST_F(GatherScatterScheduleOf, ManyAscendingEntriesIsInPartsOfDestinations) {
  Have(4);
  tuning_.ns_of_passed_entry = 40;
  tuning_.parts_of_task = 3;
  to_ = Entries(100, 12, 1000);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(Of(STREW_ADD).pass.parts, 12);
  to_ = Entries(100, 4, 1000);
  EXPECT_EQ(Of(STREW_ADD).pass.parts, 4);
  to_ = Entries(100, 3, 1000);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  to_ = Entries(101, 12, 1000);
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder) << "the loop has some of the entries";
}

TEST_F(GatherScatterScheduleOf, ManyEntriesIsInOrderUnlessBatchesAreEnoughForTasks) {
  Have(4);
  ASSERT_TRUE(to_->order.Allocate(100, 1));
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

TEST_F(GatherScatterScheduleOf, FewerPartsThanTasksIsByEntriesIfOrderCostsMore) {
  Have(6);
  ASSERT_TRUE(to_->order.Allocate(100, 1));
  tuning_.ns_of_passed_entry = 60;
  tuning_.tasks_of_passed_part = 5;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  tuning_.tasks_of_passed_part = 6;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(Of(STREW_ADD).pass.tasks, 1);
  singles_.places_are_lines = false;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder) << "entries are gathered";
  singles_.places_are_lines = true;
  tuning_.cache_bytes = 3999;
  tuning_.far_pass_part = 2;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder) << "destinations are far";
  tuning_.cache_bytes = 4000;
  singles_.nest = {};
  singles_.nest.Append(3, 33, 33, 10, 10, 0);
  singles_.nest.Append(33, 1, 1, 0, 0, 0);
  tuning_.tasks_of_passed_part = 1;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder);
  tuning_.tasks_of_passed_part = 2;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kByEntries);
  EXPECT_EQ(Of(STREW_ADD).pass.tasks, 3);
}

TEST_F(GatherScatterScheduleOf, BatchesWithinEntriesIsCutIntoRowsOfTasks) {
  Have(4);
  tuning_.ns_of_passed_entry = 40;
  tuning_.parts_of_task = 2;
  singles_.nest = {};
  singles_.nest.Append(3, 1000, 1000, 1000, 1000, 0);
  singles_.nest.Append(50, 10, 10, 0, 0, 0);
  singles_.nest.Append(128 * 8, 0, 0, 1, 1, 0);
  EXPECT_EQ(Of(STREW_ADD).entries.cut, 2);
  EXPECT_EQ(Of(STREW_ADD).pass.parts, 8);
  singles_.nest.loop[2].count = 128 * 4;
  EXPECT_EQ(Of(STREW_ADD).pass.parts, 4);
  --singles_.nest.loop[2].count;
  EXPECT_EQ(WayOf(STREW_ADD), Way::kInOrder) << "rows of parts are short";
  singles_.nest.loop[0].count = 4;
  EXPECT_EQ(Of(STREW_ADD).entries.cut, 0);
  EXPECT_EQ(Of(STREW_ADD).pass.parts, 4);
}

TEST_F(GatherScatterScheduleOf, BatchesWithinEntriesIsInBlocks) {
  singles_.nest = {};
  singles_.nest.Append(10, 1000, 1000, 0, 0, 0);
  singles_.nest.Append(1000, 1, 1, 1, 1, 0);
  tuning_.pass_block = 4 * 10 * 300;
  EXPECT_EQ(Of(STREW_ADD).entries.blocks.loop, 1);
  EXPECT_EQ(Of(STREW_ADD).entries.blocks.turns, 300);
  tuning_.pass_block = 1;
  EXPECT_EQ(Of(STREW_ADD).entries.blocks.turns, strew::prepared::kPassBlock);
  singles_.nest.loop[1].count = strew::prepared::kPassBlock;
  EXPECT_EQ(Of(STREW_ADD).entries.blocks.loop, -1);
  singles_.nest.loop[1].count = 1000;
  singles_.nest.loop[0].stride[strew::prepared::kOutput] = 1000;
  EXPECT_EQ(Of(STREW_ADD).entries.blocks.loop, -1);
}

TEST_F(GatherScatterScheduleOf, DestinationsBeyondNearCachesPrefetches) {
  tuning_.cache_bytes = 4000;
  EXPECT_FALSE(Of(STREW_ADD).entries.fetches_output);
  --tuning_.cache_bytes;
  EXPECT_TRUE(Of(STREW_ADD).entries.fetches_output);
}

TEST_F(GatherScatterScheduleOf, EntriesInARowIsInLines) {
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kLines);
  singles_.nest.loop[0].stride[strew::prepared::kFromEntry] = 0;
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kLines);
  singles_.nest.loop[0].stride[strew::prepared::kFromEntry] = 2;
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kGathered);
  singles_.nest.rank = 0;
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kLines);
  singles_.places_are_lines = false;
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kGathered);
  singles_.places_are_lines = true;
  DropOne(to_.get());
  EXPECT_EQ(Of(STREW_ADD).entries.passing, Passing::kGathered);
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
