// SPDX-License-Identifier: Apache-2.0
// Kernels that convert indices to offsets.
#if defined(STREW_KERNEL_RESOLVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_RESOLVE_INL_H_
#undef STREW_KERNEL_RESOLVE_INL_H_
#else
#define STREW_KERNEL_RESOLVE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/compiler.h"
#include "kernel/element.h"
#include "kernel/index_block-inl.h"
#include "kernel/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// No branch on the sign, which the CPU could not predict: compilers would make one of a conditional
// expression, and an index then took 3.6 ns (Zen 4).
template <class T>
HWY_INLINE int64_t PlaceOf(const unsigned char* index, int64_t axis_size) {
  const int64_t value = static_cast<int64_t>(LoadElement<T>(index));
  if constexpr (std::is_signed_v<T>) {
    return value + (axis_size & -static_cast<int64_t>(value < 0));
  } else {
    return value;
  }
}

// Resolves columns [first, columns) of one row.
template <class T, class Offset>
HWY_INLINE void ResolveEach(const ResolveArguments& arguments, const unsigned char* indices,
                            int64_t batch, int64_t first, Offset* offsets) {
  const IndexTile& tile = arguments.tile;
  for (int64_t c = first; c < tile.columns; ++c) {
    const int64_t place = PlaceOf<T>(indices + At<T>(c * tile.column_stride), tile.axis_size);
    const int64_t offset =
        place * arguments.output_stride + batch + c * arguments.batch_column_stride;
    offsets[c] = static_cast<Offset>(arguments.accumulate ? offsets[c] + offset : offset);
  }
}

// Loads a vector of indices as int32. If offsets have 32 bits, all valid indices fit 32 bits,
// whatever their dtype.
template <class T, class D>
HWY_INLINE hn::Vec<D> LoadPlaces(D d, const unsigned char* indices) {
  const T* from = reinterpret_cast<const T*>(indices);
  if constexpr (sizeof(T) == 8) {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, static_cast<int32_t>(LoadElement<T>(indices)));
#else
#if HWY_HAVE_SCALABLE
    // ConcatEven() of Highway 1.0.3 takes the lanes of full vectors (SVE of 256 bits).
    using Full = hn::ScalableTag<int32_t>;
    if constexpr (!std::is_same_v<D, Full>) {
      const hn::Rebind<uint64_t, D> d_wide;
      const auto wide = hn::LoadU(d_wide, reinterpret_cast<const uint64_t*>(from));
      return hn::BitCast(d, hn::TruncateTo(hn::Rebind<uint32_t, D>(), wide));
    }
#endif
    // Takes the low halves of the 64-bit lanes of two vectors.
    const hn::Repartition<int64_t, D> d64;
    const int64_t* pairs = reinterpret_cast<const int64_t*>(from);
    const auto lower = hn::BitCast(d, hn::LoadU(d64, pairs));
    const auto upper = hn::BitCast(d, hn::LoadU(d64, pairs + hn::Lanes(d64)));
#if STREW_BIG_ENDIAN
    return hn::ConcatOdd(d, upper, lower);
#else
    return hn::ConcatEven(d, upper, lower);
#endif
#endif
  } else if constexpr (sizeof(T) == 4) {
    return hn::BitCast(d, hn::LoadU(hn::Rebind<T, D>(), from));
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
  }
}

