// SPDX-License-Identifier: Apache-2.0
#include "base/runner.h"

#ifdef _OPENMP
#include <omp.h>

#include <algorithm>
#endif

namespace strew {

#ifdef _OPENMP
namespace {

int32_t OpenMpParallelFor(void*, int64_t count, strew_task run, void* task) {
#pragma omp parallel for num_threads(static_cast <int>(count)) schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) run(task, i);
  return 0;
}

}  // namespace

strew_status RunnerOfThreads(int32_t n, Runner* runner) {
  // More threads than CPUs would be slower: plans count on workers that run at the same time. And
  // libgomp ends the program where it cannot start one.
  const int32_t processors = n == 1 ? 1 : std::max(omp_get_num_procs(), 1);
  const int32_t workers = n == 0 ? processors : std::min(n, processors);
  *runner = {};
  if (workers > 1) *runner = {OpenMpParallelFor, nullptr, workers};
  return STREW_OK;
}

#else

strew_status RunnerOfThreads(int32_t n, Runner* runner) {
  if (n != 1) return STREW_UNSUPPORTED;
  *runner = {};
  return STREW_OK;
}

#endif

}  // namespace strew
