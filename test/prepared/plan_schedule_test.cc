// SPDX-License-Identifier: Apache-2.0
//
// Every decision of the schedule of a scatter with a plan, at its threshold and beside it, by a
// tuning of round numbers.
#include "prepared/schedule.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "prepared/element_order.h"
#include "prepared/plan_schedules.h"

namespace strew_test {
namespace {

using strew::plan::MostScratch;
using strew::prepared::PlanSchedule;
using strew::prepared::ScatterFacts;
using strew::prepared::Way;

// float32 in rows of one element, of which some are not updated.
class ScatterScheduleOf : public PlanScheduleOf {
 protected:
  ScatterScheduleOf() {
    facts_.dtype = STREW_FLOAT32;
    facts_.element_size = facts_.sum_bytes = 4;
    facts_.elements = kHuge;
    facts_.entry_elements = facts_.units = 1;
    facts_.is_empty = false;
    facts_.axes_are_one_loop = true;
  }

  PlanSchedule Of(const PlanContents& plan, strew_reduction reduction) const {
    return ScheduleScatter(machine(), *plan, facts_, reduction);
  }
  Way WayOf(const PlanContents& plan, strew_reduction reduction) const {
    return Of(plan, reduction).way;
  }

  // Entries in another order than their destinations.
  static PlanContents Shuffled(int64_t entries, int64_t places) {
    PlanContents plan = Entries(entries, std::min(entries, places), places);
    EXPECT_TRUE(plan->order.Allocate(entries, 4));
    return plan;
  }

  ScatterFacts facts_;
};

TEST_F(ScatterScheduleOf, OneStepIsByPlaces) {
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MAX}) {
    EXPECT_EQ(WayOf(Entries(100), reduction), Way::kByPlaces);
  }
}

// 100 float32 in 50 of 1000 places, each 10 places from the one before.
class ElementOrder : public ScatterScheduleOf {
 protected:
  ElementOrder() : plan_(Entries(100, 50, 1000)) {
    facts_.elements = 1000;
    tuning_.cache_bytes = 400;
    tuning_.waits_for_stores = 0;
    tuning_.far_ordered_part = 9.999;
    tuning_.bytes_of_ordered_group = 80;
    tuning_.most_ordered_repeats = 2;
    tuning_.ordered_updates_part = 1;
    tuning_.least_ordered_step = 40;
    EXPECT_TRUE(plan_->places.Allocate(100, 4));
    SetStep(10);
  }

  void SetStep(uint32_t step) {
    const auto places = reinterpret_cast<uint32_t*>(plan_->places.data());
    for (uint32_t i = 0; i < 100; ++i) places[i] = i * step;
  }
  bool MayGo(strew_reduction reduction = STREW_ADD) const {
    return MayGoInElementOrder(machine(), *plan_, facts_, reduction);
  }

  const PlanContents plan_;
};

TEST_F(ElementOrder, NeedsFarDestinationsOfWhichManyAreTouched) {
  EXPECT_TRUE(MayGo());
  tuning_.far_ordered_part = 10;
  EXPECT_FALSE(MayGo());
  tuning_.far_ordered_part = 9;
  tuning_.bytes_of_ordered_group = 79.99;
  EXPECT_FALSE(MayGo());
}

TEST_F(ElementOrder, CountsTheSpanOfABatch) {
  plan_->kind = strew::prepared::Kind::kElements;
  EXPECT_TRUE(MayGo());
  plan_->extents[0] = 999;
  EXPECT_FALSE(MayGo());
  plan_->rank = 2;
  plan_->shape[1] = 2;
  EXPECT_TRUE(MayGo()) << "columns are not walked one after another";
}

TEST_F(ElementOrder, NeedsFewUpdatesOfEachDestination) {
  tuning_.most_ordered_repeats = 1.99;
  EXPECT_FALSE(MayGo());
}

TEST_F(ElementOrder, NeedsShuffledEntries) {
  SetStep(9);
  EXPECT_FALSE(MayGo());
}

TEST_F(ElementOrder, NeedsNearUpdatesOrSeveralTasks) {
  tuning_.ordered_updates_part = 0.999;
  EXPECT_FALSE(MayGo());
  Have(4);
  tuning_.ns_of_grouped_entry = 1e9;
  tuning_.far_ordered_part = 79.99;
  EXPECT_TRUE(MayGo());
  tuning_.far_ordered_part = 80;
  EXPECT_FALSE(MayGo());
  tuning_.far_ordered_part = 1;
  tuning_.waits_for_stores = 1;
  tuning_.least_ordered_tasks = 4;
  EXPECT_TRUE(MayGo());
  tuning_.least_ordered_tasks = 5;
  EXPECT_FALSE(MayGo());
}

