// SPDX-License-Identifier: Apache-2.0
// One run: output[i * output_stride] (+)= updates[i * updates_stride] for i < n. The runs of all
// walks end here.
#if defined(STREW_KERNEL_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_RUN_INL_H_
#undef STREW_KERNEL_RUN_INL_H_
#else
#define STREW_KERNEL_RUN_INL_H_
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

// Scalable vectors use masks for tails. AVX-512 has masks too, but a masked vector that would cross
// into another cache line waits for that line: rows of 2 float32 took 25.8 ns each, and 5.0 ns with
// shorter vectors.
#undef STREW_MASKED_TAILS
#if HWY_HAVE_SCALABLE
#define STREW_MASKED_TAILS 1
#else
#define STREW_MASKED_TAILS 0
#endif

// Moves of contiguous memory copy bytes, whatever the width of an element.
template <class T, class Op>
constexpr bool kMoves = std::is_same_v<Op, Move<T>>;

template <class Op, class D, class Lane>
HWY_INLINE hn::Vec<D> Combined(D d, const Lane* output, const Lane* updates) {
  return Op::OnLanes(d, hn::LoadU(d, output), hn::LoadU(d, updates));
}

// Code that is called, because inlining makes the library larger and gains little: conversions of
// short floats on older CPUs, and extrema of 8-bit floats. Sums of float8 took 2.0 ns by call, 1.5
// ns inline.
template <class T, class Op>
constexpr bool kByCall = kIsShortFloat<T> &&
                         (!STREW_NATIVE_HALF || (sizeof(T) == 1 && kIsExtremum<T, Op>));

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

template <class T, class Op>
HWY_INLINE void CombineElement(unsigned char* output, const unsigned char* updates) {
  if constexpr (kMoves<T, Op>) {
    // No variable of type T, which the compiler would assemble on the stack for odd sizes.
    std::memcpy(output, updates, sizeof(T));
  } else {
    const T combined = CombinedElement<T, Op>(LoadElement<T>(output), LoadElement<T>(updates));
    StoreElement(combined, output);
  }
}

#if STREW_MASKED_TAILS

// [0, n) with 0 < n <= one vector.
template <class T, class Op, class D, class Lane>
HWY_INLINE void CombineShort(D d, Lane* output, const Lane* updates, size_t n) {
  const auto mask = hn::FirstN(d, n);
  const auto old = hn::MaskedLoad(mask, d, output);
  hn::BlendedStore(Op::OnLanes(d, old, hn::MaskedLoad(mask, d, updates)), mask, d, output);
}

#else

