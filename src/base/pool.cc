// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <new>

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#endif

namespace strew {
namespace {

int64_t Nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

// How long a worker looks out for the next phase before it sleeps, and the caller for the end of
// tasks. It takes 30 us until a sleeping thread runs (a virtual machine of two CPUs): four phases of
// 40 us each took 0.62 x the time of one thread, 0.86 x without looking out. Three times as long is
// no better, and worse where other processes want the CPU.
constexpr int64_t kLookoutOfWorker = 10000;
constexpr int64_t kLookoutOfCaller = 20000;

int64_t Now() { return Pool::Now(); }

// Less while other threads have the CPU.
int64_t CpuTime() { return Nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// False where it is not so in time.
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

void Await(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;  // a signal has interrupted it
}

#ifdef __linux__
pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }
int32_t CurrentCpu() { return sched_getcpu(); }

// Moves the calling worker off the CPU of its caller, to another that the caller may run on. The
// system tends to wake it there where all CPUs are busy, so that it takes from the caller what it
// gives: calls of 200 us after pauses took 1.0 to 1.1 x the time of one thread on two, and 0.65 to
// 0.8 x with this.
void LeaveCpu(int32_t cpu, pid_t caller) {
  if (cpu < 0 || cpu != CurrentCpu()) return;
  cpu_set_t cpus;
  if (sched_getaffinity(caller, sizeof(cpus), &cpus) != 0) return;
  CPU_CLR(static_cast<size_t>(cpu), &cpus);
  if (CPU_COUNT(&cpus) > 0) sched_setaffinity(0, sizeof(cpus), &cpus);
}
#else
pid_t ThreadId() { return 0; }
int32_t CurrentCpu() { return -1; }
void LeaveCpu(int32_t, pid_t) {}
#endif

// Threads that are made meanwhile take no signals but those of their own faults: handlers of the
// process run on threads that it knows.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) {
      sigdelset(&blocked, fault);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void PoolAccount::AddShared(int64_t gain) {
  const int64_t least = patience_ == 0 ? 0 : -kMostDebt;
  balance_ = std::clamp(balance_ + gain, least, kMostBalance);
}

// ---- The caller ----

Pool* Pool::Make(int32_t workers, int64_t patience) {
  void* memory = nullptr;
  const size_t size = sizeof(Pool) + static_cast<size_t>(workers) * sizeof(pthread_t);
  if (posix_memalign(&memory, alignof(Pool), size) != 0) return nullptr;
  return new (memory) Pool(workers, patience);
}

void Pool::Destroy(Pool* pool) {
  if (pool == nullptr) return;
  if (pool->IsOfThisProcess()) pool->JoinThreads();
  pool->~Pool();
  std::free(pool);
}

bool Pool::IsOfThisProcess() const { return process_ == 0 || process_ == getpid(); }

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

int64_t Pool::Now() { return Nanoseconds(CLOCK_MONOTONIC); }

void Pool::Share(int32_t count) {
  const int64_t begin = Now();
  const int64_t cpu_before = CpuTime();
  caller_.store(ThreadId(), std::memory_order_relaxed);
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
  // The time that the caller has waited, also for a CPU, and that it took to wake others.
  const int64_t cost = Now() - begin - own + rung - begin;
  const int64_t worked = worked_ns_.load(std::memory_order_relaxed);
  // By a schedule for several there is more work than for one: up to twice as much where all tasks
  // look at all entries.
  account_.AddShared(worked == 0 ? -cost - own / 2 : worked / 2 - cost);
}

void Pool::WaitForBegun() {
  int32_t left = 0;
  const auto finished = [&] { return (left = unfinished_.load(std::memory_order_acquire)) == 0; };
  if (finished() || ComesTrue(kLookoutOfCaller, finished)) return;
  while (left > 0 &&
         !unfinished_.compare_exchange_weak(left, left | kCallerSleeps, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
    continue;
  }
  if (left > 0) Await(&all_finished_);
}

void Pool::Ring(int32_t most) {
  for (int32_t owed = TakeSleepers(most); owed > 0; --owed) sem_post(&bell_);
}

// ---- Threads ----

bool Pool::HasThreads() {
  if (process_ == 0) StartThreads();
  has_threads_ = started_ > 0 && IsOfThisProcess();
  return has_threads_;
}

void Pool::StartThreads() {
  process_ = getpid();
  if (sem_init(&bell_, 0, 0) != 0 || sem_init(&all_finished_, 0, 0) != 0) return;
  const SignalsBlocked signals_blocked;
  while (started_ < workers_ && pthread_create(thread(started_), nullptr, RunWorker, this) == 0) {
    ++started_;
  }
}

void Pool::JoinThreads() {
  if (started_ == 0) return;
  ends_.store(true, std::memory_order_seq_cst);
  Ring(started_);
  for (int32_t i = 0; i < started_; ++i) pthread_join(*thread(i), nullptr);
  sem_destroy(&bell_);
  sem_destroy(&all_finished_);
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

// A task that is now the calling thread's, or kNone.
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
  if (before == (1 | kCallerSleeps)) sem_post(&all_finished_);
}

// Returns how many posts the calling thread now owes bell_.
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