// Plans of an axis before others, whose strips hold a cache line of each place.
TEST_F(ElementOrder, OfSeveralTasksNeedsFarStrips) {
  tuning_.ordered_updates_part = 0;
  tuning_.ns_of_grouped_entry = 1e9;
  Have(4);
  NameElements({100, 2}, plan_.get());
  tuning_.cache_bytes = 1000 * 64 - 1;
  tuning_.far_ordered_part = 0.001;
  EXPECT_TRUE(MayGo());
  tuning_.cache_bytes = 1000 * 64;
  EXPECT_FALSE(MayGo());
  plan_->shape[1] = 1;
  EXPECT_TRUE(MayGo());
}

TEST_F(ElementOrder, IsOfSingleElements) {
  facts_.units = 2;
  EXPECT_FALSE(MayGo());
  facts_.units = 1;
  facts_.entry_elements = 2;
  EXPECT_FALSE(MayGo());
}

TEST_F(ElementOrder, IsOfReductionsThatKeepOldValuesOrHaveAnIdentity) {
  for (const strew_reduction reduction :
       {0 | STREW_NONE, 0 | STREW_MEAN, 0 | STREW_SUB, STREW_ADD | STREW_EXCLUDE_SELF,
        STREW_MEAN | STREW_EXCLUDE_SELF}) {
    EXPECT_TRUE(MayGo(reduction));
  }
  EXPECT_FALSE(MayGo(STREW_SUB | STREW_EXCLUDE_SELF));
}

TEST_F(ElementOrder, OfSumsThatElementsCannotHoldIsOfAnySpan) {
  tuning_.far_ordered_part = 10;
  EXPECT_FALSE(MayGo(STREW_MEAN));
  EXPECT_TRUE(MayGo(STREW_MUL | STREW_WIDE));
  EXPECT_TRUE(MayGo(STREW_SUB | STREW_WIDE | STREW_EXCLUDE_SELF));
  facts_.sum_bytes = 8;
  EXPECT_TRUE(MayGo(STREW_MEAN));
}

TEST_F(ElementOrder, OfSumsThatElementsCannotHoldHasALimitOfUpdatesOfItsOwn) {
  facts_.sum_bytes = 8;
  tuning_.most_ordered_repeats = 0;
  tuning_.most_repeats_of_ordered_sums = 2;
  EXPECT_TRUE(MayGo(STREW_MEAN));
  tuning_.most_repeats_of_ordered_sums = 1.99;
  EXPECT_FALSE(MayGo(STREW_MEAN));
}

TEST_F(ElementOrder, OfSumsThatElementsCannotHoldReadsUpdatesAsFarAsAnyOrder) {
  tuning_.ordered_updates_part = 0;
  tuning_.waits_for_stores = 1;
  EXPECT_FALSE(MayGo(STREW_MEAN));
  EXPECT_TRUE(MayGo(STREW_ADD | STREW_WIDE));
}

TEST_F(ElementOrder, IsOfAnySpanIfThereIsNoRoomToShare) {
  tuning_.far_ordered_part = 10;
  Have(2);
  const strew_reduction reduction = STREW_ADD | STREW_EXCLUDE_SELF;
  EXPECT_FALSE(MayGo(reduction));
  plan_->entries = int64_t{2} << 20;
  EXPECT_TRUE(MayGo(reduction));
  EXPECT_FALSE(MayGo(STREW_ADD));
}

TEST_F(ElementOrder, HasNumbersOf32Bits) {
  strew::TensorView output;
  output.dtype = STREW_FLOAT32;
  output.element_size = 4;
  const strew::Call call(settings_, nullptr);
  const auto has_kernel = [&](int32_t of_order, int32_t of_destinations) {
    EXPECT_TRUE(plan_->order.Allocate(100, of_order));
    EXPECT_TRUE(plan_->destinations.Allocate(50, of_destinations));
    return HasElementKernel(call, *plan_, output, STREW_ADD);
  };
  EXPECT_FALSE(has_kernel(8, 4));
  EXPECT_FALSE(has_kernel(4, 8));
}

TEST_F(ElementOrder, HasNoMoreTasksThanDestinations) {
  Have(64);
  tuning_.ns_of_grouped_entry = 1e9;
  facts_.goes_in_element_order = true;
  const PlanSchedule schedule = Of(plan_, STREW_ADD);
  EXPECT_EQ(schedule.way, Way::kElementOrder);
  EXPECT_EQ(schedule.pass.tasks, 50);
  EXPECT_EQ(schedule.pass.parts, 50);
}

TEST_F(ScatterScheduleOf, ElementsInTheirOrderAreDividedAtOnce) {
  tuning_.ordered_prefetch = 7;
  tuning_.near_batch_sums = 0;
  facts_.goes_in_element_order = true;
  const PlanSchedule sums = Of(Entries(100), STREW_ADD);
  EXPECT_EQ(sums.way, Way::kElementOrder);
  EXPECT_EQ(sums.prefetch, 7);
  Have(2);
  const int64_t most = (int64_t{2} << 20) / 32;
  const PlanSchedule means = Of(Entries(most + 1), STREW_MEAN);
  EXPECT_EQ(means.way, Way::kElementOrder);
  EXPECT_FALSE(means.divides);
  EXPECT_EQ(means.reduction, STREW_MEAN);
}

