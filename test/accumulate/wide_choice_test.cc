// SPDX-License-Identifier: Apache-2.0
//
// The three ways of a mean, each at its thresholds and against a plain loop.
#include "accumulate/accumulate.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "accumulate/line.h"
#include "accumulate/means.h"
#include "accumulate/wide_ways.h"
#include "plan/schedule.h"
#include "plan/spaces.h"
#include "reference/random.h"
#include "support/reference.h"
#include "walk/bound_scatter.h"

namespace strew_test {
namespace {

using strew::accumulate::SlotSums;
using strew::accumulate::WideWay;
using strew::plan::IndexSpace;

// The way that is taken for a space, with a tuning that `change` has changed.
template <class Change>
WideWay WayOf(const IndexSpace& space, Change change, int64_t bad_in = 0) {
  Random random(Seed());
  BoundScatter bound(random, space, STREW_MEAN, bad_in);
  change(&bound.tuning());
  const WideWay way = WayOf(bound);
  if (bad_in != 0) {
    EXPECT_EQ(bound.applied(), bound.CountWanted([](int64_t) { return true; }));
  }
  return way;
}

TEST(WideChoice, IsBatchesWhereUpdatesPayForTheAxis) {
  for (const int64_t bad_in : {0, 4}) {
    const auto by = [=](const IndexSpace& space, int64_t destinations) {
      return WayOf(
          space, [=](auto* t) { t->destinations_of_entry = destinations; }, bad_in);
    };
    const IndexSpace last_axis = ElementsSpace({4, 80}, {4, 10}, 1);
    EXPECT_EQ(by(last_axis, 8), WideWay::kBatches);
    EXPECT_NE(by(last_axis, 7), WideWay::kBatches);
    const IndexSpace first_axis = ElementsSpace({80, 6}, {10, 6}, 0);
    EXPECT_EQ(by(first_axis, 8), WideWay::kBatches);
    EXPECT_NE(by(first_axis, 7), WideWay::kBatches);
  }
}

TEST(WideChoice, IsBatchesWhereTheAxisFitsScratch) {
  const auto pays = [](auto* t) {
    t->destinations_of_entry = kHuge;
    t->far_batch_sums = 0;
  };
  constexpr int64_t kMost = strew::plan::MostScratch(1) / kSlot;
  EXPECT_EQ(WayOf(ElementsSpace({kMost}, {500}, 0), pays), WideWay::kBatches);
  EXPECT_NE(WayOf(ElementsSpace({kMost + 1}, {500}, 0), pays), WideWay::kBatches);
}

// Entries that no buckets take. Each touched destination may have 40 bytes of scratch.
TEST(WideChoice, IsBatchesWhereLargeSumsFitScratch) {
  const auto without_buckets = [](auto* t) {
    t->destinations_of_entry = kHuge;
    t->far_batch_sums = 0;
    t->most_buckets = 0;
  };
  constexpr int64_t kMost = strew::plan::MostScratch(1) / kSlot;
  EXPECT_EQ(WayOf(ElementsSpace({kMost + 1000}, {500}, 0), without_buckets), WideWay::kBatches);
  EXPECT_EQ(WayOf(ElementsSpace({kMost + 2000}, {500}, 0), without_buckets), WideWay::kRanks);
  EXPECT_EQ(WayOf(ElementsSpace({3, kMost + 1000}, {3, 500}, 1), without_buckets),
            WideWay::kBatches);
}

// The same for entries that buckets would take if they touched more destinations.
TEST(WideChoice, IsBatchesWhereOnlyEntriesDoNotFitScratch) {
  constexpr int64_t kMost = strew::plan::MostScratch(1) / kSlot;
  Random random(Seed());
  for (const int64_t touched : {2000, 100}) {
    BoundScatter bound(random, ElementsSpace({kMost + 1000}, {400000}, 0), STREW_MEAN);
    bound.tuning().far_batch_sums = 0;
    for (int64_t& index : bound.indices()) index = index % touched * (kMost / touched);
    EXPECT_EQ(WayOf(bound), touched == 2000 ? WideWay::kBatches : WideWay::kRanks);
  }
}

// Columns of which only one fits near caches. Lines of cache are counted for each entry.
TEST(WideChoice, IsBatchesForSingleColumnsInFewLines) {
  const auto by = [](const IndexSpace& space, double lines) {
    return WayOf(space, [=](auto* t) {
      t->destinations_of_entry = kHuge;
      t->near_column_sums = 1;
      t->most_column_passes = kHuge;
      t->column_lines_of_entry = lines;
    });
  };
  const IndexSpace apart = ElementsSpace({80, 20}, {20, 20}, 0);
  EXPECT_EQ(by(apart, 4), WideWay::kBatches);
  EXPECT_NE(by(apart, 3.9), WideWay::kBatches);
  const IndexSpace together = ElementsSpace({80, 8}, {20, 8}, 0);  // two in a line
  EXPECT_EQ(by(together, 2), WideWay::kBatches);
  EXPECT_NE(by(together, 1.9), WideWay::kBatches);
}

// Columns that do not fit near caches together.
TEST(WideChoice, IsBucketsForColumnsInManyPasses) {
  constexpr int64_t kRows = 80, kColumns = 20, kAtATime = 5;
  const auto by = [](const IndexSpace& space, int64_t passes, int64_t destinations) {
    return WayOf(space, [=](auto* t) {
      t->near_column_sums = kAtATime * kRows * kSlot;
      t->least_sum_columns = 1;
      t->most_column_passes = passes;
      t->least_column_destinations = destinations;
    });
  };
  const IndexSpace first_axis = ElementsSpace({kRows, kColumns}, {kRows, kColumns}, 0);
  EXPECT_EQ(by(first_axis, kColumns / kAtATime - 1, kRows), WideWay::kBuckets);
  EXPECT_EQ(by(first_axis, kColumns / kAtATime, kRows), WideWay::kBatches);
  EXPECT_EQ(by(first_axis, kColumns / kAtATime - 1, kRows + 1), WideWay::kBatches);
  EXPECT_EQ(by(ElementsSpace({4, kRows}, {4, kRows}, 1), 0, 0), WideWay::kBatches);
  const auto without_buckets = [](auto* t) {
    t->near_column_sums = 1;
    t->most_column_passes = 0;
    t->least_column_destinations = 0;
    t->most_buckets = 0;
  };
  EXPECT_EQ(WayOf(first_axis, without_buckets), WideWay::kBatches);
}

// Scratch may be larger if enough destinations are touched.
TEST(WideChoice, IsBatchesWhereManyAreTouched) {
  constexpr int64_t kMore = 100;
  constexpr int64_t kAxis = strew::plan::MostScratch(1) / kSlot + kMore * 40 / kSlot;
  const auto by = [](int64_t slots, int64_t updates) {
    return WayOf(ElementsSpace({kAxis}, {updates}, 0), [=](auto* t) {
      t->destinations_of_entry = kHuge;
      t->far_batch_sums = slots * kSlot;
    });
  };
  EXPECT_EQ(by(kAxis, 2 * kMore), WideWay::kBatches);
  EXPECT_NE(by(kAxis - 1, 2 * kMore), WideWay::kBatches);
  EXPECT_NE(by(kAxis, kMore - 10), WideWay::kBatches);
}

// Sums may take a part of the cache, which grows with the updates of each destination.
TEST(WideChoice, IsBatchesWhereUpdatesPayForThePartOfTheCache) {
  constexpr int64_t kAxis = strew::plan::MostScratch(1) / kSlot + 4000;
  const auto by = [](int64_t repeats, double part, double repeated_part) {
    return WayOf(ElementsSpace({kAxis}, {kAxis * repeats}, 0), [=](auto* t) {
      t->far_batch_sums = 0;
      t->far_sums_part = part;
      t->repeated_far_sums_part = repeated_part;
    });
  };
  EXPECT_EQ(by(1, 1, 0), WideWay::kBatches);
  EXPECT_EQ(by(1, 0, 1), WideWay::kBuckets);
  EXPECT_EQ(by(2, 0, 1), WideWay::kBatches);
  EXPECT_EQ(by(2, 0, 0), WideWay::kBuckets);
}

// Two of three columns fit the scratch of every call, and all three if enough are touched.
TEST(WideChoice, IsBatchesForAllColumnsAtOnce) {
  constexpr int64_t kRows = strew::plan::MostScratch(1) / kSlot / 3 + 100;
  const auto by = [](int64_t slots, int64_t least_columns, int64_t updates) {
    return WayOf(ElementsSpace({kRows, 3}, {updates, 3}, 0), [=](auto* t) {
      t->destinations_of_entry = kHuge;
      t->least_columns_of_pass = least_columns;
      t->far_batch_sums = slots * kSlot;
      t->most_column_passes = t->least_column_destinations = 0;
    });
  };
  EXPECT_EQ(by(3 * kRows, 3, 500), WideWay::kBatches);
  EXPECT_EQ(by(3 * kRows - 1, 3, 500), WideWay::kBuckets);
  EXPECT_EQ(by(3 * kRows, 1, 500), WideWay::kBuckets);
  EXPECT_EQ(by(3 * kRows, 3, 1), WideWay::kRanks) << "too few are touched";
}

// Sums that share words with their counts may take more.
TEST(WideChoice, IsBatchesForMoreCompactSums) {
  const strew::plan::Tuning tuning;
  ASSERT_GT(tuning.far_compact_sums, tuning.far_batch_sums);
  const int64_t most = tuning.far_compact_sums / 8;
  for (const int64_t places : {most, most + 1}) {
    // No part of the cache counts for fewer updates than destinations.
    std::vector<int64_t> indices(static_cast<size_t>(most - 1));
    std::iota(indices.begin(), indices.end(), 0);
    LineOf<uint16_t, STREW_UINT16> line(places, 1, indices);
    const SlotSums sums(line.scatter);
    if (!sums.accumulator().are_compact()) GTEST_SKIP() << "no vectors, or an old CPU";
    WideWay way;
    ASSERT_TRUE(strew::accumulate::Combine({line.scatter, sums}, &way).ok());
    EXPECT_EQ(way, places == most ? WideWay::kBatches : WideWay::kBuckets);
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto update = static_cast<int64_t>(static_cast<uint16_t>(i));
      ASSERT_EQ(line.data[i], (static_cast<int64_t>(i % 7) + update) / 2) << i;
    }
  }
}

TEST(WideChoice, IsBatchesForSingleElements) {
  const auto pays = [](auto* t) { t->destinations_of_entry = kHuge; };
  EXPECT_EQ(WayOf(ElementsSpace({80}, {100}, 0), pays), WideWay::kBatches);
  EXPECT_EQ(WayOf(NdSpace({8, 10}, 100, 2), pays), WideWay::kBatches);
  EXPECT_NE(WayOf(UpdateSpace({80, 3}, 100), pays), WideWay::kBatches);
  EXPECT_NE(WayOf(NdSpace({80, 3}, 100, 1), pays), WideWay::kBatches);
}

// A line of 2000 elements of which 1000 are named: buckets of 64 places are 32.
class BucketChoice : public testing::Test {
 protected:
  WideWay Of(int64_t most_buckets, int64_t least_of_bucket, int64_t bad_in = 0) const {
    const auto change = [=](auto* t) {
      t->destinations_of_entry = 1;
      t->bucket_bytes = 64 * kSlot;
      t->most_buckets = most_buckets;
      t->least_of_bucket = least_of_bucket;
    };
    return WayOf(space_, change, bad_in);
  }

