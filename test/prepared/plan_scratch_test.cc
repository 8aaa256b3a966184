// SPDX-License-Identifier: Apache-2.0
//
// Scratch of plans: how much, whether all of it comes back, and what happens when there is none.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "prepared/check_plans.h"
#include "prepared/large_cases.h"
#include "reference/indices.h"
#include "support/counting_allocator.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kOfCall = int64_t{2} << 20;
constexpr int64_t kOfWorker = int64_t{64} << 10;

using Bytes = std::vector<unsigned char>;

// ---- Creation -----------------------------------------------------------------------------------

struct Refusals {
  strew_index_policy policy;
  strew_duplicate_policy duplicates;
};

class ScratchOfCreation : public testing::TestWithParam<Refusals> {
 protected:
  // Makes a plan with so many blocks granted. Answers how many were wanted.
  int64_t Make(const Case& c, int32_t workers, int64_t granted) {
    const Context context = MakeContext();
    EXPECT_EQ(strew_context_set_index_policy(context.get(), GetParam().policy), STREW_OK);
    EXPECT_EQ(strew_context_set_duplicate_policy(context.get(), GetParam().duplicates), STREW_OK);
    if (workers > 1) threads_.InstallIn(context.get(), workers);
    CountingAllocator allocator(granted);
    allocator.InstallIn(context.get());
    Plan plan;
    const strew_status status = MakePlan(c, context.get(), &plan);
    const bool may_repeat = GetParam().duplicates == STREW_DUPLICATE_ERROR;
    if (allocator.has_refused() && status == STREW_OUT_OF_MEMORY) {
      EXPECT_STRNE(strew_context_error(context.get()), "");
    } else {
      EXPECT_TRUE(status == STREW_OK || (may_repeat && status == STREW_DUPLICATE_INDEX))
          << strew_status_name(status) << Describe(c);
    }
    EXPECT_EQ(plan != nullptr, status == STREW_OK);
    return allocator.requests();
  }

  StdThreads threads_;
};

INSTANTIATE_TEST_SUITE_P(EveryPolicy, ScratchOfCreation,
                         testing::Values(Refusals{STREW_INDEX_ERROR, STREW_DUPLICATE_LAST},
                                         Refusals{STREW_INDEX_DROP, STREW_DUPLICATE_LAST},
                                         Refusals{STREW_INDEX_CLAMP, STREW_DUPLICATE_ERROR}));

TEST_P(ScratchOfCreation, MayBeRefusedAtEveryRequest) {
  Random random(Seed());
  int64_t refusals = 0;
  for (CallShape shape : PlanShapes(1 << 13)) {
    for (const Spread spread : {shape.spread, Spread::kAllEqual}) {
      shape.spread = spread;
      const Case c = MakeCase(random, shape, STREW_INT8, true);
      for (const int32_t workers : {1, 4}) {
        const int64_t wanted = Make(c, workers, CountingAllocator::kGrantsAll);
        refusals += wanted;
        for (int64_t granted = 0; granted < wanted; ++granted) Make(c, workers, granted);
      }
    }
  }
  EXPECT_GT(refusals, 0) << "no plan wants scratch: this test is void";
}

// ---- Calls --------------------------------------------------------------------------------------

// Means, and reductions with a flag, may take no more than 2 MiB and 64 KiB for each worker.
bool IsLimited(strew_reduction reduction) {
  return reduction == STREW_MEAN || (reduction & (STREW_EXCLUDE_SELF | STREW_WIDE)) != 0;
}

class ScratchOfPlans : public testing::TestWithParam<Setting> {
 protected:
  using CallOf = std::function<strew_status(strew_context*)>;

  // The result of a call without an allocator, or the refusal of one that wrote nothing.
  int64_t Try(Array& output, const Bytes& expected, const CallOf& call, int32_t workers,
              int64_t granted) {
    const Bytes before = output.Snapshot();
    const Context context = MakeContext();
    if (workers > 1) threads_.InstallIn(context.get(), workers);
    CountingAllocator allocator(granted);
    allocator.InstallIn(context.get());
    allocator.OnRequest([&] {
      EXPECT_TRUE(output.Snapshot() == before) << "scratch is asked for when the output is written";
    });
    const strew_status status = call(context.get());
    EXPECT_TRUE(status == STREW_OK || (status == STREW_OUT_OF_MEMORY && allocator.has_refused()))
        << strew_status_name(status);
    EXPECT_TRUE(output.Snapshot() == (status == STREW_OK ? expected : before)) << granted;
    const int64_t of_entries = workers > 1 ? 16 * entries_ : 0;
    EXPECT_LE(static_cast<int64_t>(allocator.peak()), kOfCall + workers * kOfWorker + of_entries);
    output.Restore(before);
    return allocator.requests();
  }

  void CheckCall(Array& output, const CallOf& call) {
    const Bytes before = output.Snapshot();
    ASSERT_EQ(call(nullptr), STREW_OK);
    const Bytes expected = output.Snapshot();
    output.Restore(before);
    for (const int32_t workers : {1, 4}) {
      const int64_t wanted = Try(output, expected, call, workers, CountingAllocator::kGrantsAll);
      for (int64_t granted = 0; granted < wanted; ++granted) {
        Try(output, expected, call, workers, granted);
      }
    }
  }

