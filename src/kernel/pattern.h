// SPDX-License-Identifier: Apache-2.0
// Repeated short updates, written out so that kernels read contiguous updates.
#ifndef STREW_KERNEL_PATTERN_H_
#define STREW_KERNEL_PATTERN_H_

#include <cstdint>

#include "kernel/kernel.h"

namespace strew::kernel {

// Fewest elements to write out copies for: filling a pattern takes about as long as writing this
// many elements one by one.
inline constexpr int64_t kLeastRepeated = 64;

// output[i] (+)= updates[i % period] for i < n, in contiguous elements of `size` bytes.
void CombineRepeated(RunKernel run, int64_t size, unsigned char* output,
                     const unsigned char* updates, int64_t period, int64_t n);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_PATTERN_H_
