// SPDX-License-Identifier: Apache-2.0
// The thread pool that an ONNX Runtime session has for the work within a node.
#ifndef STREW_ONNXRUNTIME_THREAD_POOL_H_
#define STREW_ONNXRUNTIME_THREAD_POOL_H_

#include <atomic>
#include <cstdint>

#include "onnxruntime/runtime.h"
#include "strew/strew.h"

namespace strew::onnxruntime {

// The number of threads of the pool. No function of the C API returns it, so it is measured when
// strew first has work for several threads: of many tasks that wait for each other, as many begin
// at once as there are threads.
class ThreadPool {
 public:
  explicit ThreadPool(const OrtApi& api);

  // The number of CPUs until the pool has been measured.
  std::int32_t Workers();
  bool measured() const { return threads_.load(std::memory_order_relaxed) != 0; }
  void Measure(const OrtKernelContext* call);

  // function(data, i) for each i in [0, count), on the threads of the pool.
  bool ForEach(const OrtKernelContext* call, std::int64_t count, void (*function)(void*, size_t),
               void* data) const;

 private:
  const OrtApi& api_;
  const std::int32_t cpus_;
  std::atomic<std::int32_t> threads_{0};  // 0: not measured
  std::atomic<std::uint32_t> calls_{0};
};

// A runner for strew_context_set_parallel_for().
class PoolRunner {
 public:
  explicit PoolRunner(ThreadPool* pool) : pool_(pool) {}

  // Returns the number of workers of the call.
  std::int32_t Begin(const OrtKernelContext* call);

  static std::int32_t ParallelFor(void* runner, std::int64_t count, strew_task run, void* task);

 private:
  ThreadPool* pool_;
  const OrtKernelContext* call_ = nullptr;
};

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_THREAD_POOL_H_
