// SPDX-License-Identifier: Apache-2.0
// Single elements at places given by offsets, and the table of all that a cell has.
#if defined(STREW_KERNEL_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_ELEMENTS_INL_H_
#undef STREW_KERNEL_ELEMENTS_INL_H_
#else
#define STREW_KERNEL_ELEMENTS_INL_H_
#endif

#include <hwy/highway.h>

#include "kernel/kernel.h"
#include "kernel/run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// What the loops need is copied out of `sheet`: writes of bytes might change it, for all that the
// compiler knows, and it would be read again for every element (2 x on int8).
template <class T, class Op, class Offset, bool kPrefetch>
HWY_INLINE void WalkElements(const SheetArguments& sheet) {
  // An upcoming line of indices of 8 bytes is due after 8 of them.
  constexpr int64_t kGroup = 8;
  unsigned char* const output = sheet.output;
  const Offset* offsets = static_cast<const Offset*>(sheet.offsets);
  const int64_t columns = sheet.columns;
  const int64_t step = At<T>(sheet.updates_column_stride);
  const int64_t ahead = sheet.prefetch;
  const Upcoming upcoming = sheet.upcoming;
  const int64_t group = upcoming.indices == nullptr ? columns : kGroup;
  const Offset* const prefetch_end =
      offsets + HWY_MAX(sheet.rows * columns + sheet.lookahead - ahead, 0);
  for (int64_t r = 0; r < sheet.rows; ++r) {
    const unsigned char* updates = sheet.updates + At<T>(r * sheet.updates_row_stride);
    const unsigned char* indices = upcoming.indices + r * upcoming.indices_row_stride;
    for (int64_t c = 0; c < columns; c += group) {
      if (upcoming.indices != nullptr) {
        __builtin_prefetch(indices + c * upcoming.index_size);
        __builtin_prefetch(updates + upcoming.updates_distance);
      }
      const Offset* const group_end = offsets + HWY_MIN(group, columns - c);
      for (; offsets != group_end; ++offsets, updates += step) {
        if (kPrefetch && offsets < prefetch_end) {
          __builtin_prefetch(output + At<T>(offsets[ahead]), 1);
        }
        CombineElement<T, Op>(output + At<T>(*offsets), updates);
      }
    }
  }
}

template <class T, class Op, class Offset>
void Elements(const SheetArguments& sheet) {
  if (sheet.prefetch != 0) return WalkElements<T, Op, Offset, true>(sheet);
  WalkElements<T, Op, Offset, false>(sheet);
}

template <class T, class Op>
constexpr Kernels KernelsOf() {
  RunKernel stream = nullptr;
  if constexpr (kMoves<T, Op>) stream = StreamRun<T>;
  return {sizeof(T), Run<T, Op>, stream, {Elements<T, Op, int32_t>, Elements<T, Op, int64_t>}};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
