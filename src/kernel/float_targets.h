// SPDX-License-Identifier: Apache-2.0
// SIMD targets of the float kernels. Include this before any Highway header. NEON on 32-bit ARM
// flushes subnormals, divides approximately and lacks float64, so floats are processed one at a
// time there.
#ifndef STREW_KERNEL_FLOAT_TARGETS_H_
#define STREW_KERNEL_FLOAT_TARGETS_H_

#if defined(__arm__)
#define HWY_COMPILE_ONLY_SCALAR
#endif

#endif  // STREW_KERNEL_FLOAT_TARGETS_H_
