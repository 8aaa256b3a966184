// SPDX-License-Identifier: Apache-2.0
//
// A strew_parallel_for over oneTBB.
#include <cstdint>

#include <tbb/parallel_for.h>

extern "C" int32_t one_tbb(void*, int64_t count, void (*run)(void* task, int64_t i), void* task) {
  tbb::parallel_for(int64_t{0}, count, [=](int64_t i) { run(task, i); });
  return 0;
}
