// SPDX-License-Identifier: Apache-2.0
// Kernels that read indices: they clamp or drop them, and find runs among their offsets.
#if defined(STREW_KERNEL_INDEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_INDEX_INL_H_
#undef STREW_KERNEL_INDEX_INL_H_
#else
#define STREW_KERNEL_INDEX_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernel/constant_rows-inl.h"
#include "kernel/element.h"
#include "kernel/index_block-inl.h"
#include "kernel/kernel.h"
#include "kernel/offset-inl.h"
#include "kernel/range-inl.h"
#include "kernel/resolve-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- Out-of-range indices ----

// Clamps contiguous indices. Returns the number of those that are done.
template <class T>
HWY_INLINE int64_t ClampVectors(const unsigned char* indices, int64_t n, T lowest, T highest,
                                unsigned char* clamped) {
  using Signed = std::make_signed_t<T>;
  const hn::ScalableTag<Signed> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // With their top bit flipped, unsigned numbers compare as signed ones.
  constexpr Signed kShift = std::is_signed_v<T> ? 0 : std::numeric_limits<Signed>::min();
  const auto shift = hn::Set(d, kShift);
  const auto least = hn::Xor(hn::Set(d, static_cast<Signed>(lowest)), shift);
  const auto most = hn::Xor(hn::Set(d, static_cast<Signed>(highest)), shift);
  return ForEachVector(n, lanes, [&](int64_t i) HWY_ATTR {
    const Signed* const from = reinterpret_cast<const Signed*>(indices + At<T>(i));
    const auto index = hn::Xor(hn::LoadU(d, from), shift);
    const auto nearest = hn::Min(hn::Max(index, least), most);
    hn::StoreU(hn::Xor(nearest, shift), d, reinterpret_cast<Signed*>(clamped + At<T>(i)));
  });
}

