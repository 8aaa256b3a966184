// SPDX-License-Identifier: Apache-2.0
//
// Random calls against the oracle. A failure names its seed: STREW_SEED=<seed> STREW_CASES=1 runs
// that case alone.
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/random.h"
#include "reference/random_case.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

class RandomCases : public testing::TestWithParam<std::tuple<Operator, Dtype>> {
 protected:
  static Operator op() { return std::get<0>(GetParam()); }
  static const Dtype& dtype() { return std::get<1>(GetParam()); }

  // Runs check(random) for one seed after another until one fails.
  template <class Check>
  static void ForEachSeed(Check check) {
    const int64_t cases = Cases(dtype().width > 64 ? 100 : 400);
    std::printf("STREW_SEED=%llu STREW_CASES=%lld\n", static_cast<unsigned long long>(Seed()),
                static_cast<long long>(cases));
    for (int64_t i = 0; i < cases; ++i) {
      const uint64_t seed = Seed() + static_cast<uint64_t>(i);
      Random random(seed);
      ASSERT_TRUE(check(random)) << "STREW_SEED=" << seed;
    }
  }
};

std::string NameOfCases(const testing::TestParamInfo<std::tuple<Operator, Dtype>>& test) {
  return std::string(NameOf(std::get<0>(test.param))) + "_" + TestName(std::get<1>(test.param));
}

TEST_P(RandomCases, Good) {
  ForEachSeed([](Random& random) {
    Case c = MakeRandomCase(random, op(), dtype());
    return random.OneIn(4) ? CheckWithWorkers(c, {3}) : Check(c);
  });
}

class BadIndices : public RandomCases {};

TEST_P(BadIndices, AreTreatedByThePolicy) {
  int64_t spoiled = 0;
  ForEachSeed([&](Random& random) {
    Case c = MakeRandomCase(random, op(), dtype());
    spoiled += SpoilIndices(random, c) ? 1 : 0;
    return Check(c);
  });
  if (!HasFatalFailure() && Cases(100) >= 100) {
    EXPECT_GT(spoiled, 0);
  }
}

std::vector<Operator> IndexedOperators() {
  std::vector<Operator> operators;
  for (const Operator op : Operators()) {
    if (!IsSlice(op)) operators.push_back(op);
  }
  return operators;
}

INSTANTIATE_TEST_SUITE_P(EveryOperatorAndDtype, RandomCases,
                         testing::Combine(testing::ValuesIn(Operators()),
                                          testing::ValuesIn(Dtypes())),
                         NameOfCases);
INSTANTIATE_TEST_SUITE_P(EveryOperatorAndDtype, BadIndices,
                         testing::Combine(testing::ValuesIn(IndexedOperators()),
                                          testing::ValuesIn(Dtypes())),
                         NameOfCases);

}  // namespace
}  // namespace strew_test
