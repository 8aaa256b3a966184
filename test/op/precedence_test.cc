// SPDX-License-Identifier: Apache-2.0
//
// The list "the first line that fails decides" of strew.h: every defect of every operator alone,
// and every pair of defects from different lines.
#include <string>

#include <gtest/gtest.h>

#include "op/defects.h"
#include "op/error_list.h"
#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

class Precedence : public testing::TestWithParam<Operator> {
 protected:
  // A refusal that leaves all memory alone and says what is wrong.
  void ExpectRefusal(const Request& request, const Defect& defect) {
    const Answer answer = Send(request, context_.get());
    EXPECT_EQ(Judge(request, settings_, MemoryOf(request)).line, defect.line);
    EXPECT_EQ(answer.status, StatusOf(defect.line)) << answer.error;
    EXPECT_NE(answer.error, "");
    EXPECT_EQ(answer.position, defect.line == 9 ? 0 : -1);
    EXPECT_EQ(answer.applied, 0);
    EXPECT_FALSE(answer.wrote);
    error_ = answer.error;
  }

  void ExpectSuccess() {
    const Answer answer = Send(GoodRequest(GetParam()), context_.get());
    EXPECT_EQ(answer.status, STREW_OK) << answer.error;
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.position, -1);
    EXPECT_GT(answer.applied, 0);
    EXPECT_TRUE(answer.wrote);
  }

  Context context_ = MakeContext();
  Settings settings_;  // of the context
  std::string error_;  // of the last refusal
};

INSTANTIATE_TEST_SUITE_P(EveryOperator, Precedence, testing::ValuesIn(Operators()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(Precedence, EveryDefectAlone) {
  for (const Defect& defect : DefectsOf(GetParam())) {
    SCOPED_TRACE(defect.name);
    Request request = GoodRequest(GetParam());
    defect.spoil(request);
    ExpectRefusal(request, defect);
    EXPECT_TRUE(error_.find(defect.mention) != std::string::npos)
        << "'" << error_ << "' lacks '" << defect.mention << "'";
    const Answer without_context = Send(request, nullptr);
    EXPECT_EQ(without_context.status, StatusOf(defect.line));
    EXPECT_EQ(without_context.error, "");
    EXPECT_FALSE(without_context.wrote);
    ExpectSuccess();
  }
}

// The stronger defect is made last, so that it stands whole.
TEST_P(Precedence, FirstLineOfTwoDecides) {
  const Defects defects = DefectsOf(GetParam());
  for (const Defect& strong : defects) {
    for (const Defect& weak : defects) {
      if (strong.line >= weak.line) continue;
      SCOPED_TRACE(strong.name + " before " + weak.name);
      Request request = GoodRequest(GetParam());
      weak.spoil(request);
      strong.spoil(request);
      ExpectRefusal(request, strong);
    }
  }
}

// Line 11 is the last one.
TEST_P(Precedence, DuplicatesComeBehindEveryDefect) {
  if (IsSlice(GetParam()) || Takes(GetParam(), "mode")) return;
  ASSERT_EQ(strew_context_set_duplicate_policy(context_.get(), STREW_DUPLICATE_ERROR), STREW_OK);
  settings_.duplicates = STREW_DUPLICATE_ERROR;
  Request duplicates = GoodRequest(GetParam());
  duplicates.indices.values.assign(duplicates.indices.values.size(), 1);
  EXPECT_EQ(Send(duplicates, context_.get()).status, STREW_DUPLICATE_INDEX);
  for (const Defect& defect : DefectsOf(GetParam())) {
    SCOPED_TRACE(defect.name);
    Request request = duplicates;
    defect.spoil(request);
    ExpectRefusal(request, defect);
  }
}

}  // namespace
}  // namespace strew_test
