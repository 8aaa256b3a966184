// SPDX-License-Identifier: Apache-2.0
//
// Random calls with every operand, and scratch, in a mapping of its own: all flush against the
// unreadable page behind, then the same call flush against the one before. Inputs are read-only,
// and the oracle says what every byte of the output must hold. Plans lose their indices before they
// are used.
//
// STREW_CALLS=<number> makes as many calls. A failure, and a fault too, names its case:
// STREW_SEED=<seed> STREW_CASES=1 runs it alone.
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/gather_trial.h"
#include "reference/random_case.h"
#include "reference/random_gather.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/crash_report.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kCalls = 50000;

// ---- Memory -------------------------------------------------------------------------------------

Array Moved(const Array& array, Guard guard) {
  Array moved(array.dtype(), array.view().layout, guard);
  moved.Restore(array.Snapshot());
  return moved;
}

Case Moved(const Case& c, Guard guard) {
  Case moved{c.op, Moved(c.data, guard), Moved(c.updates, guard)};
  for (const auto operand :
       {&Case::indices, &Case::start, &Case::stop, &Case::step, &Case::axes, &Case::output}) {
    if (c.*operand) moved.*operand = Moved(*(c.*operand), guard);
  }
  moved.reduction = c.reduction;
  moved.axis = c.axis;
  moved.wrap = c.wrap;
  moved.policy = c.policy;
  moved.duplicates = c.duplicates;
  moved.mode = c.mode;
  return moved;
}

// Scratch as flush as its alignment allows, full of rubbish.
class GuardedScratch {
 public:
  ~GuardedScratch() { EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " blocks were not freed"; }

  void InstallIn(strew_context* context) {
    EXPECT_EQ(strew_context_set_allocator(context, Allocate, Free, this), STREW_OK);
  }

 private:
  static void* Allocate(void* opaque, size_t size, size_t alignment) {
    GuardedBuffer block((size + alignment - 1) / alignment * alignment, Guard::kBehind);
    unsigned char* const bytes = block.bytes();
    std::fill_n(bytes, block.size(), static_cast<unsigned char>(0xA5));
    static_cast<GuardedScratch*>(opaque)->blocks_.emplace(bytes, std::move(block));
    return bytes;
  }

  static void Free(void* opaque, void* memory, size_t) {
    auto& blocks = static_cast<GuardedScratch*>(opaque)->blocks_;
    const auto found = blocks.find(memory);
    ASSERT_NE(found, blocks.end()) << "freed what was not allocated";
    EXPECT_TRUE(found->second.IsMarginIntact()) << "wrote before the scratch";
    blocks.erase(found);
  }

  std::map<void*, GuardedBuffer> blocks_;
};

// ---- Calls --------------------------------------------------------------------------------------

class GuardPages : public testing::Test {
 protected:
  // One case on both sides and on every instruction set.
  void CheckCase(uint64_t seed) {
    Random random(seed);
    const Operator op = random.Pick(Operators());
    const Dtype dtype = random.Pick(Dtypes());
    Case c = MakeRandomCase(random, op, dtype);
    if (random.OneIn(4)) SpoilIndices(random, c);
    guards_scratch_ = random.OneIn(2);
    workers_ = random.OneIn(8) ? 3 : 1;
    seen_.insert({op, dtype.code});
    for (const Guard guard : {Guard::kBehind, Guard::kBefore}) {
      const std::string where =
          std::string("guard ") + (guard == Guard::kBehind ? "behind" : "before");
      Case moved = Moved(c, guard);
      Trial trial(moved);
      for (const Target& target : Targets()) {
        SetCrashReport("STREW_SEED=%llu STREW_CASES=1: %s, %s, %d workers, %s\n",
                       static_cast<unsigned long long>(seed), where.c_str(), target.name.c_str(),
                       workers_, Describe(moved).c_str());
        const std::string trouble = Send(trial, target.context.get());
        ASSERT_EQ(trouble, "") << "STREW_SEED=" << seed << " STREW_CASES=1: " << where << ", "
                               << target.name << ", " << workers_ << " workers, "
                               << Describe(moved);
      }
    }
  }

  std::string Send(Trial& trial, strew_context* context) {
    ++calls_;
    return Guarded(context, [&] { return trial.Trouble(context); });
  }

  // The result of `call`, with scratch and workers as the case has them.
  std::string Guarded(strew_context* context, const std::function<std::string()>& call) {
    static Backwards backwards;
    GuardedScratch scratch;
    if (guards_scratch_) scratch.InstallIn(context);
    if (workers_ > 1) backwards.InstallIn(context, workers_);
    const std::string trouble = call();
    EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
    EXPECT_EQ(strew_context_set_allocator(context, nullptr, nullptr, nullptr), STREW_OK);
    return trouble;
  }

