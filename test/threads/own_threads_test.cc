// SPDX-License-Identifier: Apache-2.0
//
// Threads of a context's own: when they begin and end, and what a child has after fork().
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

#include "support/end_child.h"
#include "support/reference.h"
#include "threads/parallel_call.h"

namespace strew_test {
namespace {

constexpr int64_t kUpdates = 1 << 18;

class OwnThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (!STREW_TEST_THREADS) GTEST_SKIP() << "this build has no threads of its own";
    ASSERT_EQ(strew_context_set_num_threads(get(), 2), STREW_OK);
  }

  strew_context* get() { return context_.get(); }
  bool IsRight() { return call_.Trouble(get(), expected_).empty(); }

  Context context_ = MakeContext();

 private:
  LargeCall call_{CallShapes(kUpdates).front(), STREW_FLOAT32, STREW_ADD};
  const Bytes expected_ = call_.Alone();
};

TEST_F(OwnThreads, MayEndRightAfterACall) {
  for (int i = 0; i < 50; ++i) {
    context_ = MakeContext();
    ASSERT_EQ(strew_context_set_num_threads(get(), 2), STREW_OK);
    EXPECT_TRUE(IsRight());
  }
}

TEST_F(OwnThreads, ServeCallsThatFollowOneAnother) {
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(strew_context_set_num_threads(get(), 2), STREW_OK) << "as it was before";
    EXPECT_TRUE(IsRight());
  }
}

// The numbers of threads below are those of this process alone.
class CountedThreads : public OwnThreads {
 protected:
  void SetUp() override {
    OwnThreads::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists(kThreads)) GTEST_SKIP() << "there is no " << kThreads;
    cpu_set_t cpus;
    ASSERT_EQ(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    if (CPU_COUNT(&cpus) < 2) GTEST_SKIP() << "this process may run on one CPU only";
  }

  static int64_t Count() {
    const std::filesystem::directory_iterator threads(kThreads);
    return std::distance(begin(threads), end(threads));
  }

  // An ended thread leaves /proc a moment later than its join.
  static bool CountBecomes(int64_t wanted) {
    for (int turn = 0; turn < 2000 && Count() != wanted; ++turn) usleep(1000);
    return Count() == wanted;
  }

 private:
  static constexpr char kThreads[] = "/proc/self/task";
};

TEST_F(CountedThreads, BeginWithTheFirstLargeCall) {
  const int64_t before = Count();
  EXPECT_TRUE(IsRight());
  EXPECT_EQ(Count(), before + 1);
  EXPECT_TRUE(IsRight());
  EXPECT_EQ(Count(), before + 1);
}

TEST_F(CountedThreads, EndWithTheContextOrAnotherSetting) {
  const int64_t before = Count();
  EXPECT_TRUE(IsRight());
  ASSERT_EQ(strew_context_set_num_threads(get(), 1), STREW_OK);
  EXPECT_TRUE(CountBecomes(before));

  ASSERT_EQ(strew_context_set_num_threads(get(), 2), STREW_OK);
  EXPECT_TRUE(IsRight());
  InOrder in_order;
  in_order.InstallIn(get(), 2);
  EXPECT_TRUE(CountBecomes(before));
  EXPECT_TRUE(IsRight());

  ASSERT_EQ(strew_context_set_num_threads(get(), 2), STREW_OK);
  EXPECT_TRUE(IsRight());
  context_.reset();
  EXPECT_TRUE(CountBecomes(before));
}

TEST_F(CountedThreads, AreNotThereInAChildUntilItAsksForThem) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not allow threads after fork()";
#endif
  EXPECT_TRUE(IsRight());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool good = IsRight() && Count() == 1;
    good = good && strew_context_set_num_threads(get(), 2) == STREW_OK;
    good = good && IsRight() && Count() == 2;
    context_.reset();
    EndChild(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(IsRight());
}

}  // namespace
}  // namespace strew_test
