// SPDX-License-Identifier: Apache-2.0
// Kernels for vectors of wide sums. Sums that float64 represents exactly are divided in float64,
// the others one by one.
#if defined(STREW_KERNEL_WIDE_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_WIDE_SUM_INL_H_
#undef STREW_KERNEL_WIDE_SUM_INL_H_
#else
#define STREW_KERNEL_WIDE_SUM_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/sum-inl.h"
#include "kernel/wide_sum.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// False on the 1-lane target, and without float64 for the quotients.
constexpr bool kHasWideVectors =
    HWY_HAVE_FLOAT64 && HWY_HAVE_INTEGER64 && hn::MaxLanes(hn::ScalableTag<int64_t>()) >= 2;

// Calls body(d, first element) for whole vectors of 64-bit elements. Returns the number of elements
// that are done.
template <class Body>
HWY_INLINE int64_t ForWideVectors(int64_t n, const Body& body) {
  int64_t i = 0;
  if constexpr (kHasWideVectors) {
    const hn::ScalableTag<int64_t> d;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d));
    for (; i + step <= n; i += step) body(d, i);
  }
  return i;
}

template <class D>
HWY_INLINE hn::Vec<D> LoadWords(D d, const unsigned char* elements, int64_t i) {
  return hn::LoadU(d, reinterpret_cast<const int64_t*>(elements) + i);
}

// The upper halves of elements that are widened to 128 bits.
template <class T, class D>
HWY_INLINE hn::Vec<D> UpperHalves(D d, hn::Vec<D> elements) {
  if constexpr (std::is_signed_v<T>) return hn::BroadcastSignBit(elements);
  return hn::Zero(d);
}

template <class T>
HWY_NOINLINE void BeginWide(unsigned char* sums, const unsigned char* elements, int64_t stride,
                            int64_t n) {
  if (stride == 0) return Fill(WideSum(LoadElement<T>(elements)), sums, n);
  int64_t done = 0;
  if (stride == 1) {
    done = ForWideVectors(n, [&](auto d, int64_t i) HWY_ATTR {
      const auto low = LoadWords(d, elements, i);
      hn::StoreInterleaved2(low, UpperHalves<T>(d, low), d,
                            reinterpret_cast<int64_t*>(sums) + 2 * i);
    });
  }
  if (done == n) return;
  WideSums<T>::Begin(sums + At<WideSum>(done), elements + At<T>(done * stride), stride, n - done);
}

template <class T>
HWY_NOINLINE void AddToWide(unsigned char* sums, const unsigned char* updates, int64_t stride,
                            int64_t n) {
  int64_t done = 0;
  if (stride == 1) {
    done = ForWideVectors(n, [&](auto d, int64_t i) HWY_ATTR {
      const hn::RebindToUnsigned<decltype(d)> du;
      int64_t* const words = reinterpret_cast<int64_t*>(sums) + 2 * i;
      hn::Vec<decltype(d)> low, high;
      hn::LoadInterleaved2(d, words, low, high);
      const auto update = LoadWords(d, updates, i);
      const auto sum = hn::Add(low, update);
      const auto carries = hn::Lt(hn::BitCast(du, sum), hn::BitCast(du, update));
      const auto carry = hn::BitCast(d, hn::VecFromMask(du, carries));  // -1
      const auto upper = hn::Sub(hn::Add(high, UpperHalves<T>(d, update)), carry);
      hn::StoreInterleaved2(sum, upper, d, words);
    });
  }
  if (done == n) return;
  WideSums<T>::Add(sums + At<WideSum>(done), updates + At<T>(done * stride), stride, n - done);
}

// Loads the lower halves of sums. Returns true if float64 represents all of these sums exactly,
// with a bit to spare.
template <class D>
HWY_INLINE bool LoadShort(D d, const unsigned char* sums, int64_t i, hn::Vec<D>* low) {
  constexpr int kBits = 51;
  hn::Vec<D> high;
  hn::LoadInterleaved2(d, reinterpret_cast<const int64_t*>(sums) + 2 * i, *low, high);
  const auto shifted = hn::Add(*low, hn::Set(d, int64_t{1} << (kBits - 1)));
  const auto wrong = hn::Or(hn::Xor(high, hn::BroadcastSignBit(*low)),
                            hn::And(shifted, hn::Set(d, -(int64_t{1} << kBits))));
  return hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)));
}

// Floors of quotients. float64 represents the sums and terms exactly, so rounding never raises a
// quotient to the next integer.
template <class D, class VTerms>
HWY_INLINE hn::Vec<D> WideQuotients(D d, hn::Vec<D> sums, VTerms terms) {
  const hn::Rebind<double, D> dq;
  return hn::ConvertTo(d, hn::Floor(hn::Div(hn::ConvertTo(dq, sums), terms)));
}

template <class T>
HWY_NOINLINE void FinishWide(const FinishArguments& all) {
  const FinishArguments to = all;
  const auto rest = [&](int64_t first, int64_t n) {
    WideSums<T>::Finish({to.output + At<T>(first * to.output_stride), to.output_stride,
                         to.sums + At<WideSum>(first * to.sums_stride), to.sums_stride, n,
                         to.count});
  };
  int64_t done = 0;
  if (to.output_stride == 1 && to.sums_stride == 1 && to.count < int64_t{1} << 50) {
    done = ForWideVectors(to.n, [&](auto d, int64_t i) HWY_ATTR {
      const hn::Rebind<double, decltype(d)> dq;
      hn::Vec<decltype(d)> sums;
      if (!LoadShort(d, to.sums, i, &sums)) {
        return rest(i, static_cast<int64_t>(hn::Lanes(d)));
      }
      const auto terms = hn::Set(dq, static_cast<double>(to.count));
      hn::StoreU(WideQuotients(d, sums, terms), d, reinterpret_cast<int64_t*>(to.output) + i);
    });
  }
  if (done < to.n) rest(done, to.n - done);
}

// FinishEach() for whole vectors. Sums that float64 does not represent are divided one by one.
// Returns the number of elements that are done.
template <class T>
HWY_INLINE int64_t FinishWideVectors(const CountedSums& from, int64_t more, unsigned char* output,
                                     int64_t n) {
  return ForWideVectors(n, [&](auto d, int64_t i) HWY_ATTR {
    const hn::Rebind<double, decltype(d)> dq;
    const hn::Rebind<int32_t, decltype(d)> d32;
    hn::Vec<decltype(d)> sums;
    if (!LoadShort(d, from.sums, i, &sums)) {
      const int64_t end = i + static_cast<int64_t>(hn::Lanes(d));
      for (int64_t k = i; k < end; ++k) {
        if (from.counts[k] == 0) continue;
        const WideSum sum = LoadElement<WideSum>(from.sums + At<WideSum>(k));
        const uint64_t mean = FloorDivide(sum, int64_t{from.counts[k]} + more);
        StoreElement(static_cast<T>(mean), output + At<T>(k));
      }
      return;
    }
    const auto counts = hn::LoadU(d32, reinterpret_cast<const int32_t*>(from.counts + i));
    const auto terms =
        hn::Max(hn::Add(counts, hn::Set(d32, static_cast<int32_t>(more))), hn::Set(d32, 1));
    const auto touched = hn::VecFromMask(d32, hn::Gt(counts, hn::Zero(d32)));
    const auto means = WideQuotients(d, sums, hn::PromoteTo(dq, terms));
    int64_t* const to = reinterpret_cast<int64_t*>(output) + i;
    hn::StoreU(hn::IfVecThenElse(hn::PromoteTo(d, touched), means, hn::LoadU(d, to)), d, to);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
