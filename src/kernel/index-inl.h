// SPDX-License-Identifier: Apache-2.0
// Kernels that read indices: they clamp or drop them, and convert them to offsets.
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

#include "base/compiler.h"
#include "kernel/constant_rows-inl.h"
#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/offset-inl.h"
#include "kernel/range-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- Out-of-range indices ----

// Calls step(i) for vectors that cover n elements, of which the last may overlap the one before it.
// Returns the number of elements that are done: n, or 0 if they are fewer than a vector.
template <class Step>
HWY_INLINE int64_t ForEachVector(int64_t n, int64_t lanes, const Step& step) {
  if (n < lanes) return 0;
  for (int64_t i = 0; i + lanes < n; i += lanes) step(i);
  step(n - lanes);
  return n;
}

// Calls work(indices, column, n) for blocks of strided indices, which are packed first. Blocks are
// short to save stack space. `work` returns the number of indices that are done; after a block in
// which some are not, there is no other. Returns the number of columns that are done. Not inline,
// so that rows of contiguous indices need no stack. Tuples with one of 8 dropped took 0.67 times
// the time (Zen 4).
template <class T, class Work>
HWY_NOINLINE int64_t ForEachBlock(const IndexTile& tile, const unsigned char* row,
                                  const Work& work) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int64_t kBlock = 64;
  HWY_ALIGN Unsigned together[kBlock];
  for (int64_t c = 0; c < tile.columns; c += kBlock) {
    const int64_t n = std::min(kBlock, tile.columns - c);
    BringTogether<Unsigned>(row + At<T>(c * tile.column_stride), tile.column_stride, n, together);
    const int64_t done = work(reinterpret_cast<const unsigned char*>(together), c, n);
    if (done < n) return c + done;
  }
  return tile.columns;
}

// True if strided indices go in blocks. Those of other dtypes are too rare.
template <class T>
HWY_INLINE bool GoesInBlocks(const IndexTile& tile) {
  constexpr bool kIsCommon = std::is_signed_v<T> && sizeof(T) >= 4;
  return kIsCommon && tile.columns >= kLeastTogether;
}

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

// ---- Offsets ----

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

template <class T, class Offset>
void Resolve(const ResolveArguments& arguments) {
  const IndexTile& tile = arguments.tile;
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
