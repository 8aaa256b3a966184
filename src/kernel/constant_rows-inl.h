// SPDX-License-Identifier: Apache-2.0
// Kernels that find rows of one index.
#if defined(STREW_KERNEL_CONSTANT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_CONSTANT_ROWS_INL_H_
#undef STREW_KERNEL_CONSTANT_ROWS_INL_H_
#else
#define STREW_KERNEL_CONSTANT_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/range-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE bool IsConstant(const unsigned char* indices, int64_t n) {
  using Signed = std::make_signed_t<T>;
  const hn::ScalableTag<Signed> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Signed first = LoadElement<Signed>(indices);
  if (n < lanes) {
    Signed difference = 0;
    for (int64_t i = 1; i < n; ++i) {
      difference =
          static_cast<Signed>(difference | (LoadElement<Signed>(indices + At<T>(i)) ^ first));
    }
    return difference == 0;
  }
  const auto expected = hn::Set(d, first);
  const auto difference = [&](int64_t i) HWY_ATTR {
    return hn::Xor(hn::LoadU(d, reinterpret_cast<const Signed*>(indices + At<T>(i))), expected);
  };
  const auto is_zero = [&](hn::Vec<decltype(d)> v)
                           HWY_ATTR { return hn::AllTrue(d, hn::Eq(v, hn::Zero(d))); };
  // The last vector may overlap the one before it. Most rows that are not constant differ in it.
  if (!is_zero(difference(n - lanes))) return false;
  constexpr int64_t kVectors = 4;  // between two decisions
  int64_t i = 0;
  for (; i + kVectors * lanes <= n; i += kVectors * lanes) {
    auto all = difference(i);
    for (int64_t v = 1; v < kVectors; ++v) all = hn::Or(all, difference(i + v * lanes));
    if (!is_zero(all)) return false;
  }
  auto all = hn::Zero(d);
  for (; i + lanes <= n; i += lanes) all = hn::Or(all, difference(i));
  return is_zero(all);
}

template <class T>
int64_t CountConstantRows(const IndexTile& tile, bool wrap) {
  if (tile.axis_size == 0) return 0;
  const ShiftedRange<T> range(tile.axis_size, wrap);
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* const row = tile.indices + At<T>(r * tile.row_stride);
    if (range.Shifted(LoadElement<T>(row)) > range.limit) return r;
    if (!IsConstant<T>(row, tile.columns)) return r;
  }
  return tile.rows;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
