// SPDX-License-Identifier: Apache-2.0
// Boxes that are transposes: rows of the output are columns of the updates.
#ifndef STREW_KERNEL_TRANSPOSE_H_
#define STREW_KERNEL_TRANSPOSE_H_

#include <cstdint>

#include "kernel/kernel.h"

namespace strew::kernel {

// Does the work of WalkBox, or returns false if the box is no transpose of elements of up to 4 bytes
// that replace others.
bool MoveTransposed(int64_t size, const BoxArguments& box);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TRANSPOSE_H_
