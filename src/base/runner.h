// SPDX-License-Identifier: Apache-2.0
// Who runs the tasks of a call.
#ifndef STREW_BASE_RUNNER_H_
#define STREW_BASE_RUNNER_H_

#include <cstdint>

#include "strew/strew.h"

namespace strew {

// The caller's threads, or those of OpenMP. With one worker everything runs on the calling thread,
// and the function counts for nothing.
struct Runner {
  strew_parallel_for parallel_for = nullptr;
  void* opaque = nullptr;
  int32_t workers = 1;
};

// Sets the runner that strew_context_set_num_threads() means by `n` >= 0 threads. UNSUPPORTED where
// this build has no threads of its own.
strew_status RunnerOfThreads(int32_t n, Runner* runner);

}  // namespace strew

#endif  // STREW_BASE_RUNNER_H_