  void CheckShape(Random& random, const CallShape& shape, Taken taken, bool in_place) {
    GatherScatterCase c = MakeLarge(random, shape, GetParam().dtype, taken, in_place);
    const Plan plan = PlanOf(c.to), from = PlanOf(c.from);
    if (in_place) AddWeights(random, c);
    Array& output = c.to.destination();
    const strew_reduction reduction = GetParam().reduction;
    // As the operators, several workers may share the entries of other reductions out.
    entries_ = IsLimited(reduction) ? 0 : strew_plan_entries(plan.get());
    CheckCall(output, [&](strew_context* context) {
      return strew_plan_scatter(context, plan.get(), c.to.data.tensor(), c.to.updates.tensor(),
                                reduction, output.tensor());
    });
    entries_ = 0;
    CheckCall(output, [&](strew_context* context) {
      return strew_plan_gather_scatter(context, from.get(), c.from.data.tensor(),
                                       c.weights ? c.weights->tensor() : nullptr, plan.get(),
                                       c.to.data.tensor(), reduction, output.tensor());
    });
    CheckCall(c.to.updates, [&](strew_context* context) {
      return strew_plan_gather(context, from.get(), c.from.data.tensor(), c.to.updates.tensor());
    });
  }

  StdThreads threads_;
  int64_t entries_ = 0;  // that may take scratch
};

INSTANTIATE_TEST_SUITE_P(EverySetting, ScratchOfPlans, testing::ValuesIn(Settings()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(ScratchOfPlans, IsLimitedAndMayBeRefused) {
  Random random(Seed());
  bool in_place = false;
  for (const CallShape& shape : PlanShapes(1 << 15)) {
    in_place = !in_place;
    CheckShape(random, shape, in_place ? Taken::kElements : Taken::kRows, in_place);
    ASSERT_FALSE(HasFailure()) << shape.name;
  }
}

// So many elements that what a mean may take for each would show.
TEST_P(ScratchOfPlans, IsLimitedForManyElements) {
  Random random(Seed());
  constexpr int64_t kMany = 1 << 20;
  const std::vector<CallShape> shapes = {
      {"one line", Operator::kScatterElements, {kMany}, {kMany}, 0, STREW_INT32},
      {"short rows", Operator::kScatterNd, {kMany / 8, 3}, {kMany / 8, 1}},
      {"pairs", Operator::kScatterNd, {512, 512}, {kMany, 2}, 0, STREW_INT32},
      {"columns", Operator::kScatterUpdate, {64, 4096}, {4096}, 1}};
  for (const CallShape& shape : shapes) {
    for (const bool in_place : {false, true}) {
      CheckShape(random, shape, Taken::kRows, in_place);
      ASSERT_FALSE(HasFailure()) << shape.name;
    }
  }
}

// Most of the entries are dropped; they are looked at all the same.
TEST_P(ScratchOfPlans, IsLimitedForEntriesThatAreDropped) {
  if (!IsLimited(GetParam().reduction)) return;
  constexpr int64_t kPlaces = 4000000, kEntries = 300000;
  Random random(Seed());
  Case c = MakeCase(random, {"", Operator::kScatterElements, {kPlaces}, {kEntries}, 0, STREW_INT32},
                    GetParam().dtype, true);
  c.policy = STREW_INDEX_DROP;
  for (int64_t i = 0; i < kEntries; ++i) {
    if (i % 7 > 1) WriteIndex(STREW_INT32, c.indices->view().At({i}), kPlaces + i);
  }
  const Plan plan = PlanOf(c);
  CheckCall(c.data, [&](strew_context* context) {
    return strew_plan_scatter(context, plan.get(), c.data.tensor(), c.updates.tensor(),
                              GetParam().reduction, c.data.tensor());
  });
}

// Accumulators in scratch are the faster way, but not the only one. Leaves the data as it was.
template <class Call>
void CompareWithoutScratch(Array& data, const Call& call) {
  const Bytes before = data.Snapshot();
  ASSERT_EQ(call(nullptr), STREW_OK);
  const Bytes expected = data.Snapshot();
  data.Restore(before);
  const Context context = MakeContext();
  CountingAllocator allocator(0);
  allocator.InstallIn(context.get());
  EXPECT_EQ(call(context.get()), STREW_OK);
  EXPECT_TRUE(allocator.has_refused());
  EXPECT_TRUE(data.Snapshot() == expected);
  EXPECT_STREQ(strew_context_error(context.get()), "");
  data.Restore(before);
}

TEST(ScratchOfAccumulators, IsNotNeeded) {
  constexpr int64_t kEntries = 100, kPlaces = 8;
  Random random(Seed());
  for (const strew_reduction reduction : {STREW_ADD | STREW_WIDE, STREW_MEAN | 0}) {
    Case c =
        MakeCase(random, {"", Operator::kScatterElements, {kPlaces}, {kEntries}, 0, STREW_INT32},
                 STREW_BFLOAT16, true);
    const Plan plan = PlanOf(c);
    const auto call = [&](strew_context* context) {
      return strew_plan_scatter(context, plan.get(), c.data.tensor(), c.updates.tensor(), reduction,
                                c.data.tensor());
    };
    CompareWithoutScratch(c.data, call);
  }
}

TEST(ScratchOfAccumulators, IsNotNeededForGatheredUpdates) {
  constexpr int64_t kEntries = 100, kPlaces = 8;
  Random random(Seed());
  const auto make = [&] {
    return MakeCase(random, {"", Operator::kScatterElements, {kPlaces}, {kEntries}, 0, STREW_INT32},
                    STREW_BFLOAT16, true);
  };
  const Case from = make();
  Case to = make();
  const Plan of_from = PlanOf(from), of_to = PlanOf(to);
  for (const strew_reduction reduction :
       {STREW_ADD | STREW_WIDE, STREW_MEAN | STREW_EXCLUDE_SELF}) {
    const auto call = [&](strew_context* context) {
      return strew_plan_gather_scatter(context, of_from.get(), from.data.tensor(), nullptr,
                                       of_to.get(), to.data.tensor(), reduction, to.data.tensor());
    };
    CompareWithoutScratch(to.data, call);
  }
}

}  // namespace
}  // namespace strew_test
