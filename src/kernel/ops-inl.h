// SPDX-License-Identifier: Apache-2.0
// What one update does to one element, said twice: on vectors of lanes, and on one element. Both
// give the same bits, up to sign and payload of a NaN.
#if defined(STREW_KERNEL_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_OPS_INL_H_
#undef STREW_KERNEL_OPS_INL_H_
#else
#define STREW_KERNEL_OPS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "base/reduction.h"
#include "kernel/element.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- How an element lies in lanes ----

template <class T>
struct Lanes {
  using Lane = T;
  using Tag = hn::ScalableTag<T>;
  static constexpr size_t kPerElement = 1;
};
template <>
struct Lanes<Logical> : Lanes<uint8_t> {};
// As many 16-bit lanes as float32 lanes fit a vector, so that each widens to one vector.
struct HalfLanes {
  using Lane = uint16_t;
  using Tag = hn::Rebind<uint16_t, hn::ScalableTag<float>>;
  static constexpr size_t kPerElement = 1;
};
template <>
struct Lanes<Half> : HalfLanes {};
template <>
struct Lanes<Brain> : HalfLanes {};
template <class Part>
struct Lanes<Complex<Part>> {
  using Lane = Part;
  using Tag = hn::ScalableTag<Part>;
  static constexpr size_t kPerElement = 2;
};
template <>
struct Lanes<Wide> {
  using Lane = uint64_t;
  using Tag = hn::ScalableTag<uint64_t>;
  static constexpr size_t kPerElement = 2;
};

// ---- 16-bit floats: to float32 and back, rounding to nearest even ----

// Hardware conversions round to nearest even where they exist on x86; everywhere else Highway
// before 1.1 truncates, so the rounding is done on integers here.
#undef STREW_NATIVE_HALF
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define STREW_NATIVE_HALF 1
#else
#define STREW_NATIVE_HALF 0
#endif

template <class D>
using WideFloat = hn::Rebind<float, D>;
template <class D>
using WideBits = hn::Rebind<uint32_t, D>;

template <class D>
HWY_INLINE hn::Vec<WideFloat<D>> Widen(Brain, D, hn::Vec<D> bits) {
  const WideBits<D> d32;
  return hn::BitCast(WideFloat<D>(), hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
}

template <class D>
HWY_INLINE hn::Vec<D> Narrow(Brain, D d, hn::Vec<WideFloat<D>> value) {
  const WideBits<D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7FFFu))));
  const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(d32, 0x40u));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
  return hn::TruncateTo(d, hn::IfThenElse(is_nan, quiet, rounded));
}

#if STREW_NATIVE_HALF
template <class D>
HWY_INLINE hn::Vec<WideFloat<D>> Widen(Half, D, hn::Vec<D> bits) {
  return hn::PromoteTo(WideFloat<D>(), hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
}

template <class D>
HWY_INLINE hn::Vec<D> Narrow(Half, D d, hn::Vec<WideFloat<D>> value) {
  return hn::BitCast(d, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value));
}
#else
template <class D>
HWY_INLINE hn::Vec<WideFloat<D>> Widen(Half, D, hn::Vec<D> bits) {
  const WideBits<D> d32;
  const WideFloat<D> df;
  const auto wide = hn::PromoteTo(d32, bits);
  const auto magnitude = hn::And(wide, hn::Set(d32, 0x7FFFu));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(wide, magnitude));
  // Read as float32, the shifted bits are 2^-112 of the value, subnormals included: exact.
  const auto scale = hn::BitCast(df, hn::Set(d32, uint32_t{127 + 112} << 23));
  const auto finite = hn::Mul(hn::BitCast(df, hn::ShiftLeft<13>(magnitude)), scale);
  const auto special = hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(d32, 0x7F800000u));
  const auto is_finite = hn::Lt(hn::BitCast(hn::RebindToSigned<decltype(d32)>(), magnitude),
                                hn::Set(hn::RebindToSigned<decltype(d32)>(), 0x7C00));
  const auto chosen =
      hn::IfThenElse(hn::RebindMask(d32, is_finite), hn::BitCast(d32, finite), special);
  return hn::BitCast(df, hn::Or(chosen, sign));
}

