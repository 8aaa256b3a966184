// SPDX-License-Identifier: Apache-2.0
// Combines one element with its updates.
#if defined(STREW_KERNEL_HELD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_HELD_INL_H_
#undef STREW_KERNEL_HELD_INL_H_
#else
#define STREW_KERNEL_HELD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernel/element.h"
#include "kernel/ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// True if the reduction replaces.
template <class T, class Op>
constexpr bool kMoves = std::is_same_v<Op, Move<T>>;

// True if elements are combined by a call, because inlining makes the library larger and gains
// little: conversions of short floats on older CPUs, and extrema of 8-bit floats. Sums of float8
// took 2.0 ns by call, 1.5 ns inline.
template <class T, class Op>
constexpr bool kByCall = kIsShortFloat<T> &&
                         (!STREW_NATIVE_HALF || (kIsFloat8<T> && kIsExtremum<T, Op>));

template <class T, class Op>
HWY_NOINLINE T CombinedByCall(T old, T update) {
  return Op::OnElement(old, update);
}

template <class T, class Op>
HWY_INLINE T CombinedElement(T old, T update) {
  if constexpr (kByCall<T, Op>) {
    return CombinedByCall<T, Op>(old, update);
  } else {
    return Op::OnElement(old, update);
  }
}

// An element in a register while its updates are combined, in the fastest form. Complex numbers are
// vectors of two lanes, because GCC would assemble them in general registers (random sums of
// complex64 took 2 x the time). Sums of bfloat16 are float32 in a vector. Sums of float16 are in a
// vector (runs of one destination took 0.7 x the time).
template <class T, class Op>
struct Held {
  using Lane = typename Lanes<T>::Lane;
  using Pair = hn::CappedTag<Lane, 2>;
  static constexpr bool kIsPair = Lanes<T>::kPerElement == 2 && hn::MaxLanes(Pair()) == 2;
  static constexpr bool kIsNumber = std::is_same_v<T, Brain> && !kIsExtremum<T, Op>;
  using One = hn::CappedTag<Lane, 1>;
  static constexpr bool kIsVector =
      std::is_same_v<T, Half> && !kIsExtremum<T, Op> && STREW_NATIVE_HALF != 0;

  static HWY_INLINE auto Load(const unsigned char* from) {
    if constexpr (kIsPair) {
      return hn::LoadU(Pair(), reinterpret_cast<const Lane*>(from));
    } else if constexpr (kIsNumber) {
      return VectorOf(LoadElement<T>(from));
    } else if constexpr (kIsVector) {
      return hn::Set(One(), LoadElement<Lane>(from));
    } else {
      return LoadElement<T>(from);
    }
  }
  template <class V>
  static HWY_INLINE V Combined(V old, const unsigned char* update) {
    if constexpr (kIsPair) {
      return Op::OnLanes(Pair(), old, Load(update));
    } else if constexpr (kIsNumber) {
      return Op::OnNumbers(OneNumber(), old, Load(update));
    } else if constexpr (kIsVector) {
      return Op::OnLanes(One(), old, Load(update));
    } else {
      return CombinedElement<T, Op>(old, LoadElement<T>(update));
    }
  }
  template <class V>
  static HWY_INLINE V CombinedAll(V held, const unsigned char* updates, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) held = Combined(held, updates + At<T>(i * stride));
    return held;
  }
  template <class V>
  static HWY_INLINE void Store(V held, unsigned char* to) {
    if constexpr (kIsPair) {
      hn::StoreU(held, Pair(), reinterpret_cast<Lane*>(to));
    } else if constexpr (kIsNumber) {
      StoreElement(BrainOf(held), to);
    } else if constexpr (kIsVector) {
      StoreElement(hn::GetLane(held), to);
    } else {
      StoreElement(held, to);
    }
  }
};

template <class T, class Op>
HWY_INLINE void CombineElement(unsigned char* output, const unsigned char* old,
                               const unsigned char* update) {
  if constexpr (kMoves<T, Op>) {
    // Without a variable of type T, which the compiler would assemble on the stack for odd sizes.
    std::memcpy(output, update, sizeof(T));
  } else {
    using Element = Held<T, Op>;
    Element::Store(Element::Combined(Element::Load(old), update), output);
  }
}

template <class T, class Op>
HWY_INLINE void CombineElement(unsigned char* output, const unsigned char* update) {
  CombineElement<T, Op>(output, output, update);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
