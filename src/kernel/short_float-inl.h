// SPDX-License-Identifier: Apache-2.0
// Conversions of floats of 8 and 16 bits to float32 and back, rounding to nearest even.
#if defined(STREW_KERNEL_SHORT_FLOAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_SHORT_FLOAT_INL_H_
#undef STREW_KERNEL_SHORT_FLOAT_INL_H_
#else
#define STREW_KERNEL_SHORT_FLOAT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include "kernel/element.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// x86 has conversions of float16 that round to nearest even. Elsewhere Highway before 1.1
// truncates, so this file rounds with integer arithmetic.
#undef STREW_NATIVE_HALF
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define STREW_NATIVE_HALF 1
#else
#define STREW_NATIVE_HALF 0
#endif

// Infinity as a float32.
constexpr int32_t kInfinity = static_cast<int32_t>(kBinary32.overflow());

// The number of low fraction bits of a float32 that T lacks.
template <class T>
constexpr int kDroppedBits = kBinary32.fraction_bits - T::kFractionBits;

// Moves `bits`, which have no sign, to their positions in a float32 and adjusts the bias. The
// result is the same number unless it is subnormal. Infinity and NaNs become the numbers after the
// largest finite one.
template <class T>
constexpr int32_t WideBitsOf(int32_t bits) {
  return (bits << kDroppedBits<T>)+((kBinary32.bias() - T::kBias) << kBinary32.fraction_bits);
}

template <class D>
using WideFloat = hn::Rebind<float, D>;
template <class D>
using WideBits = hn::Rebind<uint32_t, D>;
template <class D>
using WideInteger = hn::Rebind<int32_t, D>;

// The format that is widened to float32: float16 if the CPU has instructions for it, because these
// convert subnormals at full speed, unlike multiplications; else float32 itself.
#if STREW_NATIVE_HALF
using Carrier = int16_t;
constexpr FloatFormat kCarrierFormat = Half::kFormat;
template <class D>
HWY_INLINE hn::Vec<WideFloat<D>> WidenCarrier(D d, hn::Vec<hn::Rebind<Carrier, D>> bits) {
  return hn::PromoteTo(WideFloat<D>(), hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
}
#else
using Carrier = int32_t;
constexpr FloatFormat kCarrierFormat = kBinary32;
template <class D>
HWY_INLINE hn::Vec<WideFloat<D>> WidenCarrier(D, hn::Vec<hn::Rebind<Carrier, D>> bits) {
  return hn::BitCast(WideFloat<D>(), bits);
}
#endif

template <class T, class D>
HWY_INLINE hn::Vec<WideFloat<D>> Widen(T, D d, hn::Vec<D> bits) {
  constexpr int kUnused = 8 * static_cast<int>(sizeof(Carrier) - sizeof(T));
  constexpr int kCopies = kUnused - (kCarrierFormat.fraction_bits - T::kFractionBits);
  const hn::Rebind<Carrier, D> dc;
  const WideInteger<D> di32;
  const WideFloat<D> df;
  // Keep one copy of the sign on top and move the other bits to their positions in the carrier.
  // This is the number, even if subnormal, divided by a power of two, so the product below is
  // exact.
  using Limits = std::numeric_limits<Carrier>;
  const auto upper = hn::ShiftLeft<kUnused>(hn::PromoteTo(dc, bits));
  const auto no_copies = static_cast<Carrier>(Limits::min() | (Limits::max() >> kCopies));
  const auto placed = hn::And(hn::ShiftRight<kCopies>(upper), hn::Set(dc, no_copies));
  const auto carried = WidenCarrier(d, placed);
  if constexpr (kCarrierFormat.bias() == T::kBias) {
    return carried;
  } else {
    constexpr int32_t kScale = (kBinary32.bias() + kCarrierFormat.bias() - T::kBias)
                               << kBinary32.fraction_bits;
    const auto value = hn::Mul(carried, hn::BitCast(df, hn::Set(di32, kScale)));
    const auto overflow = hn::BitCast(df, hn::Set(di32, WideBitsOf<T>(T::kOverflow)));
    const auto special = hn::Or(value, hn::BitCast(df, hn::Set(di32, kInfinity)));
    return hn::IfThenElse(hn::Ge(hn::Abs(value), overflow), special, value);
  }
}

template <class T, class D>
HWY_INLINE hn::Vec<D> Narrow(T, D d, hn::Vec<WideFloat<D>> value) {
  constexpr int32_t kLeastNormal = WideBitsOf<T>(1 << T::kFractionBits);
  const WideBits<D> d32;
  const WideInteger<D> di32;
  const WideFloat<D> df;
  const auto all = hn::BitCast(di32, value);
  const auto magnitude = hn::And(all, hn::Set(di32, INT32_MAX));
  const auto sign = hn::ShiftRight<32 - 8 * static_cast<int>(sizeof(T))>(
      hn::BitCast(d32, hn::Xor(all, magnitude)));
  const auto bounded = hn::Min(magnitude, hn::Set(di32, WideBitsOf<T>(T::kOverflow)));

  // Add a power of two so large that the last bit of the sum is the last bit that T keeps: the
  // addition rounds the number, subnormal or not, to a multiple of that bit.
  const auto exponent =
      hn::And(hn::Max(bounded, hn::Set(di32, kLeastNormal)), hn::Set(di32, kInfinity));
  const auto power = hn::Add(exponent, hn::Set(di32, kDroppedBits<T> << kBinary32.fraction_bits));
  const auto sum = hn::Add(hn::BitCast(df, bounded), hn::BitCast(df, power));
  const auto significand = hn::Sub(hn::BitCast(di32, sum), power);
  // The leading bit of the significand, which a subnormal lacks, adds one to the exponent below.
  const auto above_least = hn::Sub(exponent, hn::Set(di32, kLeastNormal));
  auto result = hn::Add(significand, hn::ShiftRight<kDroppedBits<T>>(above_least));
  if constexpr (T::kOverflow != T::kNan) {
    const auto is_nan = hn::Gt(magnitude, hn::Set(di32, kInfinity));
    result = hn::IfThenElse(is_nan, hn::Set(di32, int32_t{T::kNan}), result);
  }
  return hn::TruncateTo(d, hn::Or(hn::BitCast(d32, result), sign));
}

// ---- Simpler conversions ----

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

// Rounds sums and products of bfloat16 numbers, and leaves them float32. NaNs need no special case,
// because they have no lower bits that would carry.
template <class DF>
HWY_INLINE hn::Vec<DF> RoundedTo(Brain, DF df, hn::Vec<DF> value) {
  const hn::RebindToUnsigned<DF> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1u));
  const auto carried = hn::Add(hn::Add(bits, hn::Set(d32, 0x7FFFu)), odd);
  return hn::BitCast(df, hn::And(carried, hn::Set(d32, 0xFFFF0000u)));
}

