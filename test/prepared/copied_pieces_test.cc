// SPDX-License-Identifier: Apache-2.0
//
// Outputs that elements are scattered into in the order of destinations, while data is copied piece
// by piece: into every piece, into few of them, and where data need not or cannot be copied so.
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

using strew::plan::Tuning;

class CopiedPieces : public testing::TestWithParam<int32_t> {
 protected:
  CopiedPieces() {
    GoInElementOrder(&tuning_);
    tuning_.streamed_part = tuning_.streamed_part_of_tasks = 0;
    tuning_.ns_of_grouped_entry = 1e9;
    tuning_.overlay_piece = 40;
    tuning_.least_lines_of_copied_destination = 0;
    for (const Target& target : Targets()) {
      target.context->settings.tuning = &tuning_;
      strew::ExplainTo(target.context.get(), Tell, this);
    }
  }
  ~CopiedPieces() override {
    for (const Target& target : Targets()) {
      target.context->settings.tuning = nullptr;
      strew::ExplainTo(target.context.get(), nullptr, nullptr);
    }
  }

  static void Tell(void* self, const char* sentence) {
    const bool tells = std::string(sentence).find("copied in pieces") != std::string::npos;
    static_cast<CopiedPieces*>(self)->taken_ += tells ? 1 : 0;
  }

  // Returns how often data was copied in pieces.
  int64_t Check(const CallShape& shape, bool in_place) {
    taken_ = 0;
    Random random(Seed());
    for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT16, STREW_FLOAT64, STREW_UINT8}) {
      for (const strew_reduction reduction : std::initializer_list<strew_reduction>{
               STREW_ADD, STREW_MAX, STREW_MEAN, STREW_ADD | STREW_EXCLUDE_SELF}) {
        Case c = MakeCase(random, shape, dtype, in_place);
        c.reduction = reduction;
        EXPECT_TRUE(CheckScatter(c, GetParam())) << "seed " << Seed();
      }
    }
    return taken_;
  }

  Tuning tuning_;
  int64_t taken_ = 0;
};

CallShape Line(int64_t places, int64_t entries) {
  return {"", Operator::kScatterElements, {places}, {entries}, 0, STREW_INT64};
}

TEST_P(CopiedPieces, HaveTheirUpdates) {
  EXPECT_GT(Check(Line(1000, 300), false), 0);
  EXPECT_GT(Check(Line(1000, 5000), false), 0);
  EXPECT_GT(Check(Line(64, 40), false), 0);
}

TEST_P(CopiedPieces, MayHaveNone) {
  tuning_.lines_of_touched_piece = 1000;
  EXPECT_GT(Check(Line(3000, 20), false), 0);
}

TEST_P(CopiedPieces, AreForNewOutputsWithFewLinesForEachDestination) {
  EXPECT_EQ(Check(Line(1000, 300), true), 0);
  tuning_.lines_of_touched_piece = 1;
  EXPECT_EQ(Check(Line(3000, 20), false), 0);
  tuning_.lines_of_touched_piece = 8;
  tuning_.least_lines_of_copied_destination = 1000;
  EXPECT_EQ(Check(Line(1000, 300), false), 0);
}

TEST_P(CopiedPieces, AreForLargeOutputs) {
  tuning_.streamed_part = tuning_.streamed_part_of_tasks = 1;
  EXPECT_EQ(Check(Line(1000, 300), false), 0);
}

INSTANTIATE_TEST_SUITE_P(ByWorkers, CopiedPieces, testing::Values(1, 3),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace strew_test
