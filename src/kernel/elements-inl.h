// SPDX-License-Identifier: Apache-2.0
// Kernels for single elements at given offsets, and the tables that hold them.
#if defined(STREW_KERNEL_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_ELEMENTS_INL_H_
#undef STREW_KERNEL_ELEMENTS_INL_H_
#else
#define STREW_KERNEL_ELEMENTS_INL_H_
#endif

#include <hwy/highway.h>

#include "kernel/interleave-inl.h"
#include "kernel/kernel.h"
#include "kernel/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Loops for older CPUs stay short: unrolled ones make the library 0.25 MB larger.
#undef STREW_ROLLED
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
#define STREW_ROLLED _Pragma("GCC unroll 1")
#else
#define STREW_ROLLED
#endif

// An element that may cross a cache line (1 of 5 of those of 15 bytes do) needs both lines
// prefetched: its store would wait 40 to 70 ns for the second.
template <class T>
HWY_INLINE void PrefetchElement(const unsigned char* element) {
  constexpr bool kMayCross = sizeof(T) > 8 || (sizeof(T) & (sizeof(T) - 1)) != 0;
  __builtin_prefetch(element, 1);
  if (kMayCross) __builtin_prefetch(element + sizeof(T) - 1, 1);
}

// Copies of the tile's fields. The compiler must assume that byte stores change the tile, and would
// reload the fields for every element (2 x on int8).
template <class T, class Op, class Offset, bool kPrefetch>
struct ColumnWalker {
  unsigned char* const output;
  const int64_t step;  // bytes between updates
  const int64_t ahead;
  const Offset* const prefetch_end;

  HWY_INLINE void Walk(const Offset* HWY_RESTRICT offsets, const unsigned char* updates,
                       int64_t columns) const {
    STREW_ROLLED
    for (int64_t c = 0; c < columns; ++c) {
      if (kPrefetch && offsets + c < prefetch_end) {
        PrefetchElement<T>(output + At<T>(offsets[c + ahead]));
      }
      CombineElement<T, Op>(output + At<T>(offsets[c]), updates + c * step);
    }
  }
};

template <class T, class Op, class Offset, bool kPrefetch>
HWY_INLINE void WalkElements(const TileArguments& tile, const NextReads& all_next) {
  // Indices of 8 bytes in a cache line.
  constexpr int64_t kGroup = 8;
  const Offset* offsets = static_cast<const Offset*>(tile.offsets);
  const int64_t columns = tile.columns;
  const int64_t prefetches = tile.rows * columns + tile.lookahead - tile.prefetch;
  const ColumnWalker<T, Op, Offset, kPrefetch> walker = {
      tile.output, At<T>(tile.updates_column_stride), tile.prefetch,
      offsets + HWY_MAX(prefetches, 0)};
  const NextReads next_reads = all_next;
  for (int64_t r = 0; r < tile.rows; ++r, offsets += columns) {
    const unsigned char* updates = tile.updates + At<T>(r * tile.updates_row_stride);
    int64_t c = 0;
    if (next_reads.indices != nullptr) {
      const unsigned char* indices = next_reads.indices + r * next_reads.indices_row_stride;
      const unsigned char* line = next_reads.output == nullptr
                                      ? indices
                                      : next_reads.output + r * next_reads.output_row_stride;
      for (; c + kGroup <= columns; c += kGroup) {
        __builtin_prefetch(indices + c * next_reads.index_size);
        __builtin_prefetch(updates + c * walker.step + next_reads.updates_distance);
        __builtin_prefetch(line + At<T>(c), 1);
        walker.Walk(offsets + c, updates + c * walker.step, kGroup);
      }
    }
    walker.Walk(offsets + c, updates + c * walker.step, columns - c);
  }
}

template <class T, class Op, class Offset>
void Elements(const TileArguments& tile, const NextReads& next_reads) {
  // Offsets of 64 bits serve data far beyond the caches, or few elements. Omitting their loop
  // without prefetch saves 0.4 MB of the library.
  if constexpr (sizeof(Offset) < 8) {
    if (tile.prefetch == 0) return WalkElements<T, Op, Offset, false>(tile, next_reads);
  }
  WalkElements<T, Op, Offset, true>(tile, next_reads);
}

template <class T>
void Gather(unsigned char* gathered, const unsigned char* updates, int64_t updates_stride,
            const int32_t* HWY_RESTRICT columns, int64_t n) {
  const int64_t step = At<T>(updates_stride);
  for (int64_t i = 0; i < n; ++i) {
    StoreElement(LoadElement<T>(updates + columns[i] * step), gathered + At<T>(i));
  }
}

template <class T, class Op, RunKernel kRun = Run<T, Op>>
constexpr CombineKernels CombineKernelsOf() {
  return {sizeof(T), kIsHeavy<T, Op>, kRun, {Elements<T, Op, int32_t>, Elements<T, Op, int64_t>}};
}

template <class T>
constexpr MoveKernels MoveKernelsOf() {
  return {CombineKernelsOf<T, Move<T>>(), StreamRun<T>, Interleave<T>, Gather<T>};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
