// SPDX-License-Identifier: Apache-2.0
// Says on which targets masked loads and stores are used, and for what.
#if defined(STREW_KERNEL_MASKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_MASKS_INL_H_
#undef STREW_KERNEL_MASKS_INL_H_
#else
#define STREW_KERNEL_MASKS_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>

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

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if STREW_MASKED_LOADS

// The first lane, the third and so on. This mask does not come from Iota(), which some versions of
// Highway write to memory lane by lane: that took 20 ns for 8-bit lanes.
template <class D>
HWY_INLINE hn::Mask<D> EvenLanes(D d) {
  using T = hn::TFromD<D>;
  const auto ones = hn::Set(d, std::numeric_limits<T>::max());
  return hn::MaskFromVec(hn::OddEven(hn::Zero(d), ones));
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
