// SPDX-License-Identifier: Apache-2.0
// The kernel for a run: output[i * output_stride] (+)= updates[i * updates_stride] for i < n. All
// walks use it for their runs.
#if defined(STREW_KERNEL_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_RUN_INL_H_
#undef STREW_KERNEL_RUN_INL_H_
#else
#define STREW_KERNEL_RUN_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/cache_size.h"
#include "base/compiler.h"
#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/strided-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Prefetch distance of streamed copies in bytes, two pages beyond that of the hardware. Copies of
// 64 MiB on a Zen 5 took 0.93 to 1.0 x the time; 1.0 x with 4 KiB, 1.1 x with 1 KiB. Copies of 200
// MiB on a Emerald Rapids took 0.8 x the time with 2 to 16 KiB.
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

HWY_INLINE void StreamLine(uint8_t* output, const uint8_t* updates) {
  constexpr size_t kLine = kCacheLine;
  const hn::CappedTag<uint8_t, kLine> d;
  for (size_t i = 0; i < kLine; i += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, updates + i), d, output + i);
  }
}

// Copies bytes [i, end) in words, past the caches if the CPU has such stores.
HWY_INLINE void StreamWords(unsigned char* output, const unsigned char* updates, size_t i,
                            size_t end) {
  for (; i < end; i += sizeof(int32_t)) {
    int32_t word;
    std::memcpy(&word, updates + i, sizeof(word));
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    _mm_stream_si32(reinterpret_cast<int32_t*>(output + i), word);
#else
    std::memcpy(output + i, &word, sizeof(word));
#endif
  }
}

// Copies a short run, or one end of a run, past the caches if `streams`.
HWY_INLINE void MoveEnd(unsigned char* output, const unsigned char* updates, size_t n,
                        bool streams) {
  if (!streams) {
    return CombineContiguous<uint8_t, Move<uint8_t>>(output, updates, static_cast<int64_t>(n));
  }
  constexpr size_t kVector = kStreamedVector;
  const hn::CappedTag<uint8_t, kVector> d;
  size_t i = std::min(n, (kVector - reinterpret_cast<uintptr_t>(output) % kVector) % kVector);
  StreamWords(output, updates, 0, i);
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, updates + i), d, output + i);
  }
  StreamWords(output, updates, i, n);
}

// Copies bytes past the caches. FinishStreaming() must follow.
HWY_INLINE void StreamBytes(unsigned char* output, const unsigned char* updates, int64_t bytes) {
  constexpr size_t kLine = kCacheLine;
  const hn::ScalableTag<uint8_t> d;
  const size_t step = 4 * hn::Lanes(d);
  const size_t n = static_cast<size_t>(bytes);
  const uintptr_t start = reinterpret_cast<uintptr_t>(output);
  const bool streams = StreamsEnds(output, bytes);
  size_t i = (kLine - start % kLine) % kLine;
  if (n < i + step) return MoveEnd(output, updates, n, streams);
  if (i != 0) MoveEnd(output, updates, i, streams);
  for (; i + step + kStreamAhead <= n; i += step) {
    for (size_t line = 0; line < step; line += kLine) {
      PrefetchReadOnce(updates + i + kStreamAhead + line);
    }
    StreamFour(d, output + i, updates + i);
  }
  for (; i + step <= n; i += step) StreamFour(d, output + i, updates + i);
  // Less than a line at the end: adjacent rows of 0.4 to 4 KB of odd sizes took 0.66 to 0.93 x the
  // time of ends of up to four vectors.
  for (; i + kLine <= n; i += kLine) StreamLine(output + i, updates + i);
  if (i != n) MoveEnd(output + i, updates + i, n - i, streams);
}

// Fewest bytes that are moved by memcpy, which the C library adapts to the CPU: compared with
// vectors, runs of 32 KiB took 0.85 x the time, copies of 16 KiB lines just before their updates
// 0.9 x.
constexpr int64_t kLeastMemcpy = 2048;

// True if updates may first be combined with each other, in any order, because the result is the
// same. Not for older CPUs, because these loops make the library 30 KB larger.
template <class T, class Op>
constexpr bool kCombinesVectors =
    kHasVectors<T> && !kByCall<T, Op> && !STREW_OF_OLD_CPUS &&
    (kIsExtremum<T, Op> || ((std::is_integral_v<T> || std::is_same_v<T, Logical>)&&(
                               std::is_same_v<Op, Add<T>> || std::is_same_v<Op, Mul<T>>)));

// Combines the halves of a vector until 16 bytes are left on x86, and stores the result. Returns
// the number of its lanes.
template <class Op, class D, class V, class Lane>
HWY_INLINE int64_t StoreCombined(D d, V all, Lane* lanes) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(d) * sizeof(Lane) > 16) {
    const hn::Half<D> half;
    const auto both = Op::OnLanes(half, hn::LowerHalf(half, all), hn::UpperHalf(half, all));
    return StoreCombined<Op>(half, both, lanes);
  }
#endif
  hn::Store(all, d, lanes);
  return static_cast<int64_t>(hn::Lanes(d));
}

