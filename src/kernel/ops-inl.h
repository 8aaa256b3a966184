// SPDX-License-Identifier: Apache-2.0
// The functors of reductions. Each combines an update with an old value, in vectors and for a
// single element. Both give the same bits, up to the sign and payload of a NaN.
#if defined(STREW_KERNEL_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_OPS_INL_H_
#undef STREW_KERNEL_OPS_INL_H_
#else
#define STREW_KERNEL_OPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "base/reduction.h"
#include "kernel/element.h"
#include "kernel/short_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- The lanes of an element ----

template <class T>
struct Lanes {
  using Lane = T;
  using Tag = hn::ScalableTag<T>;
  static constexpr size_t kPerElement = 1;
};
template <>
struct Lanes<Logical> : Lanes<uint8_t> {};
// As many lanes as a vector of float32 has, so that each vector widens to one vector.
template <strew_dtype kDtype>
struct Lanes<ShortFloat<kDtype>> {
  using Lane = typename ShortFloat<kDtype>::Lane;
  using Tag = hn::Rebind<Lane, hn::ScalableTag<float>>;
  static constexpr size_t kPerElement = 1;
};
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

// ---- On vectors ----

// On x86 Min and Max return their second operand if either is NaN, or if both are zeros. Elsewhere
// they may return a number instead of a NaN.
#undef STREW_MIN_KEEPS_NAN
#define STREW_MIN_KEEPS_NAN (HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

#if STREW_MIN_KEEPS_NAN
// The next update of an element waits for as few instructions as possible after the old value is
// loaded: compared with a negated minimum, maxima of sorted entries took 0.85 x the time (Zen 4).
template <bool kMaximum, class V>
HWY_INLINE V Extremum(V old, V update) {
  // Or keeps the bits of a NaN, whichever minimum is NaN, and the sign of a zero.
  if constexpr (!kMaximum) return hn::Or(hn::Min(old, update), hn::Min(update, old));
  // Max returns an old NaN, but not that of an update. A maximum is not below its update, so that
  // it has no sign if the update has none, also if the old value is -0.
  const hn::DFromV<V> d;
  const V known = hn::IfThenElse(hn::IsNaN(update), update, hn::Max(update, old));
  return hn::And(known, hn::Or(update, hn::Not(hn::SignBit(d))));
}
#else
// The order of the operands of Min and Max matters only for two zeros, where And and Or choose by
// the sign, and for NaNs, where the sum is a NaN too.
template <bool kMaximum, class V>
HWY_INLINE V Extremum(V a, V b) {
  V ordered;
  if constexpr (kMaximum) {
    ordered = hn::And(hn::Max(a, b), hn::Max(b, a));
  } else {
    ordered = hn::Or(hn::Min(a, b), hn::Min(b, a));
  }
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), ordered);
}
#endif

// The same for floats of 8 and 16 bits, without widening them. Once the magnitude bits of negative
// numbers are flipped, their bits compare as integers in the order of the numbers, with -0 below
// +0.
template <bool kMaximum, class T, class D, class V = hn::Vec<D>>
HWY_INLINE V ShortExtremum(D d, V a, V b) {
  const hn::RebindToSigned<D> di;
  const auto magnitude_bits = hn::Set(di, T::kOnes);
  const auto largest = hn::Set(di, T::kLargest);
  const auto x = hn::BitCast(di, a);
  const auto y = hn::BitCast(di, b);
  const auto order = [&](hn::Vec<decltype(di)> bits) HWY_ATTR {
    return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), magnitude_bits));
  };
  const auto chosen =
      kMaximum ? order(hn::Max(order(x), order(y))) : order(hn::Min(order(x), order(y)));
  const auto x_is_nan = hn::Gt(hn::And(x, magnitude_bits), largest);
  const auto is_nan = hn::Or(x_is_nan, hn::Gt(hn::And(y, magnitude_bits), largest));
  return hn::BitCast(d, hn::IfThenElse(is_nan, hn::Set(di, T::kNan), chosen));
}

