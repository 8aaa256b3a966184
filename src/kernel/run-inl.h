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
#include "kernel/pattern.h"
#include "kernel/strided-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

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

// Fewest updates that are worth gathering.
constexpr int64_t kLeastGathered = 32;

// True if vectors save more time than gathering strided updates takes.
template <class T, class Op>
constexpr bool kGathersUpdates = kIsHeavy<T, Op>&& kHasVectors<T> && !STREW_OF_OLD_CPUS;

// True if there is a loop for reversed updates. Those of float8 are gathered; older CPUs combine
// them one by one.
template <class T, class Op>
constexpr bool kReverses = kMoves<T, Op> || !kHasFewLoops<T>;

template <class T, class Op>
void Run(unsigned char* output, int64_t output_stride, const unsigned char* updates,
         int64_t updates_stride, int64_t n);

// Copies blocks of strided elements into contiguous memory for vectors. Reversed updates stay where
// they are for vectors that reverse them, except of a contiguous output: these are fewer than a
// vector of 1024 bits or more. Blocks are combined by a call: a copy of the loops here made the
// library 90 KB larger.
template <class T, class Op>
HWY_NOINLINE void CombineGathered(unsigned char* output, int64_t output_stride,
                                  const unsigned char* updates, int64_t updates_stride, int64_t n) {
  using Unit = typename Lanes<T>::Lane;
  static_assert(sizeof(Unit) == sizeof(T));
  constexpr int64_t kBlock = 256;
  HWY_ALIGN unsigned char near_updates[At<T>(kBlock)];
  HWY_ALIGN unsigned char near_output[At<T>(kBlock)];
  const bool reverses = kReverses<T, Op> && updates_stride == -1 && output_stride != 1;
  const bool gathers = updates_stride != 1 && !reverses;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t block = HWY_MIN(kBlock, n - i);
    unsigned char* const there = output + At<T>(i * output_stride);
    unsigned char* const near = output_stride == 1 ? there : near_output;
    const unsigned char* const from = updates + At<T>(i * updates_stride);
    if (gathers) CombineStrided<Unit, Move<Unit>>(near_updates, 1, from, updates_stride, block);
    if (near != there) CombineStrided<Unit, Move<Unit>>(near, 1, there, output_stride, block);
    Run<T, Op>(near, 1, gathers ? near_updates : from, gathers ? 1 : updates_stride, block);
    if (near != there) CombineStrided<Unit, Move<Unit>>(there, output_stride, near, 1, block);
  }
}

// True if there is a loop for runs whose updates are one element: compared with contiguous copies
// of the element, rows of 64 to 727 elements took 0.2 to 0.6 x the time, of 50000 0.7 to 0.9 x (Zen
// 4). Kernels of float8 and for older CPUs read copies, to keep the library small.
template <class T, class Op>
constexpr bool kRepeatsUpdates = kHasVectors<T> && (kMoves<T, Op> || !kHasFewLoops<T>);

// A vector of copies of one element.
template <class T, class D>
HWY_INLINE hn::Vec<D> Copies(D d, const unsigned char* element) {
  if constexpr (Lanes<T>::kPerElement == 1) {
    return hn::Set(d, LoadElement<hn::TFromD<D>>(element));
  } else if constexpr (sizeof(T) == 8) {
    return hn::BitCast(d, hn::Set(hn::Repartition<uint64_t, D>(), LoadElement<uint64_t>(element)));
  } else {
    return hn::LoadDup128(d, reinterpret_cast<const hn::TFromD<D>*>(element));
  }
}

// output[i] (+)= *update for i < n. Returns false if n is less than a vector.
template <class T, class Op>
HWY_INLINE bool CombineWithOne(unsigned char* output, const unsigned char* update, int64_t n) {
  using Lane = typename Lanes<T>::Lane;
  const typename Lanes<T>::Tag d;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
  if (n < step) return false;
  const auto copies = Copies<T>(d, update);
  const auto lanes_at = [&](int64_t i) { return reinterpret_cast<Lane*>(output + At<T>(i)); };
  const auto combined = [&](int64_t i)
                            HWY_ATTR { return Op::OnLanes(d, hn::LoadU(d, lanes_at(i)), copies); };
  // The last vector may overlap the one before it, so it is computed first, from the old values.
  const int64_t last = n - step;
  const auto tail = combined(last);
  for (int64_t i = 0; i < last; i += step) hn::StoreU(combined(i), d, lanes_at(i));
  hn::StoreU(tail, d, lanes_at(last));
  return true;
}

// Runs that are not contiguous in output or updates. Not inline, so that contiguous runs need no
// stack frame.
template <class T, class Op>
HWY_NOINLINE void RunApart(unsigned char* output, int64_t output_stride,
                           const unsigned char* updates, int64_t updates_stride, int64_t n) {
  if (output_stride == 0) return CombineIntoOne<T, Op>(output, updates, updates_stride, n);
  const bool has_one = output_stride == 1 && updates_stride == 0;
  if constexpr (kRepeatsUpdates<T, Op>) {
    if (has_one && CombineWithOne<T, Op>(output, updates, n)) return;
  } else if constexpr (kHasVectors<T>) {
    if (has_one && n >= kLeastRepeated) {
      return CombineRepeated(Run<T, Op>, sizeof(T), output, updates, 1, n);
    }
  }
  int64_t done = 0;
  if constexpr (kReverses<T, Op>) {
    if (output_stride == 1 && updates_stride == -1) {
      done = CombineReversed<T, Op>(output, updates, n);
    }
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
    // Reversed updates are moved from the last one on. Into every second, third or fifth place,
    // 2.7 M float32 took 0.64, 0.76 and 0.88 x the time, int16 0.66 to 0.73 x (Zen 4).
    if (updates_stride == -1 && output_stride != 1) {
      output += At<T>((n - 1) * output_stride);
      updates -= At<T>(n - 1);
      output_stride = -output_stride;
      updates_stride = 1;
    }
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
