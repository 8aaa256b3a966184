// SPDX-License-Identifier: Apache-2.0
// Boxes of many short runs, in which a kernel call for each run would take most of the time.
#ifndef STREW_KERNEL_SHORT_RUNS_H_
#define STREW_KERNEL_SHORT_RUNS_H_

#include <cstdint>

#include "kernel/kernel.h"

namespace strew::kernel {

// Does the work of WalkBox() and returns true; returns false if the runs are too few or too long.
// `ahead` is the prefetch distance in the output, in rows; box.rows for none.
bool WalkShortRuns(RunKernel run, int64_t size, const BoxArguments& box, int64_t ahead);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_SHORT_RUNS_H_
