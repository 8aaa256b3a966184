// SPDX-License-Identifier: Apache-2.0
// Kernels for rows of single elements whose whole axis fits a vector: a row is combined in a
// register, and loaded and stored once. In memory each entry would wait for the store of the one
// before, because CPUs guess that both may have one destination.
#if defined(STREW_KERNEL_SHORT_AXIS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_SHORT_AXIS_INL_H_
#undef STREW_KERNEL_SHORT_AXIS_INL_H_
#else
#define STREW_KERNEL_SHORT_AXIS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/masks-inl.h"
#include "kernel/ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// With other vectors than those of AVX-512, loads and stores of parts take too long. Moves do not
// wait for the entry before, x86 has no products of bytes, and minima and maxima of floats took
// 0.9 to 1.4 x the time (Zen 4).
template <class T, class Op>
constexpr bool kHasShortAxis =
    STREW_MASKED_LOADS != 0 && std::is_arithmetic_v<T> && !std::is_same_v<Op, Move<T>> &&
    !kIsHeavy<T, Op> && !(sizeof(T) == 1 && std::is_same_v<Op, Mul<T>>);

#if STREW_MASKED_LOADS

// Rows of the output in memory of their own, a vector for each. A masked load waits for every store
// that overlaps its vector, masked out or not, until it is in the cache. So each block of rows is
// loaded before the block that precedes it is stored.
template <class T>
struct AxisRows {
  static constexpr int64_t kRows = 16;
  using D = hn::CappedTag<T, kShortAxisBytes / sizeof(T)>;

  AxisRows(const TileArguments& of_tile, int64_t axis)
      : tile(of_tile), whole(hn::FirstN(D(), static_cast<size_t>(axis))) {}

  int64_t RowsFrom(int64_t first) const { return HWY_MIN(kRows, tile.rows - first); }
  T* OutputOf(int64_t row) const {
    return reinterpret_cast<T*>(tile.output + At<T>(row * tile.output_row_stride));
  }
  HWY_INLINE void Load(int64_t first, T (*rows)[kShortAxisBytes / sizeof(T)]) const {
    const int64_t n = RowsFrom(first);
    for (int64_t r = 0; r < n; ++r) {
      hn::Store(hn::MaskedLoad(whole, D(), OutputOf(first + r)), D(), rows[r]);
    }
  }
  HWY_INLINE void Store(int64_t first, const T (*rows)[kShortAxisBytes / sizeof(T)]) const {
    const int64_t n = RowsFrom(first);
    for (int64_t r = 0; r < n; ++r) {
      hn::BlendedStore(hn::Load(D(), rows[r]), whole, D(), OutputOf(first + r));
    }
  }

  const TileArguments tile;
  const hn::Mask<D> whole;
};

// Offsets are so small that their lowest bytes, which come first on x86, tell them.
template <class T, class Op>
void CombineShortAxis(const TileArguments& all, int64_t axis, int64_t offset_size) {
  using Rows = AxisRows<T>;
  using Lane = hwy::MakeUnsigned<T>;
  using Low = std::conditional_t<sizeof(T) == 8, uint32_t, Lane>;
  const typename Rows::D d;
  const hn::Rebind<Lane, decltype(d)> du;
  const Rows rows(all, axis);
  const TileArguments& tile = rows.tile;
  const auto places = hn::Iota(du, Lane{0});
  const int64_t step = At<T>(tile.updates_column_stride);
  const auto combine = [&](int64_t row, T* sums_of_row) HWY_ATTR {
    const unsigned char* updates = tile.updates + At<T>(row * tile.updates_row_stride);
    const unsigned char* offset = static_cast<const unsigned char*>(tile.offsets) +
                                  row * tile.offsets_row_stride * offset_size;
    auto sums = hn::Load(d, sums_of_row);
    for (int64_t c = 0; c < tile.columns; ++c, updates += step, offset += offset_size) {
      const auto place = hn::Eq(places, hn::Set(du, Lane{LoadElement<Low>(offset)}));
      const auto update = hn::Set(d, LoadElement<T>(updates));
      sums = hn::IfThenElse(hn::RebindMask(d, place), Op::OnLanes(d, sums, update), sums);
    }
    hn::Store(sums, d, sums_of_row);
  };
  alignas(64) T blocks[2][Rows::kRows][kShortAxisBytes / sizeof(T)];
  rows.Load(0, blocks[0]);
  int now = 0;
  for (int64_t first = 0; first < tile.rows; first += Rows::kRows, now = 1 - now) {
    const int64_t n = rows.RowsFrom(first);
    for (int64_t r = 0; r < n; ++r) combine(first + r, blocks[now][r]);
    if (first + n < tile.rows) rows.Load(first + n, blocks[1 - now]);
    rows.Store(first, blocks[now]);
  }
}

#endif

// NULL for none.
template <class T, class Op>
constexpr ShortAxisKernel ShortAxisKernelOf() {
#if STREW_MASKED_LOADS
  if constexpr (kHasShortAxis<T, Op>) return CombineShortAxis<T, Op>;
#endif
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
