// SPDX-License-Identifier: Apache-2.0
//
// Plans from any indices, and calls of any operands with them. What an operator takes, a plan takes
// too, and makes the same of it; what it refuses, the plan or the call refuses, and writes nothing.
//
// STREW_CALLS=<number> makes as many calls. A failure, and a fault too, names its case:
// STREW_SEED=<seed> STREW_CASES=1 runs it alone.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "any_request.h"
#include "op/error_list.h"
#include "reference/call.h"
#include "reference/handles.h"
#include "reference/random.h"
#include "reference/targets.h"
#include "support/crash_report.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kCalls = 40000;

// The answer of a call that may write into one operand, and what memory then holds.
struct Wrote {
  strew_status status = STREW_INVALID_ARGUMENT;
  std::string error;
  Arena after;
};

class HostilePlans : public testing::Test {
 protected:
  void CheckCase(uint64_t seed) {
    Random random(seed);
    const Operator op = random.Pick(std::vector<Operator>{
        Operator::kScatterElements, Operator::kScatterNd, Operator::kScatterUpdate});
    request_ = AnyRequest(random, op);
    settings_ = AnySettings(random);
    context_ = Targets()[random.Bits() % Targets().size()].context.get();
    before_ = MemoryOf(request_);
    where_ =
        "STREW_SEED=" + std::to_string(seed) + " STREW_CASES=1: " + Describe(request_, settings_);
    SetCrashReport("%s\n", where_.c_str());
    Apply();
    const Plan plan = Make(random);
    CheckScatter(plan.get());
    CheckOthers(plan.get());
  }

  int64_t calls_ = 0;
  std::map<strew_status, int64_t> answers_;

 private:
  void Apply() {
    ASSERT_EQ(strew_context_set_negative_indices(context_, settings_.wrap ? 1 : 0), STREW_OK);
    ASSERT_EQ(strew_context_set_index_policy(context_, settings_.policy), STREW_OK);
    ASSERT_EQ(strew_context_set_duplicate_policy(context_, settings_.duplicates), STREW_OK);
  }

  // The extents that data has, as far as it has axes.
  Dims Extents(Random& random) const {
    Dims extents = request_.data.layout.shape;
    extents.resize(64, random.OneIn(2) ? 1 : AnyExtreme(random));
    if (request_.op == Operator::kScatterNd) return extents;
    const auto rank = static_cast<int64_t>(request_.data.layout.shape.size());
    const int64_t axis = request_.axis < 0 ? request_.axis + rank : request_.axis;
    return {extents[static_cast<size_t>(std::clamp<int64_t>(axis, 0, 63))]};
  }

  Plan Make(Random& random) {
    const Dims extents = Extents(random);
    Arena arena = before_;
    const Tensor indices = strew_test::Describe(request_.indices, arena);
    strew_plan* plan = reinterpret_cast<strew_plan*>(&arena);
    const bool is_null = random.OneIn(32);
    strew_plan** const out = is_null ? nullptr : &plan;
    if (request_.op == Operator::kScatterNd) {
      made_ = strew_plan_scatter_nd(context_, indices.get(), extents.data(), out);
    } else if (request_.op == Operator::kScatterElements) {
      made_ = strew_plan_scatter_elements(context_, indices.get(), request_.axis, extents[0], out);
    } else {
      made_ = strew_plan_scatter_update(context_, indices.get(), request_.axis, extents[0], out);
    }
    Count(made_);
    if (is_null) plan = nullptr;
    EXPECT_TRUE(arena == before_) << where_;
    EXPECT_EQ(plan != nullptr, made_ == STREW_OK) << where_;
    EXPECT_EQ(std::string(strew_context_error(context_)).empty(), made_ == STREW_OK) << where_;
    EXPECT_EQ(strew_context_applied(context_), 0) << where_;
    return Plan(plan);
  }

  void Count(strew_status status) {
    ++calls_;
    ++answers_[status];
  }

  // Operands are described in a copy of the memory.
  template <class Call>
  Wrote Send(const Operand& output, const Call& call) {
    Wrote wrote;
    wrote.after = before_;
    const Tensor data = strew_test::Describe(request_.data, wrote.after);
    const Tensor updates = strew_test::Describe(request_.updates, wrote.after);
    const Tensor to = strew_test::Describe(output, wrote.after);
    wrote.status = call(data.get(), updates.get(), to.get());
    wrote.error = strew_context_error(context_);
    Count(wrote.status);
    EXPECT_EQ(wrote.error.empty(), wrote.status == STREW_OK) << where_;
    EXPECT_EQ(strew_context_error_position(context_), -1) << where_;
    const bool same = wrote.after == before_;
    EXPECT_TRUE(wrote.status == STREW_OK || same) << where_;
    EXPECT_FALSE(WroteOutside(output, before_, wrote.after)) << where_;
    return wrote;
  }

