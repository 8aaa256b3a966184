// SPDX-License-Identifier: Apache-2.0
//
// Runners that break their promise, and the settings that choose a runner.
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "support/bulk.h"
#include "support/reference.h"
#include "threads/parallel_call.h"

namespace strew_test {
namespace {

constexpr int64_t kUpdates = 1 << 19;
const CallShape kLine{"one line", Operator::kScatterElements, {kUpdates}, {kUpdates}};

// ---- Runners that go wrong ----------------------------------------------------------------------

class FaultyRunner : public testing::TestWithParam<Fault> {
 protected:
  // Calls with a runner that goes wrong in one of its phases, then again with a good one.
  void CheckFaultIn(int64_t phase, LargeCall& call, const Bytes& expected) {
    const Context context = MakeContext();
    Faulty faulty(threads_, GetParam(), phase);
    faulty.InstallIn(context.get(), 8);
    EXPECT_EQ(call.Send(context.get()), STREW_RUNNER_FAILED);
    EXPECT_STRNE(strew_context_error(context.get()), "");
    EXPECT_EQ(strew_context_error_position(context.get()), -1);
    EXPECT_EQ(strew_context_applied(context.get()), 0);
    ExpectWrittenInside(call);
    EXPECT_EQ(call.Trouble(context.get(), expected), "") << "with the runner good again";
    EXPECT_STREQ(strew_context_error(context.get()), "");
    threads_.InstallIn(context.get(), 2);
    EXPECT_EQ(call.Trouble(context.get(), expected), "") << "with another runner";
    if (HasFailure()) FAIL() << "phase " << phase << " of " << call.Describe();
  }

 private:
  // Only elements of the output may change: nothing in the gaps between them, nothing around.
  static void ExpectWrittenInside(LargeCall& call) {
    EXPECT_TRUE(call.output().buffer().IsMarginIntact());
    Bytes after = call.output().Snapshot();
    Bytes before = call.before();
    const View elements = call.output().ViewOf(before.data());
    CombineEach(STREW_NONE, call.output().ViewOf(after.data()), elements);
    EXPECT_TRUE(after == before) << "wrote into gaps of the output";
  }

