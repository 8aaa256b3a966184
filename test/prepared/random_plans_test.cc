// SPDX-License-Identifier: Apache-2.0
//
// Random scatters by plans, gathers, and gathers that are scattered, against the oracle. A failure
// names its seed: STREW_SEED=<seed> STREW_CASES=1 runs that case alone.
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "prepared/check_plans.h"
#include "reference/dtypes.h"
#include "reference/random.h"
#include "reference/random_gather.h"
#include "support/crash_report.h"
#include "support/reference.h"

namespace strew_test {
namespace {

class RandomPlans : public testing::TestWithParam<std::tuple<Operator, Dtype>> {
 protected:
  static Operator op() { return std::get<0>(GetParam()); }
  static const Dtype& dtype() { return std::get<1>(GetParam()); }

  // Runs check(random) for one seed after another until one fails.
  template <class Check>
  static void ForEachSeed(Check check) {
    const int64_t cases = Cases(dtype().width > 64 ? 40 : 100);
    std::printf("STREW_SEED=%llu STREW_CASES=%lld\n", static_cast<unsigned long long>(Seed()),
                static_cast<long long>(cases));
    for (int64_t i = 0; i < cases; ++i) {
      const uint64_t seed = Seed() + static_cast<uint64_t>(i);
      SetCrashReport("STREW_SEED=%llu STREW_CASES=1\n", static_cast<unsigned long long>(seed));
      Random random(seed);
      ASSERT_TRUE(check(random)) << "STREW_SEED=" << seed;
    }
  }

  static int32_t AnyWorkers(Random& random) { return random.OneIn(4) ? 3 : 1; }
};

std::string NameOfCases(const testing::TestParamInfo<std::tuple<Operator, Dtype>>& test) {
  return std::string(NameOf(std::get<0>(test.param))) + "_" + TestName(std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(EveryOperatorAndDtype, RandomPlans,
                         testing::Combine(testing::ValuesIn(PlannedOperators()),
                                          testing::ValuesIn(Dtypes())),
                         NameOfCases);

TEST_P(RandomPlans, Scatter) {
  ForEachSeed([](Random& random) {
    Case c = MakeRandomPlanned(random, op(), dtype());
    return CheckScatter(c, AnyWorkers(random));
  });
}

// The tensor that an operator scatters into is the source of a gather here.
TEST_P(RandomPlans, Gather) {
  ForEachSeed([](Random& random) {
    Case c = MakeRandomPlanned(random, op(), dtype());
    SetAnyResult(random, c);
    return CheckGather(c, AnyWorkers(random));
  });
}

TEST_P(RandomPlans, GatherScatter) {
  ForEachSeed([](Random& random) {
    GatherScatterCase c = MakeRandomGatherScatter(random, op(), dtype());
    return CheckGatherScatter(c, AnyWorkers(random));
  });
}

}  // namespace
}  // namespace strew_test
