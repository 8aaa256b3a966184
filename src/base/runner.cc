// SPDX-License-Identifier: Apache-2.0
#include "base/runner.h"

#ifdef _OPENMP
#include <omp.h>

#include <algorithm>
#endif

namespace strew {

#ifdef _OPENMP
namespace {

// `opaque` is how many threads to use. libgomp ends the program where it cannot start one, so they
// are never more than the CPUs: more would be no faster.
int32_t OpenMpParallelFor(void* opaque, int64_t count, strew_task run, void* task) {
  const int64_t most = static_cast<int64_t>(reinterpret_cast<intptr_t>(opaque));
  const int threads = static_cast<int>(std::min(most, count));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) run(task, i);
  return 0;
}

}  // namespace

strew_status RunnerOfThreads(int32_t n, Runner* runner) {
  *runner = {};
  if (n == 1) return STREW_OK;
  const int32_t processors = std::max(omp_get_num_procs(), 1);
  runner->workers = n == 0 ? processors : n;
  runner->parallel_for = OpenMpParallelFor;
  runner->opaque = reinterpret_cast<void*>(intptr_t{std::min(runner->workers, processors)});
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
