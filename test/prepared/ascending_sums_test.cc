// SPDX-License-Identifier: Apache-2.0
//
// Means and wide sums of single elements whose destinations ascend, piece by piece of the output:
// pieces that share batches, that have no entry, and more entries than are added at a time.
#include <cstdint>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "prepared/check_plans.h"
#include "prepared/plan_schedules.h"
#include "reference/dtypes.h"
#include "reference/random.h"
#include "reference/targets.h"
#include "support/call_shapes.h"
#include "support/reference.h"

namespace strew_test {
namespace {

class AscendingSums : public testing::TestWithParam<int32_t> {
 protected:
  AscendingSums() {
    tuning_.sum_bytes_of_plan_entry = kHuge;
    tuning_.least_ascending_sums = 0;
    tuning_.near_batch_sums = 4000;
    tuning_.ns_of_batch_mean_entry = 1e9;
    for (const Target& target : Targets()) {
      target.context->settings.tuning = &tuning_;
      strew::ExplainTo(target.context.get(), Tell, this);
    }
  }
  ~AscendingSums() override {
    for (const Target& target : Targets()) {
      target.context->settings.tuning = nullptr;
      strew::ExplainTo(target.context.get(), nullptr, nullptr);
    }
  }

  static void Tell(void* self, const char* sentence) {
    const bool tells = std::string(sentence).find("which ascend") != std::string::npos;
    static_cast<AscendingSums*>(self)->taken_ += tells ? 1 : 0;
  }

  // Returns how many calls went piece by piece.
  int64_t Check(CallShape shape, bool in_place = false, int64_t updates_stride = 1) {
    shape.spread = Spread::kSorted;
    taken_ = 0;
    Random random(Seed());
    for (const strew_dtype dtype : {STREW_INT8, STREW_UINT16, STREW_INT32, STREW_INT64,
                                    STREW_FLOAT16, STREW_BFLOAT16, STREW_FLOAT8_E5M2}) {
      for (const strew_reduction reduction : std::initializer_list<strew_reduction>{
               STREW_MEAN, STREW_MEAN | STREW_EXCLUDE_SELF, STREW_ADD | STREW_WIDE,
               STREW_MUL | STREW_WIDE | STREW_EXCLUDE_SELF}) {
        Case c = MakeCase(random, shape, dtype, in_place);
        c.reduction = reduction;
        if (updates_stride != 1) {
          c.updates = Array(dtype, {c.updates.shape(), {updates_stride}});
          FillWithTameNumbers(random, c.updates);
        }
        EXPECT_TRUE(CheckScatter(c, GetParam())) << "seed " << Seed();
      }
    }
    return taken_;
  }

  strew::plan::Tuning tuning_;
  int64_t taken_ = 0;
};

CallShape Line(int64_t places, int64_t entries) {
  return {"", Operator::kScatterElements, {places}, {entries}, 0, STREW_INT64};
}

CallShape Batches(int64_t batches, int64_t places, int64_t entries) {
  return {"", Operator::kScatterElements, {batches, places}, {batches, entries}, 1, STREW_INT32};
}

TEST_P(AscendingSums, AgreeWithTheOracle) {
  EXPECT_GT(Check(Line(3000, 2000)), 0);
  EXPECT_GT(Check(Line(3000, 9000), /*in_place=*/true), 0);
  EXPECT_GT(Check({"", Operator::kScatterUpdate, {700}, {500}, 0, STREW_INT16}), 0);
  EXPECT_GT(Check({"", Operator::kScatterNd, {30, 40}, {900, 2}, 0, STREW_INT64}), 0);
}

TEST_P(AscendingSums, MayHaveAnyPieces) {
  for (const int64_t bytes : {1, 40, 1000, 100000}) {
    tuning_.near_batch_sums = bytes;
    EXPECT_GT(Check(Line(500, 400)), 0);
  }
}

TEST_P(AscendingSums, MayHavePiecesWithoutEntries) {
  tuning_.near_batch_sums = 64;
  EXPECT_GT(Check(Line(5000, 20)), 0);
  EXPECT_GT(Check(Line(5000, 1)), 0);
}

TEST_P(AscendingSums, MayHaveSeveralBatchesInAPiece) {
  EXPECT_GT(Check(Batches(7, 100, 60)), 0);
  EXPECT_GT(Check(Batches(3, 1500, 900), /*in_place=*/true), 0);
}

TEST_P(AscendingSums, ReadUpdatesFromAnyLine) {
  for (const int64_t stride : {0, 3, -2}) {
    EXPECT_GT(Check(Line(600, 900), false, stride), 0);
  }
}

TEST_P(AscendingSums, NeedOutputsWithoutGaps) {
  CallShape shape = Batches(5, 200, 100);
  shape.gap = 3;
  EXPECT_EQ(Check(shape), 0);
}

INSTANTIATE_TEST_SUITE_P(Workers, AscendingSums, testing::Values(1, 3));

}  // namespace
}  // namespace strew_test