template <class T>
void Clamp(const IndexTile& tile, bool wrap, void* memory) {
  const ShiftedRange<T> range(tile.axis_size, wrap);
  const T lowest = range.Lowest();
  const T highest = range.Highest();
  unsigned char* clamped = static_cast<unsigned char*>(memory);
  for (int64_t r = 0; r < tile.rows; ++r, clamped += At<T>(tile.columns)) {
    const unsigned char* const row = tile.indices + At<T>(r * tile.row_stride);
    int64_t c = 0;
    if (tile.column_stride == 1) {
      c = ClampVectors(row, tile.columns, lowest, highest, clamped);
    } else if (GoesInBlocks<T>(tile)) {
      c = ForEachBlock<T>(tile, row,
                          [=](const unsigned char* indices, int64_t at, int64_t n) HWY_ATTR {
                            return ClampVectors(indices, n, lowest, highest, clamped + At<T>(at));
                          });
    }
    for (; c < tile.columns; ++c) {
      const T index = LoadElement<T>(row + At<T>(c * tile.column_stride));
      StoreElement(std::min(std::max(index, lowest), highest), clamped + At<T>(c));
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
// Drops entries of contiguous indices. Returns the number of those that are done.
template <class T>
HWY_INLINE int64_t DropVectors(const unsigned char* indices, int64_t n,
                               const ShiftedRange<T>& range, int32_t* offsets) {
  using Signed = std::make_signed_t<T>;
  const hn::ScalableTag<int32_t> d;
  const hn::Repartition<Signed, decltype(d)> d_index;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = static_cast<int64_t>(hn::Lanes(d_index));
  const auto shift = hn::Set(d_index, static_cast<Signed>(range.shift));
  const auto limit = hn::Set(d_index, range.limit);
  const auto dropped = hn::Set(d, kDropped<int32_t>);
  const auto beyond = [&](int64_t i) HWY_ATTR {
    const Signed* const from = reinterpret_cast<const Signed*>(indices + At<T>(i));
    const auto shifted = hn::Sub(hn::LoadU(d_index, from), shift);
    return hn::BitCast(d, hn::VecFromMask(d_index, hn::Gt(shifted, limit)));
  };
  return ForEachVector(n, lanes, [&](int64_t i) HWY_ATTR {
    auto is_dropped = beyond(i);
    // Both halves of a 64-bit lane say the same.
    if constexpr (sizeof(T) == 8) is_dropped = hn::ConcatEven(d, beyond(i + step), is_dropped);
    const auto offset = hn::LoadU(d, offsets + i);
    hn::StoreU(hn::IfVecThenElse(is_dropped, dropped, offset), d, offsets + i);
  });
}
#endif

// No branch on whether an entry is dropped, which the CPU could not predict: with one entry in 8
// dropped, calls took 1.6 times the time (Zen 4).
template <class T, class Offset>
void Drop(const IndexTile& tile, bool wrap, void* memory) {
  const ShiftedRange<T> range(std::max<int64_t>(tile.axis_size, 1), wrap);
  Offset* offsets = static_cast<Offset*>(memory);
  if (tile.axis_size == 0) {
    std::fill_n(offsets, tile.rows * tile.columns, kDropped<Offset>);
    return;
  }
  for (int64_t r = 0; r < tile.rows; ++r, offsets += tile.columns) {
    const unsigned char* const row = tile.indices + At<T>(r * tile.row_stride);
    int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR
    // Indices of 8 and 16 bits are too rare.
    if constexpr (sizeof(Offset) == 4 && sizeof(T) >= 4) {
      if (tile.column_stride == 1) {
        c = DropVectors<T>(row, tile.columns, range, offsets);
      } else if (GoesInBlocks<T>(tile)) {
        c = ForEachBlock<T>(tile, row,
                            [=](const unsigned char* indices, int64_t at, int64_t n) HWY_ATTR {
                              return DropVectors<T>(indices, n, range, offsets + at);
                            });
      }
    }
#endif
    for (; c < tile.columns; ++c) {
      const T index = LoadElement<T>(row + At<T>(c * tile.column_stride));
      const Offset is_dropped = static_cast<Offset>(-(range.Shifted(index) > range.limit));
      offsets[c] =
          static_cast<Offset>((offsets[c] & ~is_dropped) | (kDropped<Offset> & is_dropped));
    }
  }
}

// ---- Runs among the offsets ----

template <class Offset>
HWY_INLINE bool Ascends(const Offset* offsets, int64_t n, Offset step) {
  const hn::ScalableTag<Offset> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  // Compares the differences of neighbours, a vector at a time.
  for (; i + lanes < n; i += lanes) {
    const auto difference = hn::Sub(hn::LoadU(d, offsets + i + 1), hn::LoadU(d, offsets + i));
    if (!hn::AllTrue(d, hn::Eq(difference, hn::Set(d, step)))) return false;
  }
  for (; i + 1 < n; ++i) {
    if (offsets[i + 1] - offsets[i] != step) return false;
  }
  return true;
}

template <class Offset>
bool Fold(void* memory, int64_t rows, int64_t columns, int64_t step) {
  Offset* offsets = static_cast<Offset*>(memory);
  for (int64_t r = 0; r < rows; ++r) {
    if (!Ascends(offsets + r * columns, columns, static_cast<Offset>(step))) return false;
  }
  for (int64_t r = 0; r < rows; ++r) offsets[r] = offsets[r * columns];
  return true;
}

template <class T>
constexpr IndexKernels IndexKernelsOf() {
  return {Check<T>,
          CheckTuplesOf<T>(),
          Clamp<T>,
          CountConstantRows<T>,
          {Resolve<T, int32_t>, Resolve<T, int64_t>},
          {Drop<T, int32_t>, Drop<T, int64_t>},
          {Fold<int32_t>, Fold<int64_t>},
          {Select<int32_t>, Select<int64_t>},
          {Locate<int32_t>, Locate<int64_t>},
          Rank};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
