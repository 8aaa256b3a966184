// SPDX-License-Identifier: Apache-2.0
//
// The loops that a programmer without a scatter library would write for the workloads: strew must
// not be slower. They handle one element after the other, wrap and check each index when it is
// used, and neither prefetch nor tune anything.
#ifndef BENCH_SCALAR_LOOPS_H_
#define BENCH_SCALAR_LOOPS_H_

#include <cstdint>

#include "workloads.h"

namespace strew_bench {

// Applies updates to output, which holds a copy of data already. False: an index is out of range,
// and the updates before it have been applied.
using ScalarLoop = bool (*)(const Operands& operands, const int64_t* indices, const void* updates,
                            void* output);

// NULL if no loop has been written for the workload.
ScalarLoop FindScalarLoop(const Workload& workload);

}  // namespace strew_bench

#endif  // BENCH_SCALAR_LOOPS_H_