// Combines all whole vectors of n updates into *stored lanes. Requires at least one whole vector.
// Returns the number of updates that are done.
template <class T, class Op>
HWY_INLINE int64_t CombineVectors(const unsigned char* updates, int64_t n,
                                  typename Lanes<T>::Lane* lanes, int64_t* stored) {
  const typename Lanes<T>::Tag d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto* const in = reinterpret_cast<const typename Lanes<T>::Lane*>(updates);
  auto all = hn::LoadU(d, in);
  int64_t i = step;
  for (; i + step <= n; i += step) all = Op::OnLanes(d, all, hn::LoadU(d, in + i));
  *stored = StoreCombined<Op>(d, all, lanes);
  return i;
}

// Applies all updates to one element, in order unless the order does not matter. The element stays
// in a register: through memory each sum of float32 took 3.2 ns, 4 x as long as sums at random
// places; 121553 maxima of float64 took 328 us, and 76 us by vectors. Not inline, so that
// contiguous runs need no stack frame: sums of rows of 80 float32 took 0.95 x the time.
template <class T, class Op>
HWY_NOINLINE void CombineIntoOne(unsigned char* output, const unsigned char* updates,
                                 int64_t stride, int64_t n) {
  if constexpr (kMoves<T, Op>) {
    CombineElement<T, Op>(output, updates + At<T>((n - 1) * stride));
  } else {
    using Element = Held<T, Op>;
    auto result = Element::Load(output);
    if constexpr (kCombinesVectors<T, Op>) {
      const typename Lanes<T>::Tag d;
      const int64_t step = static_cast<int64_t>(hn::Lanes(d));
      // Shorter runs are as fast one by one.
      constexpr int64_t kLeast = 16;
      if (stride == 1 && n >= std::max(step, kLeast)) {
        HWY_ALIGN typename Lanes<T>::Lane lanes[hn::MaxLanes(d)];
        int64_t stored;
        const int64_t done = CombineVectors<T, Op>(updates, n, lanes, &stored);
        const auto* const combined = reinterpret_cast<const unsigned char*>(lanes);
        result = Element::CombinedAll(result, combined, 1, stored);
        updates += At<T>(done);
        n -= done;
      }
    }
    result = Element::CombinedAll(result, updates, stride, n);
    Element::Store(result, output);
  }
}

// True if strided moves may read several updates as one word, which must be little-endian.
template <class T, class Op>
constexpr bool kMovesFromWords = STREW_BIG_ENDIAN == 0 && kMoves<T, Op>&& std::is_integral_v<T> &&
                                 sizeof(T) <= 4 && !STREW_OF_OLD_CPUS;

// Runs that are not contiguous in output or updates. Not inline, so that contiguous runs need no
// stack frame.
template <class T, class Op>
HWY_NOINLINE void RunApart(unsigned char* output, int64_t output_stride,
                           const unsigned char* updates, int64_t updates_stride, int64_t n) {
  if (output_stride == 0) return CombineIntoOne<T, Op>(output, updates, updates_stride, n);
  int64_t done = 0;
  if (output_stride == 1 && updates_stride == -1) {
    done = CombineReversed<T, Op>(output, updates, n);
  }
#if STREW_MASKED_LOADS
  if constexpr (kSkipsGaps<T>) {
    if (output_stride == 1 && updates_stride == 2) {
      done = CombineEverySecond<T, Op>(output, updates, n);
    }
  }
#endif
  if constexpr (kGathersUpdates<T, Op>) {
    // A strided output is gathered too only for short floats, whose single elements take long.
    if (n - done >= kLeastGathered && (output_stride == 1 || kIsShortFloat<T>)) {
      return CombineGathered<T, Op>(output + At<T>(done * output_stride), output_stride,
                                    updates + At<T>(done * updates_stride), updates_stride,
                                    n - done);
    }
  }
  if constexpr (kMovesFromWords<T, Op>) {
    if (updates_stride == 1) done = MoveFromWords<T>(output, output_stride, updates, n);
  }
  CombineStrided<T, Op>(output + At<T>(done * output_stride), output_stride,
                        updates + At<T>(done * updates_stride), updates_stride, n - done);
}

template <class T, class Op>
void Run(unsigned char* output, int64_t output_stride, const unsigned char* updates,
         int64_t updates_stride, int64_t n) {
  if (output_stride != 1 || updates_stride != 1) {
    return RunApart<T, Op>(output, output_stride, updates, updates_stride, n);
  }
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

// output[i] = updates[-i] for i < n, past the caches in whole cache lines, or in whole vectors if
// these are longer.
template <class T>
HWY_INLINE void StreamReversed(unsigned char* output, const unsigned char* updates, int64_t n) {
  using Lane = typename Lanes<T>::Lane;
  const typename Lanes<T>::Tag d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
  const int64_t past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(output) % kCacheLine);
  const int64_t head = (kCacheLine - past_line) % kCacheLine / At<T>(1);
  const int64_t block = std::max(step, kCacheLine / At<T>(1));
  const int64_t streamed = (n - head) / block * block;
  if (past_line % At<T>(1) != 0 || streamed <= 0) {
    return RunApart<T, Move<T>>(output, 1, updates, -1, n);
  }
  if (head != 0) RunApart<T, Move<T>>(output, 1, updates, -1, head);
  int64_t i = head;
  for (; i < head + streamed; i += step) {
    const Lane* const in = reinterpret_cast<const Lane*>(updates - At<T>(i + step - 1));
    const auto reversed = ReversedElements<T>(d, hn::LoadU(d, in));
    hn::Stream(reversed, d, reinterpret_cast<Lane*>(output + At<T>(i)));
  }
  RunApart<T, Move<T>>(output + At<T>(i), 1, updates - At<T>(i), -1, n - i);
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
