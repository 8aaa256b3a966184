// SPDX-License-Identifier: Apache-2.0
// Boxes of many short runs, for which a call each would be most of the work.
#ifndef STREW_KERNEL_SHORT_RUNS_H_
#define STREW_KERNEL_SHORT_RUNS_H_

#include <cstdint>

#include "kernel/kernel.h"

namespace strew::kernel {

// As WalkBox. False where nothing is done, because the runs are few or long.
bool WalkShortRuns(RunKernel run, int64_t size, const BoxArguments& box);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_SHORT_RUNS_H_
