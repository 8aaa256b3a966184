// SPDX-License-Identifier: Apache-2.0
//
// Samples of destinations, and the ranges that are made of them.
#include "plan/spread.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "plan/tuning.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::plan::DestinationRange;
using strew::plan::kEverywhere;
using strew::plan::Ranges;
using strew::plan::Spread;
using strew::plan::Tuning;

Spread SpreadOf(const std::vector<int64_t>& sample, double apart_share = 1, int64_t near = 0) {
  Spread spread;
  for (const int64_t destination : sample) spread.Add(destination);
  spread.Finish(apart_share, near);
  return spread;
}

std::vector<int64_t> Made(int64_t count, const std::function<int64_t(int64_t)>& place) {
  std::vector<int64_t> sample;
  for (int64_t i = 0; i < count; ++i) sample.push_back(place(i));
  return sample;
}

// ---- How many are drawn ------------------------------------------------------------------------

TEST(Spread, HasSamplesByEntriesAndRanges) {
  Tuning tuning;
  tuning.entries_of_sample = 100;
  tuning.least_samples_of_range = 10;
  tuning.most_samples_of_range = 20;
  EXPECT_EQ(Spread::CountFor(tuning, 1, 4), 40);
  EXPECT_EQ(Spread::CountFor(tuning, 4099, 4), 40);
  EXPECT_EQ(Spread::CountFor(tuning, 4100, 4), 41);
  EXPECT_EQ(Spread::CountFor(tuning, 8000, 4), 80);
  EXPECT_EQ(Spread::CountFor(tuning, 8100, 4), 80);
  EXPECT_EQ(Spread::CountFor(tuning, int64_t{1} << 40, 1000), Spread::kMost);
}

// ---- What waits for memory ---------------------------------------------------------------------

TEST(Spread, SortsDestinations) {
  const Spread spread = SpreadOf({5, -3, 9, 0});
  ASSERT_EQ(spread.count(), 4);
  EXPECT_EQ(spread[0], -3);
  EXPECT_EQ(spread[1], 0);
  EXPECT_EQ(spread[2], 5);
  EXPECT_EQ(spread[3], 9);
}

TEST(Spread, CountsFarOnesButThoseThatRepeatOrCrowd) {
  // 100 lies alone. 200 comes twice, and 300 to 302 are the densest within 2.
  const std::vector<int64_t> sample = {100, 200, 200, 300, 301, 302, 400, 500};
  const Spread spread = SpreadOf(sample, 1, 2);
  EXPECT_DOUBLE_EQ(spread.FarShare(0, 8), 3.0 / 8);
  EXPECT_DOUBLE_EQ(spread.FarShare(0, 3), 1.0 / 8);
  EXPECT_DOUBLE_EQ(spread.FarShare(3, 6), 0);
  EXPECT_DOUBLE_EQ(SpreadOf(sample, 0.5, 2).FarShare(0, 8), 1.5 / 8);
  EXPECT_DOUBLE_EQ(SpreadOf(sample, 0, 2).FarShare(0, 8), 0);
  // Within 400 all are in the caches together.
  EXPECT_DOUBLE_EQ(SpreadOf(sample, 1, 400).FarShare(0, 8), 0);
  EXPECT_DOUBLE_EQ(SpreadOf(sample, 1, 399).FarShare(0, 8), 1.0 / 8);
}

// ---- Ranges ------------------------------------------------------------------------------------

// Every destination is in one range, and ranges ascend.
void ExpectCover(const Ranges& ranges) {
  int64_t next = kEverywhere.first;
  for (int64_t i = 0; i < ranges.count(); ++i) {
    const DestinationRange range = ranges.At(i);
    EXPECT_EQ(range.first, next);
    EXPECT_GE(range.last + 1, range.first);
    next = range.last + 1;
  }
  EXPECT_EQ(next, kEverywhere.last + 1);
}

double CountIn(const DestinationRange& range, const std::vector<int64_t>& sample) {
  const auto count = std::count_if(sample.begin(), sample.end(),
                                   [&](int64_t d) { return d >= range.first && d <= range.last; });
  return static_cast<double>(count);
}

TEST(Ranges, CoverEverythingOnce) {
  const int64_t cases = Cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t most = random.OneIn(2) ? 5 : int64_t{1} << 40;
    const auto sample = Made(random.Between(70, Spread::kMost),
                             [&](int64_t) { return random.Between(-most, most); });
    const int64_t count = random.Between(1, 100);
    const Ranges ranges(SpreadOf(sample), count);
    EXPECT_EQ(ranges.count(), std::min<int64_t>(count, 64));
    ExpectCover(ranges);
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

TEST(Ranges, HoldAboutAsManyEach) {
  const auto even = Made(1000, [](int64_t i) { return i; });
  const auto skewed = Made(1000, [](int64_t i) { return i * i * i; });
  for (const auto& sample : {even, skewed}) {
    const Ranges ranges(SpreadOf(sample), 7);
    for (int64_t i = 0; i < 7; ++i) EXPECT_NEAR(CountIn(ranges.At(i), sample), 1000.0 / 7, 1);
  }
}

TEST(Ranges, KeepEqualDestinationsTogether) {
  // Three quarters are one destination, which only one task may have: other ranges are empty.
  const auto sample = Made(1000, [](int64_t i) { return i % 4 == 0 ? i : 300; });
  const Ranges ranges(SpreadOf(sample), 8);
  ExpectCover(ranges);
  int64_t empty = 0;
  int64_t holders = 0;
  for (int64_t i = 0; i < 8; ++i) {
    const DestinationRange range = ranges.At(i);
    empty += range.IsEmpty() ? 1 : 0;
    holders += range.first <= 300 && 300 <= range.last ? 1 : 0;
  }
  EXPECT_EQ(holders, 1);
  EXPECT_GE(empty, 4);
}

TEST(Ranges, AreOneWhereOneIsWanted) {
  const Ranges ranges(SpreadOf({1, 2, 3}), 1);
  ASSERT_EQ(ranges.count(), 1);
  EXPECT_EQ(ranges.At(0).first, kEverywhere.first);
  EXPECT_EQ(ranges.At(0).last, kEverywhere.last);
}

TEST(Ranges, CostAsMuchAsTheCostliest) {
  const Spread even = SpreadOf(Made(1000, [](int64_t i) { return 10 * i; }));
  EXPECT_DOUBLE_EQ(Ranges(even, 4).MostCost(even, 8, 0), 2);
  EXPECT_NEAR(Ranges(even, 4).MostCost(even, 8, 4), 2 + 1, 0.01);
  EXPECT_DOUBLE_EQ(Ranges(even, 1).MostCost(even, 8, 0), 8);
  const Spread one = SpreadOf(Made(1000, [](int64_t) { return 7; }));
  EXPECT_DOUBLE_EQ(Ranges(one, 4).MostCost(one, 8, 4), 8);
}

}  // namespace
}  // namespace strew_test
