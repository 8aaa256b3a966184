// SPDX-License-Identifier: Apache-2.0
// Kernels that check indices.
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

#include "base/cache_size.h"
#include "base/compiler.h"
#include "kernel/element.h"
#include "kernel/index_block-inl.h"
#include "kernel/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- The check ----

// Prefetch distance of the check in bytes, beyond the page to which the hardware keeps. Checks of
// 10 M and 20 M indices took 0.61 and 0.56 x the time for int32, 0.95 and 0.78 x for int64, and
// with 1 KiB 0.76 and 0.73, 0.98 and 0.82 x (Emerald Rapids).
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

  HWY_INLINE void Note(T index, const ShiftedRange<T>& range) {
    const Signed shifted = range.Shifted(index);
    if (shifted > greatest) greatest = shifted;
    signs = static_cast<Signed>(static_cast<T>(signs) | index);
  }
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
    seen.Note(LoadElement<T>(indices + At<T>(i * stride)), range);
  }
  return seen.Judge(range);
}

// SeenIndices::Judge() for vectors, as which indices of either sign are read as signed ones.
template <class D, class V = hn::Vec<D>>
HWY_INLINE IndexRange Judge(D d, V greatest, V signs, hn::TFromD<D> limit, bool has_sign) {
  if (!hn::AllFalse(d, hn::Gt(greatest, hn::Set(d, limit)))) return kOutOfRange;
  return has_sign && !hn::AllFalse(d, hn::Lt(signs, hn::Zero(d))) ? kInRange : kNonNegative;
}

// Not inline, so that few functions are compiled.
template <class Signed>
HWY_NOINLINE IndexRange RangeOfVectors(const unsigned char* indices, int64_t n, Signed shifted_by,
                                       Signed limit, bool has_sign) {
  const hn::ScalableTag<Signed> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto shift = hn::Set(d, shifted_by);
  const auto load = [&](int64_t i) HWY_ATTR {
    return hn::LoadU(d, reinterpret_cast<const Signed*>(indices + At<Signed>(i)));
  };
  // The first and the last vector may overlap others, so that those between are aligned.
  auto signs = load(0);
  auto greatest = hn::Sub(signs, shift);
  auto other_signs = load(n - lanes);
  auto other = hn::Sub(other_signs, shift);
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(Signed));
  constexpr int64_t kAhead = kCheckAhead / kSize;
  // The division comes before the cast, because tags of pointers may set the sign bit.
  const uintptr_t past = reinterpret_cast<uintptr_t>(indices) / sizeof(Signed) % hn::Lanes(d);
  const int64_t first = lanes - static_cast<int64_t>(past);
  // Two streams are read 1.2 x as fast as one, by one thread and by two.
  const int64_t half = std::max<int64_t>(n - first, 0) / (2 * lanes) * lanes;
  const int64_t fetched = first + half - kAhead;
  for (int64_t i = first; i < first + half; i += lanes) {
    if (i < fetched) {
      Prefetch(indices + At<Signed>(i + kAhead));
      Prefetch(indices + At<Signed>(i + half + kAhead));
    }
    const auto index = load(i);
    const auto other_index = load(half + i);
    greatest = hn::Max(greatest, hn::Sub(index, shift));
    other = hn::Max(other, hn::Sub(other_index, shift));
    signs = hn::Or(signs, index);
    other_signs = hn::Or(other_signs, other_index);
  }
  if (first + 2 * half + lanes <= n) {
    const auto index = load(first + 2 * half);
    greatest = hn::Max(greatest, hn::Sub(index, shift));
    signs = hn::Or(signs, index);
  }
  greatest = hn::Max(greatest, other);
  signs = hn::Or(signs, other_signs);
  return Judge(d, greatest, signs, limit, has_sign);
}

template <class T>
HWY_INLINE IndexRange RangeOfContiguous(const unsigned char* indices, int64_t n,
                                        const ShiftedRange<T>& range) {
  using Signed = std::make_signed_t<T>;
  const hn::ScalableTag<Signed> d;
  if (n < static_cast<int64_t>(hn::Lanes(d))) return RangeOfFew<T>(indices, 1, n, range);
  return RangeOfVectors<Signed>(indices, n, static_cast<Signed>(range.shift), range.limit,
                                std::is_signed_v<T>);
}

