// SPDX-License-Identifier: Apache-2.0
// Threads of a context, for builds with threads: base/runner.h on a pool.
#include <algorithm>

#include "base/pool.h"
#include "base/runner.h"

namespace strew {

strew_status OwnThreads::Choose(int32_t n, Runner* runner) {
  // More threads than CPUs would be slower, because schedules assume that workers run at the same
  // time.
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
  begin_ = Now();
}

void WorkersOfCall::End() { alone_->AddAlone(Now() - begin_); }

void OwnThreads::Replace(Pool* pool) {
  Pool::Destroy(pool_);
  pool_ = pool;
}

}  // namespace strew