TEST_F(ScatterScheduleOf, AxesApartIsInOrder) {
  facts_.axes_are_one_loop = false;
  EXPECT_EQ(WayOf(Entries(100), STREW_ADD), Way::kInOrder);
  facts_.is_empty = true;
  EXPECT_EQ(WayOf(Entries(100), STREW_ADD), Way::kByPlaces);
}

TEST_F(ScatterScheduleOf, NewSumsIsInOrderWithoutAnIdentity) {
  EXPECT_EQ(WayOf(Entries(100), STREW_ADD | STREW_EXCLUDE_SELF), Way::kByPlaces);
  EXPECT_EQ(WayOf(Entries(100), STREW_SUB | STREW_EXCLUDE_SELF), Way::kInOrder);
}

TEST_F(ScatterScheduleOf, NewSumsIsInOrderWithoutRoomToShare) {
  const int64_t most = (int64_t{2} << 20) / 32;
  const strew_reduction reduction = STREW_ADD | STREW_EXCLUDE_SELF;
  EXPECT_EQ(WayOf(Entries(most + 1), reduction), Way::kByPlaces);
  Have(2);
  EXPECT_EQ(WayOf(Entries(most + 1), reduction), Way::kInOrder);
  EXPECT_EQ(WayOf(Entries(most), reduction), Way::kByPlaces);
  EXPECT_EQ(WayOf(Entries(most + 1), STREW_ADD), Way::kByPlaces);
}

TEST_F(ScatterScheduleOf, WideSumsIsByPlacesIfManyDestinationsAreTouched) {
  tuning_.sum_bytes_of_plan_entry = 120;
  facts_.sum_bytes = 8;
  facts_.slot_bytes = 12;
  for (const strew_reduction reduction : {0 | STREW_MEAN, STREW_ADD | STREW_WIDE}) {
    EXPECT_EQ(WayOf(Entries(100, 100, 1000), reduction), Way::kByPlaces);
    EXPECT_EQ(WayOf(Entries(100, 100, 1001), reduction), Way::kInOrder);
    facts_.units = 2;
    EXPECT_EQ(WayOf(Entries(100, 100, 1000), reduction), Way::kInOrder);
    facts_.units = 1;
    facts_.entry_elements = 2;
    EXPECT_EQ(WayOf(Entries(100, 100, 1000), reduction), Way::kInOrder);
    facts_.entry_elements = 1;
  }
}

TEST_F(ScatterScheduleOf, WideSumsThatMissTheCachesHasALimitOfItsOwn) {
  tuning_.sum_bytes_of_plan_entry = 40;
  tuning_.sum_bytes_of_far_plan_entry = 20;
  tuning_.near_batch_sums = 1200;
  facts_.sum_bytes = 8;
  facts_.slot_bytes = 12;
  EXPECT_EQ(WayOf(Shuffled(30, 100), STREW_MEAN), Way::kByPlaces);
  EXPECT_EQ(WayOf(Shuffled(31, 101), STREW_MEAN), Way::kInOrder);
  EXPECT_EQ(WayOf(Entries(31, 31, 101), STREW_MEAN), Way::kByPlaces) << "they ascend";
  EXPECT_EQ(WayOf(Shuffled(61, 101), STREW_MEAN), Way::kByPlaces);
}

TEST_F(ScatterScheduleOf, WideSumsIsByPlacesIfScratchHasRoomForThem) {
  facts_.sum_bytes = 8;
  facts_.slot_bytes = 12;
  const int64_t most = MostScratch(1) / 12;
  EXPECT_EQ(WayOf(Entries(most, most, most), STREW_MEAN), Way::kByPlaces);
  EXPECT_EQ(WayOf(Entries(most, most, most + 1), STREW_MEAN), Way::kInOrder);
  facts_.has_scratch = false;
  EXPECT_EQ(WayOf(Entries(most, most, most), STREW_MEAN), Way::kInOrder);
}

// Sums of twice as many destinations as scratch has room for.
class AscendingSums : public ScatterScheduleOf {
 protected:
  AscendingSums() {
    facts_.sum_bytes = 8;
    facts_.slot_bytes = 16;
    facts_.ascends_on_line = true;
    tuning_.sum_bytes_of_plan_entry = 32;
    tuning_.near_batch_sums = 1 << 14;
  }
  const int64_t places_ = MostScratch(1) / 8;
};

TEST_F(AscendingSums, IsForThoseThatDoNotFitScratch) {
  const int64_t few = places_ / 2;
  EXPECT_EQ(WayOf(Entries(few, few, few), STREW_MEAN), Way::kByPlaces);
  EXPECT_EQ(WayOf(Entries(places_, places_, places_), STREW_MEAN), Way::kAscendingSums);
  facts_.ascends_on_line = false;
  EXPECT_EQ(WayOf(Entries(places_, places_, places_), STREW_MEAN), Way::kInOrder);
}

