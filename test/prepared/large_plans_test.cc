// SPDX-License-Identifier: Apache-2.0
//
// Large calls with plans give the bytes of the operators, for every number of workers and every
// instruction set.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "prepared/check_plans.h"
#include "prepared/large_cases.h"
#include "prepared/plan_schedules.h"
#include "reference/targets.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kUpdates = 1 << 15;

using Bytes = std::vector<unsigned char>;

class LargePlans : public testing::TestWithParam<Setting> {
 protected:
  // The output of the call, on one thread and by several workers.
  void ExpectBytes(Array& output, const Bytes& expected,
                   const std::function<strew_status(strew_context*)>& call) {
    const Bytes before = output.Snapshot();
    for (const Target& target : Targets()) {
      for (const int32_t workers : {1, 2, 7}) {
        const Context context = MakeContext();
        EXPECT_EQ(strew_context_set_simd_target(context.get(), target.name.c_str()), STREW_OK);
        if (tuning_.has_value()) context->settings.tuning = &*tuning_;
        strew::ExplainTo(context.get(), Tell, this);
        Recorder recorder(workers == 2 ? static_cast<Runner&>(threads_) : backwards_);
        if (workers > 1) recorder.InstallIn(context.get(), workers);
        EXPECT_EQ(call(context.get()), STREW_OK) << strew_context_error(context.get());
        EXPECT_TRUE(output.Snapshot() == expected) << target.name << ", " << workers << " workers";
        output.Restore(before);
        shared_ += recorder.phases();
      }
    }
  }

  static Bytes ResultOf(Array& output, const std::function<strew_status(strew_context*)>& call) {
    const Bytes before = output.Snapshot();
    EXPECT_EQ(call(nullptr), STREW_OK);
    Bytes after = output.Snapshot();
    output.Restore(before);
    return after;
  }

  // updates *= weights
  static void Multiply(const Array& updates, const Array& weights) {
    EXPECT_EQ(strew_slice_scatter_int64(nullptr, updates.tensor(), weights.tensor(), 0, nullptr,
                                        nullptr, nullptr, nullptr, STREW_MUL, updates.tensor()),
              STREW_OK);
  }

  void CheckShape(Random& random, const CallShape& shape, bool in_place) {
    GatherScatterCase c = MakeLarge(random, shape, GetParam().dtype,
                                    in_place ? Taken::kRows : Taken::kElements, in_place);
    Check(random, c, /*weighted=*/!in_place);
  }

  void Check(Random& random, GatherScatterCase& c, bool weighted) {
    Case& to = c.to;
    to.reduction = GetParam().reduction;
    const Plan plan = PlanOf(to), from = PlanOf(c.from);
    Array& output = to.destination();
    const auto scatter = [&](strew_context* context) { return Call(to, context, output.tensor()); };
    ExpectBytes(output, ResultOf(output, scatter), [&](strew_context* context) {
      return strew_plan_scatter(context, plan.get(), to.data.tensor(), to.updates.tensor(),
                                to.reduction, output.tensor());
    });
    const auto gather = [&](strew_context* context) {
      return strew_plan_gather(context, from.get(), c.from.data.tensor(), to.updates.tensor());
    };
    const Bytes gathered = ResultOf(to.updates, gather);
    ExpectBytes(to.updates, gathered, gather);
    to.updates.Restore(gathered);
    if (weighted) AddWeights(random, c);
    if (c.weights) Multiply(to.updates, *c.weights);
    ExpectBytes(output, ResultOf(output, scatter), [&](strew_context* context) {
      return strew_plan_gather_scatter(context, from.get(), c.from.data.tensor(),
                                       c.weights ? c.weights->tensor() : nullptr, plan.get(),
                                       to.data.tensor(), to.reduction, output.tensor());
    });
  }

  static void Tell(void* self, const char* sentence) {
    const auto tells = [&](const char* words) {
      return std::string(sentence).find(words) != std::string::npos ? 1 : 0;
    };
    LargePlans& test = *static_cast<LargePlans*>(self);
    test.told_in_order_ += tells("element by element in the order of these");
    test.told_prefetched_ += tells("Updates are prefetched.");
  }

  int64_t told_in_order_ = 0;                  // calls that went in the order of elements
  int64_t told_prefetched_ = 0;                // calls that prefetched updates
  std::optional<strew::plan::Tuning> tuning_;  // of calls with plans
  StdThreads threads_;
  Backwards backwards_;
  int64_t shared_ = 0;  // phases that workers ran
};