// Prefetches for a later block of strided indices, of a row of `bytes` bytes: whole calls with 6 to
// 16 M of them took 0.87 to 0.97 x the time (Zen 5). Not if they lie far apart.
HWY_INLINE void FetchBlock(const unsigned char* block, int64_t block_bytes, int64_t bytes) {
  if (block_bytes > kCheckAhead || bytes < block_bytes + kCheckAhead) return;
  for (int64_t i = 0; i < block_bytes; i += kCacheLine) Prefetch(block + kCheckAhead + i);
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
      FetchBlock(from, At<T>(kBlock * stride), At<T>((columns - c) * stride));
      BringTogether<Unsigned>(from, stride, n, together);
      from = reinterpret_cast<const unsigned char*>(together);
    }
    all = std::min(all, RangeOfContiguous<T>(from, n, range));
  }
  return all;
}

// Checks rows of 2 or 3 indices with one decision for the whole tile instead of one for each row:
// rows of 2 took 0.3 x the time (Emerald Rapids). Not for older CPUs, to keep the library small.
template <class T>
HWY_INLINE IndexRange RangeOfShortRows(const IndexTile& tile, const ShiftedRange<T>& range) {
  SeenIndices<T> first, second, third;
  const int64_t row_bytes = At<T>(tile.row_stride), step = At<T>(tile.column_stride);
  const int64_t ahead = row_bytes > 0 ? kCheckAhead / row_bytes : 0;
  const bool are_three = tile.columns == 3;
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* const row = tile.indices + r * row_bytes;
    if (r + ahead < tile.rows) Prefetch(row + ahead * row_bytes);
    first.Note(LoadElement<T>(row), range);
    second.Note(LoadElement<T>(row + step), range);
    if (are_three) third.Note(LoadElement<T>(row + 2 * step), range);
  }
  return std::min({first.Judge(range), second.Judge(range), third.Judge(range)});
}

// The same for rows of contiguous indices, each of at least one vector, of which the last may
// overlap the one before it: calls with rows of 4 to 14 took 0.57 to 0.76 x the time, of 33 0.88 x,
// of 600 in 24 MB 0.87 x (Zen 4). Not inline, so that few functions are compiled.
template <class D, class Signed = hn::TFromD<D>>
HWY_NOINLINE IndexRange RangeOfVectorRows(D d, const IndexTile& tile, Signed shifted_by,
                                          Signed limit, bool has_sign) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t last = tile.columns - lanes;
  const int64_t row_bytes = At<Signed>(tile.row_stride);
  const int64_t ahead = row_bytes > 0 ? kCheckAhead / row_bytes : 0;
  const auto shift = hn::Set(d, shifted_by);
  auto greatest = hn::Set(d, std::numeric_limits<Signed>::min());
  auto signs = hn::Zero(d);
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* const row = tile.indices + r * row_bytes;
    if (r + ahead < tile.rows) Prefetch(row + ahead * row_bytes);
    const auto note = [&](int64_t c) HWY_ATTR {
      const auto index = hn::LoadU(d, reinterpret_cast<const Signed*>(row + At<Signed>(c)));
      greatest = hn::Max(greatest, hn::Sub(index, shift));
      signs = hn::Or(signs, index);
    };
    for (int64_t c = 0; c < last; c += lanes) note(c);
    note(last);
  }
  return Judge(d, greatest, signs, limit, has_sign);
}

// Checks rows together that take longer one by one. Returns false if these rows do not.
template <class T>
HWY_INLINE bool CheckRowsTogether(const IndexTile& tile, const ShiftedRange<T>& range,
                                  IndexRange* all) {
  if (tile.rows == 1) return false;
  if (tile.columns == 2 || tile.columns == 3) {
    *all = RangeOfShortRows<T>(tile, range);
    return true;
  }
  // Longer rows are read faster as two streams. Indices of 8 and 16 bits are too rare.
  constexpr int64_t kLongest = 4096;
  if (sizeof(T) < 4 || tile.column_stride != 1 || tile.columns > kLongest) return false;
  using Signed = std::make_signed_t<T>;
  const hn::ScalableTag<Signed> d;
  const hn::CappedTag<Signed, 4> d_short;
  const Signed shift = static_cast<Signed>(range.shift);
  if (tile.columns >= static_cast<int64_t>(hn::Lanes(d))) {
    *all = RangeOfVectorRows(d, tile, shift, range.limit, std::is_signed_v<T>);
  } else if (tile.columns >= static_cast<int64_t>(hn::Lanes(d_short))) {
    *all = RangeOfVectorRows(d_short, tile, shift, range.limit, std::is_signed_v<T>);
  } else {
    return false;
  }
  return true;
}

