// SPDX-License-Identifier: Apache-2.0
//
// The most updates of one destination that means and wide sums take. No machine that runs the tests
// has the memory for so many, so the plans are made by hand.
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "kernel/kernel.h"
#include "prepared/ordered.h"
#include "prepared/plan.h"
#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using Reductions = std::initializer_list<strew_reduction>;

using strew::kernel::kMostTerms;
using strew::prepared::Plan;

// Destinations with so many updates.
void SetTerms(Plan* plan, const std::vector<int64_t>& terms) {
  const auto groups = static_cast<int64_t>(terms.size());
  ASSERT_TRUE(plan->destinations.Allocate(groups, 1));
  ASSERT_TRUE(plan->firsts.Allocate(groups + 1, 8));
  plan->firsts.Visit([&](auto* firsts) {
    using Number = std::remove_pointer_t<decltype(firsts)>;
    for (const int64_t count : terms) {
      *firsts++ = static_cast<Number>(plan->kept);
      plan->kept += count;
    }
    *firsts = static_cast<Number>(plan->kept);
  });
}

strew_status Check(const std::vector<int64_t>& terms, strew_reduction reduction) {
  Plan plan;
  SetTerms(&plan, terms);
  const Context context = MakeContext();
  return CheckTerms(strew::CallWith(context.get()), plan, reduction).code();
}

TEST(Terms, OfOneDestinationHaveALimit) {
  for (const strew_reduction reduction :
       Reductions{STREW_MEAN, STREW_MEAN | STREW_EXCLUDE_SELF, STREW_ADD | STREW_WIDE,
                  STREW_MUL | STREW_WIDE}) {
    EXPECT_EQ(Check({kMostTerms - 1}, reduction), STREW_OK);
    EXPECT_EQ(Check({kMostTerms}, reduction), STREW_UNSUPPORTED);
    EXPECT_EQ(Check({1, kMostTerms + 1, 2}, reduction), STREW_UNSUPPORTED);
    EXPECT_EQ(Check({1, 2, kMostTerms}, reduction), STREW_UNSUPPORTED);
  }
}

TEST(Terms, OfSeveralDestinationsHaveNone) {
  for (const strew_reduction reduction : Reductions{STREW_MEAN, STREW_ADD | STREW_WIDE}) {
    EXPECT_EQ(Check({kMostTerms - 1, kMostTerms - 1, 5}, reduction), STREW_OK);
  }
}

TEST(Terms, OfReductionsWithoutSumsHaveNone) {
  for (const strew_reduction reduction :
       Reductions{STREW_NONE, STREW_ADD, STREW_MAX, STREW_MIN | STREW_EXCLUDE_SELF}) {
    EXPECT_EQ(Check({kMostTerms + 7}, reduction), STREW_OK);
  }
}

TEST(Terms, OfSingleUpdatesHaveNone) {
  Plan plan;
  plan.kept = kMostTerms;
  const Context context = MakeContext();
  EXPECT_TRUE(CheckTerms(strew::CallWith(context.get()), plan, STREW_MEAN).ok());
}

// Calls whose updates are one number, which all entries repeat.
TEST(Terms, OfCallsHaveTheLimit) {
  strew_plan handle;
  Plan& plan = handle.plan;
  SetTerms(&plan, {kMostTerms});
  plan.kind = strew::prepared::Kind::kUpdate;
  plan.rank = plan.components = 1;
  plan.shape[0] = plan.entries = plan.all_entries = kMostTerms;
  plan.given_axis = 0;
  plan.extents[0] = 1;
  int32_t old = 5, number = 3;
  const Tensor data = MakeTensor(STREW_INT32, {{1}, {1}}, &old);
  const Tensor source = MakeTensor(STREW_INT32, {{1}, {1}}, &number);
  const Tensor updates = MakeTensor(STREW_INT32, {{kMostTerms}, {0}}, &number);
  const Context context = MakeContext();
  EXPECT_EQ(
      strew_plan_scatter(context.get(), &handle, data.get(), updates.get(), STREW_MEAN, data.get()),
      STREW_UNSUPPORTED);
  EXPECT_EQ(strew_plan_gather_scatter(context.get(), &handle, source.get(), nullptr, &handle,
                                      data.get(), STREW_MEAN, data.get()),
            STREW_UNSUPPORTED);
  EXPECT_EQ(old, 5);
}

TEST(Terms, AreNamedInTheSentence) {
  Plan plan;
  SetTerms(&plan, {3, kMostTerms});
  const Context context = MakeContext();
  EXPECT_FALSE(CheckTerms(strew::CallWith(context.get()), plan, STREW_MEAN).ok());
  EXPECT_STREQ(strew_context_error(context.get()),
               "a destination has 2147483647 updates, but means and wide sums by a plan have at "
               "most 2147483646");
}

}  // namespace
}  // namespace strew_test