  const IndexSpace space_ = ElementsSpace({2000}, {1000}, 0);
};

TEST_F(BucketChoice, IsBucketsWhereTheseAreFew) {
  // Fewer entries than destinations: buckets are twice as large.
  EXPECT_EQ(Of(16, 1), WideWay::kBuckets);
  EXPECT_EQ(Of(15, 1), WideWay::kRanks);
  EXPECT_EQ(Of(16, 1, 3), WideWay::kBuckets);
  EXPECT_EQ(Of(15, 1, 3), WideWay::kRanks);
}

TEST_F(BucketChoice, IsBucketsWhereTheseHoldEnough) {
  EXPECT_EQ(Of(kHuge, 1000 / 16), WideWay::kBuckets);
  EXPECT_EQ(Of(kHuge, 1000 / 16 + 1), WideWay::kRanks);
}

TEST_F(BucketChoice, IsBucketsForRowsAndTuples) {
  const auto few = [](auto* t) { t->most_buckets = 1; };
  const auto none = [](auto* t) { t->most_buckets = 0; };
  EXPECT_EQ(WayOf(UpdateSpace({80, 3}, 100), few), WideWay::kBuckets);
  EXPECT_EQ(WayOf(UpdateSpace({80, 3}, 100), none), WideWay::kRanks);
  EXPECT_EQ(WayOf(NdSpace({80, 3}, 100, 1), few), WideWay::kBuckets);
  EXPECT_EQ(WayOf(NdSpace({80, 3}, 100, 1), none), WideWay::kRanks);
}

// ---- The accumulator ---------------------------------------------------------------------------

// Slots of single elements: those that get nothing keep their bytes.
TEST(SlotSums, CombineWhatIsAddedToEachSlot) {
  Random random(Seed());
  BoundScatter bound(random, ElementsSpace({100}, {100}, 0), STREW_MEAN);
  const SlotSums sums(bound.scatter());
  ASSERT_TRUE(sums.are_single());
  EXPECT_FALSE(sums.are_long());
  EXPECT_EQ(sums.slot_bytes(), kSlot);
  alignas(64) unsigned char memory[8 * kSlot];
  const strew::accumulate::Slots slots = sums.At(memory, 8);
  uint32_t elements[24] = {};
  for (uint32_t i = 0; i < 8; ++i) elements[3 * i] = 100 * i;
  const uint32_t updates[] = {10, 0, 20, 0, 31, 0, UINT32_MAX, 0};
  const int32_t numbers[] = {5, 2, INT32_MIN, 5};
  const strew::accumulate::SlotLine line = {0, reinterpret_cast<unsigned char*>(elements), 3, 8};
  sums.Combine(slots, 8, line, [&] {
    sums.Add(slots, numbers, reinterpret_cast<const unsigned char*>(updates), 2, 4);
  });
  EXPECT_EQ(sums.Updates(slots, 8), 3);
  for (uint32_t i = 0; i < 8; ++i) {
    const uint64_t expected = i == 5   ? (500 + 10 + uint64_t{UINT32_MAX}) / 3
                              : i == 2 ? (200 + 20) / 2
                                       : 100 * i;
    EXPECT_EQ(elements[3 * i], expected) << i;
    EXPECT_EQ(elements[3 * i + 1], 0u);
  }
}

// Ranks that 32 bits need not hold are found one by one, and what they need is prefetched if it is
// more than the caches hold: here a bitmap of as many words as there are entries.
TEST(WideChoice, HasLongRanksOfDestinationsFarApart) {
  for (const int64_t entries : {100, 20000}) {
    const auto ranks = [](auto* t) {
      t->destinations_of_entry = 1;
      t->most_buckets = 0;
      t->most_short_ranks = 0;
    };
    EXPECT_EQ(WayOf(ElementsSpace({int64_t{1} << 24}, {entries}, 0), ranks), WideWay::kRanks);
  }
}

}  // namespace
}  // namespace strew_test
