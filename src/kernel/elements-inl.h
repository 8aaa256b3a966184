// SPDX-License-Identifier: Apache-2.0
// Kernels for single elements at given offsets, and the table of the kernels that combine.
#if defined(STREW_KERNEL_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_ELEMENTS_INL_H_
#undef STREW_KERNEL_ELEMENTS_INL_H_
#else
#define STREW_KERNEL_ELEMENTS_INL_H_
#endif

#include <hwy/highway.h>

#include "base/compiler.h"
#include "kernel/kernel.h"
#include "kernel/ordered-inl.h"
#include "kernel/rows-inl.h"
#include "kernel/run-inl.h"
#include "kernel/short_axis-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

#undef STREW_ROLLED
#if HWY_COMPILER_GCC_ACTUAL
#define STREW_ROLLED _Pragma("GCC unroll 1")
#else
#define STREW_ROLLED
#endif

// True if loops over elements are not unrolled: those of older CPUs, which would make the library
// 0.25 MB larger, and those of float8, which gain nothing and would make it 60 KB larger.
template <class T, class Op>
constexpr bool kIsRolled = STREW_OF_OLD_CPUS || (kIsFloat8<T> && !kByCall<T, Op>);

// Prefetches both cache lines of an element that may cross into a second one, as 1 of 5 elements of
// 15 bytes do: otherwise its store would wait 40 to 70 ns for the second line.
template <class T>
HWY_INLINE void PrefetchElement(const unsigned char* element) {
  constexpr bool kMayCross = sizeof(T) > 8 || (sizeof(T) & (sizeof(T) - 1)) != 0;
  PrefetchForWrite(element);
  if (kMayCross) PrefetchForWrite(element + sizeof(T) - 1);
}

// A row of a tile, with copies of the tile's fields. The compiler must assume that byte stores
// change the tile, and would reload its fields for every element, which took 2 x the time on int8.
template <class T, class Op, class Offset>
struct ElementsOfRow {
  unsigned char* const output;
  const int64_t columns;
  const int64_t ahead;    // prefetch distance in entries
  const int64_t fetched;  // number of columns that prefetch a destination

  HWY_INLINE void Fetch(const Offset* offset) const {
    PrefetchElement<T>(output + At<T>(offset[ahead]));
  }

  // Applies contiguous updates in groups. Returns the first column that is not done.
  HWY_INLINE int64_t WalkGroups(const Offset* HWY_RESTRICT offsets, const unsigned char* updates,
                                const NextReads& next, const unsigned char* next_indices,
                                const unsigned char* next_line) const {
    constexpr int64_t kGroup = NextReads::kGroup;
    int64_t c = 0;
    for (; c + kGroup <= columns; c += kGroup) {
      if (next_indices != nullptr && (c & (next.columns - 1)) == 0) {
        Prefetch(next_indices + c * next.index_size);
        Prefetch(updates + At<T>(c) + next.updates_distance);
        PrefetchForWrite(next_line);
        PrefetchForWrite(next_line + kCacheLine);
        next_line += next.output_step;
      }
      if (c + kGroup <= fetched) {
        for (int64_t i = c; i < c + kGroup; ++i) Fetch(offsets + i);
      }
      if constexpr (kIsRolled<T, Op>) {
        STREW_ROLLED
        for (int64_t i = c; i < c + kGroup; ++i) {
          CombineElement<T, Op>(output + At<T>(offsets[i]), updates + At<T>(i));
        }
      } else {
        for (int64_t i = c; i < c + kGroup; ++i) {
          CombineElement<T, Op>(output + At<T>(offsets[i]), updates + At<T>(i));
        }
      }
    }
    return c;
  }

  HWY_INLINE void WalkEach(const Offset* HWY_RESTRICT offsets, const unsigned char* updates,
                           int64_t step, int64_t c) const {
    for (; c < columns; ++c) {
      if (c < fetched) Fetch(offsets + c);
      CombineElement<T, Op>(output + At<T>(offsets[c]), updates + c * step);
    }
  }
};

// Applies a tile with or without prefetch. There is only one loop, because the CPU predicts its
// branches, and separate loops made the library 0.4 MB larger. `next` is read again for each group:
// copies of its fields took registers from the loops, which cost 1.05 times the time (rows of 16
// float32 1.2) and 160 KB of the library (Zen 4).
template <class T, class Op, class Offset>
void Elements(const TileArguments& tile, const NextReads& next) {
  const Offset* offsets = static_cast<const Offset*>(tile.offsets);
  const int64_t columns = tile.columns;
  const int64_t step = At<T>(tile.updates_column_stride);
  int64_t fetched = tile.prefetch == 0 ? 0 : tile.rows * columns + tile.lookahead - tile.prefetch;
  for (int64_t r = 0; r < tile.rows; ++r, offsets += tile.offsets_row_stride, fetched -= columns) {
    unsigned char* const output = tile.output + At<T>(r * tile.output_row_stride);
    const ElementsOfRow<T, Op, Offset> row = {output, columns, tile.prefetch, fetched};
    const unsigned char* const updates = tile.updates + At<T>(r * tile.updates_row_stride);
    const unsigned char* indices = nullptr;
    const unsigned char* line = nullptr;
    if (next.indices != nullptr) {
      indices = line = next.indices + r * next.indices_row_stride;
      if (next.output != nullptr) line = next.output + r * next.output_row_stride;
    }
    int64_t c = 0;
    if (step == At<T>(1)) c = row.WalkGroups(offsets, updates, next, indices, line);
    row.WalkEach(offsets, updates, step, c);
  }
}

template <class T>
void Gather(unsigned char* gathered, const unsigned char* updates, int64_t updates_stride,
            const int32_t* HWY_RESTRICT columns, int64_t n) {
  const int64_t step = At<T>(updates_stride);
  for (int64_t i = 0; i < n; ++i) {
    StoreElement(LoadElement<T>(updates + columns[i] * step), gathered + At<T>(i));
  }
}

// Fewest consecutive entries with one destination that are a repeat. Sums of 1 M sorted updates
// with 100 to a destination took 0.5 to 0.66 x the time, maxima of float32 0.25 x; with 33 0.5 to
// 1.0 x (Zen 5). Moves do not wait for the entry before.
template <class T, class Op>
constexpr int64_t kLeastRepeats = kMoves<T, Op>     ? 0
                                  : kIsHeavy<T, Op> ? 8
                                                    : 16;

template <class T, class Op, RunKernel kRun = Run<T, Op>>
constexpr CombineKernels CombineKernelsOf() {
  return {sizeof(T),
          kIsHeavy<T, Op>,
          kLeastRepeats<T, Op>,
          kRun,
          {Elements<T, Op, int32_t>, Elements<T, Op, int64_t>},
          ShortAxisKernelOf<T, Op>(),
          GroupedRowsKernelOf<T, Op>(),
          WeightedRowsKernelOf<T, Op>(),
          OrderedKernelOf<T, Op>()};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