INSTANTIATE_TEST_SUITE_P(EverySetting, LargePlans, testing::ValuesIn(Settings()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(LargePlans, GiveTheBytesOfOperators) {
  Random random(Seed());
  bool in_place = false;
  for (const CallShape& shape : PlanShapes(kUpdates)) {
    in_place = !in_place;
    CheckShape(random, shape, in_place);
    ASSERT_FALSE(HasFailure()) << shape.name << " of " << ToString(shape.indices);
  }
  EXPECT_GT(shared_, 0) << "nothing is shared out: this test is void";
}

// Entries jump along an axis that others follow: more columns than are walked at once, and blocks
// that do not divide them.
TEST_P(LargePlans, OfColumnsGiveTheBytesOfOperators) {
  Random random(Seed());
  const std::vector<CallShape> shapes = {
      {"columns", Operator::kScatterElements, {9, 1531}, {17, 1531}, 0},
      {"planes", Operator::kScatterElements, {6, 90, 13}, {7, 90, 13}, 0},
      {"batches of columns", Operator::kScatterElements, {3, 8, 619}, {3, 11, 619}, 1},
      {"short rows of batches", Operator::kScatterElements, {5, 4, 301, 2}, {9, 4, 301, 2}, 0}};
  for (const CallShape& shape : shapes) {
    for (const bool in_place : {false, true}) CheckShape(random, shape, in_place);
    ASSERT_FALSE(HasFailure()) << shape.name;
  }
}

// True for sure; false if it depends. Elements of three bytes are scattered byte by byte.
bool ElementOrderHasKernel(const Setting& setting) {
  const auto is_avx2 = [](const Target& target) { return target.name == "AVX2"; };
  const bool is_plain = setting.reduction == STREW_NONE || setting.reduction == STREW_ADD ||
                        setting.reduction == STREW_MAX;
  return is_plain && setting.dtype != STREW_OPAQUE(3) &&
         std::any_of(Targets().begin(), Targets().end(), is_avx2);
}

// Single elements in the order of their destinations: in one block and in several, with
// destinations of their own, repeated ones, and hubs longer than a block.
TEST_P(LargePlans, InElementOrderGiveTheBytesOfOperators) {
  Random random(Seed());
  tuning_.emplace();
  GoInElementOrder(&*tuning_);
  const int64_t shapes[][2] = {{255, 90},  {256, 300},  {257, 4000},
                               {300, 301}, {5000, 700}, {5000, 5001}};
  for (const auto& [entries, places] : shapes) {
    CallShape elements = {"elements", Operator::kScatterElements, {places}, {entries}, 0};
    for (const Spread spread : {Spread::kUniform, Spread::kReversed, Spread::kZipf}) {
      elements.spread = spread;
      for (const bool in_place : {false, true}) CheckShape(random, elements, in_place);
      ASSERT_FALSE(HasFailure()) << entries << " entries, " << NameOf(spread);
    }
    CheckShape(random, {"column", Operator::kScatterElements, {places, 2}, {entries, 1}, 0}, false);
    ASSERT_FALSE(HasFailure()) << entries << " entries of a column";
  }
  if (ElementOrderHasKernel(GetParam())) {
    EXPECT_GT(told_in_order_, 100);
  }
}

// Rows that are prefetched, also those of the next piece of entries, with and without weights.
TEST_P(LargePlans, OfFarRowsGiveTheBytesOfOperators) {
  Random random(Seed());
  tuning_.emplace();
  tuning_->cache_bytes = 1;
  tuning_->longest_passed_row = tuning_->longest_passed_weighted_row = 0;
  CallShape rows = {"rows", Operator::kScatterUpdate, {300, 9}, {3000}, 0};
  for (const Spread spread : {Spread::kUniform, Spread::kReversed, Spread::kZipf}) {
    rows.spread = spread;
    for (const bool weighted : {false, true}) {
      GatherScatterCase c = MakeLarge(random, rows, GetParam().dtype, Taken::kRows, true);
      Check(random, c, weighted);
      ASSERT_FALSE(HasFailure()) << NameOf(spread) << ", weighted: " << weighted;
    }
  }
  EXPECT_GT(told_prefetched_, 0);
}

// A hub for every thousandth entry, runs of equal indices, and a destination for each other.
TEST_P(LargePlans, OfSkewedIndicesGiveTheBytesOfOperators) {
  Random random(Seed());
  CallShape shapes[] = {{"rows", Operator::kScatterUpdate, {3000, 9}, {kUpdates / 9}, 0},
                        {"elements", Operator::kScatterElements, {300}, {5000}, 0}};
  for (CallShape& shape : shapes) {
    for (const Spread spread : Spreads()) {
      if (spread == Spread::kOneRow || spread == Spread::kAlongRows) continue;
      shape.spread = spread;
      for (const bool in_place : {false, true}) CheckShape(random, shape, in_place);
      ASSERT_FALSE(HasFailure()) << shape.name << ", " << NameOf(spread);
    }
  }
}

}  // namespace
}  // namespace strew_test
