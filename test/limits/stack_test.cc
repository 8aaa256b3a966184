// SPDX-License-Identifier: Apache-2.0
//
// A call needs at most 48 KiB of stack, and so does a task: for every operator, class of dtypes,
// reduction, policy and instruction set, with plans and without, with tasks that are run in turn on
// the thread of the call.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "reference/targets.h"
#include "support/call_shapes.h"
#include "support/painted_stack.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr size_t kMostStack = size_t{48} << 10;

// One of each class: by width and by arithmetic.
const strew_dtype kDtypes[] = {STREW_BOOL,      STREW_INT8,       STREW_INT16,   STREW_UINT32,
                               STREW_INT64,     STREW_FLOAT16,    STREW_FLOAT32, STREW_FLOAT64,
                               STREW_COMPLEX64, STREW_COMPLEX128, STREW_STRING,  STREW_FLOAT8_E5M2,
                               STREW_OPAQUE(7), STREW_OPAQUE(48)};

struct Policies {
  strew_index_policy index;
  strew_duplicate_policy duplicate;
  bool is_bad;  // whether an index is out of range
};

const Policies kPolicies[] = {
    {STREW_INDEX_ERROR, STREW_DUPLICATE_LAST, false},
    {STREW_INDEX_ERROR, STREW_DUPLICATE_LAST, true},
    {STREW_INDEX_DROP, STREW_DUPLICATE_LAST, true},
    {STREW_INDEX_CLAMP, STREW_DUPLICATE_LAST, true},
    {STREW_INDEX_ERROR, STREW_DUPLICATE_ERROR, false},
    {STREW_INDEX_DROP, STREW_DUPLICATE_ERROR, true},
};

std::vector<CallShape> Shapes() {
  std::vector<CallShape> call_shapes = AllCallShapes(1 << 14);
  const std::vector<CallShape> small = AllCallShapes(512);
  call_shapes.insert(call_shapes.end(), small.begin(), small.end());
  call_shapes.push_back({"60 updates", Operator::kScatterNd, {1000}, {60, 1}});
  call_shapes.push_back({"60 elements", Operator::kScatterElements, {1000}, {60}, 0});
  call_shapes.push_back({"7 rows", Operator::kScatterUpdate, {1000, 32}, {7}, 0});
  call_shapes.push_back({"many lanes", Operator::kScatterElements, {40, 90, 90}, {40, 90, 90}, 0});
  call_shapes.push_back({"many in a line", Operator::kScatterNd, {1 << 20}, {1 << 17, 1}});
  return call_shapes;
}

class StackOf : public testing::TestWithParam<strew_dtype> {
 protected:
  void Measure(const Case& c, strew_context* context, const std::string& about) {
    for (const int32_t workers : {1, 8}) {
      if (workers > 1) in_order_.InstallIn(context, workers);
      MeasureOnce(c, context, about + std::to_string(workers) + " workers: ");
    }
    strew_context_set_parallel_for(context, nullptr, nullptr, 0);
    // Drafts are for large calls otherwise.
    context->settings.tuning = &drafts_;
    MeasureOnce(c, context, about + "draft: ");
    context->settings.tuning = nullptr;
  }

  void MeasureOnce(const Case& c, strew_context* context, const std::string& about) {
    strew_tensor* const output = const_cast<Case&>(c).destination().tensor();
    Expect(c, about, [&] { Call(c, context, output); });
    if (HasPlan(c)) MeasurePlans(c, context, about);
  }

  // A plan, and the calls that use it.
  void MeasurePlans(const Case& c, strew_context* context, const std::string& about) {
    strew_tensor* const output = const_cast<Case&>(c).destination().tensor();
    const strew_tensor* const data = c.data.tensor();
    const auto reductions = ReductionsOf(Find(c.data.dtype()));
    const bool has_products = std::count(reductions.begin(), reductions.end(), STREW_MUL) > 0;
    Plan plan;
    Expect(c, about + "a plan, ", [&] { MakePlan(c, context, &plan); });
    if (plan == nullptr) return;
    Expect(c, about + "by a plan, ", [&] {
      strew_plan_scatter(context, plan.get(), data, c.updates.tensor(), c.reduction, output);
    });
    Expect(c, about + "gather, ",
           [&] { strew_plan_gather(context, plan.get(), data, c.updates.tensor()); });
    if (!c.output) return;
    // None, one for each element, and one for each row.
    Dims rows = c.updates.shape();
    if (!rows.empty()) rows.back() = 1;
    const Tensor of_rows = MakeTensor(c.data.dtype(), {rows, Dims(rows.size(), 0)},
                                      c.updates.view().At(Dims(rows.size(), 0)));
    for (const strew_tensor* weights : {static_cast<const strew_tensor*>(nullptr),
                                        static_cast<const strew_tensor*>(c.updates.tensor()),
                                        static_cast<const strew_tensor*>(of_rows.get())}) {
      if (weights != nullptr && !has_products) continue;
      Expect(c, about + "gather_scatter, ", [&] {
        strew_plan_gather_scatter(context, plan.get(), data, weights, plan.get(), data, c.reduction,
                                  output);
      });
    }
  }

