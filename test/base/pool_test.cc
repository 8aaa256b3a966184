// SPDX-License-Identifier: Apache-2.0
//
// Phases of a pool: each task once, on whichever threads there are, and never a wait for a worker
// that has begun nothing.
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/runner.h"
#include "support/at_once.h"
#include "support/end_child.h"

namespace strew_test {
namespace {

using strew::Pool;
using strew::PoolAccount;
using strew::WorkersOfCall;

constexpr int64_t kNoAccount = 0;

struct DestroyPool {
  void operator()(Pool* pool) const { Pool::Destroy(pool); }
};
using PoolPointer = std::unique_ptr<Pool, DestroyPool>;

PoolPointer MakePool(int32_t workers) { return PoolPointer(Pool::Make(workers, kNoAccount)); }

// Calls body(i) as the tasks of a phase.
template <class Body>
void RunPhase(Pool* pool, int64_t count, const Body& body) {
  const auto run = [](void* task, int64_t i) { (*static_cast<const Body*>(task))(i); };
  ASSERT_EQ(Pool::ParallelFor(pool, count, run, const_cast<Body*>(&body)), 0);
}

// The work of a phase's tasks. It lives as long as the phase, and records its end.
class Watched {
 public:
  explicit Watched(int64_t count) : begun_(static_cast<size_t>(count)) {}
  ~Watched() {
    for (const std::atomic<int>& times : begun_) EXPECT_EQ(times, 1);
    EXPECT_EQ(state_, kAlive);
    state_ = kOver;
  }

  void operator()(int64_t i) const {
    EXPECT_EQ(state_, kAlive) << "a task of a phase that is over";
    ++begun_[static_cast<size_t>(i)];
  }

 private:
  static constexpr unsigned kAlive = 0x11223344, kOver = 0x55667788;
  mutable std::vector<std::atomic<int>> begun_;
  unsigned state_ = kAlive;
};

void RunWatched(Pool* pool, int64_t count) {
  const Watched watched(count);
  RunPhase(pool, count, watched);
}

// Waits for what another thread does. False after so long that it never will.
template <class Condition>
bool Comes(const Condition& condition) {
  for (int turn = 0; turn < 20000; ++turn) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Runs a phase of which a worker has a task, and answers that worker.
pthread_t WorkerOf(Pool* pool) {
  std::atomic<int> begun{0};
  pthread_t worker{};
  const pthread_t caller = pthread_self();
  RunPhase(pool, 2, [&](int64_t) {
    ++begun;
    EXPECT_TRUE(Comes([&] { return begun == 2; })) << "no worker came";
    if (!pthread_equal(pthread_self(), caller)) worker = pthread_self();
  });
  return worker;
}

// ---- Phases -------------------------------------------------------------------------------------

TEST(Pool, BeginsEveryTaskOnce) {
  for (const int32_t workers : {1, 2, 7}) {
    const PoolPointer pool = MakePool(workers);
    for (int64_t count = 0; count <= 3 * workers; ++count) RunWatched(pool.get(), count);
    RunWatched(pool.get(), 1000);
  }
}

TEST(Pool, RunsManyShortPhases) {
  const PoolPointer pool = MakePool(3);
  for (int i = 0; i < 30000; ++i) RunWatched(pool.get(), 1 + i % 5);
}

// Workers that sleep are woken, and those that look out still are found.
TEST(Pool, RunsPhasesAfterPauses) {
  const PoolPointer pool = MakePool(2);
  for (int i = 0; i < 500; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(i % 50));
    RunWatched(pool.get(), 3);
  }
}

TEST(Pool, SharesTasks) {
  const PoolPointer pool = MakePool(1);
  for (int i = 0; i < 100; ++i) WorkerOf(pool.get());
}

TEST(Pool, ShowsTheCallerWhatWorkersHaveWritten) {
  const PoolPointer pool = MakePool(3);
  for (int64_t turn = 0; turn < 2000; ++turn) {
    std::vector<int64_t> written(4), read(4);
    RunPhase(pool.get(), 4, [&](int64_t i) { written[static_cast<size_t>(i)] = turn + i; });
    RunPhase(pool.get(), 4, [&](int64_t i) {
      read[static_cast<size_t>(i)] = written[static_cast<size_t>(3 - i)];
    });
    for (int64_t i = 0; i < 4; ++i) ASSERT_EQ(read[static_cast<size_t>(i)], turn + 3 - i);
  }
}

TEST(Pool, WaitsForTasksThatWorkersHaveBegun) {
  const PoolPointer pool = MakePool(1);
  const pthread_t caller = pthread_self();
  for (const int milliseconds : {0, 1, 20}) {
    std::atomic<int> begun{0}, ended{0};
    RunPhase(pool.get(), 2, [&](int64_t) {
      ++begun;
      EXPECT_TRUE(Comes([&] { return begun == 2; }));
      if (!pthread_equal(pthread_self(), caller)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      }
      ++ended;
    });
    EXPECT_EQ(ended, 2);
  }
}

// A worker ends its task when the caller has looked out for that long and is about to sleep.
TEST(Pool, WaitsForTasksThatEndWhileItFallsAsleep) {
  constexpr int64_t kAbout = 20000;  // ns
  const PoolPointer pool = MakePool(1);
  const pthread_t caller = pthread_self();
  for (int64_t turn = 0; turn < 20000; ++turn) {
    std::atomic<int> begun{0}, ended{0};
    RunPhase(pool.get(), 2, [&](int64_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
      if (!pthread_equal(pthread_self(), caller)) {
        const int64_t end = strew::Now() + kAbout + turn * 7919 % 6000 - 1000;
        while (strew::Now() < end) continue;
      }
      ++ended;
    });
    ASSERT_EQ(ended, 2);
  }
}

// ---- Life ---------------------------------------------------------------------------------------

TEST(Pool, MayEndAtAnyTime) {
  MakePool(3);
  for (int i = 0; i < 200; ++i) {
    const PoolPointer pool = MakePool(3);
    for (int phase = 0; phase < i % 4; ++phase) RunWatched(pool.get(), 4);
  }
  Pool::Destroy(nullptr);
}

TEST(Pool, ServesOneThreadAfterAnother) {
  const PoolPointer pool = MakePool(2);
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      for (int phase = 0; phase < 10; ++phase) RunWatched(pool.get(), 3);
    }).join();
  }
}

