// SPDX-License-Identifier: Apache-2.0
// Replaces own_threads.cc in builds without threads: a context has one worker.
#include "base/platform.h"
#include "base/runner.h"

namespace strew {

int32_t CpuCount() { return 1; }

strew_status OwnThreads::Choose(int32_t n, Runner* runner) {
  if (n != 1) return STREW_UNSUPPORTED;
  *runner = {};
  return STREW_OK;
}

// Names begin_, because clang warns about unused private fields.
void WorkersOfCall::Begin(Pool*) { begin_ = 0; }
void WorkersOfCall::End() {}

void OwnThreads::Replace(Pool* pool) { pool_ = pool; }

}  // namespace strew