// Resolves contiguous indices, of which there is at least a vector. Returns the number of those
// that are done.
template <class T, class D>
HWY_INLINE int64_t ResolveVectorsOf(D d, const ResolveArguments& arguments,
                                    const unsigned char* indices, int64_t batch, int64_t columns,
                                    int32_t* offsets) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto axis_size = hn::Set(d, static_cast<int32_t>(arguments.tile.axis_size));
  const auto output_stride = hn::Set(d, static_cast<int32_t>(arguments.output_stride));
  const auto column_step = hn::Set(d, static_cast<int32_t>(arguments.batch_column_stride));
  const auto first =
      hn::Add(hn::Mul(hn::Iota(d, 0), column_step), hn::Set(d, static_cast<int32_t>(batch)));
  const auto resolve = [&](int64_t c, hn::Vec<D> lane_offset) HWY_ATTR {
    auto place = LoadPlaces<T>(d, indices + At<T>(c));
    if constexpr (std::is_signed_v<T>) {
      place = hn::Add(place, hn::And(hn::ShiftRight<31>(place), axis_size));
    }
    auto offset = hn::Add(hn::Mul(place, output_stride), lane_offset);
    if (arguments.accumulate) offset = hn::Add(offset, hn::LoadU(d, offsets + c));
    hn::StoreU(offset, d, offsets + c);
  };
  // The step after the last vector may overflow; vector arithmetic wraps.
  const auto step = hn::Mul(column_step, hn::Set(d, static_cast<int32_t>(lanes)));
  auto lane_offset = first;
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) {
    resolve(c, lane_offset);
    lane_offset = hn::Add(lane_offset, step);
  }
  if (c == columns || arguments.accumulate) return c;
  // The last vector overlaps the one before it: rows of 30 took 0.65 times the time (Zen 4).
  const int64_t last = columns - lanes;
  const auto to_last = hn::Set(d, static_cast<int32_t>(last));
  resolve(last, hn::Add(first, hn::Mul(column_step, to_last)));
  return columns;
}

// The same for any number. Rows that are shorter than a vector have vectors of four: with them,
// sums along axes of 5 and 13 by indices of 8 bits took 0.5 x the time (Zen 5).
template <class T>
HWY_INLINE int64_t ResolveVectors(const ResolveArguments& arguments, const unsigned char* indices,
                                  int64_t batch, int64_t columns, int32_t* offsets) {
  const hn::ScalableTag<int32_t> d;
  if (columns >= static_cast<int64_t>(hn::Lanes(d))) {
    return ResolveVectorsOf<T>(d, arguments, indices, batch, columns, offsets);
  }
  constexpr size_t kFew = 4;
  if constexpr (!STREW_OF_OLD_CPUS && hn::MaxLanes(d) > kFew) {
    const hn::CappedTag<int32_t, kFew> few;
    if (columns >= static_cast<int64_t>(hn::Lanes(few))) {
      return ResolveVectorsOf<T>(few, arguments, indices, batch, columns, offsets);
    }
  }
  return 0;
}

// Most indices of a block of short rows, and the longest such row. Compared with rows one by one,
// sums by strided int64 in rows of 6 to 31 took 0.53 to 0.8 x the time (Zen 5).
constexpr int64_t kBlockOfRows = 128;
constexpr int64_t kLongestInBlock = kBlockOfRows / 2;

// True if several rows of strided indices go in a block.
HWY_INLINE bool ShareBlocks(const ResolveArguments& arguments) {
  const IndexTile& tile = arguments.tile;
  return tile.column_stride != 1 && tile.columns <= kLongestInBlock &&
         tile.rows * tile.columns >= kBlockOfRows && !arguments.accumulate;
}

// Copies rows, one right after the other.
template <class Unsigned>
HWY_INLINE void BringRowsTogether(const IndexTile& tile, int64_t first, int64_t rows,
                                  Unsigned* HWY_RESTRICT together) {
  const int64_t step = At<Unsigned>(tile.column_stride);
  if (tile.row_stride == tile.columns * tile.column_stride) {
    return BringTogether<Unsigned>(tile.indices + At<Unsigned>(first * tile.row_stride),
                                   tile.column_stride, rows * tile.columns, together);
  }
  for (int64_t r = first; r < first + rows; ++r) {
    const unsigned char* index = tile.indices + At<Unsigned>(r * tile.row_stride);
    for (int64_t c = 0; c < tile.columns; ++c, index += step) {
      *together++ = LoadElement<Unsigned>(index);
    }
  }
}