TEST(Pool, KnowsNothingOfOtherPools) {
  AtOnce(4, [](int) {
    const PoolPointer pool = MakePool(2);
    for (int i = 0; i < 1000; ++i) RunWatched(pool.get(), 3);
  });
}

TEST(Pool, MayBeUsedByTasksOfAnother) {
  const PoolPointer outer = MakePool(2);
  const PoolPointer inner[3] = {MakePool(2), MakePool(1), MakePool(3)};
  for (int i = 0; i < 300; ++i) {
    RunPhase(outer.get(), 3, [&](int64_t task) { RunWatched(inner[task].get(), 4); });
  }
}

// ---- Workers that do not come -------------------------------------------------------------------

std::atomic<bool> stops{false}, stopped{false};

void StayInHandler(int) {
  stopped = true;
  while (stops) usleep(100);
  stopped = false;
}

// Holds a thread in a handler of one of the few signals that workers take.
class Stopped {
 public:
  explicit Stopped(pthread_t thread) {
    struct sigaction action = {};
    action.sa_handler = StayInHandler;
    sigaction(SIGTRAP, &action, &before_);
    stops = true;
    pthread_kill(thread, SIGTRAP);
    EXPECT_TRUE(Comes([] { return stopped.load(); }));
  }
  ~Stopped() {
    stops = false;
    EXPECT_TRUE(Comes([] { return !stopped; }));
    sigaction(SIGTRAP, &before_, nullptr);
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

 private:
  struct sigaction before_;
};

void ExpectAllOnTheCaller(Pool* pool) {
  const pthread_t caller = pthread_self();
  const Watched watched(2);
  RunPhase(pool, 2, [&](int64_t i) {
    EXPECT_TRUE(pthread_equal(pthread_self(), caller));
    watched(i);
  });
}

TEST(Pool, DoesNotWaitForAWorkerThatHasNotBegun) {
  const PoolPointer pool = MakePool(1);
  for (int turn = 0; turn < 20; ++turn) {
    const pthread_t worker = WorkerOf(pool.get());
    // It is stopped where it looks out, and where it sleeps.
    if (turn % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Stopped stopped_worker(worker);
    for (int i = 0; i < 10; ++i) ExpectAllOnTheCaller(pool.get());
  }
}

// The worker goes on at any moment, and finds tasks of another phase than it was woken for, or
// none.
TEST(Pool, LeavesPhasesAloneThatAreOver) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the handler would interrupt ThreadSanitizer itself";
#endif
  const PoolPointer pool = MakePool(1);
  const pthread_t worker = WorkerOf(pool.get());
  std::atomic<bool> ends{false};
  std::thread disturbing([&] {
    for (unsigned turn = 0; turn < 300; ++turn) {
      const Stopped stopped_worker(worker);
      usleep(turn * 7919 % 300);
    }
    ends = true;
  });
  while (!ends) RunWatched(pool.get(), 2);
  disturbing.join();
}

TEST(Pool, GoesOnAloneInAChildOfItsProcess) {
  const PoolPointer pool = MakePool(2);
  WorkerOf(pool.get());
  EXPECT_TRUE(pool->IsOfThisProcess());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_of_parent = !pool->IsOfThisProcess();
    int ran = 0;
    const auto count = [&](int64_t) { ++ran; };
    bool are_alone = true;
    for (int i = 0; i < 10; ++i) {
      RunPhase(pool.get(), 3, count);
      const WorkersOfCall workers({Pool::ParallelFor, pool.get(), 3, pool.get()});
      are_alone = are_alone && workers.count() == 1;
    }
    Pool::Destroy(const_cast<PoolPointer&>(pool).release());
    EndChild(is_of_parent && are_alone && ran == 30 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  WorkerOf(pool.get());
}

// The worker is on the CPU of its caller, and stays there.
TEST(Pool, SharesTasksWhereAllThreadsHaveOneCpu) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  {
    const PoolPointer pool = MakePool(1);
    for (int i = 0; i < 10; ++i) {
      const pthread_t worker = WorkerOf(pool.get());
      cpu_set_t allowed;
      ASSERT_EQ(pthread_getaffinity_np(worker, sizeof(allowed), &allowed), 0);
      EXPECT_TRUE(CPU_EQUAL(&allowed, &one));
    }
  }
  sched_setaffinity(0, sizeof(before), &before);
}

// Starts threads that sleep until the system refuses another one.
void TakeAllStacks() {
  const auto sleep = [](void*) -> void* {
    while (true) pause();
  };
  pthread_t thread;
  while (pthread_create(&thread, nullptr, sleep, nullptr) == 0) pthread_detach(thread);
}

// In a process that has no address space left for another stack: only those of threads that have
// ended may be used again.
[[noreturn]] void RunWithoutRoomForThreads(bool takes_stacks) {
  constexpr int32_t kMore = 64;
  rlimit before;
  if (getrlimit(RLIMIT_AS, &before) != 0) std::exit(1);
  const rlimit nothing = {1, before.rlim_max};
  if (setrlimit(RLIMIT_AS, &nothing) != 0) std::exit(1);
  if (takes_stacks) TakeAllStacks();
  Pool* const pool = Pool::Make(kMore, kNoAccount);
  std::atomic<int> ran{0};
  RunPhase(pool, kMore + 1, [&](int64_t) { ++ran; });
  Pool::Destroy(pool);
  setrlimit(RLIMIT_AS, &before);
  std::exit(ran == kMore + 1 ? 0 : 2);
}

TEST(Pool, DoesWithoutThreadsThatTheSystemRefuses) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  EXPECT_EXIT(RunWithoutRoomForThreads(false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(RunWithoutRoomForThreads(true), testing::ExitedWithCode(0), "");
}

// ---- The account --------------------------------------------------------------------------------

TEST(PoolAccount, GoesOnAloneUntilALossIsPaidFor) {
  PoolAccount account(4);
  EXPECT_FALSE(account.IsOverdrawn());
  account.AddShared(-1000);
  EXPECT_TRUE(account.IsOverdrawn());
  account.AddAlone(3996);
  EXPECT_TRUE(account.IsOverdrawn());
  account.AddAlone(4);
  EXPECT_FALSE(account.IsOverdrawn());
}

TEST(PoolAccount, HasBounds) {
  PoolAccount account(4);
  account.AddShared(int64_t{1} << 60);
  account.AddShared(-6000000);
  EXPECT_TRUE(account.IsOverdrawn()) << "gains do not pay for everything";
  account.AddShared(-(int64_t{1} << 60));
  account.AddAlone(80000000);
  EXPECT_FALSE(account.IsOverdrawn()) << "the caller is alone for good";
}

TEST(PoolAccount, OfNoPatienceIsNeverOverdrawn) {
  PoolAccount account(kNoAccount);
  account.AddShared(-1000);
  EXPECT_FALSE(account.IsOverdrawn());
}

}  // namespace
}  // namespace strew_test