// Multiplies even and odd bytes in lanes of 16 bits, because there is no product of 8-bit lanes.
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

#if HWY_TARGET != HWY_SCALAR  // a single lane has no pairs and no shuffles
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

// The maximum or minimum of two floats or integers.
template <bool kMaximum, class T>
HWY_INLINE T ExtremumOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    // CPUs have instructions for minima and maxima of floats in vector registers.
    const hn::CappedTag<T, 1> d;
    return hn::GetLane(Extremum<kMaximum>(hn::Set(d, a), hn::Set(d, b)));
  } else {
    return (a < b) == kMaximum ? b : a;
  }
}

// bfloat16 is compared as float32, to which it widens at almost no cost: half the instructions of
// comparing bits.
template <bool kMaximum>
HWY_INLINE Brain ExtremumOf(Brain a, Brain b) {
  return BrainOf(ExtremumOf<kMaximum>(NumberOf(a), NumberOf(b)));
}

template <bool kMaximum, strew_dtype kDtype>
HWY_INLINE auto ExtremumOf(ShortFloat<kDtype> a, ShortFloat<kDtype> b) {
  using T = ShortFloat<kDtype>;
  const hn::CappedTag<typename T::Lane, 1> d;
  const auto x = hn::Set(d, a.bits);
  const auto y = hn::Set(d, b.bits);
  if constexpr (sizeof(T) == 1) {
    // No branches, because half of them would be mispredicted: 5.2 ns for an element.
    const auto order = [](int bits) HWY_ATTR { return bits ^ ((bits >> 8) & T::kOnes); };
    const int one = order(static_cast<typename T::Bits>(a.bits));
    const int other = order(static_cast<typename T::Bits>(b.bits));
    const int chosen = order(kMaximum ? HWY_MAX(one, other) : HWY_MIN(one, other));
    const int magnitude = HWY_MAX(a.bits & T::kOnes, b.bits & T::kOnes);
    return T{static_cast<typename T::Lane>(magnitude > T::kLargest ? T::kNan : chosen)};
  } else if constexpr (STREW_NATIVE_HALF && std::is_same_v<T, Half>) {
    const auto chosen = Extremum<kMaximum>(Widen(T(), d, x), Widen(T(), d, y));
    return T{hn::GetLane(Narrow(T(), d, chosen))};
  } else {
    return T{hn::GetLane(ShortExtremum<kMaximum, T>(d, x, y))};
  }
}

template <class T>
constexpr bool kIsShortFloat = false;
template <strew_dtype kDtype>
constexpr bool kIsShortFloat<ShortFloat<kDtype>> = true;
template <class T>
constexpr bool kIsFloat8 = kIsShortFloat<T> && sizeof(T) == 1;

// True if there are no loops whose only purpose is speed, so that the library stays small: for
// older CPUs, and for float8, which is rarely used.
template <class T>
constexpr bool kHasFewLoops = STREW_OF_OLD_CPUS || kIsFloat8<T>;

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
struct Sub {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D, V old, V update) {
    return hn::Sub(old, update);
  }
  static HWY_INLINE T OnElement(T old, T update) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(old) - static_cast<Wrapping<T>>(update));
    } else {
      return old - update;
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

template <class T, bool kMaximum>
struct Extreme {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    if constexpr (std::is_floating_point_v<T>) {
      return Extremum<kMaximum>(old, update);
    } else if constexpr (kIsShortFloat<T>) {
      return ShortExtremum<kMaximum, T>(d, old, update);
    } else if constexpr (kMaximum) {
      return hn::Max(old, update);
    } else {
      return hn::Min(old, update);
    }
  }
  static HWY_INLINE T OnElement(T old, T update) { return ExtremumOf<kMaximum>(old, update); }
};
template <class T>
struct Min : Extreme<T, false> {};
template <class T>
struct Max : Extreme<T, true> {};