HWY_INLINE float NumberOf(Brain half) {
  const uint32_t bits = static_cast<uint32_t>(half.bits) << 16;
  float number;
  std::memcpy(&number, &bits, sizeof(number));
  return number;
}
HWY_INLINE Brain BrainOf(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return {static_cast<uint16_t>(bits >> 16)};
}

// ---- Single elements ----

using OneNumber = hn::CappedTag<float, 1>;

// Conversions between bfloat16 and a vector. x86 moves 16 bits between memory and a vector without
// a general register: random sums of bfloat16 took 0.7 x the time (Zen 5).
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_INLINE hn::Vec<OneNumber> VectorOf(Brain brain) {
  const auto bits = static_cast<int16_t>(brain.bits);
  return hn::Vec<OneNumber>{_mm_castsi128_ps(_mm_insert_epi16(_mm_setzero_si128(), bits, 1))};
}
HWY_INLINE Brain BrainOf(hn::Vec<OneNumber> number) {
  const int bits = _mm_extract_epi16(_mm_castps_si128(number.raw), 1);
  return {static_cast<uint16_t>(bits)};
}
#else
HWY_INLINE hn::Vec<OneNumber> VectorOf(Brain brain) {
  return hn::Set(OneNumber(), NumberOf(brain));
}
HWY_INLINE Brain BrainOf(hn::Vec<OneNumber> number) { return BrainOf(hn::GetLane(number)); }
#endif

#if STREW_NATIVE_HALF
template <class D>
HWY_INLINE hn::Vec<WideFloat<D>> Widen(Half, D d, hn::Vec<D> bits) {
  return WidenCarrier(d, hn::BitCast(hn::Rebind<Carrier, D>(), bits));
}

template <class D>
HWY_INLINE hn::Vec<D> Narrow(Half, D d, hn::Vec<WideFloat<D>> value) {
  return hn::BitCast(d, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value));
}
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
