// SPDX-License-Identifier: Apache-2.0
// Instead of own_threads.cc where there are no POSIX threads.
#include "base/runner.h"

namespace strew {

strew_status OwnThreads::Choose(int32_t n, Runner* runner) {
  if (n != 1) return STREW_UNSUPPORTED;
  *runner = {};
  return STREW_OK;
}

void WorkersOfCall::Begin(Pool*) {}
void WorkersOfCall::End() {}

void OwnThreads::Replace(Pool* pool) { pool_ = pool; }

}  // namespace strew
