// SPDX-License-Identifier: Apache-2.0
//
// Random calls against the oracle. A failure names its seed: STREW_SEED=<seed> STREW_CASES=1 runs
// that case alone.
#include <cstdio>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/random.h"
#include "reference/random_case.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

class RandomCases : public testing::TestWithParam<Dtype> {
 protected:
  // Runs check(random) for one seed after another until one fails.
  template <class Check>
  static void ForEachSeed(Check check) {
    const int64_t cases = Cases(GetParam().width > 64 ? 100 : 400);
    std::printf("STREW_SEED=%llu STREW_CASES=%lld\n", static_cast<unsigned long long>(Seed()),
                static_cast<long long>(cases));
    for (int64_t i = 0; i < cases; ++i) {
      const uint64_t seed = Seed() + static_cast<uint64_t>(i);
      Random random(seed);
      ASSERT_TRUE(check(random)) << "STREW_SEED=" << seed;
    }
  }

  static void CheckOperator(Operator op) {
    ForEachSeed([=](Random& random) {
      Case c = MakeRandomCase(random, op, GetParam());
      return random.OneIn(4) ? CheckWithWorkers(c, {3}) : Check(c);
    });
  }

  static void CheckBadIndices(Operator op) {
    int64_t spoiled = 0;
    ForEachSeed([&](Random& random) {
      Case c = MakeRandomCase(random, op, GetParam());
      spoiled += SpoilIndices(random, c) ? 1 : 0;
      return Check(c);
    });
    if (!HasFatalFailure() && Cases(100) >= 100) {
      EXPECT_GT(spoiled, 0);
    }
  }
};

TEST_P(RandomCases, ScatterElements) { CheckOperator(Operator::kScatterElements); }
TEST_P(RandomCases, ScatterNd) { CheckOperator(Operator::kScatterNd); }
TEST_P(RandomCases, ScatterUpdate) { CheckOperator(Operator::kScatterUpdate); }
TEST_P(RandomCases, TensorScatter) { CheckOperator(Operator::kTensorScatter); }
TEST_P(RandomCases, SliceScatter) { CheckOperator(Operator::kSliceScatter); }
TEST_P(RandomCases, SliceScatterInt64) { CheckOperator(Operator::kSliceScatterInt64); }
TEST_P(RandomCases, ScatterElementsWithBadIndices) { CheckBadIndices(Operator::kScatterElements); }
TEST_P(RandomCases, ScatterNdWithBadIndices) { CheckBadIndices(Operator::kScatterNd); }
TEST_P(RandomCases, ScatterUpdateWithBadIndices) { CheckBadIndices(Operator::kScatterUpdate); }
TEST_P(RandomCases, TensorScatterWithBadIndices) { CheckBadIndices(Operator::kTensorScatter); }

INSTANTIATE_TEST_SUITE_P(EveryDtype, RandomCases, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

}  // namespace
}  // namespace strew_test
