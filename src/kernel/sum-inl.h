// SPDX-License-Identifier: Apache-2.0
// Sums of elements and their division, one by one and in vectors. Sums of integers are exact; sums
// of floats have the computing type. A `sum` is the accumulated value; for STREW_MUL it is a
// product.
#if defined(STREW_KERNEL_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_SUM_INL_H_
#undef STREW_KERNEL_SUM_INL_H_
#else
#define STREW_KERNEL_SUM_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "kernel/element.h"
#include "kernel/ops-inl.h"
#include "kernel/wide_sum.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// ---- One element: Sum, Widen(element), Divide(sum, count) ----

template <class T, class SumOfIntegers>
struct SumTraitsOfInteger {
  using Sum = SumOfIntegers;
  static HWY_INLINE Sum Widen(T element) { return Sum(element); }
  static HWY_INLINE T Divide(Sum sum, int64_t count) {
    return static_cast<T>(FloorDivide(sum, count));
  }
};
// int64 holds the sum of kMostTerms integers of 32 bits.
template <class T>
struct SumTraits : SumTraitsOfInteger<T, std::conditional_t<(sizeof(T) <= 4), int64_t, WideSum>> {};

template <class T>
struct SumTraitsOfFloat {
  using Sum = T;
  static HWY_INLINE Sum Widen(T element) { return element; }
  static HWY_INLINE T Divide(Sum sum, int64_t count) { return sum / static_cast<T>(count); }
};
template <>
struct SumTraits<float> : SumTraitsOfFloat<float> {};
template <>
struct SumTraits<double> : SumTraitsOfFloat<double> {};

template <class Part>
struct SumTraits<Complex<Part>> : SumTraitsOfFloat<Complex<Part>> {
  static HWY_INLINE Complex<Part> Divide(Complex<Part> sum, int64_t count) {
    const Part terms = static_cast<Part>(count);
    return {sum.real / terms, sum.imaginary / terms};
  }
};

template <strew_dtype kDtype>
struct SumTraits<ShortFloat<kDtype>> {
  using T = ShortFloat<kDtype>;
  using Sum = float;
  using One = hn::CappedTag<typename T::Lane, 1>;
  static HWY_INLINE Sum Widen(T element) {
    if constexpr (std::is_same_v<T, Brain>) {
      return hn::GetLane(VectorOf(element));
    } else if constexpr (kIsFloat8<T>) {
      return kNumbers<T>.number[element.bits];
    } else {
      const One d;
      return hn::GetLane(HWY_NAMESPACE::Widen(T(), d, hn::Set(d, element.bits)));
    }
  }
  static HWY_INLINE T Divide(Sum sum, int64_t count) {
    const One d;
    const WideFloat<One> df;
    return T{hn::GetLane(Narrow(T(), d, hn::Set(df, sum / static_cast<float>(count))))};
  }
};

template <class T>
using SumOf = typename SumTraits<T>::Sum;

// Combines an element with a sum. Op is a functor of ops-inl.h.
template <class T, template <class> class Op>
HWY_INLINE SumOf<T> Accumulate(SumOf<T> sum, T element) {
  return Op<SumOf<T>>::OnElement(sum, SumTraits<T>::Widen(element));
}

// The type of sums in registers, of at most Divisor::MostTerms() terms: for 8-bit integers 32 bits
// suffice.
template <class T>
using ShortSumOf = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 1, int32_t, SumOf<T>>;

// ---- Vectors of sums, and vectors of as many elements, which may have fewer bytes ----

template <class T, class Sum>
struct SumLanes {
  using Part = Sum;
  using Elements = hn::Rebind<T, hn::ScalableTag<Sum>>;
  static constexpr size_t kPerElement = 1;
  // False on the 1-lane target, and without float64, in which quotients are computed.
  static constexpr bool kExist = HWY_HAVE_FLOAT64 && hn::MaxLanes(Elements()) >= 2;
};
template <class T>
struct SumLanes<T, WideSum> {
  static constexpr bool kExist = false;
};
template <class T, class SumPart>
struct SumLanesOfFloat {
  using Part = SumPart;
  using Elements = typename Lanes<T>::Tag;
  static constexpr size_t kPerElement = Lanes<T>::kPerElement;
  static constexpr bool kExist = hn::MaxLanes(Elements()) >= 2;
};
template <>
struct SumLanes<float, float> : SumLanesOfFloat<float, float> {};
template <>
struct SumLanes<double, double> : SumLanesOfFloat<double, double> {};
template <class Real>
struct SumLanes<Complex<Real>, Complex<Real>> : SumLanesOfFloat<Complex<Real>, Real> {};
template <strew_dtype kDtype>
struct SumLanes<ShortFloat<kDtype>, float> : SumLanesOfFloat<ShortFloat<kDtype>, float> {};

template <class T, class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const unsigned char* elements) {
  return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(elements));
}

