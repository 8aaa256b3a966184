// SPDX-License-Identifier: Apache-2.0
// The loops of a run: output[i * output_stride] (+)= updates[i * updates_stride] for contiguous,
// reversed and strided elements.
#if defined(STREW_KERNEL_STRIDED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_STRIDED_INL_H_
#undef STREW_KERNEL_STRIDED_INL_H_
#else
#define STREW_KERNEL_STRIDED_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernel/element.h"
#include "kernel/held-inl.h"
#include "kernel/masks-inl.h"
#include "kernel/ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

template <class Op, class D, class Lane>
HWY_INLINE hn::Vec<D> Combined(D d, const Lane* output, const Lane* updates) {
  return Op::OnLanes(d, hn::LoadU(d, output), hn::LoadU(d, updates));
}

// True if strided loops are unrolled. Heavy elements, and older CPUs, gain nothing from that.
template <class T, class Op>
constexpr bool kUnrollsStrides = !kIsHeavy<T, Op> && !STREW_OF_OLD_CPUS;

#if STREW_MASKED_TAILS

// Combines lanes [0, n) with 0 < n <= one vector.
template <class T, class Op, class D, class Lane>
HWY_INLINE void CombineShort(D d, Lane* output, const Lane* updates, size_t n) {
  const auto mask = hn::FirstN(d, n);
  const auto old = hn::MaskedLoad(mask, d, output);
  hn::BlendedStore(Op::OnLanes(d, old, hn::MaskedLoad(mask, d, updates)), mask, d, output);
}

#else

// Fewest bytes of a vector. For WebAssembly, clang before version 16 moves vector loads of 4 bytes
// behind later stores.
#undef STREW_LEAST_VECTOR
#if HWY_ARCH_WASM && HWY_COMPILER_CLANG && HWY_COMPILER_CLANG < 1600
#define STREW_LEAST_VECTOR 8
#else
#define STREW_LEAST_VECTOR 1
#endif

// Combines lanes [0, n) with 0 < n < 2 * kLanes: the first and the last kLanes of them, or with n <
// kLanes half as many, and so on. The two may overlap, so both are computed before either is
// stored.
template <class T, class Op, size_t kLanes, class Lane>
HWY_INLINE void CombineHalves(Lane* output, const Lane* updates, size_t n) {
  constexpr size_t kElement = Lanes<T>::kPerElement;
  if constexpr (kLanes <= kElement) {
    CombineElement<T, Op>(reinterpret_cast<unsigned char*>(output),
                          reinterpret_cast<const unsigned char*>(updates));
  } else if constexpr (kLanes * sizeof(Lane) < STREW_LEAST_VECTOR) {
    for (size_t i = 0; i < n; i += kElement) {
      CombineElement<T, Op>(reinterpret_cast<unsigned char*>(output + i),
                            reinterpret_cast<const unsigned char*>(updates + i));
    }
  } else {
    if (n < kLanes) return CombineHalves<T, Op, kLanes / 2>(output, updates, n);
    const hn::CappedTag<Lane, kLanes> d;
    const size_t last = n - kLanes;
    const auto head = Combined<Op>(d, output, updates);
    const auto tail = Combined<Op>(d, output + last, updates + last);
    hn::StoreU(head, d, output);
    hn::StoreU(tail, d, output + last);
  }
}

template <class T, class Op, class D, class Lane>
HWY_INLINE void CombineShort(D, Lane* output, const Lane* updates, size_t n) {
  constexpr size_t kHalf = hn::MaxLanes(D()) / 2;
  CombineHalves<T, Op, kHalf>(output, updates, n);
}

#endif

// True if a vector holds at least two elements, which is not so on the 1-lane target.
template <class T>
constexpr bool kHasVectors = hn::MaxLanes(typename Lanes<T>::Tag()) >= 2 * Lanes<T>::kPerElement;