  StdThreads threads_;
};

INSTANTIATE_TEST_SUITE_P(EveryFault, FaultyRunner, testing::ValuesIn(Faults()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(FaultyRunner, FailsTheCallAndNoOther) {
  for (CallShape call_shape : AllCallShapes(kUpdates)) {
    if (call_shape.data.size() > 1) call_shape.gap = 3;
    LargeCall call(call_shape, STREW_INT32, STREW_ADD);
    for (const Place place : kPlaces) {
      call.Choose(place);
      const Bytes expected = call.Alone();
      const Context context = MakeContext();
      InOrder in_order;
      Recorder recorder(in_order);
      recorder.InstallIn(context.get(), 8);
      EXPECT_EQ(call.Trouble(context.get(), expected), "");
      EXPECT_GE(recorder.phases(), 1) << call.Describe();
      for (int64_t phase = 0; phase < recorder.phases(); ++phase) {
        CheckFaultIn(phase, call, expected);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

// The contract does not ask for it, but a task that comes twice need not spoil anything.
TEST(RunnerThatRepeats, DoesNoHarm) {
  Twice twice;
  const Context context = MakeContext();
  twice.InstallIn(context.get(), 4);
  for (const CallShape& call_shape : AllCallShapes(kUpdates)) {
    LargeCall call(call_shape, STREW_FLOAT32, STREW_ADD);
    for (const Place place : kPlaces) {
      call.Choose(place);
      const Bytes expected = call.Alone();
      EXPECT_EQ(call.Trouble(context.get(), expected), "") << call.Describe();
    }
  }
}

// Runs what is no task of the call besides, before the others and behind them.
class Stray final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override {
    run(task, -1);
    for (int64_t i = 0; i < count; ++i) run(task, i);
    run(task, count);
    return 0;
  }
};

TEST(RunnerThatStrays, DoesNoHarm) {
  Stray stray;
  const Context context = MakeContext();
  stray.InstallIn(context.get(), 4);
  LargeCall call(kLine, STREW_FLOAT32, STREW_ADD);
  const Bytes expected = call.Alone();
  EXPECT_EQ(call.Trouble(context.get(), expected), "") << call.Describe();
}

// Runs all tasks on a thread with the least stack that they may have, and a little for the thread.
class SmallStack final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override {
    Job job{count, run, task};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackOfTasks + kStackOfThread);
    const int error = pthread_create(&thread, &attributes, RunAll, &job);
    pthread_attr_destroy(&attributes);
    return error == 0 ? pthread_join(thread, nullptr) : error;
  }

 private:
  static constexpr size_t kStackOfTasks = 128 << 10;
  static constexpr size_t kStackOfThread = 16 << 10;

  struct Job {
    int64_t count;
    strew_task run;
    void* task;
  };
  static void* RunAll(void* opaque) {
    const Job& job = *static_cast<const Job*>(opaque);
    for (int64_t i = 0; i < job.count; ++i) job.run(job.task, i);
    return nullptr;
  }
};

TEST(RunnerOfSmallStacks, IsEnough) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
  GTEST_SKIP() << "instrumented code and such that is not optimised takes more";
#endif
  SmallStack small_stack;
  const strew_dtype dtypes[] = {STREW_INT8, STREW_BFLOAT16, STREW_COMPLEX128, STREW_OPAQUE(3)};
  for (const strew_dtype dtype : dtypes) {
    for (const CallShape& call_shape : AllCallShapes(kUpdates)) {
      LargeCall call(call_shape, dtype, Find(dtype).kind == Kind::kMoved ? STREW_NONE : STREW_MUL);
      const Bytes expected = call.Alone();
      for (const Target* const target : ChosenTargets()) {
        small_stack.InstallIn(target->context.get(), 8);
        EXPECT_EQ(call.Trouble(target->context.get(), expected), "")
            << target->name << ": " << call.Describe();
      }
    }
  }
  for (const Target* const target : ChosenTargets()) {
    strew_context_set_parallel_for(target->context.get(), nullptr, nullptr, 0);
  }
}

// No library has so many threads, and no task is made for each of them.
TEST(RunnerOfCountlessWorkers, IsOneLikeOthers) {
  Backwards backwards;
  Recorder recorder(backwards);
  const Context context = MakeContext();
  recorder.InstallIn(context.get(), INT32_MAX);
  for (const CallShape& call_shape : AllCallShapes(kUpdates)) {
    LargeCall call(call_shape, STREW_FLOAT32, STREW_ADD);
    for (const Place place : kPlaces) {
      call.Choose(place);
      const Bytes expected = call.Alone();
      EXPECT_EQ(call.Trouble(context.get(), expected), "") << call.Describe();
    }
  }
  EXPECT_GE(recorder.largest_count(), 2);
}

// ---- Which runner -------------------------------------------------------------------------------

class ChoiceOfRunner : public testing::Test {
 protected:
  strew_context* get() { return context_.get(); }

  // How often the recorder was asked during a good call.
  int64_t PhasesOfACall() {
    recorder_.Forget();
    EXPECT_EQ(call_.Trouble(get(), expected_), "");
    return recorder_.phases();
  }

  StdThreads threads_;
  Recorder recorder_{threads_};

 private:
  LargeCall call_{kLine, STREW_FLOAT32, STREW_ADD};
  const Bytes expected_ = call_.Alone();
  Context context_ = MakeContext();
};

TEST_F(ChoiceOfRunner, NoneTakesTheRunnerBack) {
  EXPECT_EQ(PhasesOfACall(), 0);
  recorder_.InstallIn(get(), 2);
  EXPECT_GE(PhasesOfACall(), 1);
  ASSERT_EQ(strew_context_set_parallel_for(get(), nullptr, nullptr, 0), STREW_OK);
  EXPECT_EQ(PhasesOfACall(), 0);
}

TEST_F(ChoiceOfRunner, LaterOneDecides) {
  recorder_.InstallIn(get(), 2);
  ASSERT_EQ(strew_context_set_num_threads(get(), 1), STREW_OK);
  EXPECT_EQ(PhasesOfACall(), 0);
  recorder_.InstallIn(get(), 8);
  EXPECT_GE(PhasesOfACall(), 1);
  EXPECT_GE(recorder_.largest_count(), 2);
  Recorder other(threads_);
  other.InstallIn(get(), 2);
  EXPECT_EQ(PhasesOfACall(), 0);
  EXPECT_GE(other.phases(), 1);
}

TEST_F(ChoiceOfRunner, RefusedSettingsChangeNothing) {
  recorder_.InstallIn(get(), 2);
  EXPECT_EQ(strew_context_set_num_threads(get(), -1), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(strew_context_set_parallel_for(get(), nullptr, nullptr, 1), STREW_INVALID_ARGUMENT);
  EXPECT_GE(PhasesOfACall(), 1);
}

// ---- Threads of the library's own ---------------------------------------------------------------

TEST(NumThreads, GivesTheBytesOfOneThread) {
  if (!STREW_TEST_THREADS) GTEST_SKIP() << "this build has no threads of its own";
  const Context context = MakeContext();
  for (const CallShape& call_shape : AllCallShapes(kUpdates)) {
    for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT8}) {
      LargeCall call(call_shape, dtype, STREW_ADD);
      for (const Place place : kPlaces) {
        call.Choose(place);
        const Bytes expected = call.Alone();
        for (const int32_t threads : {0, 1, 2, 3, 64, INT32_MAX}) {
          ASSERT_EQ(strew_context_set_num_threads(context.get(), threads), STREW_OK);
          EXPECT_EQ(call.Trouble(context.get(), expected), "")
              << threads << " threads: " << call.Describe();
        }
      }
    }
  }
}

TEST(NumThreads, ArePartOfTheBuildOrNot) {
  const Context context = MakeContext();
  for (const int32_t threads : {0, 2, 64, INT32_MAX}) {
    EXPECT_EQ(strew_context_set_num_threads(context.get(), threads),
              STREW_TEST_THREADS ? STREW_OK : STREW_UNSUPPORTED);
  }
  EXPECT_EQ(strew_context_set_num_threads(context.get(), 1), STREW_OK);
}

}  // namespace
}  // namespace strew_test