TEST_F(AscendingSums, NeedsScratchAndManyUpdates) {
  const int64_t half = places_ / 2;
  EXPECT_EQ(WayOf(Entries(half, half, places_), STREW_MEAN), Way::kAscendingSums);
  EXPECT_EQ(WayOf(Entries(half - 1, half - 1, places_), STREW_MEAN), Way::kInOrder);
  facts_.has_scratch = false;
  EXPECT_EQ(WayOf(Entries(half, half, places_), STREW_MEAN), Way::kInOrder);
}

TEST_F(AscendingSums, HasPiecesThatStayInANearCache) {
  const PlanSchedule schedule = Of(Entries(places_), STREW_MEAN);
  ASSERT_EQ(schedule.way, Way::kAscendingSums);
  EXPECT_EQ(schedule.summed_elements, 1 << 10);
  EXPECT_EQ(schedule.pass.parts, places_ / (1 << 10) + 1) << "there is one destination more";
  EXPECT_EQ(schedule.pass.tasks, 1);
}

TEST_F(AscendingSums, IsForSmallerOnesOfSeveralTasks) {
  const int64_t few = tuning_.near_batch_sums / facts_.slot_bytes;
  tuning_.ns_of_batch_mean_entry = 1e9;
  const auto way_of = [&](int64_t n) { return WayOf(Entries(n, n, n), STREW_MEAN); };
  EXPECT_EQ(way_of(few + 1), Way::kByPlaces);
  Have(2);
  EXPECT_EQ(way_of(few + 1), Way::kAscendingSums);
  EXPECT_EQ(way_of(few), Way::kByPlaces);
}

TEST_F(AscendingSums, HasPiecesForAllTasksInTheirScratch) {
  constexpr int32_t kWorkers = 64;
  Have(kWorkers);
  tuning_.ns_of_batch_mean_entry = 1;
  tuning_.near_batch_sums = kHuge;
  tuning_.parts_of_task = 1;
  const PlanSchedule schedule = Of(Entries(places_), STREW_MEAN);
  ASSERT_EQ(schedule.way, Way::kAscendingSums);
  EXPECT_EQ(schedule.pass.tasks, kWorkers);
  EXPECT_GE(schedule.pass.parts, kWorkers);
  EXPECT_LE(schedule.summed_elements * facts_.slot_bytes, MostScratch(kWorkers));
}

TEST_F(ScatterScheduleOf, WideSumsOfLongColumnsIsInOrderIfTheyWouldNeedBuckets) {
  facts_.sum_bytes = 8;
  facts_.slot_bytes = 12;
  tuning_.least_column_destinations = 100;
  tuning_.near_column_sums = 2 * 1200;
  tuning_.most_column_passes = 3;
  const auto way = [&](int64_t columns) {
    const PlanContents plan = Entries(200 * columns, 100 * columns, 100);
    NameElements({200, columns}, plan.get());
    return WayOf(plan, STREW_MEAN);
  };
  EXPECT_EQ(way(7), Way::kByPlaces);
  facts_.goes_in_element_order = true;
  EXPECT_EQ(way(6), Way::kByPlaces);
  EXPECT_EQ(way(7), Way::kElementOrder);
  tuning_.least_column_destinations = 101;
  EXPECT_EQ(way(7), Way::kByPlaces);
}

TEST_F(ScatterScheduleOf, MeansIsBySumsUnlessTheseAreNear) {
  facts_.slot_bytes = 8;
  tuning_.near_batch_sums = 8 * 1000;
  const PlanSchedule near = Of(Entries(900, 900, 1000), STREW_MEAN);
  EXPECT_EQ(near.way, Way::kByPlaces);
  EXPECT_FALSE(near.divides);
  EXPECT_EQ(near.reduction, STREW_MEAN);
  const PlanSchedule far = Of(Entries(900, 900, 1001), STREW_MEAN);
  EXPECT_EQ(far.way, Way::kByPlaces);
  EXPECT_TRUE(far.divides);
  EXPECT_EQ(far.reduction, STREW_ADD);
  EXPECT_EQ(Of(Entries(900, 900, 1001), STREW_MEAN | STREW_EXCLUDE_SELF).reduction,
            STREW_ADD | STREW_EXCLUDE_SELF);
}

