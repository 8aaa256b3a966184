// SPDX-License-Identifier: Apache-2.0
//
// Calls on the threads of oneTBB.
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include "threads/parallel_call.h"

namespace strew_test {
namespace {

class OneTbb final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override {
    tbb::parallel_for(int64_t{0}, count, [=](int64_t i) { run(task, i); });
    return 0;
  }
};

TEST(OneTbb, RunsTheTasks) {
  OneTbb one_tbb;
  CheckRunner(one_tbb);
}

// A call within a task of the caller's own, as a program that uses oneTBB throughout would make it.
TEST(OneTbb, RunsTheTasksOfCallsWithinTasks) {
  std::atomic<int> good{0};
  tbb::parallel_for(0, 4, [&](int) {
    LargeCall call(CallShapes(1 << 18).front(), STREW_FLOAT32, STREW_ADD);
    const Bytes expected = call.Alone();
    OneTbb one_tbb;
    const Context context = MakeContext();
    one_tbb.InstallIn(context.get(), 4);
    good += call.Trouble(context.get(), expected).empty() ? 1 : 0;
  });
  EXPECT_EQ(good, 4);
}

}  // namespace
}  // namespace strew_test