// [0, n) with 0 < n < 2 * kLanes: the first and the last kLanes of it, both computed before either
// is stored because they may overlap; halved until they fit.
template <class T, class Op, size_t kLanes, class Lane>
HWY_INLINE void CombineHalves(Lane* output, const Lane* updates, size_t n) {
  constexpr size_t kElement = Lanes<T>::kPerElement;
  if constexpr (kLanes <= kElement) {
    CombineElement<T, Op>(reinterpret_cast<unsigned char*>(output),
                          reinterpret_cast<const unsigned char*>(updates));
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

// True if a vector holds at least two elements; on the 1-lane target it does not.
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
    // The last vector may overlap the one before it, so it is computed from the old values first.
    const size_t last = n - lanes;
    const auto tail = Combined<Op>(d, out + last, in + last);
    size_t i = 0;
    // Conversions of short floats keep the CPU busy without unrolling.
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

// Prefetch distance of streamed copies in bytes, two pages beyond that of the hardware. Copies of
// 64 MiB on a Zen 5 took 0.93 to 1.0 x the time; 1.0 x with 4 KiB, 1.1 x with 1 KiB. Prefetches are
// for one use: rows that such a copy had evicted took 1.13 x the time to update.
constexpr size_t kStreamAhead = 8192;

template <class D>
HWY_INLINE void StreamFour(D d, uint8_t* output, const uint8_t* updates) {
  const size_t lanes = hn::Lanes(d);
  const auto first = hn::LoadU(d, updates);
  const auto second = hn::LoadU(d, updates + lanes);
  const auto third = hn::LoadU(d, updates + 2 * lanes);
  const auto fourth = hn::LoadU(d, updates + 3 * lanes);
  hn::Stream(first, d, output);
  hn::Stream(second, d, output + lanes);
  hn::Stream(third, d, output + 2 * lanes);
  hn::Stream(fourth, d, output + 3 * lanes);
}

// Copies part of a cache line, past the caches if aligned: a line of which only some bytes are
// streamed is written twice.
HWY_INLINE void StreamPart(unsigned char* output, const unsigned char* updates, size_t n,
                           bool aligned) {
  const hn::CappedTag<uint8_t, 16> d;
  if (!aligned) {
    return CombineContiguous<uint8_t, Move<uint8_t>>(output, updates, static_cast<int64_t>(n));
  }
  for (size_t i = 0; i < n; i += hn::Lanes(d)) hn::Stream(hn::LoadU(d, updates + i), d, output + i);
}

// Moves bytes past the caches. The caller must call FinishStreaming().
HWY_INLINE void StreamBytes(unsigned char* output, const unsigned char* updates, int64_t bytes) {
  constexpr size_t kLine = 64;
  const hn::ScalableTag<uint8_t> d;
  const size_t step = 4 * hn::Lanes(d);
  const size_t n = static_cast<size_t>(bytes);
  const uintptr_t start = reinterpret_cast<uintptr_t>(output);
  const bool aligned = (start | n) % 16 == 0;
  size_t i = (kLine - start % kLine) % kLine;
  if (n < i + step) return StreamPart(output, updates, n, aligned);
  if (i != 0) StreamPart(output, updates, i, aligned);
  for (; i + step + kStreamAhead <= n; i += step) {
    for (size_t line = 0; line < step; line += kLine) {
      __builtin_prefetch(updates + i + kStreamAhead + line, 0, 0);
    }
    StreamFour(d, output + i, updates + i);
  }
  for (; i + step <= n; i += step) StreamFour(d, output + i, updates + i);
  if (i != n) StreamPart(output + i, updates + i, n - i, aligned);
}

// Reverses the elements of a vector.
template <class T, class D, class V>
HWY_INLINE V ReversedElements(D d, V v) {
  if constexpr (Lanes<T>::kPerElement == 2) {
    return hn::Reverse2(d, hn::Reverse(d, v));
  } else if constexpr (sizeof(T) == 1) {
    // Lanes of 8 bits have no Reverse: reverse the pairs, and swap within each.
    const hn::Repartition<uint16_t, D> d16;
    const auto pairs = hn::Reverse(d16, hn::BitCast(d16, v));
    return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(pairs), hn::ShiftRight<8>(pairs)));
  } else {
    return hn::Reverse(d, v);
  }
}

// output[i] (+)= updates[-i].
template <class T, class Op>
HWY_INLINE void CombineReversed(unsigned char* output, const unsigned char* updates,
                                int64_t elements) {
  int64_t i = 0;
  if constexpr (kHasVectors<T>) {
    using Lane = typename Lanes<T>::Lane;
    const typename Lanes<T>::Tag d;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
    for (; i + step <= elements; i += step) {
      Lane* out = reinterpret_cast<Lane*>(output + At<T>(i));
      const Lane* in = reinterpret_cast<const Lane*>(updates - At<T>(i + step - 1));
      const auto update = ReversedElements<T>(d, hn::LoadU(d, in));
      hn::StoreU(Op::OnLanes(d, hn::LoadU(d, out), update), d, out);
    }
  }
  for (; i < elements; ++i) CombineElement<T, Op>(output + At<T>(i), updates - At<T>(i));
}

template <class T, class Op>
HWY_INLINE void CombineStrided(unsigned char* output, int64_t output_stride,
                               const unsigned char* updates, int64_t updates_stride,
                               int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) {
    CombineElement<T, Op>(output + At<T>(i * output_stride), updates + At<T>(i * updates_stride));
  }
}

// Bytes from which memcpy is used, which suits this CPU best: runs of 32 KiB took 0.85 x the time
// of vectors, copies of 16 KiB lines just before their updates 0.9 x.
constexpr int64_t kLeastMemcpy = 2048;

// True if updates may be combined with each other, in any order, with the same result. Older CPUs
// do without these loops, which make the library 30 KB larger.
template <class T, class Op>
constexpr bool kCombinesVectors =
    kHasVectors<T> && !kByCall<T, Op> && (!HWY_ARCH_X86 || HWY_TARGET <= HWY_AVX2) &&
    (kIsExtremum<T, Op> || ((std::is_integral_v<T> || std::is_same_v<T, Logical>)&&(
                               std::is_same_v<Op, Add<T>> || std::is_same_v<Op, Mul<T>>)));

// Combines the whole vectors of [0, n), at least one, into one, and stores it to `lanes`. Returns
// how many elements they hold.
template <class T, class Op>
HWY_INLINE int64_t CombineVectors(const unsigned char* updates, int64_t n,
                                  typename Lanes<T>::Lane* lanes) {
  const typename Lanes<T>::Tag d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto* const in = reinterpret_cast<const typename Lanes<T>::Lane*>(updates);
  auto all = hn::LoadU(d, in);
  int64_t i = step;
  for (; i + step <= n; i += step) all = Op::OnLanes(d, all, hn::LoadU(d, in + i));
  hn::Store(all, d, lanes);
  return i;
}