TEST_F(ScatterScheduleOf, MeansOfMostDestinationsIsBySumsThatAreDividedInTheirOrder) {
  tuning_.destinations_of_divided_group = 10;
  facts_.line_of_destinations = tuning_.least_divided_line - 1;
  EXPECT_FALSE(Of(Entries(100, 100, 1009), STREW_MEAN).divides_all);
  facts_.line_of_destinations = tuning_.least_divided_line;
  for (const strew_reduction reduction : {0 | STREW_MEAN, STREW_MEAN | STREW_EXCLUDE_SELF}) {
    const PlanSchedule most = Of(Entries(100, 100, 1009), reduction);
    EXPECT_EQ(most.way, Way::kByPlaces);
    EXPECT_TRUE(most.divides && most.divides_all);
    EXPECT_FALSE(Of(Entries(100, 100, 1010), reduction).divides_all);
  }
  Have(2);
  const int64_t entries = (int64_t{2} << 20) / 32 + 1;
  EXPECT_FALSE(Of(Entries(entries), STREW_MEAN).divides_all) << "there is no room to share";
}

TEST_F(ScatterScheduleOf, MeansOfRowsIsBySumsIfDestinationsHaveEnoughUpdates) {
  tuning_.least_divided_updates = 5;
  tuning_.short_divided_row = 31;
  facts_.element_size = 4;
  facts_.sum_bytes = 4;
  facts_.entry_elements = 8;
  EXPECT_TRUE(Of(Entries(500, 100, 1000), STREW_MEAN).divides);
  EXPECT_EQ(WayOf(Entries(499, 100, 1000), STREW_MEAN), Way::kInOrder);
  tuning_.short_divided_row = 32;
  EXPECT_TRUE(Of(Entries(499, 100, 1000), STREW_MEAN).divides);
  facts_.sum_bytes = 8;
  EXPECT_EQ(WayOf(Entries(500, 100, 1000), STREW_MEAN), Way::kInOrder);
}

TEST_F(ScatterScheduleOf, ElementsWithoutOldValuesBeginsAnew) {
  constexpr strew_reduction kSum = STREW_ADD | STREW_EXCLUDE_SELF;
  EXPECT_TRUE(Of(Entries(200, 100, 1000), kSum).begins_anew);
  EXPECT_TRUE(Of(Entries(200, 100, 1000), STREW_MEAN | STREW_EXCLUDE_SELF).begins_anew);
  EXPECT_FALSE(Of(Entries(200, 100, 1000), STREW_ADD).begins_anew);
  EXPECT_FALSE(Of(Entries(200, 100, 1000), STREW_MEAN).begins_anew);
  const PlanContents ascending = Entries(199, 100, 1000);
  EXPECT_FALSE(Of(ascending, kSum).begins_anew);
  ASSERT_TRUE(ascending->order.Allocate(199, 1));
  EXPECT_TRUE(Of(ascending, kSum).begins_anew);
}

TEST_F(ScatterScheduleOf, ElementsAlongOtherAxesBeginsAnewForRepeatsOrFarDestinations) {
  constexpr strew_reduction kSum = STREW_ADD | STREW_EXCLUDE_SELF;
  const auto begins_anew = [&](int64_t entries, bool is_shuffled) {
    const PlanContents plan = Entries(entries, 100, 1000);
    NameElements({entries, 2}, plan.get());
    if (is_shuffled) {
      EXPECT_TRUE(plan->order.Allocate(entries, 1));
    }
    return Of(plan, kSum).begins_anew;
  };
  facts_.elements = 200;
  tuning_.cache_bytes = 800;
  EXPECT_TRUE(begins_anew(250, true));
  EXPECT_FALSE(begins_anew(249, true));
  tuning_.cache_bytes = 799;
  EXPECT_TRUE(begins_anew(101, true));
  EXPECT_FALSE(begins_anew(101, false));
}

TEST_F(ScatterScheduleOf, RowsWithoutOldValuesBeginsAnew) {
  tuning_.short_divided_row = 0;
  tuning_.least_divided_updates = 5;
  facts_.entry_elements = 8;
  constexpr strew_reduction kSum = STREW_ADD | STREW_EXCLUDE_SELF;
  EXPECT_TRUE(Of(Entries(200, 100, 1000), kSum).begins_anew);
  EXPECT_FALSE(Of(Entries(200, 100, 1000), STREW_ADD).begins_anew);
  EXPECT_TRUE(Of(Entries(150, 100, 1000), kSum).begins_anew);
  EXPECT_FALSE(Of(Entries(149, 100, 1000), kSum).begins_anew);
  constexpr strew_reduction kMean = STREW_MEAN | STREW_EXCLUDE_SELF;
  EXPECT_TRUE(Of(Entries(1000, 100, 1000), kMean).begins_anew);
  EXPECT_TRUE(Of(Entries(1000, 100, 1000), kMean).divides);
  EXPECT_EQ(WayOf(Entries(999, 100, 1000), kMean), Way::kInOrder);
}

