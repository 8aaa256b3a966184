// SPDX-License-Identifier: Apache-2.0
//
// Calls with plans whose runner fails, in each phase; and what the calls explain.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "prepared/check_plans.h"
#include "prepared/large_cases.h"
#include "prepared/plan_schedules.h"
#include "reference/indices.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kUpdates = 1 << 15;
constexpr int32_t kWorkers = 8;

using CallOf = std::function<strew_status(strew_context*)>;

// Returns the number of phases.
int64_t ExpectFailureOfEachPhase(const CallOf& call, const strew::plan::Tuning& tuning = {}) {
  InOrder in_order;
  Recorder recorder(in_order);
  const Context context = MakeContext();
  context->settings.tuning = &tuning;
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

// Whatever a call has to do is worth tasks, copies included.
strew::plan::Tuning InTasks() {
  strew::plan::Tuning tuning;
  tuning.least_task_ns = 1e-3;
  tuning.small_copy = 0;
  return tuning;
}

TEST_P(CallsOfPlans, FailIfTheRunnerOfSmallTasksDoes) {
  Random random(Seed());
  const strew::plan::Tuning tuning = InTasks();
  for (const CallShape& shape : PlanShapes(kUpdates >> 5)) {
    for (const Taken taken : {Taken::kElements, Taken::kRows}) {
      GatherScatterCase c = MakeLarge(random, shape, GetParam().dtype, taken, /*in_place=*/false);
      c.to.reduction = GetParam().reduction;
      int64_t phases = 0;
      ForEachCall(c, [&](const CallOf& call, const char*) {
        phases += ExpectFailureOfEachPhase(call, tuning);
      });
      EXPECT_GT(phases, 0);
      ASSERT_FALSE(HasFailure()) << shape.name;
    }
  }
}

TEST(CallsOfPlansInElementOrder, FailIfTheirRunnerDoes) {
  Random random(Seed());
  strew::plan::Tuning tuning = InTasks();
  GoInElementOrder(&tuning);
  const CallShape shape = {"elements", Operator::kScatterElements, {1000}, {2000}, 0};
  GatherScatterCase c = MakeLarge(random, shape, STREW_FLOAT32, Taken::kElements,
                                  /*in_place=*/false);
  c.to.reduction = STREW_ADD;
  const Plan plan = PlanOf(c.to);
  const auto call = [&](strew_context* context) {
    return strew_plan_scatter(context, plan.get(), c.to.data.tensor(), c.to.updates.tensor(),
                              c.to.reduction, c.to.destination().tensor());
  };
  EXPECT_EQ(ExpectFailureOfEachPhase(call, tuning), 2) << "a copy, and one pass over destinations";
}

TEST(CallsOfPlansOfOnePlace, FailIfTheirRunnerDoes) {
  const Array indices = IndexArray(STREW_INT8, {1, 1000}, Dims(1000, 2));
  strew_plan* made = nullptr;
  ASSERT_EQ(strew_plan_scatter_elements(nullptr, indices.tensor(), 0, 5, &made), STREW_OK);
  const Plan plan(made);
  const Array source(STREW_INT32, RowMajor({5, 1000})), output(STREW_INT32, RowMajor({1, 1000}));
  const auto call = [&](strew_context* context) {
    return strew_plan_gather(context, plan.get(), source.tensor(), output.tensor());
  };
  EXPECT_EQ(ExpectFailureOfEachPhase(call, InTasks()), 1);
  EXPECT_NE(ToldBy(call).find("All entries name one place"), std::string::npos);
}

TEST(CallsOfPlansOfNothing, FailIfTheRunnerOfTheirCopyDoes) {
  const Array indices(STREW_INT8, RowMajor({0}));
  strew_plan* made = nullptr;
  ASSERT_EQ(strew_plan_scatter_update(nullptr, indices.tensor(), 0, 500, &made), STREW_OK);
  const Plan plan(made);
  const Array source(STREW_INT32, RowMajor({500, 9})), data(STREW_INT32, RowMajor({500, 9}));
  const Array output(STREW_INT32, RowMajor({500, 9}));
  const auto call = [&](strew_context* context) {
    return strew_plan_gather_scatter(context, plan.get(), source.tensor(), nullptr, plan.get(),
                                     data.tensor(), STREW_ADD, output.tensor());
  };
  EXPECT_EQ(ExpectFailureOfEachPhase(call, InTasks()), 1);
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
