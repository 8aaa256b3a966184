// SPDX-License-Identifier: Apache-2.0
// 16-bit floats: to float32 and back, rounding to nearest even.
#if defined(STREW_KERNEL_SHORT_FLOAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_SHORT_FLOAT_INL_H_
#undef STREW_KERNEL_SHORT_FLOAT_INL_H_
#else
#define STREW_KERNEL_SHORT_FLOAT_INL_H_
#endif

#include <hwy/highway.h>

#include "kernel/element.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
