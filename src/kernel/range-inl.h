// SPDX-License-Identifier: Apache-2.0
// Checks indices, and packs strided indices.
#if defined(STREW_KERNEL_RANGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_RANGE_INL_H_
#undef STREW_KERNEL_RANGE_INL_H_
#else
#define STREW_KERNEL_RANGE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/compiler.h"
#include "kernel/element.h"
#include "kernel/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- Strided indices ----

// Packs strided indices into a block, from which they are read as vectors: checking and resolving
// every second int64 took 0.3 ns for each, one by one 0.6 ns (Zen 4). It is used with unsigned
// types only, and not inline, so that few functions are compiled.
//
// Shorter rows are faster one by one: rows of 3 indices took 1.7 x the time with blocks.
constexpr int64_t kLeastTogether = 16;

template <class T, class To>
HWY_NOINLINE void BringTogether(const unsigned char* indices, int64_t stride, int64_t n,
                                To* HWY_RESTRICT together) {
  const int64_t step = At<T>(stride);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, indices += 4 * step) {
    together[i] = static_cast<To>(LoadElement<T>(indices));
    together[i + 1] = static_cast<To>(LoadElement<T>(indices + step));
    together[i + 2] = static_cast<To>(LoadElement<T>(indices + 2 * step));
    together[i + 3] = static_cast<To>(LoadElement<T>(indices + 3 * step));
  }
  for (; i < n; ++i, indices += step) together[i] = static_cast<To>(LoadElement<T>(indices));
}

// ---- The check ----

// Prefetch distance of the check in bytes, beyond the page to which the hardware keeps. Checks of
// 10 M and 20 M indices took 0.61 and 0.56 x the time for int32, 0.95 and 0.78 x for int64, and
// with 1 KiB 0.76 and 0.73, 0.98 and 0.82 x (Sapphire Rapids).
constexpr int64_t kCheckAhead = 4096;

// Shifts indices so that the lowest valid one becomes the lowest value of the signed type. Then the
// range check is one signed comparison for every index dtype.
template <class T>
struct ShiftedRange {
  using Signed = std::make_signed_t<T>;
  using Unsigned = std::make_unsigned_t<T>;

  ShiftedRange(int64_t axis_size, bool wrap) {
    constexpr int64_t kMost = static_cast<int64_t>(std::min<uint64_t>(
        static_cast<uint64_t>(std::numeric_limits<T>::max()), uint64_t{INT64_MAX}));
    constexpr int64_t kLeast = static_cast<int64_t>(std::numeric_limits<T>::min());
    const int64_t lowest = wrap ? std::max(-axis_size, kLeast) : 0;
    const int64_t highest = std::min(axis_size - 1, kMost);
    constexpr auto kLeastSigned = static_cast<Unsigned>(std::numeric_limits<Signed>::min());
    shift = static_cast<Unsigned>(static_cast<Unsigned>(lowest) - kLeastSigned);
    limit = static_cast<Signed>(static_cast<Unsigned>(highest) - shift);
  }

  Signed Shifted(T index) const {
    return static_cast<Signed>(static_cast<Unsigned>(static_cast<Unsigned>(index) - shift));
  }

  T Lowest() const {
    constexpr auto kLeastSigned = static_cast<Unsigned>(std::numeric_limits<Signed>::min());
    return static_cast<T>(static_cast<Unsigned>(shift + kLeastSigned));
  }
  T Highest() const { return static_cast<T>(static_cast<Unsigned>(limit) + shift); }

  Unsigned shift;
  Signed limit;
};

template <class T>
struct SeenIndices {
  using Signed = std::make_signed_t<T>;

  IndexRange Judge(const ShiftedRange<T>& range) const {
    if (greatest > range.limit) return kOutOfRange;
    return std::is_signed_v<T> && signs < 0 ? kInRange : kNonNegative;
  }

  Signed greatest = std::numeric_limits<Signed>::min();  // shifted
  Signed signs = 0;                                      // bitwise or of all indices
};