TEST_F(ScatterScheduleOf, LongRowsWithoutOldValuesIsInOrder) {
  tuning_.least_ordered_row = 32;
  tuning_.short_ordered_row = 16;
  tuning_.least_divided_updates = 0;
  facts_.entry_elements = 8;
  facts_.row_bytes = 16;
  facts_.groups_rows = true;
  constexpr strew_reduction kSum = STREW_ADD | STREW_EXCLUDE_SELF;
  EXPECT_EQ(WayOf(Entries(199, 100, 1000), kSum), Way::kInOrder);
  EXPECT_EQ(WayOf(Entries(199, 100, 1000), STREW_ADD), Way::kByPlaces);
  const PlanSchedule means = Of(Entries(149, 100, 1000), STREW_MEAN | STREW_EXCLUDE_SELF);
  EXPECT_EQ(means.way, Way::kByPlaces);
  EXPECT_TRUE(means.divides);
  EXPECT_FALSE(means.begins_anew);
  tuning_.least_ordered_row = 33;
  EXPECT_EQ(WayOf(Entries(199, 100, 1000), kSum), Way::kByPlaces);
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), kSum), Way::kInOrder);
  tuning_.short_ordered_row = 33;
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), kSum), Way::kByPlaces);
  tuning_.least_ordered_row = tuning_.short_ordered_row = 32;
  EXPECT_EQ(WayOf(Entries(400, 100, 1000), kSum), Way::kInOrder);
  tuning_.cache_bytes = 1;
  facts_.read_bytes = 1;
  EXPECT_EQ(WayOf(Entries(400, 100, 1000), kSum), Way::kByPlaces);
  EXPECT_EQ(WayOf(Entries(399, 100, 1000), kSum), Way::kInOrder);
  --facts_.row_bytes;
  EXPECT_EQ(WayOf(Entries(399, 100, 1000), kSum), Way::kByPlaces);
  ++facts_.row_bytes;
  facts_.groups_rows = false;
  EXPECT_EQ(WayOf(Entries(199, 100, 1000), kSum), Way::kByPlaces);
}

TEST_F(ScatterScheduleOf, LongRowsBeginAnewForManyUpdates) {
  constexpr strew_reduction kMost = STREW_MAX | STREW_EXCLUDE_SELF;
  facts_.entry_elements = 8;
  facts_.row_bytes = 32;
  tuning_.long_ordered_row = 32;
  EXPECT_FALSE(Of(Entries(399, 100, 1000), kMost).begins_anew);
  EXPECT_TRUE(Of(Entries(400, 100, 1000), kMost).begins_anew);
  ++tuning_.long_ordered_row;
  EXPECT_TRUE(Of(Entries(399, 100, 1000), kMost).begins_anew);
}

TEST_F(ScatterScheduleOf, RowsOfSeveralUpdatesIsInOrder) {
  facts_.entry_elements = 8;
  facts_.row_bytes = 32;
  facts_.groups_rows = true;
  tuning_.short_ordered_row = tuning_.long_ordered_row = 32;
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), STREW_ADD), Way::kInOrder);
  EXPECT_EQ(WayOf(Entries(199, 100, 1000), STREW_ADD), Way::kByPlaces);
  facts_.groups_rows = false;
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), STREW_ADD), Way::kByPlaces);
  facts_.groups_rows = true;
  tuning_.short_ordered_row = tuning_.long_ordered_row = 33;
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), STREW_ADD), Way::kByPlaces);
}

TEST_F(ScatterScheduleOf, ShortRowsIsInOrderFromNearUpdatesOrIntoFarDestinations) {
  facts_.entry_elements = 8;
  facts_.row_bytes = 32;
  facts_.groups_rows = true;
  tuning_.short_ordered_row = 32;
  tuning_.far_updates_part = 0.5;
  tuning_.cache_bytes = 100 * 32;
  facts_.read_bytes = 50 * 32;
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), STREW_ADD), Way::kInOrder);
  ++facts_.read_bytes;
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), STREW_ADD), Way::kByPlaces);
  const PlanContents shuffled = Entries(202, 101, 1000);
  EXPECT_EQ(WayOf(shuffled, STREW_ADD), Way::kByPlaces) << "in order";
  ASSERT_TRUE(shuffled->order.Allocate(202, 1));
  tuning_.least_ordered_row = 32;
  EXPECT_EQ(WayOf(shuffled, STREW_ADD), Way::kInOrder);
  ++tuning_.least_ordered_row;
  EXPECT_EQ(WayOf(shuffled, STREW_ADD), Way::kByPlaces);
  tuning_.long_ordered_row = 32;
  EXPECT_EQ(WayOf(Entries(200, 100, 1000), STREW_ADD), Way::kInOrder);
}

TEST_F(ScatterScheduleOf, MeansIsInOrderWithoutRoomToShare) {
  const int64_t most = (int64_t{2} << 20) / 32;
  tuning_.near_batch_sums = 0;
  EXPECT_TRUE(Of(Entries(most + 1), STREW_MEAN).divides);
  Have(2);
  EXPECT_TRUE(Of(Entries(most), STREW_MEAN).divides);
  EXPECT_EQ(WayOf(Entries(most + 1), STREW_MEAN), Way::kInOrder);
}