template <class T>
IndexRange Check(const IndexTile& tile, bool wrap) {
  if (tile.axis_size == 0) return kOutOfRange;
  const ShiftedRange<T> range(tile.axis_size, wrap);
  IndexRange all = kNonNegative;
  if constexpr (!STREW_OF_OLD_CPUS) {
    if (CheckRowsTogether<T>(tile, range, &all)) return all;
  }
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* row = tile.indices + At<T>(r * tile.row_stride);
    all = std::min(all, RangeOfRow<T>(row, tile.column_stride, tile.columns, range));
    if (all == kOutOfRange) break;
  }
  return all;
}

// ---- Tuples ----

// Shifts and limits of the numbers of tuples, repeated so that each vector of consecutive tuples
// has one of `components` patterns.
template <class Signed>
struct TuplePatterns {
  static constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<Signed>());

  Signed shift[kMostTogether * kLanes];
  Signed limit[kMostTogether * kLanes];
};

// Checks the vectors of whole patterns. Returns the number of indices in them, or -1 if one is out
// of range. Not inline, so that few functions are compiled.
template <class Signed>
HWY_NOINLINE int64_t CheckPatterns(const unsigned char* indices, int64_t n, int64_t components,
                                   const TuplePatterns<Signed>& patterns, bool* has_negative) {
  const hn::ScalableTag<Signed> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = components * lanes;
  constexpr int64_t kAhead = kCheckAhead / static_cast<int64_t>(sizeof(Signed));
  auto signs = hn::Zero(d);
  auto exceeding = hn::Zero(d);
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    for (int64_t p = 0; p < step; p += lanes) {
      if (i + p + kAhead < n) Prefetch(indices + At<Signed>(i + p + kAhead));
      const auto index = hn::LoadU(d, reinterpret_cast<const Signed*>(indices + At<Signed>(i + p)));
      const auto shifted = hn::Sub(index, hn::LoadU(d, patterns.shift + p));
      const auto limit = hn::LoadU(d, patterns.limit + p);
      exceeding = hn::Or(exceeding, hn::VecFromMask(d, hn::Gt(shifted, limit)));
      signs = hn::Or(signs, index);
    }
  }
  *has_negative = !hn::AllFalse(d, hn::Lt(signs, hn::Zero(d)));
  return hn::AllTrue(d, hn::Eq(exceeding, hn::Zero(d))) ? i : -1;
}

template <class T>
IndexRange CheckTuples(const IndexTile& tile, const int64_t* axis_sizes, bool wrap) {
  using Signed = std::make_signed_t<T>;
  const int64_t components = tile.columns;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Signed>()));
  TuplePatterns<Signed> patterns = {};
  for (int64_t c = 0; c < components; ++c) {
    if (axis_sizes[c] == 0) return kOutOfRange;
    const ShiftedRange<T> range(axis_sizes[c], wrap);
    for (int64_t i = c; i < components * lanes; i += components) {
      patterns.shift[i] = static_cast<Signed>(range.shift);
      patterns.limit[i] = range.limit;
    }
  }
  bool has_negative;
  const int64_t n = tile.rows * components;
  const int64_t done = CheckPatterns<Signed>(tile.indices, n, components, patterns, &has_negative);
  if (done < 0) return kOutOfRange;
  IndexRange all = std::is_signed_v<T> && has_negative ? kInRange : kNonNegative;
  for (int64_t c = 0; c < components && done < n; ++c) {
    const unsigned char* const rest = tile.indices + At<T>(done + c);
    const ShiftedRange<T> range(axis_sizes[c], wrap);
    all = std::min(all, RangeOfFew<T>(rest, components, (n - done) / components, range));
  }
  return all;
}

// NULL for indices of 8 and 16 bits, which are too rare, for older CPUs, and for very long vectors:
// the numbers of tuples are then checked one after another.
template <class T>
constexpr CheckTuplesKernel CheckTuplesOf() {
  // Limit: bytes of stack for a pattern. Vectors may have up to 64 KiB.
  constexpr size_t kMostBytes = 256;
  constexpr size_t kBytes = hn::MaxLanes(hn::ScalableTag<T>()) * sizeof(T);
  if constexpr (sizeof(T) >= 4 && !STREW_OF_OLD_CPUS && kBytes <= kMostBytes) return CheckTuples<T>;
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
