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