TEST_F(ScatterScheduleOf, WholeOutputsCopiesNoData) {
  facts_.elements = 100;
  EXPECT_FALSE(Of(Entries(100), STREW_NONE).copies_data);
  EXPECT_FALSE(Of(Entries(100), STREW_ADD | STREW_EXCLUDE_SELF).copies_data);
  EXPECT_TRUE(Of(Entries(100), STREW_ADD).copies_data);
  EXPECT_TRUE(Of(Entries(99), STREW_NONE).copies_data);
  EXPECT_TRUE(Of(Entries(100, 99, 100), STREW_NONE).copies_data);
  EXPECT_TRUE(Of(Entries(0), STREW_NONE).copies_data);
}

TEST_F(ScatterScheduleOf, RowsInOrderHasATaskForEnoughOfThem) {
  facts_.axes_are_one_loop = false;
  facts_.entry_elements = 25;
  tuning_.ns_of_grouped_entry = 100;
  tuning_.ns_of_grouped_byte = 9;
  Have(8);
  EXPECT_EQ(Of(Entries(1), STREW_ADD).pass.tasks, 1);
  EXPECT_EQ(Of(Entries(2), STREW_ADD).pass.tasks, 2);
  EXPECT_EQ(Of(Entries(7), STREW_ADD).pass.tasks, 7);
  EXPECT_EQ(Of(Entries(80), STREW_ADD).pass.tasks, 8);
  EXPECT_EQ(Of(Entries(80), STREW_ADD).pass.nanoseconds, 80e3);
  EXPECT_EQ(Of(Entries(80, 3, 80), STREW_ADD).pass.tasks, 3);
  // Small elements that are not in rows take as long as larger ones.
  facts_.element_size = 1;
  EXPECT_EQ(Of(Entries(80), STREW_ADD).pass.nanoseconds, 80e3);
  facts_.row_bytes = 64;
  EXPECT_EQ(Of(Entries(80), STREW_ADD).pass.nanoseconds, 80 * (100 + 25 * 9));
  tuning_.parts_of_task = 5;
  EXPECT_EQ(Of(Entries(80), STREW_ADD).pass.parts, 40);
  EXPECT_EQ(Of(Entries(80, 17, 80), STREW_ADD).pass.parts, 17);
}

TEST_F(ScatterScheduleOf, DividedMeansHasATaskForEnoughDestinations) {
  tuning_.near_batch_sums = 0;
  tuning_.ns_of_divided_group = 600;
  tuning_.ns_of_divided_byte = 100;
  Have(8);
  EXPECT_EQ(Of(Entries(1), STREW_MEAN).division.tasks, 1);
  EXPECT_EQ(Of(Entries(3), STREW_MEAN).division.tasks, 3);
  EXPECT_EQ(Of(Entries(30, 3, 30), STREW_MEAN).division.tasks, 3);
  facts_.line_of_destinations = tuning_.least_divided_line;
  tuning_.ns_of_divided_element = 100;
  EXPECT_EQ(Of(Entries(30, 10, 30), STREW_MEAN).division.tasks, 3);
}

TEST_F(ScatterScheduleOf, ReplacedRowsStreamsThoseThatFillTheCache) {
  facts_.axes_are_one_loop = false;
  facts_.entry_elements = 25;
  facts_.run = 25;
  tuning_.least_streamed_row = 100;
  tuning_.streamed_part = 0.5;
  tuning_.cache_bytes = 20000;
  EXPECT_TRUE(Of(Entries(100), STREW_NONE).streams);
  EXPECT_FALSE(Of(Entries(99), STREW_NONE).streams);
  EXPECT_FALSE(Of(Entries(100), STREW_ADD).streams);
  facts_.run = 24;
  EXPECT_FALSE(Of(Entries(100), STREW_NONE).streams);
}

// ---- Parts of turns ----

// 100 turns of rows of 25 elements.
class PartsOf : public ScatterScheduleOf {
 protected:
  PartsOf() {
    facts_.axes_are_one_loop = false;
    facts_.entry_elements = 2500;
    facts_.turns = 100;
    facts_.turn_elements = 25;
    facts_.turn_bytes = 800;
    tuning_.ns_of_grouped_entry = 1e9;
    tuning_.least_turn_of_task = 201;
    tuning_.least_turns_of_part = 10;
    Have(4);
  }
  PlanSchedule Of(int64_t groups) const {
    return ScatterScheduleOf::Of(Entries(80, groups, 80), STREW_ADD);
  }
};

TEST_F(PartsOf, TurnsThatTasksWouldShare) {
  EXPECT_TRUE(Of(80).order.cuts_turns);
  EXPECT_EQ(Of(80).pass.tasks, 4);
  EXPECT_EQ(Of(80).pass.parts, 4);
  tuning_.parts_of_task = 3;
  EXPECT_EQ(Of(80).pass.parts, 10) << "of 10 turns";
  facts_.turn_bytes = 804;
  EXPECT_FALSE(Of(80).order.cuts_turns);
  facts_.turn_bytes = 0;
  EXPECT_FALSE(Of(80).order.cuts_turns) << "other turns lie between";
  EXPECT_EQ(Of(80).pass.parts, 12);
}

