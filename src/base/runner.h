// SPDX-License-Identifier: Apache-2.0
// Who runs the tasks of a call.
#ifndef STREW_BASE_RUNNER_H_
#define STREW_BASE_RUNNER_H_

#include <cstdint>

#include "strew/strew.h"

namespace strew {

class Pool;

// The caller's threads, or those of the context. With one worker everything runs on the calling
// thread, and the function counts for nothing.
struct Runner {
  strew_parallel_for parallel_for = nullptr;
  void* opaque = nullptr;
  int32_t workers = 1;
  Pool* pool = nullptr;  // whose threads they are, if they are those of the context
};

// The workers of one call: one as long as the pool has to make up for a loss. A schedule for
// several would then be slower than that of one, because its tasks may each look at all entries: 2.3 x
// the time of one thread beside a spinning process, and 1.2 x with this.
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
  Pool* alone_ = nullptr;  // where the call makes up for a loss
  int64_t begin_ = 0;
};

// The threads of a context, if it has any.
class OwnThreads {
 public:
  OwnThreads() = default;
  ~OwnThreads() { End(); }
  OwnThreads(const OwnThreads&) = delete;
  OwnThreads& operator=(const OwnThreads&) = delete;

  // Sets the runner that strew_context_set_num_threads() means by `n` >= 0 threads. UNSUPPORTED
  // where this build has no threads, OUT_OF_MEMORY without memory; nothing is then changed.
  strew_status Choose(int32_t n, Runner* runner);
  // Ends those that run.
  void End() { Replace(nullptr); }

 private:
  void Replace(Pool* pool);

  Pool* pool_ = nullptr;
};

}  // namespace strew

#endif  // STREW_BASE_RUNNER_H_
