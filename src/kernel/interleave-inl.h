// SPDX-License-Identifier: Apache-2.0
// Kernels that write a new output in which every other element is replaced, in one pass over data,
// updates and output.
#if defined(STREW_KERNEL_INTERLEAVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_INTERLEAVE_INL_H_
#undef STREW_KERNEL_INTERLEAVE_INL_H_
#else
#define STREW_KERNEL_INTERLEAVE_INL_H_
#endif

#include <hwy/highway.h>

#include "base/compiler.h"
#include "kernel/element.h"
#include "kernel/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// True if lanes can be widened to twice their width, which puts each update into every other lane.
template <class T>
constexpr bool kWidens = kHasVectors<T> && sizeof(T) <= 4;

// Writes the pair (data, update) if kUpdateBehind is true, else (update, data).
template <class T, bool kUpdateBehind>
HWY_INLINE void MergePair(unsigned char* output, const unsigned char* data,
                          const unsigned char* update) {
  constexpr int64_t kData = kUpdateBehind ? 0 : 1;
  StoreElement(LoadElement<T>(update), output + At<T>(1 - kData));
  StoreElement(LoadElement<T>(data + At<T>(kData)), output + At<T>(kData));
}

template <class T, bool kUpdateBehind, class D>
HWY_INLINE hn::Vec<D> MergedPairs(D d, const unsigned char* data, const unsigned char* updates) {
  const hn::RepartitionToWide<D> d_wide;
  const hn::Rebind<T, decltype(d_wide)> d_half;
  const auto wide = hn::PromoteTo(d_wide, hn::LoadU(d_half, reinterpret_cast<const T*>(updates)));
  constexpr bool kShifts = kUpdateBehind != (STREW_BIG_ENDIAN == 1);
  const auto old = hn::LoadU(d, reinterpret_cast<const T*>(data));
  hn::Vec<D> placed;
  if constexpr (kShifts) {
    placed = hn::BitCast(d, hn::ShiftLeft<8 * sizeof(T)>(wide));
  } else {
    placed = hn::BitCast(d, wide);
  }
  if constexpr (kUpdateBehind) {
    return hn::OddEven(placed, old);
  } else {
    return hn::OddEven(old, placed);
  }
}

template <class T, bool kUpdateBehind>
HWY_INLINE void MergePairs(unsigned char* output, const unsigned char* data,
                           const unsigned char* updates, int64_t n, bool stream) {
  int64_t i = 0;
  if constexpr (kWidens<T>) {
    const hn::ScalableTag<T> d;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d) / 2);
    const uintptr_t vector = hn::Lanes(d) * sizeof(T);
    if (stream) {
      for (; i < n && reinterpret_cast<uintptr_t>(output + At<T>(2 * i)) % vector != 0; ++i) {
        MergePair<T, kUpdateBehind>(output + At<T>(2 * i), data + At<T>(2 * i), updates + At<T>(i));
      }
    }
    for (; i + step <= n; i += step) {
      const auto merged = MergedPairs<T, kUpdateBehind>(d, data + At<T>(2 * i), updates + At<T>(i));
      T* const to = reinterpret_cast<T*>(output + At<T>(2 * i));
      if (stream) {
        hn::Stream(merged, d, to);
      } else {
        hn::StoreU(merged, d, to);
      }
    }
  }
  for (; i < n; ++i) {
    MergePair<T, kUpdateBehind>(output + At<T>(2 * i), data + At<T>(2 * i), updates + At<T>(i));
  }
}

template <class T>
void Interleave(unsigned char* output, const unsigned char* data, const unsigned char* updates,
                int64_t n, bool stream) {
  const bool aligned = reinterpret_cast<uintptr_t>(output) % (2 * sizeof(T)) == 0;
  if (!stream || aligned) return MergePairs<T, false>(output, data, updates, n, stream);
  // If the output is aligned to elements, vectors are aligned from the second element on.
  StoreElement(LoadElement<T>(updates), output);
  MergePairs<T, true>(output + At<T>(1), data + At<T>(1), updates + At<T>(1), n - 1, true);
  const int64_t last = At<T>(2 * n - 1);
  StoreElement(LoadElement<T>(data + last), output + last);
}

// NULL for older CPUs.
template <class T>
constexpr InterleaveKernel InterleaveKernelOf() {
  if constexpr (!STREW_OF_OLD_CPUS) return Interleave<T>;
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