TEST_F(PartsOf, FewDestinations) {
  facts_.turn_bytes = 0;
  EXPECT_FALSE(Of(4).order.cuts_turns);
  EXPECT_TRUE(Of(3).order.cuts_turns);
  EXPECT_EQ(Of(3).pass.tasks, 4);
  facts_.turns = 39;
  EXPECT_FALSE(Of(3).order.cuts_turns) << "too few turns for 4 tasks";
  EXPECT_EQ(Of(3).pass.tasks, 3);
}

// 80 entries of 8 destinations, the first of which has so many updates that one of 4 tasks would
// have more than 25 of them.
TEST_F(PartsOf, ADestinationOfManyUpdates) {
  facts_.turn_bytes = 0;
  const auto cuts_turns = [&](uint32_t updates) {
    const PlanContents plan = Entries(80, 8, 80);
    const auto firsts = reinterpret_cast<uint32_t*>(plan->firsts.data());
    for (uint32_t g = 1; g < 8; ++g) firsts[g] = updates + (80 - updates) * (g - 1) / 7;
    return ScatterScheduleOf::Of(plan, STREW_ADD).order.cuts_turns;
  };
  EXPECT_FALSE(cuts_turns(25));
  EXPECT_TRUE(cuts_turns(26));
}

TEST_F(PartsOf, OneTask) {
  Have(1);
  EXPECT_FALSE(Of(80).order.cuts_turns);
}

// ---- Prefetch ----

TEST_F(ScatterScheduleOf, FarUpdatesArePrefetched) {
  facts_.axes_are_one_loop = false;
  tuning_.cache_bytes = 4000;
  tuning_.near_part = 4;
  const auto fetches = [this](double bytes) {
    facts_.read_bytes = bytes;
    return Of(Entries(100), STREW_ADD).order.fetches;
  };
  EXPECT_FALSE(fetches(1000));
  EXPECT_TRUE(fetches(1001));
}

// ---- Runs ----

TEST_F(ScatterScheduleOf, ShortRunsWalksALongerLoop) {
  facts_.axes_are_one_loop = false;
  facts_.entry_elements = 100;
  tuning_.short_group_run = 3;
  tuning_.few_run_elements = 20;
  const auto are_short = [this](int64_t entries, int64_t run) {
    facts_.run = run;
    return Of(Entries(entries), STREW_ADD).order.runs_are_short;
  };
  EXPECT_TRUE(are_short(1000, 3));
  EXPECT_FALSE(are_short(1000, 4));
  EXPECT_TRUE(are_short(4, 5));
  EXPECT_FALSE(are_short(4, 6));
  EXPECT_TRUE(are_short(1, 20));
  facts_.entry_elements = 2;
  EXPECT_FALSE(are_short(1000, 2)) << "there is no other loop";
  EXPECT_FALSE(are_short(1000, 0)) << "not known";
}

// ---- Slices ----

// Wide sums of 100 slices.
class SlicesOf : public ScatterScheduleOf {
 protected:
  SlicesOf() {
    facts_.entry_elements = facts_.slices = 100;
    facts_.turn_elements = 1;
    facts_.sum_bytes = 8;
    tuning_.least_sliced_elements = 0;
    tuning_.least_slices = 4;
    tuning_.most_slices = 25;
    tuning_.slices_area = 1000;
  }
  int64_t Together(double bytes) {
    facts_.slice_bytes = bytes;
    return Of(Entries(100), STREW_ADD | STREW_WIDE).order.slices;
  }
};

TEST_F(SlicesOf, ShortOnesIsAsManyAsAllowed) {
  EXPECT_EQ(Together(0), 25);
  tuning_.most_slices = 50;
  EXPECT_EQ(Together(0), 34);  // sqrt(1000) is 31: 3 blocks of at most 34
}

TEST_F(SlicesOf, LongerOnesIsFewer) {
  EXPECT_EQ(Together(10), 10);
  EXPECT_EQ(Together(40), 5);
  EXPECT_EQ(Together(1000), 4);
}

TEST_F(SlicesOf, FewElementsIsMore) {
  tuning_.least_sliced_elements = 3300;
  EXPECT_EQ(Together(0), 34) << "33 of 100 entries are the least: 3 blocks";
  facts_.turn_elements = 2;
  EXPECT_EQ(Together(0), 25);
  tuning_.least_sliced_elements = kHuge;
  EXPECT_EQ(Together(0), 0);
}

TEST_F(SlicesOf, FewIsAll) {
  facts_.slices = 49;
  EXPECT_EQ(Together(0), 0);
  facts_.slices = 50;
  EXPECT_EQ(Together(0), 25);
  facts_.slices = 0;
  EXPECT_EQ(Together(1000), 0);
}

}  // namespace
}  // namespace strew_test
