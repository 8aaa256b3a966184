// SPDX-License-Identifier: Apache-2.0
//
// Calls with plans whose runner fails, in each phase; and what the calls explain.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "prepared/check_plans.h"
#include "prepared/large_cases.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kUpdates = 1 << 15;
constexpr int32_t kWorkers = 8;

using CallOf = std::function<strew_status(strew_context*)>;

// Returns the number of phases.
int64_t ExpectFailureOfEachPhase(const CallOf& call) {
  InOrder in_order;
  Recorder recorder(in_order);
  const Context context = MakeContext();
  recorder.InstallIn(context.get(), kWorkers);
  EXPECT_EQ(call(context.get()), STREW_OK);
  for (int64_t phase = 0; phase < recorder.phases(); ++phase) {
    Faulty faulty(in_order, Fault::kAnswersAnError, phase);
    faulty.InstallIn(context.get(), kWorkers);
    EXPECT_EQ(call(context.get()), STREW_RUNNER_FAILED) << "phase " << phase;
    EXPECT_EQ(strew_context_applied(context.get()), 0);
  }
  return recorder.phases();
}

// All that a call explains.
std::string ToldBy(const CallOf& call) {
  std::string told;
  const Context context = MakeContext();
  strew::ExplainTo(
      context.get(),
      [](void* to, const char* sentence) { static_cast<std::string*>(to)->append(sentence); },
      &told);
  EXPECT_EQ(call(context.get()), STREW_OK);
  return told;
}

class CallsOfPlans : public testing::TestWithParam<Setting> {
 protected:
  // Calls body(call, name) for creation, and each call with the plans of a case.
  template <class Body>
  static void ForEachCall(GatherScatterCase& c, const Body& body) {
    const Plan to = PlanOf(c.to), from = PlanOf(c.from);
    body(
        [&](strew_context* context) {
          Plan plan;
          const strew_status status = MakePlan(c.to, context, &plan);
          EXPECT_EQ(plan != nullptr, status == STREW_OK);
          return status;
        },
        "creation");
    body(
        [&](strew_context* context) {
          return strew_plan_scatter(context, to.get(), c.to.data.tensor(), c.to.updates.tensor(),
                                    c.to.reduction, c.to.destination().tensor());
        },
        "scatter");
    body(
        [&](strew_context* context) {
          return strew_plan_gather(context, from.get(), c.from.data.tensor(),
                                   c.to.updates.tensor());
        },
        "gather");
    body(
        [&](strew_context* context) {
          return strew_plan_gather_scatter(
              context, from.get(), c.from.data.tensor(), c.weights ? c.weights->tensor() : nullptr,
              to.get(), c.to.data.tensor(), c.to.reduction, c.to.destination().tensor());
        },
        "gather_scatter");
  }
};

INSTANTIATE_TEST_SUITE_P(EverySetting, CallsOfPlans, testing::ValuesIn(Settings()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(CallsOfPlans, FailIfTheirRunnerDoes) {
  Random random(Seed());
  int64_t phases = 0;
  bool in_place = false;
  for (const CallShape& shape : PlanShapes(kUpdates)) {
    in_place = !in_place;
    GatherScatterCase c = MakeLarge(random, shape, GetParam().dtype,
                                    in_place ? Taken::kElements : Taken::kRows, in_place);
    c.to.reduction = GetParam().reduction;
    ForEachCall(c,
                [&](const CallOf& call, const char*) { phases += ExpectFailureOfEachPhase(call); });
    ASSERT_FALSE(HasFailure()) << shape.name;
  }
  EXPECT_GT(phases, 0) << "no call is shared out: this test is void";
}

TEST_P(CallsOfPlans, ExplainThemselves) {
  Random random(Seed());
  for (const CallShape& shape : PlanShapes(kUpdates)) {
    GatherScatterCase c = MakeLarge(random, shape, GetParam().dtype, Taken::kRows, false);
    c.to.reduction = GetParam().reduction;
    ForEachCall(c, [&](const CallOf& call, const std::string& name) {
      if (name == "gather") return;  // has nothing to choose
      const std::string told = ToldBy(call);
      EXPECT_FALSE(told.empty() && name == "creation") << shape.name << ", " << name;
      EXPECT_TRUE(told.empty() || told.back() == '.') << shape.name << ", " << name << ": " << told;
    });
  }
}

}  // namespace
}  // namespace strew_test
