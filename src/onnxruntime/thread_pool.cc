// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/thread_pool.h"

#include <algorithm>
#include <chrono>

#include <sched.h>
#include <unistd.h>

namespace strew::onnxruntime {
namespace {

using Clock = std::chrono::steady_clock;

// Threads of a sleeping pool begin within 50 us on an idle machine. A pool of one thread waits this
// long once, and again in a few later runs.
constexpr std::chrono::microseconds kPatience{200};

// On a busy machine the measurement finds too few threads. It is repeated after this number of runs
// of a node, then after twice as many, and so on.
constexpr std::uint32_t kFirstDoubt = 64;

std::int32_t UsableCpus() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<std::int32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

// The tasks of one measurement. Each waits until all have begun, or until none has for a while.
struct RollCall {
  std::int32_t expected;
  std::atomic<std::int32_t> present{0};
  std::atomic<bool> closed{false};
};

void Attend(void* data, size_t) {
  auto& roll = *static_cast<RollCall*>(data);
  if (roll.closed.load()) return;
  std::int32_t seen = roll.present.fetch_add(1) + 1;
  Clock::time_point deadline = Clock::now() + kPatience;
  while (seen < roll.expected && !roll.closed.load() && Clock::now() < deadline) {
    sched_yield();
    const std::int32_t present = roll.present.load();
    if (present != seen) deadline = Clock::now() + kPatience;
    seen = present;
  }
  roll.closed.store(true);
}

struct Tasks {
  strew_task run;
  void* task;
};

void RunTask(void* data, size_t i) {
  const auto& tasks = *static_cast<const Tasks*>(data);
  tasks.run(tasks.task, static_cast<std::int64_t>(i));
}

}  // namespace

ThreadPool::ThreadPool(const OrtApi& api) : api_(api), cpus_(UsableCpus()) {}

std::int32_t ThreadPool::Workers() {
  const std::int32_t threads = threads_.load(std::memory_order_relaxed);
  if (threads == cpus_) return threads;
  const std::uint32_t calls = calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool doubt = calls >= kFirstDoubt && (calls & (calls - 1)) == 0;
  if (doubt) threads_.store(0, std::memory_order_relaxed);
  return threads == 0 || doubt ? cpus_ : threads;
}

void ThreadPool::Measure(const OrtKernelContext* call) {
  RollCall roll{cpus_};
  ForEach(call, cpus_, Attend, &roll);
  threads_.store(std::min(cpus_, roll.present.load()), std::memory_order_relaxed);
}

bool ThreadPool::ForEach(const OrtKernelContext* call, std::int64_t count,
                         void (*function)(void*, size_t), void* data) const {
  // 0 batches: the runtime hands out the tasks one by one.
  constexpr size_t kNoBatches = 0;
  OrtStatus* const status =
      api_.KernelContext_ParallelFor(call, function, static_cast<size_t>(count), kNoBatches, data);
  if (status == nullptr) return true;
  api_.ReleaseStatus(status);
  return false;
}

std::int32_t PoolRunner::Begin(const OrtKernelContext* call) {
  call_ = call;
  return pool_->Workers();
}

std::int32_t PoolRunner::ParallelFor(void* runner, std::int64_t count, strew_task run, void* task) {
  const auto& self = *static_cast<const PoolRunner*>(runner);
  if (!self.pool_->measured()) self.pool_->Measure(self.call_);
  Tasks tasks{run, task};
  return self.pool_->ForEach(self.call_, count, RunTask, &tasks) ? 0 : 1;
}

}  // namespace strew::onnxruntime