// The offsets of the batches of some rows.
HWY_INLINE void LocateBatches(const ResolveArguments& arguments, int64_t rows, int32_t* batches) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < arguments.tile.columns; ++c) {
      *batches++ =
          static_cast<int32_t>(r * arguments.batch_row_stride + c * arguments.batch_column_stride);
    }
  }
}

// Resolves rows of strided indices in blocks of several.
template <class T>
HWY_NOINLINE void ResolveBlocks(const ResolveArguments& arguments) {
  using Unsigned = std::make_unsigned_t<T>;
  const IndexTile& tile = arguments.tile;
  const hn::ScalableTag<int32_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t block = kBlockOfRows / tile.columns;
  HWY_ALIGN Unsigned together[kBlockOfRows];
  const auto* const indices = reinterpret_cast<const unsigned char*>(together);
  HWY_ALIGN int32_t batches[kBlockOfRows];
  LocateBatches(arguments, block, batches);
  const auto axis_size = hn::Set(d, static_cast<int32_t>(tile.axis_size));
  const auto output_stride = hn::Set(d, static_cast<int32_t>(arguments.output_stride));
  int32_t* offsets = static_cast<int32_t*>(arguments.offsets);
  for (int64_t r = 0; r < tile.rows; r += block) {
    const int64_t rows = std::min(block, tile.rows - r), n = rows * tile.columns;
    BringRowsTogether(tile, r, rows, together);
    const auto batch = hn::Set(d, static_cast<int32_t>(r * arguments.batch_row_stride));
    int64_t i = ForEachVector(n, lanes, [&](int64_t at) HWY_ATTR {
      auto place = LoadPlaces<T>(d, indices + At<T>(at));
      place = hn::Add(place, hn::And(hn::ShiftRight<31>(place), axis_size));
      const auto of_batch = hn::Add(hn::LoadU(d, batches + at), batch);
      hn::StoreU(hn::Add(hn::Mul(place, output_stride), of_batch), d, offsets + at);
    });
    for (; i < n; ++i) {
      const int64_t place = PlaceOf<T>(indices + At<T>(i), tile.axis_size);
      offsets[i] = static_cast<int32_t>(place * arguments.output_stride + batches[i] +
                                        r * arguments.batch_row_stride);
    }
    offsets += n;
  }
}

template <class T, class Offset>
void Resolve(const ResolveArguments& arguments) {
  const IndexTile& tile = arguments.tile;
  if constexpr (std::is_same_v<Offset, int32_t>) {
    // Not on older CPUs, to keep the library small.
    if constexpr (kGoInBlocks<T> && !STREW_OF_OLD_CPUS) {
      if (ShareBlocks(arguments)) return ResolveBlocks<T>(arguments);
    }
  }
  Offset* offsets = static_cast<Offset*>(arguments.offsets);
  for (int64_t r = 0; r < tile.rows; ++r) {
    const unsigned char* indices = tile.indices + At<T>(r * tile.row_stride);
    const int64_t batch = r * arguments.batch_row_stride;
    int64_t done = 0;
    if constexpr (std::is_same_v<Offset, int32_t>) {
      if (tile.column_stride == 1) {
        done = ResolveVectors<T>(arguments, indices, batch, tile.columns, offsets);
      } else if (GoesInBlocks<T>(tile)) {
        const auto resolve = [=, &arguments](const unsigned char* from, int64_t c, int64_t n)
                                 HWY_ATTR {
                                   const int64_t at = batch + c * arguments.batch_column_stride;
                                   return ResolveVectors<T>(arguments, from, at, n, offsets + c);
                                 };
        done = ForEachBlock<T>(tile, indices, resolve);
      }
    }
    ResolveEach<T, Offset>(arguments, indices, batch, done, offsets);
    offsets += tile.columns;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
