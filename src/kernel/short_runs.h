// SPDX-License-Identifier: Apache-2.0
// Boxes of many short runs, for which calls of the kernel would be most of the work.
#ifndef STREW_KERNEL_SHORT_RUNS_H_
#define STREW_KERNEL_SHORT_RUNS_H_

#include <cstdint>

#include "kernel/kernel.h"

namespace strew::kernel {

// Does the work of WalkBox, or returns false if the runs are few or long.
bool WalkShortRuns(RunKernel run, int64_t size, const BoxArguments& box);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_SHORT_RUNS_H_
