// SPDX-License-Identifier: Apache-2.0
// Instead of own_threads.cc where there are no POSIX threads.
#include "base/platform.h"
#include "base/runner.h"

namespace strew {

int32_t CpuCount() { return 1; }

strew_status OwnThreads::Choose(int32_t n, Runner* runner) {
  if (n != 1) return STREW_UNSUPPORTED;
  *runner = {};
  return STREW_OK;
}

// clang warns about a private field that nothing names.
void WorkersOfCall::Begin(Pool*) { begin_ = 0; }
void WorkersOfCall::End() {}

void OwnThreads::Replace(Pool* pool) { pool_ = pool; }

}  // namespace strew
