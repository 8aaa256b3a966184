// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include <algorithm>
#include <new>

#include "base/compiler.h"

namespace strew {
namespace {

// Nanoseconds for which a worker polls for the next phase, and the caller for the end of tasks,
// before they sleep. A sleeping thread needs 30 us to wake up (a virtual machine of two CPUs): with
// polling, four phases of 40 us each took 0.62 x the time of one thread, without 0.86 x. Polling
// three times as long is no better, and worse if other processes want the CPU.
constexpr int64_t kLookoutOfWorker = 10000;
constexpr int64_t kLookoutOfCaller = 20000;

// Polls a condition for `ns` nanoseconds. Returns false if it does not become true in that time.
template <class Condition>
bool ComesTrue(int64_t ns, const Condition& condition) {
  const int64_t end = Now() + ns;
  do {
    for (int i = 0; i < 8; ++i) {
      if (condition()) return true;
      Pause();
    }
  } while (Now() < end);
  return condition();
}

}  // namespace

void PoolAccount::AddShared(int64_t gain) {
  const int64_t least = patience_ == 0 ? 0 : -kMostDebt;
  balance_ = std::clamp(balance_ + gain, least, kMostBalance);
}

// ---- The caller ----

Pool* Pool::Make(int32_t workers, int64_t patience) {
  size_t size = sizeof(Pool) + static_cast<size_t>(workers) * sizeof(Thread);
  size = (size + alignof(Pool) - 1) / alignof(Pool) * alignof(Pool);
  void* const memory = AllocateAligned(alignof(Pool), size);
  return memory == nullptr ? nullptr : new (memory) Pool(workers, patience);
}

void Pool::Destroy(Pool* pool) {
  if (pool == nullptr) return;
  if (pool->IsOfThisProcess()) pool->JoinThreads();
  pool->~Pool();
  FreeAligned(pool);
}

bool Pool::IsOfThisProcess() const { return process_ == 0 || process_ == CurrentProcess(); }

int32_t Pool::ParallelFor(void* opaque, int64_t count, strew_task run, void* task) {
  Pool& pool = *static_cast<Pool*>(opaque);
  if (!pool.HasThreads()) {
    for (int64_t i = 0; i < count; ++i) run(task, i);
    return 0;
  }
  pool.run_ = run;
  pool.task_ = task;
  pool.Share(static_cast<int32_t>(count));
  return 0;
}

void Pool::Share(int32_t count) {
  const int64_t begin = Now();
  const int64_t cpu_before = CpuTime();
  caller_.store(CurrentThread(), std::memory_order_relaxed);
  caller_cpu_.store(CurrentCpu(), std::memory_order_relaxed);
  worked_ns_.store(0, std::memory_order_relaxed);
  unfinished_.store(count, std::memory_order_relaxed);
  unbegun_.store(count, std::memory_order_seq_cst);
  Ring(count - 1);
  const int64_t rung = Now();
  for (int32_t i = Begin(); i != kNone; i = Begin()) {
    run_(task_, i);
    Finish();
  }
  const int64_t own = CpuTime() - cpu_before;
  WaitForBegun();
  // The time that the caller has waited, also for a CPU, and the time that it took to wake workers.
  const int64_t cost = Now() - begin - own + rung - begin;
  const int64_t worked = worked_ns_.load(std::memory_order_relaxed);
  // A schedule for several tasks makes more work than one for a single task: up to twice as much if
  // all tasks read all entries.
  account_.AddShared(worked == 0 ? -cost - own / 2 : worked / 2 - cost);
}

void Pool::WaitForBegun() {
  const auto finished = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (finished() || ComesTrue(kLookoutOfCaller, finished)) return;
  // The last task wakes the caller, unless it has finished by now.
  if (unfinished_.fetch_or(kCallerSleeps, std::memory_order_acq_rel) > 0) Await(&all_finished_);
}

void Pool::Ring(int32_t most) {
  for (int32_t owed = TakeSleepers(most); owed > 0; --owed) Post(&bell_);
}

// ---- Threads ----

bool Pool::HasThreads() {
  if (process_ == 0) StartThreads();
  has_threads_ = started_ > 0 && IsOfThisProcess();
  return has_threads_;
}

void Pool::StartThreads() {
  process_ = CurrentProcess();
  // Some systems have a limit on semaphores. GCOVR_EXCL_BR_START
  if (!MakeSemaphore(&bell_) || !MakeSemaphore(&all_finished_)) return;
  // GCOVR_EXCL_BR_STOP
  // Qualified, because the class has a member of this name.
  started_ = strew::StartThreads(thread(0), workers_, RunWorker, this);
}

void Pool::JoinThreads() {
  if (started_ == 0) return;
  ends_.store(true, std::memory_order_seq_cst);
  Ring(started_);
  for (int32_t i = 0; i < started_; ++i) JoinThread(thread(i));
  DestroySemaphore(&bell_);
  DestroySemaphore(&all_finished_);
}

// ---- A worker ----

void* Pool::RunWorker(void* pool) {
  static_cast<Pool*>(pool)->Work();
  return nullptr;
}

void Pool::Work() {
  while (!ends_.load(std::memory_order_relaxed)) {
    LeaveCpu(caller_cpu_.load(std::memory_order_relaxed), caller_.load(std::memory_order_relaxed));
    RunTasks();
    if (!ComesTrue(kLookoutOfWorker, [this] { return SeesWork(); })) Sleep();
  }
}

void Pool::RunTasks() {
  for (int32_t i = Begin(); i != kNone; i = Begin()) {
    const int64_t before = CpuTime();
    run_(task_, i);
    worked_ns_.fetch_add(CpuTime() - before, std::memory_order_relaxed);
    Finish();
  }
}

bool Pool::SeesWork() const {
  return unbegun_.load(std::memory_order_seq_cst) > 0 || ends_.load(std::memory_order_seq_cst);
}

void Pool::Sleep() {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  if (SeesWork() && TakeSleepers(1) == 1) return;
  Await(&bell_);
}

// ---- Both ----

// Takes a task for the calling thread; returns kNone if there is none left.
int32_t Pool::Begin() {
  int32_t left = unbegun_.load(std::memory_order_relaxed);
  while (left > 0 && !unbegun_.compare_exchange_weak(left, left - 1, std::memory_order_acquire,
                                                     std::memory_order_relaxed)) {
    continue;
  }
  return left > 0 ? left - 1 : kNone;
}

void Pool::Finish() {
  const int32_t before = unfinished_.fetch_sub(1, std::memory_order_acq_rel);
  if (before == (1 | kCallerSleeps)) Post(&all_finished_);
}

// Takes up to `most` sleepers. Returns how many posts to bell_ the calling thread now owes.
int32_t Pool::TakeSleepers(int32_t most) {
  int32_t sleepers = sleepers_.load(std::memory_order_seq_cst);
  int32_t taken;
  do {
    taken = std::min(sleepers, most);
  } while (taken > 0 &&
           !sleepers_.compare_exchange_weak(sleepers, sleepers - taken, std::memory_order_seq_cst));
  return taken;
}

}  // namespace strew
