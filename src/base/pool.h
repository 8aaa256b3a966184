// SPDX-License-Identifier: Apache-2.0
// The threads that a context starts for the tasks of its calls. Builds without threads have none.
#ifndef STREW_BASE_POOL_H_
#define STREW_BASE_POOL_H_

#include <atomic>
#include <cstdint>

#include "base/platform.h"
#include "strew/strew.h"

namespace strew {

// The balance of the time that workers have saved their caller, in ns; negative if they cost more
// than they saved. A phase saves half of the CPU time of the workers' tasks, less the time that the
// caller has waited. If the system suspends a worker in the middle of a task, the caller waits for
// a time slice of the scheduler, some 3 ms, and this cannot be predicted. So after a loss the
// caller works alone for kPatience times as long as the loss. Calls of 1.3 ms, beside compilers on
// both of two CPUs, took 1.16 x the mean time of one thread, and 5.8 x with threads that wait for
// one another.
class PoolAccount {
 public:
  static constexpr int64_t kPatience = 8;

  // With a patience of 0 the caller never works alone.
  explicit PoolAccount(int64_t patience) : patience_(patience) {}

  bool IsOverdrawn() const { return balance_ < 0; }
  void AddAlone(int64_t ns) { balance_ += patience_ == 0 ? 0 : ns / patience_; }
  // `gain` < 0 is a loss.
  void AddShared(int64_t gain);

 private:
  // The limits of the balance, in ns. Gains can pay for one time slice of the scheduler, and no
  // loss makes the caller work alone forever.
  static constexpr int64_t kMostBalance = 5000000;
  static constexpr int64_t kMostDebt = 20000000;

  const int64_t patience_;
  int64_t balance_ = 0;
};

// A pool of worker threads. A phase is one call of ParallelFor(). Its caller runs every task that
// no worker has begun, and waits only for tasks that workers have begun. So a worker without a CPU
// delays nobody.
//
// Caller and workers synchronise by two counters:
//
//   unbegun_     tasks that nobody has begun. A thread begins task t - 1 by lowering the counter
//                from t to t - 1; there is no other way to get a task.
//   unfinished_  tasks that have not ended, and a bit that is set before the caller sleeps.
//
//   between phases  unbegun_ is 0, so nobody can begin a task.
//   a phase opens   The caller writes the function of the tasks and unfinished_, then unbegun_
//                   (release).
//   tasks begin     A worker reads the function only after it has begun a task (acquire).
//   tasks end       The caller returns when unfinished_ is 0, so after all reads of the workers.
//
// A late worker finds no task, or a task of a later phase, which it may begin as well. It does not
// matter for which phase it was woken.
//
// Workers sleep on bell_. sleepers_ counts the sleeping workers for which bell_ has not been
// posted: a thread that lowers it must post bell_, except a worker that lowers it for itself
// because it stays awake. A worker increments sleepers_ before it looks for tasks a last time, and
// the caller opens a phase before it reads sleepers_, so at least one of them sees the other.
class Pool {
 public:
  // Makes a pool of `workers` threads besides the caller, which the first phase starts. Returns
  // NULL if there is no memory.
  static Pool* Make(int32_t workers, int64_t patience = PoolAccount::kPatience);
  // Joins the threads. `pool` may be NULL.
  static void Destroy(Pool* pool);

  // A strew_parallel_for. It works with fewer threads if the system refuses some, and without any
  // in the child of a fork().
  static int32_t ParallelFor(void* pool, int64_t count, strew_task run, void* task);

  int32_t workers() const { return workers_; }

  // False if the next call should run only on its own thread. The call then passes its duration in
  // ns to AddAlone().
  bool IsWorthwhile() const { return has_threads_ && !account_.IsOverdrawn(); }
  void AddAlone(int64_t ns) { account_.AddAlone(ns); }

  // False in a child of the process that has started the threads.
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
  bool has_threads_ = true;    // true also before the threads are started
  ProcessNumber process_ = 0;  // the process that has started the threads; 0 for none
  PoolAccount account_;
  strew_task run_ = nullptr;
  void* task_ = nullptr;
  Semaphore bell_;
  Semaphore all_finished_;

  // On separate cache lines, because the caller polls one while workers lower the other.
  alignas(64) std::atomic<int32_t> unbegun_{0};
  alignas(64) std::atomic<int32_t> unfinished_{0};
  // The caller's thread and its CPU. They may belong to another phase if a worker is late.
  std::atomic<ThreadNumber> caller_{0};
  std::atomic<int32_t> caller_cpu_{-1};
  std::atomic<int64_t> worked_ns_{0};  // CPU time of the workers in this phase
  alignas(64) std::atomic<int32_t> sleepers_{0};
  std::atomic<bool> ends_{false};
};

}  // namespace strew

#endif  // STREW_BASE_POOL_H_
