// SPDX-License-Identifier: Apache-2.0
//
// The loops that somebody without a scatter library would write for the workloads: the yardstick
// that strew must not fall behind. One element after the other, each index wrapped and checked
// where it is used, nothing prefetched, nothing tuned.
#ifndef BENCH_SCALAR_LOOPS_H_
#define BENCH_SCALAR_LOOPS_H_

#include <cstdint>

#include "workloads.h"

namespace strew_bench {

// Applies updates to output, which holds a copy of data already. False: an index is out of range,
// and the updates before it have been applied.
using ScalarLoop = bool (*)(const Operands& operands, const int64_t* indices, const void* updates,
                            void* output);

// NULL where no loop has been written for the workload.
ScalarLoop FindScalarLoop(const Workload& workload);

}  // namespace strew_bench

#endif  // BENCH_SCALAR_LOOPS_H_
