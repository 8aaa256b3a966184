// SPDX-License-Identifier: Apache-2.0
// The kernel for a run that is moved past the caches: output[i] = updates[i * updates_stride] for
// i < n.
#if defined(STREW_KERNEL_STREAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_STREAM_INL_H_
#undef STREW_KERNEL_STREAM_INL_H_
#else
#define STREW_KERNEL_STREAM_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cache_size.h"
#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Prefetch distance of streamed copies in bytes, and the shortest copies with prefetch. Compared
// with 8 KiB ahead into the second cache, copies of 30 to 200 MB and rows of 16 KB to 1 MB took
// 0.75 to 0.97 x the time (Zen 4), copies of 8 to 52 MiB 0.85 to 0.92 x (Emerald Rapids); rows of
// 6 KB took 1.14 x with prefetch.
constexpr size_t kStreamAhead = 4096;
constexpr size_t kLeastFetched = 4 * kStreamAhead;

// Shortest copies that go through several pages side by side. Compared with one page after the
// other, copies of 100 and 200 MiB took 0.9 and 0.85 x the time on Emerald Rapids, 0.94 x on Zen 4,
// of 30 and 50 MB 1.07 x there.
constexpr size_t kLeastOfPages = size_t{64} << 20;
constexpr size_t kStreamedPage = 4096;
constexpr size_t kStreamedPages = 4;

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

// Copies whole pieces of pages and returns the number of bytes. The output must be aligned to cache
// lines. The next piece is prefetched into the second cache, because the first has no room for it.
HWY_INLINE size_t StreamPages(uint8_t* output, const uint8_t* updates, size_t n) {
  constexpr size_t kUnit = 2 * kCacheLine;
  constexpr size_t kPiece = kStreamedPages * kStreamedPage;
  const hn::CappedTag<uint8_t, kUnit> d;
  size_t piece = 0;
  for (; piece + 2 * kPiece <= n; piece += kPiece) {
    for (size_t i = 0; i < kStreamedPage; i += kUnit) {
      for (size_t page = 0; page < kPiece; page += kStreamedPage) {
        const size_t at = piece + page + i;
        for (size_t line = 0; line < kUnit; line += kCacheLine) {
          PrefetchReadOnce(updates + at + kPiece + line);
        }
        for (size_t k = at; k < at + kUnit; k += hn::Lanes(d)) {
          hn::Stream(hn::LoadU(d, updates + k), d, output + k);
        }
      }
    }
  }
  return piece;
}

// Copies bytes past the caches, and also the ends if `streams`. FinishStreaming() must follow. Not
// inline, so that the kernels of all widths share it.
[[maybe_unused]] HWY_NOINLINE void StreamBytes(unsigned char* output, const unsigned char* updates,
                                               int64_t bytes, bool streams) {
  constexpr size_t kLine = kCacheLine;
  const hn::ScalableTag<uint8_t> d;
  const size_t step = 4 * hn::Lanes(d);
  const size_t n = static_cast<size_t>(bytes);
  const uintptr_t start = reinterpret_cast<uintptr_t>(output);
  size_t i = (kLine - start % kLine) % kLine;
  if (n < i + step) return MoveEnd(output, updates, n, streams);
  if (i != 0) MoveEnd(output, updates, i, streams);
  if (n >= kLeastOfPages) i += StreamPages(output + i, updates + i, n - i);
  const size_t fetched = n >= kLeastFetched ? n - kStreamAhead : 0;
  for (; i + step <= fetched; i += step) {
    for (size_t line = 0; line < step; line += kLine) Prefetch(updates + i + kStreamAhead + line);
    StreamFour(d, output + i, updates + i);
  }
  for (; i + step <= n; i += step) StreamFour(d, output + i, updates + i);
  // Less than a line at the end: adjacent rows of 0.4 to 4 KB of odd sizes took 0.66 to 0.93 x the
  // time of ends of up to four vectors.
  for (; i + kLine <= n; i += kLine) StreamLine(output + i, updates + i);
  if (i != n) MoveEnd(output + i, updates + i, n - i, streams);
}

// Replaces n elements, past the caches in whole cache lines, or in whole vectors if these are
// longer. vector_at(i) is the update of the elements from i on; move(i, n) moves n elements in any
// way.
template <class T, class VectorAt, class MoveSome>
HWY_INLINE void StreamVectors(unsigned char* output, int64_t n, const VectorAt& vector_at,
                              const MoveSome& move) {
  using Lane = typename Lanes<T>::Lane;
  const typename Lanes<T>::Tag d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
  const int64_t past_line = PastLine(output);
  const int64_t head = (kCacheLine - past_line) % kCacheLine / At<T>(1);
  const int64_t block = std::max(step, kCacheLine / At<T>(1));
  const int64_t streamed = (n - head) / block * block;
  if (past_line % At<T>(1) != 0 || streamed <= 0) return move(0, n);
  if (head != 0) move(0, head);
  int64_t i = head;
  for (; i < head + streamed; i += step) {
    hn::Stream(vector_at(i), d, reinterpret_cast<Lane*>(output + At<T>(i)));
  }
  move(i, n - i);
}

// output[i] = updates[-i] for i < n.
template <class T>
HWY_INLINE void StreamReversed(unsigned char* output, const unsigned char* updates, int64_t n) {
  using Lane = typename Lanes<T>::Lane;
  const typename Lanes<T>::Tag d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
  StreamVectors<T>(
      output, n,
      [&](int64_t i) HWY_ATTR {
        const Lane* const in = reinterpret_cast<const Lane*>(updates - At<T>(i + step - 1));
        return ReversedElements<T>(d, hn::LoadU(d, in));
      },
      [&](int64_t i, int64_t some)
          HWY_ATTR { RunApart<T, Move<T>>(output + At<T>(i), 1, updates - At<T>(i), -1, some); });
}

// output[i] = *update for i < n.
template <class T>
HWY_INLINE void StreamOne(unsigned char* output, const unsigned char* update, int64_t n) {
  const auto copies = Copies<T>(typename Lanes<T>::Tag(), update);
  StreamVectors<T>(
      output, n, [&](int64_t) HWY_ATTR { return copies; },
      [&](int64_t i, int64_t some)
          HWY_ATTR { RunApart<T, Move<T>>(output + At<T>(i), 1, update, 0, some); });
}

template <class T>
void StreamRun(unsigned char* output, int64_t output_stride, const unsigned char* updates,
               int64_t updates_stride, int64_t n) {
  if constexpr (kHasStreams) {
    if (output_stride == 1 && updates_stride == 1) {
      return StreamBytes(output, updates, At<T>(n), StreamsEnds(output, At<T>(n)));
    }
  }
  if constexpr (kHasStreams && kHasVectors<T>) {
    if (output_stride == 1 && updates_stride == -1) return StreamReversed<T>(output, updates, n);
    if constexpr (!STREW_OF_OLD_CPUS) {
      if (output_stride == 1 && updates_stride == 0) return StreamOne<T>(output, updates, n);
    }
  }
  Run<T, Move<T>>(output, output_stride, updates, updates_stride, n);
}

template <class T>
void StreamPart(unsigned char* output, int64_t output_stride, const unsigned char* updates,
                int64_t updates_stride, int64_t n) {
  if constexpr (kHasStreams) {
    if (output_stride == 1 && updates_stride == 1) {
      return StreamBytes(output, updates, At<T>(n), /*streams=*/true);
    }
  }
  StreamRun<T>(output, output_stride, updates, updates_stride, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