template <class T, class Op>
HWY_INLINE void CombineContiguous(unsigned char* output, const unsigned char* updates,
                                  int64_t elements) {
  if constexpr (!kHasVectors<T>) {
    for (int64_t i = 0; i < elements; ++i) {
      CombineElement<T, Op>(output + At<T>(i), updates + At<T>(i));
    }
  } else {
    using Lane = typename Lanes<T>::Lane;
    const typename Lanes<T>::Tag d;
    const size_t lanes = hn::Lanes(d);
    const size_t n = static_cast<size_t>(elements) * Lanes<T>::kPerElement;
    Lane* HWY_RESTRICT out = reinterpret_cast<Lane*>(output);
    const Lane* HWY_RESTRICT in = reinterpret_cast<const Lane*>(updates);
    if (n < lanes) return CombineShort<T, Op>(d, out, in, n);
    // The last vector may overlap the one before it, so it is computed first, from the old values.
    const size_t last = n - lanes;
    const auto tail = Combined<Op>(d, out + last, in + last);
    size_t i = 0;
    // Short floats are not unrolled, because their conversions keep the CPU busy.
    constexpr bool kUnrolls = !kIsShortFloat<T>;
    for (; kUnrolls && i + 4 * lanes <= last; i += 4 * lanes) {
      const auto first = Combined<Op>(d, out + i, in + i);
      const auto second = Combined<Op>(d, out + i + lanes, in + i + lanes);
      const auto third = Combined<Op>(d, out + i + 2 * lanes, in + i + 2 * lanes);
      const auto fourth = Combined<Op>(d, out + i + 3 * lanes, in + i + 3 * lanes);
      hn::StoreU(first, d, out + i);
      hn::StoreU(second, d, out + i + lanes);
      hn::StoreU(third, d, out + i + 2 * lanes);
      hn::StoreU(fourth, d, out + i + 3 * lanes);
    }
    for (; i < last; i += lanes) hn::StoreU(Combined<Op>(d, out + i, in + i), d, out + i);
    hn::StoreU(tail, d, out + last);
  }
}

// Reverses the elements of a vector.
template <class T, class D, class V>
HWY_INLINE V ReversedElements(D d, V v) {
  if constexpr (Lanes<T>::kPerElement == 2) {
    return hn::Reverse2(d, hn::Reverse(d, v));
  } else if constexpr (sizeof(T) == 1) {
    // There is no Reverse for lanes of 8 bits, so reverse the pairs and swap within each.
    const hn::Repartition<uint16_t, D> d16;
    const auto pairs = hn::Reverse(d16, hn::BitCast(d16, v));
    return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(pairs), hn::ShiftRight<8>(pairs)));
  } else {
    return hn::Reverse(d, v);
  }
}

// output[i] (+)= updates[-i] for whole vectors. Returns the number of elements that are done.
template <class T, class Op, class D>
HWY_INLINE int64_t CombineReversed(D d, unsigned char* output, const unsigned char* updates,
                                   int64_t elements) {
  using Lane = hn::TFromD<D>;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
  const auto combine = [&](int64_t first) HWY_ATTR {
    Lane* const out = reinterpret_cast<Lane*>(output + At<T>(first));
    const Lane* const in = reinterpret_cast<const Lane*>(updates - At<T>(first + step - 1));
    const auto update = ReversedElements<T>(d, hn::LoadU(d, in));
    hn::StoreU(Op::OnLanes(d, hn::LoadU(d, out), update), d, out);
  };
  int64_t i = 0;
  for (; i + step <= elements; i += step) combine(i);
  if (!kMoves<T, Op> || i == 0 || i == elements) return i;
  // The last vector of a move may overlap the one before it.
  combine(elements - step);
  return elements;
}

template <class T, class Op>
HWY_INLINE int64_t CombineReversed(unsigned char* output, const unsigned char* updates,
                                   int64_t elements) {
  if constexpr (!kHasVectors<T>) {
    return 0;
  } else {
    const typename Lanes<T>::Tag d;
    const int64_t done = CombineReversed<T, Op>(d, output, updates, elements);
    constexpr size_t kShort = 16 / sizeof(typename Lanes<T>::Lane);
    if constexpr (kMoves<T, Op> && hn::MaxLanes(typename Lanes<T>::Tag()) > kShort) {
      const hn::CappedTag<typename Lanes<T>::Lane, kShort> d_short;
      if (done == 0) return CombineReversed<T, Op>(d_short, output, updates, elements);
    }
    return done;
  }
}

// True if strided elements are packed into vectors of 16 bytes: extrema of floats take several
// instructions, of which a CPU begins few in a cycle.
template <class T, class Op>
constexpr bool kPacksStrides = kIsHeavy<T, Op> && !kIsShortFloat<T> && kHasVectors<T> &&
                               !HWY_HAVE_SCALABLE && !STREW_OF_OLD_CPUS;

// Combines whole vectors of 16 bytes of strided elements. Returns the number of elements that are
// done. Every second and third of 200000 float32 took 0.65 to 0.71 x the time of one by one, of
// float64 0.73 to 0.79, rows of 7 and 44 0.72 to 0.85 (Zen 4).
template <class T, class Op>
HWY_INLINE int64_t CombinePacked(unsigned char* output, int64_t to, const unsigned char* updates,
                                 int64_t from, int64_t elements) {
  constexpr size_t kLanes = 16 / sizeof(T);
  const hn::FixedTag<T, kLanes> d;
  const auto packed = [&](const unsigned char* at, int64_t step) HWY_ATTR {
    auto v = hn::Set(d, LoadElement<T>(at));
    for (size_t k = 1; k < kLanes; ++k) v = hn::InsertLane(v, k, LoadElement<T>(at += step));
    return v;
  };
  int64_t i = 0;
  for (; i + int64_t{kLanes} <= elements; i += kLanes) {
    const auto combined = Op::OnLanes(d, packed(output, to), packed(updates, from));
    for (size_t k = 0; k < kLanes; ++k, output += to) {
      StoreElement(hn::ExtractLane(combined, k), output);
    }
    updates += from * int64_t{kLanes};
  }
  return i;
}

