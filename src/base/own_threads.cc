// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/pool.h"
#include "base/runner.h"

#ifdef __linux__
#include <sched.h>

#include <cerrno>
#endif

namespace strew {
namespace {

#ifdef __linux__
// The CPUs that the calling thread may run on, 0 if the system does not tell. It refuses a set that
// has no place for all CPUs that the machine may have.
int32_t AllowedCpus() {
  constexpr int kMostCpus = 1 << 20;
  for (int cpus = 1024; cpus <= kMostCpus; cpus *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cpus);
    if (set == nullptr) return 0;
    const size_t size = CPU_ALLOC_SIZE(cpus);
    const int error = sched_getaffinity(0, size, set) == 0 ? 0 : errno;
    const int count = error == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (error != EINVAL) return count;
  }
  return 0;
}
#else
int32_t AllowedCpus() { return 0; }
#endif

int32_t CpuCount() {
  const int32_t allowed = AllowedCpus();
  if (allowed > 0) return allowed;
  return static_cast<int32_t>(std::clamp<long>(sysconf(_SC_NPROCESSORS_ONLN), 1, INT32_MAX));
}

}  // namespace

strew_status OwnThreads::Choose(int32_t n, Runner* runner) {
  // More threads than CPUs would be slower: schedules count on workers that run at the same time.
  const int32_t cpus = n == 1 ? 1 : CpuCount();
  const int32_t workers = n == 0 ? cpus : std::min(n, cpus);
  const bool is_there =
      pool_ != nullptr && pool_->workers() == workers - 1 && pool_->IsOfThisProcess();
  if (workers > 1 && !is_there) {
    Pool* const pool = Pool::Make(workers - 1);
    if (pool == nullptr) return STREW_OUT_OF_MEMORY;
    Replace(pool);
  }
  if (workers == 1) End();
  *runner = {};
  if (workers > 1) *runner = {Pool::ParallelFor, pool_, workers, pool_};
  return STREW_OK;
}

void WorkersOfCall::Begin(Pool* pool) {
  if (pool->IsWorthwhile()) return;
  count_ = 1;
  alone_ = pool;
  begin_ = Pool::Now();
}

void WorkersOfCall::End() { alone_->AddAlone(Pool::Now() - begin_); }

void OwnThreads::Replace(Pool* pool) {
  Pool::Destroy(pool_);
  pool_ = pool;
}

}  // namespace strew