// Applies all updates to one element, in order. It stays in a register: through memory each sum of
// float32 took 3.2 ns, 4 x those of random places; 121553 maxima of float64 took 328 us, and 76 us
// by vectors. Not inline, so that contiguous runs need no stack frame: sums of rows of 80 float32
// 0.95 x.
template <class T, class Op>
HWY_NOINLINE void CombineIntoOne(unsigned char* output, const unsigned char* updates,
                                 int64_t stride, int64_t n) {
  if constexpr (kMoves<T, Op>) {
    CombineElement<T, Op>(output, updates + At<T>((n - 1) * stride));
  } else {
    T result = LoadElement<T>(output);
    const auto combine = [&result](const unsigned char* from, int64_t step,
                                   int64_t count) HWY_ATTR {
      for (int64_t i = 0; i < count; ++i) {
        result = CombinedElement<T, Op>(result, LoadElement<T>(from + At<T>(i * step)));
      }
    };
    if constexpr (kCombinesVectors<T, Op>) {
      const typename Lanes<T>::Tag d;
      const int64_t step = static_cast<int64_t>(hn::Lanes(d));
      // Shorter runs are as fast one by one, because the lanes are combined one by one too.
      if (stride == 1 && n >= 4 * step) {
        HWY_ALIGN typename Lanes<T>::Lane lanes[hn::MaxLanes(d)];
        const int64_t done = CombineVectors<T, Op>(updates, n, lanes);
        combine(reinterpret_cast<const unsigned char*>(lanes), 1, step);
        updates += At<T>(done);
        n -= done;
      }
    }
    combine(updates, stride, n);
    StoreElement(result, output);
  }
}

template <class T, class Op>
void Run(unsigned char* output, int64_t output_stride, const unsigned char* updates,
         int64_t updates_stride, int64_t n) {
  if (output_stride == 1 && updates_stride == 1) {
    if constexpr (kMoves<T, Op>) {
      if (At<T>(n) >= kLeastMemcpy) {
        std::memcpy(output, updates, static_cast<size_t>(At<T>(n)));
        return;
      }
      return CombineContiguous<uint8_t, Move<uint8_t>>(output, updates, At<T>(n));
    } else {
      return CombineContiguous<T, Op>(output, updates, n);
    }
  }
  if (output_stride == 0) return CombineIntoOne<T, Op>(output, updates, updates_stride, n);
  if (output_stride == 1 && updates_stride == -1) return CombineReversed<T, Op>(output, updates, n);
  // Every other element is the commonest stride. A loop that knows it takes 0.9 x the time; masked
  // vectors took 1.4 x on a Zen 5.
  if (output_stride == 2 && updates_stride == 1)
    return CombineStrided<T, Op>(output, 2, updates, 1, n);
  CombineStrided<T, Op>(output, output_stride, updates, updates_stride, n);
}

// output[i] = updates[-i] past the caches, in whole lines.
template <class T>
HWY_INLINE void StreamReversed(unsigned char* output, const unsigned char* updates, int64_t n) {
  constexpr int64_t kLine = 64;
  using Lane = typename Lanes<T>::Lane;
  const typename Lanes<T>::Tag d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
  const int64_t past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(output) % kLine);
  const int64_t head = (kLine - past_line) % kLine / At<T>(1);
  const int64_t streamed = (n - head) / (kLine / At<T>(1)) * (kLine / At<T>(1));
  if (past_line % At<T>(1) != 0 || streamed <= 0) {
    return CombineReversed<T, Move<T>>(output, updates, n);
  }
  CombineReversed<T, Move<T>>(output, updates, head);
  int64_t i = head;
  for (; i < head + streamed; i += step) {
    const Lane* const in = reinterpret_cast<const Lane*>(updates - At<T>(i + step - 1));
    const auto reversed = ReversedElements<T>(d, hn::LoadU(d, in));
    hn::Stream(reversed, d, reinterpret_cast<Lane*>(output + At<T>(i)));
  }
  CombineReversed<T, Move<T>>(output + At<T>(i), updates - At<T>(i), n - i);
}

template <class T>
void StreamRun(unsigned char* output, int64_t output_stride, const unsigned char* updates,
               int64_t updates_stride, int64_t n) {
  if (output_stride == 1 && updates_stride == 1) return StreamBytes(output, updates, At<T>(n));
  if constexpr (kHasVectors<T>) {
    if (output_stride == 1 && updates_stride == -1) return StreamReversed<T>(output, updates, n);
  }
  Run<T, Move<T>>(output, output_stride, updates, updates_stride, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
