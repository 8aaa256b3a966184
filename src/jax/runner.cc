// SPDX-License-Identifier: Apache-2.0
#include "jax/runner.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace strew::jax {
namespace {

// The tasks of one parallel_for. A thread of the pool may read them long after the call has ended,
// so they are shared; only threads that have taken a task use the memory at `task`.
class Tasks {
 public:
  Tasks(std::int64_t count, strew_task run, void* task) : count_(count), run_(run), task_(task) {}

  void TakeAll() {
    std::int64_t done = 0;
    while (true) {
      const std::int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_) break;
      run_(task_, i);
      ++done;
    }
    if (done == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_ += done;
    if (finished_ == count_) all_finished_.notify_one();
  }

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    all_finished_.wait(lock, [&] { return finished_ == count_; });
  }

 private:
  const std::int64_t count_;
  const strew_task run_;
  void* const task_;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable all_finished_;
  std::int64_t finished_ = 0;
};

}  // namespace

std::int32_t RunOnPool(void* pool, std::int64_t count, strew_task run, void* task) {
  std::shared_ptr<Tasks> tasks;
  try {
    tasks = std::make_shared<Tasks>(count, run, task);
    for (std::int64_t i = 1; i < count; ++i) {
      static_cast<xla::ffi::ThreadPool*>(pool)->Schedule([tasks] { tasks->TakeAll(); });
    }
  } catch (...) {
    if (tasks == nullptr) return 1;
    // Tasks that could not be scheduled run below.
  }
  tasks->TakeAll();
  tasks->Wait();
  return 0;
}

}  // namespace strew::jax