template <class D>
HWY_INLINE hn::Vec<D> Narrow(Half, D d, hn::Vec<WideFloat<D>> value) {
  const WideBits<D> d32;
  const hn::RebindToSigned<decltype(d32)> di32;
  const WideFloat<D> df;
  const auto all = hn::BitCast(d32, value);
  const auto magnitude = hn::And(all, hn::Set(d32, 0x7FFFFFFFu));
  const auto sign = hn::ShiftRight<16>(hn::Xor(all, magnitude));
  // Magnitudes are non-negative as signed numbers too, and those compare everywhere.
  const auto compared = hn::BitCast(di32, magnitude);

  // Normal results: round at bit 13, then move the exponent from bias 127 to 15. A carry out of the
  // mantissa moves up to the next exponent, and from the largest one to infinity, as it should.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1u));
  const auto bias = hn::Set(d32, 0xFFFu - ((127u - 15u) << 23));
  const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, bias)));
  // Subnormal results: adding 1/2 leaves the multiple of 2^-24, rounded by the addition itself.
  const auto half = hn::Set(df, 0.5f);
  const auto subnormal =
      hn::Sub(hn::BitCast(d32, hn::Add(hn::BitCast(df, magnitude), half)), hn::BitCast(d32, half));
  // Too large for rounding to bring back: infinity, or a quiet NaN.
  const auto is_nan = hn::RebindMask(d32, hn::Gt(compared, hn::Set(di32, 0x7F800000)));
  const auto special = hn::IfThenElse(is_nan, hn::Set(d32, 0x7E00u), hn::Set(d32, 0x7C00u));

  const auto is_subnormal = hn::RebindMask(d32, hn::Lt(compared, hn::Set(di32, 113 << 23)));
  const auto is_special = hn::RebindMask(d32, hn::Gt(compared, hn::Set(di32, (143 << 23) - 1)));
  const auto finite = hn::IfThenElse(is_subnormal, subnormal, normal);
  const auto chosen = hn::Or(hn::IfThenElse(is_special, special, finite), sign);
  return hn::TruncateTo(d, chosen);
}
#endif

// ---- On vectors ----

template <class V>
HWY_INLINE V Minimum(V a, V b) {
  // Where the two are equal only the sign of zero can differ; where they are unordered a sum is
  // NaN.
  const V ordered = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), hn::IfThenElse(hn::Lt(a, b), a, b));
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), ordered);
}
template <class V>
HWY_INLINE V Maximum(V a, V b) {
  const V ordered = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::IfThenElse(hn::Lt(a, b), b, a));
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), ordered);
}

// Lanes of 8 bits have no product: those of 16 give it for the even and for the odd ones.
template <class D8, class V = hn::Vec<D8>>
HWY_INLINE V MultiplyBytes(D8 d8, V a, V b) {
  const hn::Repartition<uint16_t, D8> d16;
  const auto a16 = hn::BitCast(d16, a);
  const auto b16 = hn::BitCast(d16, b);
  const auto upper = hn::Set(d16, uint16_t{0xFF00});
  const auto even = hn::AndNot(upper, hn::Mul(a16, b16));
  const auto odd = hn::Mul(hn::ShiftRight<8>(a16), hn::And(b16, upper));
  return hn::BitCast(d8, hn::Or(even, odd));
}

#if HWY_TARGET != HWY_SCALAR  // whose one lane has no pairs and no shuffles
// Complex lanes are (real, imaginary) pairs.
template <class V>
HWY_INLINE V MultiplyPairs(V a, V b) {
  const hn::DFromV<V> d;
  const V by_real = hn::Mul(hn::DupEven(a), b);
  const V by_imaginary = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
  return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
}
#endif

template <class D, class V = hn::Vec<D>>
HWY_INLINE V TruthOf(D d, V a) {
  return hn::IfThenZeroElse(hn::Eq(a, hn::Zero(d)), hn::Set(d, uint8_t{1}));
}

// ---- On one element ----

template <class T>
HWY_INLINE T MinimumOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a + b;
    if (a == b) return __builtin_signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
HWY_INLINE T MaximumOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a + b;
    if (a == b) return __builtin_signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