  // One call of strew_plan_gather_scatter(), and gathers and scatters with the same plans, whose
  // indices are gone by then: their pages fault.
  void CheckPlans(uint64_t seed) {
    Random random(seed);
    const Operator op = random.Pick(PlannedOperators());
    GatherScatterCase c = MakeRandomGatherScatter(random, op, random.Pick(Dtypes()));
    guards_scratch_ = random.OneIn(2);
    workers_ = random.OneIn(8) ? 3 : 1;
    for (const Guard guard : {Guard::kBehind, Guard::kBefore}) {
      GatherScatterCase moved{Moved(c.from, guard), Moved(c.to, guard)};
      if (c.weights) moved.weights = Moved(*c.weights, guard);
      SetCrashReport("STREW_SEED=%llu STREW_CASES=1: plans, %s\n",
                     static_cast<unsigned long long>(seed), Describe(moved).c_str());
      CheckGatherScatter(seed, moved);
      CheckScatter(seed, Moved(c.to, guard));
    }
  }

  int64_t calls_ = 0;
  std::set<std::pair<Operator, strew_dtype>> seen_;

 private:
  static Plan PlanOf(Case& c) {
    const Context context = MakeContext();
    EXPECT_TRUE(SetPolicies(c, context.get()));
    Plan plan;
    GuardedScratch scratch;
    scratch.InstallIn(context.get());
    c.indices->buffer().SetReadOnly(true);
    EXPECT_EQ(MakePlan(c, context.get(), &plan), STREW_OK) << strew_context_error(context.get());
    c.indices.reset();
    return plan;
  }

  void ExpectNoTrouble(uint64_t seed, Trial& trial,
                       const std::function<strew_status(strew_context*)>& call) {
    for (const Target& target : Targets()) {
      strew_context* const context = target.context.get();
      ++calls_;
      const std::string trouble =
          Guarded(context, [&] { return trial.TroubleOf([&] { return call(context); }, context); });
      ASSERT_EQ(trouble, "") << "STREW_SEED=" << seed << " STREW_CASES=1: plans, " << target.name;
    }
  }

  void CheckGatherScatter(uint64_t seed, GatherScatterCase& c) {
    GatherScatterTrial gather_scatter(c);
    const Plan from = PlanOf(c.from), to = PlanOf(c.to);
    ExpectNoTrouble(seed, gather_scatter.trial(), [&](strew_context* context) {
      return gather_scatter.Call(from.get(), to.get(), context);
    });
  }

  void CheckScatter(uint64_t seed, Case c) {
    Trial trial(c);
    const Plan plan = PlanOf(c);
    ExpectNoTrouble(seed, trial, [&](strew_context* context) {
      return strew_plan_scatter(context, plan.get(), c.data.tensor(), c.updates.tensor(),
                                c.reduction, c.destination().tensor());
    });
  }

  bool guards_scratch_ = false;
  int32_t workers_ = 1;
};

TEST_F(GuardPages, RandomCalls) {
  const int64_t wanted = Calls(kCalls);
  const int64_t most_cases = Cases(std::numeric_limits<int64_t>::max());
  int64_t cases = 0;
  while (calls_ < wanted && cases < most_cases && !HasFailure()) {
    CheckCase(Seed() + static_cast<uint64_t>(cases++));
  }
  std::printf("%lld calls of %lld cases from STREW_SEED=%llu on: %s\n",
              static_cast<long long>(calls_), static_cast<long long>(cases),
              static_cast<unsigned long long>(Seed()),
              HasFailure() ? "failed" : "no fault, no byte wrong");
  if (calls_ < kCalls || HasFailure()) return;
  EXPECT_EQ(seen_.size(), Operators().size() * Dtypes().size());
}

TEST_F(GuardPages, RandomPlans) {
  const int64_t wanted = Calls(kCalls) / 4;
  const int64_t most_cases = Cases(std::numeric_limits<int64_t>::max());
  int64_t cases = 0;
  while (calls_ < wanted && cases < most_cases && !HasFailure()) {
    CheckPlans(Seed() + static_cast<uint64_t>(cases++));
  }
}

TEST(GuardPagesDeathTest, FaultsNameTheirCase) {
  const GuardedBuffer buffer(8, Guard::kBehind);
  const auto fault = [&] {
    SetCrashReport("STREW_SEED=%d", 7);
    *static_cast<volatile unsigned char*>(buffer.bytes() + buffer.size()) = 1;
  };
  EXPECT_DEATH(fault(), "STREW_SEED=7");
}

}  // namespace
}  // namespace strew_test
