// SPDX-License-Identifier: Apache-2.0
// Which targets the files of floats are built for; comes before all of Highway. NEON of 32-bit ARM
// flushes subnormal numbers, divides by approximation and has no float64: one element at a time,
// without it, is right.
#ifndef STREW_KERNEL_FLOAT_TARGETS_H_
#define STREW_KERNEL_FLOAT_TARGETS_H_

#if defined(__arm__)
#define HWY_COMPILE_ONLY_SCALAR
#endif

#endif  // STREW_KERNEL_FLOAT_TARGETS_H_