// The type in which sums and products wrap modulo 2^n; 8 and 16 bits would be promoted to int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

// ---- The functors ----

// Op<T>::OnLanes(d, old, update) and Op<T>::OnElement(old, update).

template <class T>
struct Move {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D, V, V update) {
    return update;
  }
  static HWY_INLINE T OnElement(T, T update) { return update; }
};

template <class T>
struct Add {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D, V old, V update) {
    return hn::Add(old, update);
  }
  static HWY_INLINE T OnElement(T old, T update) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(old) + static_cast<Wrapping<T>>(update));
    } else {
      return old + update;
    }
  }
};

template <class T>
struct Mul {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    if constexpr (sizeof(T) == 1) {
      return MultiplyBytes(d, old, update);
    } else {
      return hn::Mul(old, update);
    }
  }
  static HWY_INLINE T OnElement(T old, T update) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(old) * static_cast<Wrapping<T>>(update));
    } else {
      return old * update;
    }
  }
};

template <class T>
struct Min {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D, V old, V update) {
    if constexpr (std::is_floating_point_v<T>) {
      return Minimum(old, update);
    } else {
      return hn::Min(old, update);
    }
  }
  static HWY_INLINE T OnElement(T old, T update) { return MinimumOf(old, update); }
};

template <class T>
struct Max {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D, V old, V update) {
    if constexpr (std::is_floating_point_v<T>) {
      return Maximum(old, update);
    } else {
      return hn::Max(old, update);
    }
  }
  static HWY_INLINE T OnElement(T old, T update) { return MaximumOf(old, update); }
};

// bool: or, and.
struct LogicalOr {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    return TruthOf(d, hn::Or(old, update));
  }
  static HWY_INLINE Logical OnElement(Logical old, Logical update) {
    return {static_cast<uint8_t>((old.bits | update.bits) != 0)};
  }
};
struct LogicalAnd {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    return hn::And(TruthOf(d, old), TruthOf(d, update));
  }
  static HWY_INLINE Logical OnElement(Logical old, Logical update) {
    return {static_cast<uint8_t>(old.bits != 0 && update.bits != 0)};
  }
};
template <>
struct Add<Logical> : LogicalOr {};
template <>
struct Max<Logical> : LogicalOr {};
template <>
struct Mul<Logical> : LogicalAnd {};
template <>
struct Min<Logical> : LogicalAnd {};

// 16-bit floats: the reduction on float32, rounded.
template <class T, class FloatOp>
struct Rounded {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    const WideFloat<D> df;
    return Narrow(T(), d, FloatOp::OnLanes(df, Widen(T(), d, old), Widen(T(), d, update)));
  }
  static HWY_INLINE T OnElement(T old, T update) {
    const hn::CappedTag<uint16_t, 1> d;
    return {hn::GetLane(OnLanes(d, hn::Set(d, old.bits), hn::Set(d, update.bits)))};
  }
};
#define STREW_ROUNDED(CONSTANT, OP, NAME)        \
  template <>                                    \
  struct OP<Half> : Rounded<Half, OP<float>> {}; \
  template <>                                    \
  struct OP<Brain> : Rounded<Brain, OP<float>> {};
STREW_FOR_EACH_KERNEL_REDUCTION(STREW_ROUNDED)
#undef STREW_ROUNDED

// complex: sums by component; products as (ac - bd) + (ad + bc)i.
template <class Part>
struct Add<Complex<Part>> {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D, V old, V update) {
    return hn::Add(old, update);
  }
  static HWY_INLINE Complex<Part> OnElement(Complex<Part> old, Complex<Part> update) {
    return {old.real + update.real, old.imaginary + update.imaginary};
  }
};
template <class Part>
struct Mul<Complex<Part>> {
#if HWY_TARGET != HWY_SCALAR
  template <class D, class V>
  static HWY_INLINE V OnLanes(D, V old, V update) {
    return MultiplyPairs(old, update);
  }
#endif
  static HWY_INLINE Complex<Part> OnElement(Complex<Part> old, Complex<Part> update) {
    return {old.real * update.real - old.imaginary * update.imaginary,
            old.real * update.imaginary + old.imaginary * update.real};
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
