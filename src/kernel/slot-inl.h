// SPDX-License-Identifier: Apache-2.0
// Kernels for sums in contiguous memory: they initialise sums from elements, combine them with
// updates, and finish them.
#if defined(STREW_KERNEL_SLOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_SLOT_INL_H_
#undef STREW_KERNEL_SLOT_INL_H_
#else
#define STREW_KERNEL_SLOT_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/sum-inl.h"
#include "kernel/wide_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Calls body(i, byte offset of element i) for i in [first, n). Contiguous elements have a separate
// loop.
template <class T, class Body>
HWY_INLINE void ForRun(int64_t first, int64_t stride, int64_t n, const Body& body) {
  if (stride == 1) {
    for (int64_t i = first; i < n; ++i) body(i, At<T>(i));
  } else {
    for (int64_t i = first; i < n; ++i) body(i, At<T>(i * stride));
  }
}

// Calls body(d, ds, i) for each whole vector of elements and their sums, from element `first` on.
// Returns the first element that is not done.
template <class T, class Sum, class Body>
HWY_INLINE int64_t ForVectors(int64_t first, int64_t n, const Body& body) {
  int64_t i = first;
  if constexpr (SumLanes<T, Sum>::kExist) {
    const typename SumLanes<T, Sum>::Elements d;
    const hn::Rebind<typename SumLanes<T, Sum>::Part, decltype(d)> ds;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d) / SumLanes<T, Sum>::kPerElement);
    for (; i + step <= n; i += step) body(d, ds, i);
  }
  return i;
}

// A sum of integers in a word whose lower bits are a count, which is 0.
template <int kCountBits, class Sum>
HWY_INLINE Sum AboveCount(Sum sum) {
  if constexpr (kCountBits == 0) {
    return sum;
  } else {
    return static_cast<Sum>(static_cast<std::make_unsigned_t<Sum>>(sum) << kCountBits);
  }
}

template <class T, int kCountBits = 0>
HWY_NOINLINE void BeginSums(unsigned char* HWY_RESTRICT sums,
                            const unsigned char* HWY_RESTRICT elements, int64_t stride, int64_t n) {
  using Sum = SumOf<T>;
  const auto sum_of = [](const unsigned char* element) HWY_ATTR {
    return AboveCount<kCountBits>(SumTraits<T>::Widen(LoadElement<T>(element)));
  };
  if (stride == 0) return Fill(sum_of(elements), sums, n);
  int64_t done = 0;
  if (stride == 1) {
    done = ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      auto* const to = reinterpret_cast<hn::TFromD<decltype(ds)>*>(sums + At<Sum>(i));
      const auto widened = LoadWidened<T>(d, ds, elements + At<T>(i));
      if constexpr (kCountBits == 0) {
        hn::StoreU(widened, ds, to);
      } else {
        hn::StoreU(hn::ShiftLeft<kCountBits>(widened), ds, to);
      }
    });
  }
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    StoreElement(sum_of(elements + at), sums + At<Sum>(i));
  });
}

template <class T, template <class> class Op>
HWY_NOINLINE void AddToSums(unsigned char* HWY_RESTRICT sums,
                            const unsigned char* HWY_RESTRICT updates, int64_t stride, int64_t n) {
  using Sum = SumOf<T>;
  int64_t done = 0;
  if (stride == 1) {
    done = ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      auto* const sum = reinterpret_cast<hn::TFromD<decltype(ds)>*>(sums + At<Sum>(i));
      const auto update = LoadWidened<T>(d, ds, updates + At<T>(i));
      hn::StoreU(Op<hn::TFromD<decltype(ds)>>::OnLanes(ds, hn::LoadU(ds, sum), update), ds, sum);
    });
  }
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    unsigned char* const sum = sums + At<Sum>(i);
    StoreElement(Accumulate<T, Op>(LoadElement<Sum>(sum), LoadElement<T>(updates + at)), sum);
  });
}

// Sums and output may be the same memory.
template <class T>
HWY_NOINLINE void FinishSums(const FinishArguments& all) {
  using Sum = SumOf<T>;
  const FinishArguments to = all;
  int64_t done = 0;
  if constexpr (SumLanes<T, Sum>::kExist) {
    using ByTerms =
        Divisor<T,
                hn::Rebind<typename SumLanes<T, Sum>::Part, typename SumLanes<T, Sum>::Elements>>;
    if (to.output_stride == 1 && to.sums_stride == 1 && to.count <= ByTerms::MostTerms()) {
      const ByTerms divisor(to.count);
      done = ForVectors<T, Sum>(0, to.n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
        divisor.Store(d, ds, LoadLanes<Sum>(ds, to.sums + At<Sum>(i)), to.output + At<T>(i));
      });
    }
  }
  for (int64_t i = done; i < to.n; ++i) {
    const Sum sum = LoadElement<Sum>(to.sums + At<Sum>(i * to.sums_stride));
    StoreElement(SumTraits<T>::Divide(sum, to.count), to.output + At<T>(i * to.output_stride));
  }
}

template <class T, template <class> class Op>
constexpr SumKernels SumKernelsOf() {
  if constexpr (std::is_same_v<SumOf<T>, WideSum>) {
    return {sizeof(WideSum), BeginWide<T>, AddToWide<T>, FinishWide<T>};
  } else {
    return {sizeof(SumOf<T>), BeginSums<T>, AddToSums<T, Op>, FinishSums<T>};
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
