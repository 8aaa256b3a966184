// SPDX-License-Identifier: Apache-2.0
#include "prepared/check_plans.h"

#include <gtest/gtest.h>

#include "reference/gather_trial.h"
#include "reference/targets.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

// Policies that a call with a plan has to ignore.
void SetOtherPolicies(const Case& c, strew_context* context) {
  EXPECT_EQ(strew_context_set_negative_indices(context, c.wrap ? 0 : 1), STREW_OK);
  EXPECT_EQ(strew_context_set_index_policy(
                context, c.policy == STREW_INDEX_DROP ? STREW_INDEX_CLAMP : STREW_INDEX_DROP),
            STREW_OK);
  EXPECT_EQ(strew_context_set_duplicate_policy(context, STREW_DUPLICATE_ERROR), STREW_OK);
}

}  // namespace

Plan PlanOf(const Case& c) {
  static size_t turn = 0;
  const Target& target = Targets()[turn++ % Targets().size()];
  const Context context = MakeContext();
  EXPECT_EQ(strew_context_set_simd_target(context.get(), target.name.c_str()), STREW_OK);
  EXPECT_TRUE(SetPolicies(c, context.get()));
  Plan plan;
  EXPECT_EQ(MakePlan(c, context.get(), &plan), STREW_OK)
      << strew_context_error(context.get()) << Describe(c);
  return plan;
}

bool CheckEverywhere(Trial& trial, const PlanCall& call, int32_t workers,
                     const std::string& about) {
  static StdThreads threads;
  static Backwards backwards;
  static bool on_threads = false;
  for (const Target& target : Targets()) {
    strew_context* const context = target.context.get();
    on_threads = !on_threads;
    Runner& runner = on_threads ? static_cast<Runner&>(threads) : backwards;
    if (workers > 1) runner.InstallIn(context, workers);
    const std::string trouble = trial.TroubleOf([&] { return call(context); }, context);
    EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
    if (trouble.empty()) continue;
    ADD_FAILURE() << target.name << ", " << workers << " workers: " << trouble << about;
    return false;
  }
  return true;
}

bool CheckScatter(Case& c, int32_t workers) {
  const Plan plan = PlanOf(c);
  Trial trial(c);
  const auto call = [&](strew_context* context) {
    SetOtherPolicies(c, context);
    return strew_plan_scatter(context, plan.get(), c.data.tensor(), c.updates.tensor(), c.reduction,
                              c.destination().tensor());
  };
  return CheckEverywhere(trial, call, workers, "by a plan " + Describe(c));
}

bool CheckGather(Case& c, int32_t workers) {
  const Plan plan = PlanOf(c);
  GatherTrial gather(c);
  const auto call = [&](strew_context* context) {
    SetOtherPolicies(c, context);
    return gather.Call(plan.get(), context);
  };
  return CheckEverywhere(gather.trial(), call, workers,
                         "gather with the indices of " + Describe(c));
}

bool CheckGatherScatter(GatherScatterCase& c, int32_t workers) {
  const Plan from = PlanOf(c.from), to = PlanOf(c.to);
  GatherScatterTrial gather_scatter(c);
  const auto call = [&](strew_context* context) {
    SetOtherPolicies(c.to, context);
    return gather_scatter.Call(from.get(), to.get(), context);
  };
  return CheckEverywhere(gather_scatter.trial(), call, workers, Describe(c));
}

}  // namespace strew_test
