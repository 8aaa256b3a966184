// SPDX-License-Identifier: Apache-2.0
//
// Sums that begin with old values or with the identity, and the numbers that divide them.
#include "accumulate/accumulator.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "base/call.h"

namespace strew_test {
namespace {

using strew::accumulate::Accumulator;

// Sums of three int8, whose accumulators are wider, with updates for the first and the last.
class AccumulatorOf : public testing::TestWithParam<bool> {
 protected:
  void Combine(strew_reduction reduction) {
    const strew::Settings settings;
    const Accumulator accumulator(strew::Call(settings, nullptr), STREW_INT8, reduction,
                                  strew::kernel::kMostTerms - (GetParam() ? 0 : 1));
    const int8_t updates[] = {120, 0, -8};
    const int64_t size = accumulator.sums.sum_size;
    ASSERT_LE(size, 8);
    alignas(8) unsigned char sums[3 * 8];
    accumulator.Begin(sums, reinterpret_cast<const unsigned char*>(elements_), 2, 3);
    for (const int64_t i : {0, 2, 0}) {
      accumulator.sums.add(sums + i * size, reinterpret_cast<const unsigned char*>(updates + i), 1,
                           1);
    }
    for (const int64_t i : {0, 2}) {
      accumulator.sums.finish({reinterpret_cast<unsigned char*>(elements_ + 2 * i), 1,
                               sums + i * size, 1, 1, accumulator.Terms(i == 0 ? 2 : 1)});
    }
    if (GetParam()) return;
    uint32_t counts[] = {2, 0, 1};
    accumulator.FinishEach({sums, counts}, reinterpret_cast<unsigned char*>(each_), 3);
    EXPECT_EQ(each_[0], elements_[0]);
    EXPECT_EQ(each_[1], 55);
    EXPECT_EQ(each_[2], elements_[4]);
  }

  int8_t elements_[6] = {60, 1, 50, 1, 4, 1};
  int8_t each_[3] = {55, 55, 55};
};

INSTANTIATE_TEST_SUITE_P(ShortAndLong, AccumulatorOf, testing::Bool());

TEST_P(AccumulatorOf, MeansCountTheOldValue) {
  Combine(STREW_MEAN);
  EXPECT_EQ(elements_[0], (60 + 120 + 120) / 3);
  EXPECT_EQ(elements_[4], (4 - 8) / 2);
}

TEST_P(AccumulatorOf, MeansLeaveTheOldValueOut) {
  Combine(STREW_MEAN | STREW_EXCLUDE_SELF);
  EXPECT_EQ(elements_[0], 120);
  EXPECT_EQ(elements_[4], -8);
}

TEST(AccumulatorOfProducts, HasOneForTheIdentityAndDividesByNothing) {
  const strew::Settings settings;
  const Accumulator accumulator(strew::Call(settings, nullptr), STREW_FLOAT16,
                                STREW_MUL | STREW_WIDE | STREW_EXCLUDE_SELF);
  EXPECT_EQ(accumulator.Terms(7), 1);
  ASSERT_EQ(accumulator.sums.sum_size, static_cast<int64_t>(sizeof(float)));
  float sum = 0;
  accumulator.Begin(reinterpret_cast<unsigned char*>(&sum), nullptr, 1, 1);
  EXPECT_EQ(sum, 1);
}

}  // namespace
}  // namespace strew_test
