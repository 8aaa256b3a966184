// SPDX-License-Identifier: Apache-2.0
// What masked loads and stores are good for on a target.
#if defined(STREW_KERNEL_MASKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_MASKS_INL_H_
#undef STREW_KERNEL_MASKS_INL_H_
#else
#define STREW_KERNEL_MASKS_INL_H_
#endif

#include <hwy/highway.h>

// Scalable vectors use masks for tails. AVX-512 has masks too, but a masked vector that would cross
// into another cache line waits for that line: rows of 2 float32 took 25.8 ns each, with shorter
// vectors 5.0 ns.
#undef STREW_MASKED_TAILS
#if HWY_HAVE_SCALABLE
#define STREW_MASKED_TAILS 1
#else
#define STREW_MASKED_TAILS 0
#endif

// With AVX-512, masked loads that leave out gaps are as fast as other loads.
#undef STREW_MASKED_LOADS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define STREW_MASKED_LOADS 1
#else
#define STREW_MASKED_LOADS 0
#endif

#endif  // toggle
