// SPDX-License-Identifier: Apache-2.0
// The three walks of kernel.h, for an element type and what an update does to it.
#if defined(STREW_KERNEL_WALKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_WALKS_INL_H_
#undef STREW_KERNEL_WALKS_INL_H_
#else
#define STREW_KERNEL_WALKS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernel/kernel.h"
#include "kernel/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Moves need no lanes of their own width where bytes lie together.
template <class T, class Op>
constexpr bool kMoves = std::is_same_v<Op, Move<T>>;

template <class T, class Op>
HWY_INLINE void CombineNeighbours(unsigned char* output, const unsigned char* updates,
                                  int64_t elements) {
  if constexpr (kMoves<T, Op>) {
    CombineContiguous<uint8_t, Move<uint8_t>>(output, updates, At<T>(elements));
  } else {
    CombineContiguous<T, Op>(output, updates, elements);
  }
}

// ---- box ----

template <class Row>
HWY_INLINE void ForEachRow(const BoxArguments& box, int64_t element_size, Row row) {
  for (int64_t r = 0; r < box.rows; ++r) {
    row(box.output + r * box.output_row_stride * element_size,
        box.updates + r * box.updates_row_stride * element_size);
  }
}

template <class T, class Op>
void Box(const BoxArguments& box) {
  const int64_t n = box.run;
  constexpr int64_t kSize = sizeof(T);
  if (box.output_stride == 1 && box.updates_stride == 1) {
    if (kMoves<T, Op> && box.stream) {
      ForEachRow(box, kSize, [n](unsigned char* output, const unsigned char* updates) HWY_ATTR {
        StreamBytes(output, updates, At<T>(n));
      });
      return hwy::FlushStream();
    }
    return ForEachRow(box, kSize,
                      [n](unsigned char* output, const unsigned char* updates)
                          HWY_ATTR { CombineNeighbours<T, Op>(output, updates, n); });
  }
  if (box.output_stride == 1 && box.updates_stride == -1) {
    return ForEachRow(box, kSize,
                      [n](unsigned char* output, const unsigned char* updates)
                          HWY_ATTR { CombineReversed<T, Op>(output, updates, n); });
  }
  ForEachRow(box, kSize, [n, &box](unsigned char* output, const unsigned char* updates) HWY_ATTR {
    CombineStrided<T, Op>(output, box.output_stride, updates, box.updates_stride, n);
  });
}

// ---- rows and elements ----

// Prefetches a run that will be written, line by line.
HWY_INLINE void PrefetchRun(const unsigned char* output, int64_t bytes) {
  constexpr int64_t kLine = 64;
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(output + i, 1, 3);
}

// Calls entry(output, updates) for every entry in order and, where asked to, prefetch(output) for
// one that comes later.
template <class T, class Offset, bool kPrefetch, class Entry, class Prefetch>
HWY_INLINE void WalkEntries(const ScatterArguments& sheet, Entry entry, Prefetch prefetch) {
  const Offset* offsets = static_cast<const Offset*>(sheet.offsets);
  int64_t prefetches = sheet.rows * sheet.columns + sheet.lookahead - sheet.prefetch;
  for (int64_t r = 0; r < sheet.rows; ++r) {
    const unsigned char* updates = sheet.updates + At<T>(r * sheet.updates_row_stride);
    for (int64_t c = 0; c < sheet.columns; ++c) {
      if (kPrefetch && prefetches-- > 0) {
        prefetch(sheet.output + At<T>(offsets[sheet.prefetch]));
      }
      entry(sheet.output + At<T>(*offsets++), updates + At<T>(c * sheet.updates_column_stride));
    }
  }
}

template <class T, class Offset, class Entry, class Prefetch>
HWY_INLINE void ForEachEntry(const ScatterArguments& sheet, Entry entry, Prefetch prefetch) {
  if (sheet.prefetch != 0) return WalkEntries<T, Offset, true>(sheet, entry, prefetch);
  WalkEntries<T, Offset, false>(sheet, entry, prefetch);
}

template <class T, class Op, class Offset>
void Rows(const ScatterArguments& sheet) {
  const int64_t n = sheet.run;
  if (sheet.output_run_stride == 1 && sheet.updates_run_stride == 1) {
    return ForEachEntry<T, Offset>(
        sheet,
        [n](unsigned char* output, const unsigned char* updates)
            HWY_ATTR { CombineNeighbours<T, Op>(output, updates, n); },
        [n](const unsigned char* output) HWY_ATTR { PrefetchRun(output, At<T>(n)); });
  }
  ForEachEntry<T, Offset>(
      sheet,
      [n, &sheet](unsigned char* output, const unsigned char* updates) HWY_ATTR {
        CombineStrided<T, Op>(output, sheet.output_run_stride, updates, sheet.updates_run_stride,
                              n);
      },
      [](const unsigned char*) HWY_ATTR {});
}

template <class T, class Op, class Offset>
void Elements(const ScatterArguments& sheet) {
  ForEachEntry<T, Offset>(
      sheet,
      [](unsigned char* output, const unsigned char* updates)
          HWY_ATTR { CombineElement<T, Op>(output, updates); },
      [](const unsigned char* output) HWY_ATTR { __builtin_prefetch(output, 1, 3); });
}

// ---- The table of both ----

template <class T, class Op>
constexpr Walks WalksOf() {
  return {Box<T, Op>,
          {Rows<T, Op, int32_t>, Rows<T, Op, int64_t>},
          {Elements<T, Op, int32_t>, Elements<T, Op, int64_t>}};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