template <class T>
HWY_INLINE IndexRange RangeOfFew(const unsigned char* indices, int64_t stride, int64_t n,
                                 const ShiftedRange<T>& range) {
  SeenIndices<T> seen;
  for (int64_t i = 0; i < n; ++i) {
    const T index = LoadElement<T>(indices + At<T>(i * stride));
    seen.greatest = std::max(seen.greatest, range.Shifted(index));
    seen.signs = static_cast<std::make_signed_t<T>>(static_cast<T>(seen.signs) | index);
  }
  return seen.Judge(range);
}

template <class T>
HWY_INLINE IndexRange RangeOfContiguous(const unsigned char* indices, int64_t n,
                                        const ShiftedRange<T>& range) {
  using Signed = std::make_signed_t<T>;
  const hn::ScalableTag<Signed> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n < lanes) return RangeOfFew<T>(indices, 1, n, range);
  const auto shift = hn::Set(d, static_cast<Signed>(range.shift));
  const auto load = [&](int64_t i) HWY_ATTR {
    return hn::LoadU(d, reinterpret_cast<const Signed*>(indices + At<T>(i)));
  };
  // The first and the last vector may overlap others, so that those between are aligned.
  auto signs = load(0);
  auto greatest = hn::Sub(signs, shift);
  auto other_signs = load(n - lanes);
  auto other = hn::Sub(other_signs, shift);
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));
  const int64_t past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(indices)) / kSize % lanes;
  const int64_t first = lanes - past;
  // Two streams are read 1.2 x as fast as one, by one thread and by two.
  const int64_t half = std::max<int64_t>(n - first, 0) / (2 * lanes) * lanes;
  const auto note = [&](int64_t i) HWY_ATTR {
    const auto index = load(i);
    const auto other_index = load(half + i);
    greatest = hn::Max(greatest, hn::Sub(index, shift));
    other = hn::Max(other, hn::Sub(other_index, shift));
    signs = hn::Or(signs, index);
    other_signs = hn::Or(other_signs, other_index);
  };
  int64_t i = first;
  constexpr int64_t kAhead = kCheckAhead / kSize;
  for (; i < first + half - kAhead; i += lanes) {
    Prefetch(indices + At<T>(i + kAhead));
    Prefetch(indices + At<T>(i + half + kAhead));
    note(i);
  }
  for (; i < first + half; i += lanes) note(i);
  if (first + 2 * half + lanes <= n) {
    const auto index = load(first + 2 * half);
    greatest = hn::Max(greatest, hn::Sub(index, shift));
    signs = hn::Or(signs, index);
  }
  greatest = hn::Max(greatest, other);
  signs = hn::Or(signs, other_signs);
  if (!hn::AllFalse(d, hn::Gt(greatest, hn::Set(d, range.limit)))) return kOutOfRange;
  const bool has_negative = std::is_signed_v<T> && !hn::AllFalse(d, hn::Lt(signs, hn::Zero(d)));
  return has_negative ? kInRange : kNonNegative;
}

template <class T>
HWY_INLINE IndexRange RangeOfRow(const unsigned char* indices, int64_t stride, int64_t columns,
                                 const ShiftedRange<T>& range) {
  // The block is long, because vectors cannot be read until it is written.
  constexpr int64_t kBlock = 128;
  if (stride != 1 && columns < kLeastTogether)
    return RangeOfFew<T>(indices, stride, columns, range);
  using Unsigned = std::make_unsigned_t<T>;
  HWY_ALIGN Unsigned together[kBlock];
  const int64_t block = stride == 1 ? columns : kBlock;
  IndexRange all = kNonNegative;
  for (int64_t c = 0; c < columns && all != kOutOfRange; c += block) {
    const int64_t n = std::min(block, columns - c);
    const unsigned char* from = indices + At<T>(c * stride);
    if (stride != 1) {
      BringTogether<Unsigned>(from, stride, n, together);
      from = reinterpret_cast<const unsigned char*>(together);
    }
    all = std::min(all, RangeOfContiguous<T>(from, n, range));
  }
  return all;
}

template <class T>
IndexRange Check(const IndexTile& tile, bool wrap) {
  if (tile.axis_size == 0) return kOutOfRange;
  const ShiftedRange<T> range(tile.axis_size, wrap);
  IndexRange all = kNonNegative;
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* row = tile.indices + At<T>(r * tile.row_stride);
    all = std::min(all, RangeOfRow<T>(row, tile.column_stride, tile.columns, range));
    if (all == kOutOfRange) break;
  }
  return all;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
