// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <string>

#include <gtest/gtest.h>

#include "reference/targets.h"
#include "reference/trial.h"
#include "runners.h"
#include "support/reference.h"

namespace strew_test {
namespace {

bool HasDefaultPolicies(const Case& c) {
  return c.wrap && c.policy == STREW_INDEX_ERROR && c.duplicates == STREW_DUPLICATE_LAST;
}

bool Report(const Case& c, const std::string& where, const std::string& trouble) {
  if (trouble.empty()) return true;
  ADD_FAILURE() << where << ": " << trouble << Describe(c);
  return false;
}

bool CheckTargets(const Case& c, Trial& trial) {
  for (const Target& target : Targets()) {
    if (!Report(c, target.name, trial.Trouble(target.context.get()))) return false;
  }
  return true;
}

bool CheckPlans(const Case& c, Trial& trial) {
  if (!HasPlan(c)) return true;
  for (const Target& target : Targets()) {
    if (!Report(c, target.name, trial.TroubleByPlan(target.context.get()))) return false;
  }
  return true;
}

// In place means the same memory, not the same descriptor: this one is another, and the strides of
// its dims <= 1, which say nothing, are others too.
bool CheckWithoutContext(Case& c, Trial& trial) {
  if (!HasDefaultPolicies(c)) return true;
  const View& view = c.destination().view();
  Layout layout = view.layout;
  for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] <= 1) layout.strides[axis] ^= 12345;
  }
  const Tensor twin = MakeTensor(view.dtype, layout, view.origin);
  return Report(c, "no context", trial.TroubleWithoutContext(twin.get()));
}

bool CheckTarget(const Case& c, Trial& trial, const Target& target, int32_t workers) {
  static StdThreads threads;
  static Backwards backwards;
  static bool on_threads = false;
  on_threads = !on_threads;
  Runner& runner = on_threads ? static_cast<Runner&>(threads) : backwards;
  strew_context* const context = target.context.get();
  runner.InstallIn(context, workers);
  std::string trouble = trial.Trouble(context);
  if (trouble.empty() && HasPlan(c)) trouble = trial.TroubleByPlan(context);
  EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
  return Report(c, target.name + ", " + std::to_string(workers) + " workers", trouble);
}

}  // namespace

bool Check(Case& c) {
  Trial trial(c);
  return CheckTargets(c, trial) && CheckPlans(c, trial) && CheckWithoutContext(c, trial);
}

bool CheckRefused(Case& c, strew_status status, int64_t error_position) {
  Trial trial(c, status, error_position);
  return CheckTargets(c, trial) && CheckWithoutContext(c, trial);
}

bool CheckWithWorkers(Case& c, const std::vector<int32_t>& workers) {
  Trial trial(c);
  for (const Target& target : Targets()) {
    for (const int32_t number : workers) {
      if (!CheckTarget(c, trial, target, number)) return false;
    }
  }
  return true;
}

void ExpectOutput(Case& c, const Array& expected) {
  Trial trial(c);
  for (const Target& target : Targets()) {
    Report(c, target.name, trial.Trouble(target.context.get()));
    EXPECT_EQ(c.destination().Snapshot(), expected.Snapshot()) << target.name << Describe(c);
  }
  CheckWithoutContext(c, trial);
}

}  // namespace strew_test