// Reductions of bool: or, exclusive or, and.
struct LogicalOr {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    return TruthOf(d, hn::Or(old, update));
  }
  static HWY_INLINE Logical OnElement(Logical old, Logical update) {
    return {static_cast<uint8_t>((old.bits | update.bits) != 0)};
  }
};
struct LogicalXor {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    return hn::Xor(TruthOf(d, old), TruthOf(d, update));
  }
  static HWY_INLINE Logical OnElement(Logical old, Logical update) {
    return {static_cast<uint8_t>((old.bits != 0) != (update.bits != 0))};
  }
};
struct LogicalAnd {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    return hn::And(TruthOf(d, old), TruthOf(d, update));
  }
  // The next update of an element waits for as few instructions as possible after the old value is
  // loaded. Compared with two truths, 173,550 updates of short rows took 0.6 x the time (Zen 4).
  static HWY_INLINE Logical OnElement(Logical old, Logical update) {
    const auto mask = static_cast<uint8_t>(update.bits != 0 ? 0xFF : 0);
    return {static_cast<uint8_t>((old.bits & mask) != 0)};
  }
};
template <>
struct Add<Logical> : LogicalOr {};
template <>
struct Max<Logical> : LogicalOr {};
template <>
struct Sub<Logical> : LogicalXor {};
template <>
struct Mul<Logical> : LogicalAnd {};
template <>
struct Min<Logical> : LogicalAnd {};

// Reductions of short floats: computed in float32 and rounded.
template <class T, class FloatOp>
struct Rounded {
  template <class D, class V>
  static HWY_INLINE V OnLanes(D d, V old, V update) {
    const WideFloat<D> df;
    return Narrow(T(), d, FloatOp::OnLanes(df, Widen(T(), d, old), Widen(T(), d, update)));
  }
  // Combines float32 numbers and rounds the result to a number of T, but leaves it float32. For
  // bfloat16 only.
  template <class D, class V>
  static HWY_INLINE V OnNumbers(D df, V old, V update) {
    return RoundedTo(T(), df, FloatOp::OnLanes(df, old, update));
  }
  static HWY_INLINE T OnElement(T old, T update) {
    const hn::CappedTag<typename T::Lane, 1> d;
    if constexpr (sizeof(T) == 1) {
      // A table lookup needs half the instructions of Widen().
      const WideFloat<decltype(d)> df;
      const auto x = hn::Set(df, kNumbers<T>.number[old.bits]);
      const auto y = hn::Set(df, kNumbers<T>.number[update.bits]);
      return {hn::GetLane(Narrow(T(), d, FloatOp::OnLanes(df, x, y)))};
    } else if constexpr (std::is_same_v<T, Brain>) {
      return BrainOf(OnNumbers(OneNumber(), VectorOf(old), VectorOf(update)));
    } else {
      return {hn::GetLane(OnLanes(d, hn::Set(d, old.bits), hn::Set(d, update.bits)))};
    }
  }
};
template <strew_dtype kDtype>
struct Add<ShortFloat<kDtype>> : Rounded<ShortFloat<kDtype>, Add<float>> {};
template <strew_dtype kDtype>
struct Sub<ShortFloat<kDtype>> : Rounded<ShortFloat<kDtype>, Sub<float>> {};
template <strew_dtype kDtype>
struct Mul<ShortFloat<kDtype>> : Rounded<ShortFloat<kDtype>, Mul<float>> {};

template <class T, class Op>
constexpr bool kIsExtremum = std::is_same_v<Op, Min<T>> || std::is_same_v<Op, Max<T>>;
template <class T, class Op>
constexpr bool kIsHeavy = kIsShortFloat<T> ? !std::is_same_v<Op, Move<T>>
                                           : std::is_floating_point_v<T> && kIsExtremum<T, Op>;

// Products as (ac - bd) + (ad + bc)i.
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