// Loads elements and widens them to sums.
template <class T, class D, class DSum>
HWY_INLINE hn::Vec<DSum> LoadWidened(D d, DSum ds, const unsigned char* elements) {
  const auto lanes = LoadLanes<T>(d, elements);
  if constexpr (kIsShortFloat<T>) {
    return Widen(T(), d, lanes);
  } else if constexpr (!std::is_integral_v<T>) {
    return lanes;
  } else if constexpr (sizeof(hn::TFromD<DSum>) == 8 && sizeof(T) < 4) {
    return hn::PromoteTo(ds, hn::PromoteTo(hn::Rebind<int32_t, DSum>(), lanes));
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return hn::BitCast(ds, hn::PromoteTo(hn::RebindToUnsigned<DSum>(), lanes));
  } else {
    return hn::PromoteTo(ds, lanes);
  }
}

// Writes an element or a sum n times.
template <class T>
HWY_INLINE void Fill(T value, unsigned char* to, int64_t n) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t bytes = At<T>(n);
  const bool has_vectors = lanes % At<T>(1) == 0 && bytes > lanes;
  const int64_t single = has_vectors ? lanes / At<T>(1) : n;
  for (int64_t i = 0; i < single; ++i) StoreElement(value, to + At<T>(i));
  if (!has_vectors) return;
  const auto all = hn::LoadU(d, to);
  for (int64_t i = lanes; i + lanes <= bytes; i += lanes) hn::StoreU(all, d, to + i);
  hn::StoreU(all, d, to + bytes - lanes);
}

// Converts quotients to elements: rounds to nearest for short floats, down for integers.
template <class T, class D, class DQuotient>
HWY_INLINE hn::Vec<D> FromQuotients(D d, DQuotient dq, hn::Vec<DQuotient> quotients) {
  if constexpr (kIsShortFloat<T>) {
    return Narrow(T(), d, quotients);
  } else if constexpr (!std::is_integral_v<T>) {
    return quotients;
  } else {
    const hn::Rebind<int32_t, DQuotient> d32;
    const auto floors = hn::Floor(quotients);
    if constexpr (std::is_same_v<T, uint32_t>) {
      // Vectors convert floats only to signed integers.
      const auto shifted = hn::DemoteTo(d32, hn::Sub(floors, hn::Set(dq, 2147483648.0)));
      return hn::Xor(hn::BitCast(d, shifted), hn::Set(d, 0x80000000u));
    } else if constexpr (std::is_same_v<T, int32_t>) {
      return hn::DemoteTo(d32, floors);
    } else if constexpr (std::is_same_v<hn::TFromD<DQuotient>, float>) {
      return hn::DemoteTo(d, hn::ConvertTo(d32, floors));
    } else {
      return hn::DemoteTo(d, hn::DemoteTo(d32, floors));
    }
  }
}

// The type of quotients. If it represents an integer sum and a count exactly, rounding never raises
// their quotient to the next integer.
template <class Part>
using QuotientPart = std::conditional_t<std::is_integral_v<Part>,
                                        std::conditional_t<sizeof(Part) == 4, float, double>, Part>;

// Divides vectors of sums by the same number of terms.
template <class T, class DSum>
class Divisor {
 public:
  using Part = hn::TFromD<DSum>;
  using Quotient = QuotientPart<Part>;
  static constexpr bool kExact = std::is_integral_v<Part>;
  // For an integer x, (x + 0.5) / terms is at least 0.5 / terms away from any integer. That exceeds
  // the error of multiplying by a rounded 1 / terms if |x| < 2^50, or 2^21 in float32. Divisions
  // take at least 4 x the time.
  static constexpr int64_t MostTerms() {
    if (!kExact) return std::numeric_limits<int64_t>::max();
    constexpr int kBits = (sizeof(Part) == 4 ? 21 : 50) - static_cast<int>(8 * sizeof(T));
    return int64_t{1} << HWY_MAX(kBits, 0);
  }

  explicit Divisor(int64_t terms)
      : terms_(static_cast<Quotient>(terms)),
        factor_(1 / terms_),
        shift_(static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero64(static_cast<uint64_t>(terms)))),
        is_power_of_two_((terms & (terms - 1)) == 0) {}

  template <class D>
  HWY_INLINE void Store(D d, DSum ds, hn::Vec<DSum> sums, unsigned char* elements) const {
    const hn::Rebind<Quotient, DSum> dq;
    auto* const to = reinterpret_cast<hn::TFromD<D>*>(elements);
    const auto factor = hn::Set(dq, factor_);
    if constexpr (kExact) {
      if (is_power_of_two_) {
        // A shift rounds down.
        const auto floors = hn::ShiftRightSame(sums, shift_);
        const hn::RebindToUnsigned<DSum> du;
        const hn::RebindToUnsigned<D> dt;
        hn::StoreU(hn::BitCast(d, hn::TruncateTo(dt, hn::BitCast(du, floors))), d, to);
        return;
      }
      const auto shifted = hn::Add(hn::ConvertTo(dq, sums), hn::Set(dq, Quotient{0.5}));
      hn::StoreU(FromQuotients<T>(d, dq, hn::Mul(shifted, factor)), d, to);
    } else {
      (void)ds;
      const auto quotients =
          // Multiplication by a power of two is as exact as division.
          is_power_of_two_ ? hn::Mul(sums, factor) : hn::Div(sums, hn::Set(dq, terms_));
      hn::StoreU(FromQuotients<T>(d, dq, quotients), d, to);
    }
  }

 private:
  const Quotient terms_;
  const Quotient factor_;
  const int shift_;
  const bool is_power_of_two_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