  void CheckScatter(const strew_plan* plan) {
    const Verdict verdict = Judge(request_, settings_, before_);
    const Wrote wrote = Send(request_.output, [&](auto* data, auto* updates, auto* output) {
      return strew_plan_scatter(context_, plan, data, updates, request_.reduction, output);
    });
    if (verdict.status() != STREW_OK) {
      // The output may lie over indices that are not needed any more.
      EXPECT_TRUE(wrote.status != STREW_OK || verdict.status() == STREW_OVERLAPPING_MEMORY)
          << where_;
      return;
    }
    // A plan does not know whether its slices have elements.
    const bool may_repeat = settings_.duplicates == STREW_DUPLICATE_ERROR;
    if (plan == nullptr) {
      EXPECT_TRUE(made_ == STREW_INVALID_ARGUMENT ||
                  (may_repeat && made_ == STREW_DUPLICATE_INDEX) || made_ == STREW_SIZE_OVERFLOW)
          << where_ << strew_status_name(made_);
      return;
    }
    EXPECT_EQ(wrote.status, STREW_OK) << where_ << wrote.error;
    EXPECT_TRUE(wrote.after == ResultOfOperator()) << where_;
  }

  Arena ResultOfOperator() {
    Arena arena = before_;
    const Tensor data = strew_test::Describe(request_.data, arena);
    const Tensor indices = strew_test::Describe(request_.indices, arena);
    const Tensor updates = strew_test::Describe(request_.updates, arena);
    const Tensor output = strew_test::Describe(request_.output, arena);
    Arguments arguments;
    arguments.data = data.get();
    arguments.indices = indices.get();
    arguments.updates = updates.get();
    arguments.output = output.get();
    arguments.axis = request_.axis;
    arguments.reduction = request_.reduction;
    EXPECT_EQ(arguments.Call(request_.op, context_), STREW_OK) << where_;
    return arena;
  }

  // No byte but those of the operand may change.
  void CheckOthers(const strew_plan* plan) {
    Send(request_.updates, [&](auto* data, auto*, auto* output) {
      return strew_plan_gather(context_, plan, data, output);
    });
    Send(request_.output, [&](auto* data, auto*, auto* output) {
      return strew_plan_gather(context_, plan, data, output);
    });
    Send(request_.output, [&](auto* data, auto* updates, auto* output) {
      return strew_plan_gather_scatter(context_, plan, data, updates, plan, data,
                                       request_.reduction, output);
    });
    Send(request_.output, [&](auto* data, auto* updates, auto* output) {
      return strew_plan_gather_scatter(context_, plan, updates, nullptr, plan, data,
                                       request_.reduction, output);
    });
  }

  Request request_ = GoodRequest(Operator::kScatterNd);
  Settings settings_;
  strew_context* context_ = nullptr;
  Arena before_;
  std::string where_;
  strew_status made_ = STREW_OK;
};

TEST_F(HostilePlans, AndCallsWithThem) {
  const int64_t wanted = Calls(kCalls);
  const int64_t most_cases = Cases(std::numeric_limits<int64_t>::max());
  int64_t cases = 0;
  while (calls_ < wanted && cases < most_cases && !HasFailure()) {
    CheckCase(Seed() + static_cast<uint64_t>(cases++));
  }
  std::printf("%lld calls of %lld cases:", static_cast<long long>(calls_),
              static_cast<long long>(cases));
  for (const auto& [status, count] : answers_) {
    std::printf(" %s %lld", strew_status_name(status), static_cast<long long>(count));
  }
  std::printf("\n");
  if (HasFailure() || calls_ < kCalls) return;
  for (const strew_status status :
       {STREW_OK, STREW_INVALID_ARGUMENT, STREW_INVALID_DTYPE, STREW_INVALID_SHAPE,
        STREW_INVALID_AXIS, STREW_INDEX_OUT_OF_RANGE, STREW_DUPLICATE_INDEX,
        STREW_OVERLAPPING_MEMORY}) {
    EXPECT_GE(answers_[status], 50) << strew_status_name(status);
  }
}

}  // namespace
}  // namespace strew_test