// Combines elements one by one, four in a turn: a loop over one element stalled if its instructions
// crossed a cache line. 318302 elements of 8 bytes, every second one of the updates, took 88 us
// instead of 175.
template <class T, class Op>
HWY_INLINE void CombineStrided(unsigned char* output, int64_t output_stride,
                               const unsigned char* updates, int64_t updates_stride,
                               int64_t elements) {
  const int64_t to = At<T>(output_stride);
  const int64_t from = At<T>(updates_stride);
  int64_t i = 0;
  if constexpr (kPacksStrides<T, Op>) {
    i = CombinePacked<T, Op>(output, to, updates, from, elements);
    output += i * to;
    updates += i * from;
  } else if constexpr (kUnrollsStrides<T, Op>) {
    for (; i + 4 <= elements; i += 4, output += 4 * to, updates += 4 * from) {
      CombineElement<T, Op>(output, updates);
      CombineElement<T, Op>(output + to, updates + from);
      CombineElement<T, Op>(output + 2 * to, updates + 2 * from);
      CombineElement<T, Op>(output + 3 * to, updates + 3 * from);
    }
  }
  for (; i < elements; ++i, output += to, updates += from) {
    CombineElement<T, Op>(output, updates);
  }
}

// output[i * output_stride] = updates[i] for i < n, as long as there are whole words of updates.
// Returns the first element that is not done. Every second float32 in the L1 cache took 0.19 ns,
// one by one 0.21 to 0.28. (Masked stores take half the time on Zen 4, but 1.4 x on Zen 5.)
template <class T>
HWY_INLINE int64_t MoveFromWords(unsigned char* output, int64_t output_stride,
                                 const unsigned char* updates, int64_t n) {
  constexpr int64_t kPerWord = 8 / static_cast<int64_t>(sizeof(T));
  const int64_t to = At<T>(output_stride);
  int64_t i = 0;
  for (; i + kPerWord <= n; i += kPerWord) {
    uint64_t word = LoadElement<uint64_t>(updates + At<T>(i));
    for (int64_t k = 0; k < kPerWord; ++k, output += to) {
      StoreElement(static_cast<T>(word), output);
      word >>= 4 * sizeof(T);  // by one element, in two steps
      word >>= 4 * sizeof(T);
    }
  }
  return i;
}

#if STREW_MASKED_LOADS

// True if a vector of pairs narrows to a vector of their first lanes, which has the lanes of T.
// (8-bit floats have other vectors, because they widen to float32.)
template <class T>
constexpr bool kSkipsGaps = sizeof(T) <= 4 && Lanes<T>::kPerElement == 1 && !kIsFloat8<T>;

// output[i] (+)= updates[2 * i] for i < n, as long as there are whole vectors. Returns the first
// element that is not done. Compared with one by one, elements of 4 bytes take half the time, of
// 2 bytes a quarter, of 8 bytes no less.
template <class T, class Op>
HWY_NOINLINE int64_t CombineEverySecond(unsigned char* output, const unsigned char* updates,
                                        int64_t n) {
  using Lane = hwy::MakeUnsigned<typename Lanes<T>::Lane>;
  const hn::ScalableTag<Lane> d;
  const hn::RepartitionToWide<decltype(d)> d_pairs;
  const hn::Rebind<Lane, decltype(d_pairs)> d_first;
  const hn::Rebind<typename Lanes<T>::Lane, decltype(d_pairs)> d_elements;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d_pairs));
  // Gaps do not belong to the updates and must not be read.
  const auto firsts = EvenLanes(d);
  auto* const out = reinterpret_cast<typename Lanes<T>::Lane*>(output);
  const auto* const in = reinterpret_cast<const Lane*>(updates);
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto pairs = hn::BitCast(d_pairs, hn::MaskedLoad(firsts, d, in + 2 * i));
    const auto update = hn::BitCast(d_elements, hn::TruncateTo(d_first, pairs));
    const auto old = hn::LoadU(d_elements, out + i);
    hn::StoreU(Op::OnLanes(d_elements, old, update), d_elements, out + i);
  }
  return i;
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