  void Expect(const Case& c, const std::string& about, const std::function<void()>& call) {
    const size_t depth = stack_.Depth(call);
    EXPECT_LE(depth, kMostStack) << about << Describe(c);
    deepest_ = std::max(deepest_, depth);
  }

  void MeasureWith(Case c, const Policies& policies, const std::string& about) {
    c.policy = policies.index;
    c.duplicates = policies.duplicate;
    if (policies.is_bad && c.indices && Product(c.indices->shape()) > 0) {
      const Dims last = LastOf(c.indices->shape());
      WriteIndex(c.indices->dtype(), c.indices->view().At(last), HighestIndex(c.indices->dtype()));
    }
    for (const Target& target : Targets()) {
      strew_context* const context = target.context.get();
      ASSERT_EQ(strew_context_set_index_policy(context, c.policy), STREW_OK);
      ASSERT_EQ(strew_context_set_duplicate_policy(context, c.duplicates), STREW_OK);
      Measure(c, context, about + ", " + target.name + ", ");
    }
  }

  void MeasureAll() {
    Random random(1);
    size_t turn = 0;
    for (const CallShape& call_shape : Shapes()) {
      for (const strew_reduction reduction : AllReductionsOf(Find(GetParam()))) {
        Case c = MakeCase(random, call_shape, GetParam(), turn % 2 == 0);
        c.reduction = reduction;
        // Every shape meets every policy by the dtypes and reductions that take turns.
        MeasureWith(std::move(c), kPolicies[turn++ % std::size(kPolicies)], call_shape.name);
      }
    }
  }

  static Dims LastOf(Dims shape) {
    for (int64_t& dim : shape) --dim;
    return shape;
  }

  static strew::plan::Tuning TuningOfDrafts() {
    strew::plan::Tuning tuning;
    tuning.least_drafted = 0;
    tuning.most_draft = std::numeric_limits<int64_t>::max();
    tuning.drafted_part = 4096;
    return tuning;
  }

  const strew::plan::Tuning drafts_ = TuningOfDrafts();
  PaintedStack stack_;
  InOrder in_order_;
  size_t deepest_ = 0;
};

INSTANTIATE_TEST_SUITE_P(EveryClass, StackOf, testing::ValuesIn(kDtypes),
                         [](const auto& test) { return TestName(Find(test.param)); });

TEST_P(StackOf, EveryCallIsLimited) {
  stack_.Run([this] { MeasureAll(); });
  RecordProperty("deepest", static_cast<int>(deepest_));
  EXPECT_GT(deepest_, size_t{1} << 10) << "the paint does not tell";
}

// Indices of which only the lowest bits of 63 differ: a sort by the highest first goes deep.
TEST(StackOfPlans, IsLimitedForLargeExtents) {
  constexpr int64_t kEntries = 100000;
  const int64_t extent = std::numeric_limits<int64_t>::max();
  Random random(1);
  Array indices(STREW_INT64, RowMajor({kEntries}));
  for (int64_t i = 0; i < kEntries; ++i) {
    WriteIndex(STREW_INT64, indices.view().At({i}), extent - random.Between(1, 100));
  }
  PaintedStack stack;
  size_t depth = 0;
  strew_plan* plan = nullptr;
  stack.Run([&] {
    depth = stack.Depth(
        [&] { strew_plan_scatter_update(nullptr, indices.tensor(), 0, extent, &plan); });
  });
  ASSERT_NE(plan, nullptr);
  strew_plan_destroy(plan);
  EXPECT_LE(depth, kMostStack);
}

}  // namespace
}  // namespace strew_test
