// SPDX-License-Identifier: Apache-2.0
// The threads that run the tasks of a call.
#ifndef STREW_BASE_RUNNER_H_
#define STREW_BASE_RUNNER_H_

#include <cstdint>

#include "strew/strew.h"

namespace strew {

class Pool;

// The threads of the caller, or those of the context. With one worker everything runs on the
// calling thread, and parallel_for is not used.
struct Runner {
  strew_parallel_for parallel_for = nullptr;
  void* opaque = nullptr;
  int32_t workers = 1;
  Pool* pool = nullptr;  // the pool, if the threads are those of the context
};

// The number of workers of one call. It is 1 as long as the pool has to make up for a loss. A
// schedule for several workers would then be slower on one thread than a schedule for one, because
// each of its tasks may read all entries: beside a spinning process such calls took 2.3 x the time
// of one thread, and 1.2 x with this rule.
class WorkersOfCall {
 public:
  explicit WorkersOfCall(const Runner& runner) : count_(runner.workers) {
    if (runner.pool != nullptr) Begin(runner.pool);
  }
  ~WorkersOfCall() {
    if (alone_ != nullptr) End();
  }
  WorkersOfCall(const WorkersOfCall&) = delete;
  WorkersOfCall& operator=(const WorkersOfCall&) = delete;

  int32_t count() const { return count_; }

 private:
  void Begin(Pool* pool);
  void End();

  int32_t count_;
  Pool* alone_ = nullptr;  // the pool, if this call makes up for a loss
  int64_t begin_ = 0;
};

// The threads of a context, if it has any.
class OwnThreads {
 public:
  OwnThreads() = default;
  ~OwnThreads() { End(); }
  OwnThreads(const OwnThreads&) = delete;
  OwnThreads& operator=(const OwnThreads&) = delete;

  // Sets the runner for `n` >= 0 threads, in the sense of strew_context_set_num_threads(). Fails
  // with UNSUPPORTED if this build has no threads and with OUT_OF_MEMORY if there is no memory;
  // then it changes nothing.
  strew_status Choose(int32_t n, Runner* runner);
  // Ends the threads that run.
  void End() { Replace(nullptr); }

 private:
  void Replace(Pool* pool);

  Pool* pool_ = nullptr;
};

}  // namespace strew

#endif  // STREW_BASE_RUNNER_H_
