// SPDX-License-Identifier: Apache-2.0
// Boxes that are transposes: rows of the output are columns of the updates.
#ifndef STREW_KERNEL_TRANSPOSE_H_
#define STREW_KERNEL_TRANSPOSE_H_

#include <cstdint>

#include "kernel/kernel.h"

namespace strew::kernel {

// Does the work of WalkBox() and returns true; returns false unless the box is a transpose that
// replaces elements of 1, 2 or 4 bytes.
bool MoveTransposed(int64_t size, const BoxArguments& box);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TRANSPOSE_H_
