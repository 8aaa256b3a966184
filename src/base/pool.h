// SPDX-License-Identifier: Apache-2.0
// Threads of a context's own, for the tasks of its calls. Builds without threads have none.
#ifndef STREW_BASE_POOL_H_
#define STREW_BASE_POOL_H_

#include <atomic>
#include <cstdint>

#include "base/platform.h"
#include "strew/strew.h"

namespace strew {

// The time that workers have saved their caller, in ns, negative if they cost more than they saved:
// half of the CPU time of their tasks, less the time that the caller has waited. A worker that the
// system stops in the middle of a task costs a turn of the scheduler, some 3 ms, and nothing
// foretells it. So the caller goes on alone after a loss until it has worked kPatience times as long:
// calls of 1.3 ms, beside compilers on both of two CPUs, took 1.16 x the mean time of one thread, and
// 5.8 x with threads that wait for one another.
class PoolAccount {
 public:
  static constexpr int64_t kPatience = 8;

  // With a patience of 0 the caller never goes on alone.
  explicit PoolAccount(int64_t patience) : patience_(patience) {}

  bool IsOverdrawn() const { return balance_ < 0; }
  void AddAlone(int64_t ns) { balance_ += patience_ == 0 ? 0 : ns / patience_; }
  // `gain` < 0 is a loss.
  void AddShared(int64_t gain);

 private:
  // Gains pay for a turn of the scheduler, and no loss keeps the caller alone for good.
  static constexpr int64_t kMostBalance = 5000000;
  static constexpr int64_t kMostDebt = 20000000;

  const int64_t patience_;
  int64_t balance_ = 0;
};

// A phase is one ParallelFor(). Its caller runs every task that no worker has begun, and waits only
// for those that workers have begun: a worker that gets no CPU delays nobody.
//
// Caller and workers agree by two counters:
//
//   unbegun_     tasks that nobody has begun. Who lowers it from t to t - 1 has begun task t - 1;
//                there is no other way to a task.
//   unfinished_  tasks that have not ended, and a bit while the caller sleeps until they have.
//
//   between phases  unbegun_ is 0, so that nobody can begin a task.
//   a phase opens   The caller writes what a task is, and unfinished_; then unbegun_ (release).
//   tasks begin     A worker reads what a task is after it has begun one (acquire).
//   tasks end       The caller returns when unfinished_ is 0, after all that workers have read.
//
// A worker that comes late finds no task, or one of a later phase, which it may begin as well: it
// never matters for which phase it was woken.
//
// Workers sleep on bell_. sleepers_ counts those that nobody has rung for: who lowers it owes bell_
// a post, and a worker that stays awake lowers it itself. A worker counts itself before it looks for
// tasks a last time, and the caller opens a phase before it looks for sleepers, so that one of them
// sees the other.
class Pool {
 public:
  // For so many threads besides the caller, which the first phase starts; NULL without memory.
  static Pool* Make(int32_t workers, int64_t patience = PoolAccount::kPatience);
  // Joins the threads. `pool` may be NULL.
  static void Destroy(Pool* pool);

  // A strew_parallel_for. A thread that the system refuses is missing. After fork() a child has
  // none.
  static int32_t ParallelFor(void* pool, int64_t count, strew_task run, void* task);

  int32_t workers() const { return workers_; }

  // False for a call that should run on its own thread alone; AddAlone() is then told how long it
  // took, in ns.
  bool IsWorthwhile() const { return has_threads_ && !account_.IsOverdrawn(); }
  void AddAlone(int64_t ns) { account_.AddAlone(ns); }

  // False in the child of a process whose pool this is.
  bool IsOfThisProcess() const;

 private:
  static constexpr int32_t kCallerSleeps = 1 << 30;
  static constexpr int32_t kNone = -1;

  Pool(int32_t workers, int64_t patience) : workers_(workers), account_(patience) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // ---- The caller's ----

  Thread* thread(int32_t i) { return reinterpret_cast<Thread*>(this + 1) + i; }
  bool HasThreads();
  void StartThreads();
  void JoinThreads();
  void Share(int32_t count);
  void WaitForBegun();
  void Ring(int32_t most);

  // ---- A worker's ----

  static void* RunWorker(void* pool);
  void Work();
  void RunTasks();
  bool SeesWork() const;
  void Sleep();

  // ---- Of both ----

  int32_t Begin();
  void Finish();
  int32_t TakeSleepers(int32_t most);

  const int32_t workers_;
  int32_t started_ = 0;
  bool has_threads_ = true;    // or will have, as far as is known
  ProcessNumber process_ = 0;  // that has started the threads, 0 for none
  PoolAccount account_;
  strew_task run_ = nullptr;
  void* task_ = nullptr;
  Semaphore bell_;
  Semaphore all_finished_;

  // In lines of their own: the caller polls one while workers lower the other.
  alignas(64) std::atomic<int32_t> unbegun_{0};
  alignas(64) std::atomic<int32_t> unfinished_{0};
  // The caller's thread and its CPU. A late worker may read those of an earlier phase.
  std::atomic<ThreadNumber> caller_{0};
  std::atomic<int32_t> caller_cpu_{-1};
  std::atomic<int64_t> worked_ns_{0};  // CPU time of the workers in this phase
  alignas(64) std::atomic<int32_t> sleepers_{0};
  std::atomic<bool> ends_{false};
};

}  // namespace strew

#endif  // STREW_BASE_POOL_H_
