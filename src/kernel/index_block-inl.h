// SPDX-License-Identifier: Apache-2.0
// Strided indices are packed into blocks, from which they are read as vectors.
#if defined(STREW_KERNEL_INDEX_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_INDEX_BLOCK_INL_H_
#undef STREW_KERNEL_INDEX_BLOCK_INL_H_
#else
#define STREW_KERNEL_INDEX_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/masks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Packs strided indices into a block, from which they are read as vectors: checking and resolving
// every second int64 took 0.3 ns for each, one by one 0.6 ns (Zen 4). It is used with unsigned
// types only, and not inline, so that few functions are compiled.
//
// Shorter rows are faster one by one: rows of 3 indices took 1.7 x the time with blocks.
constexpr int64_t kLeastTogether = 16;

#if STREW_MASKED_LOADS

// Packs every second index, as far as these fill vectors, and loads no others. Returns the number
// of packed ones. Calls with 20,000 and 200,000 updates took 0.8 to 0.94 x the time (Zen 4).
template <class T>
HWY_INLINE int64_t BringEvenTogether(const unsigned char* indices, int64_t n,
                                     T* HWY_RESTRICT together) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto even = EvenLanes(d);
  const auto load = [&](int64_t i) HWY_ATTR {
    return hn::MaskedLoad(even, d, reinterpret_cast<const T*>(indices + At<T>(i)));
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::ConcatEven(d, load(2 * i + lanes), load(2 * i)), d, together + i);
  }
  return i;
}

#endif

template <class T, class To>
HWY_NOINLINE void BringTogether(const unsigned char* indices, int64_t stride, int64_t n,
                                To* HWY_RESTRICT together) {
  const int64_t step = At<T>(stride);
  int64_t i = 0;
#if STREW_MASKED_LOADS
  if constexpr (std::is_same_v<T, To> && sizeof(T) >= 4) {
    if (stride == 2) i = BringEvenTogether(indices, n, together);
    indices += i * step;
  }
#endif
  for (; i + 4 <= n; i += 4, indices += 4 * step) {
    together[i] = static_cast<To>(LoadElement<T>(indices));
    together[i + 1] = static_cast<To>(LoadElement<T>(indices + step));
    together[i + 2] = static_cast<To>(LoadElement<T>(indices + 2 * step));
    together[i + 3] = static_cast<To>(LoadElement<T>(indices + 3 * step));
  }
  for (; i < n; ++i, indices += step) together[i] = static_cast<To>(LoadElement<T>(indices));
}

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
  constexpr int64_t kBlock = 128;
  HWY_ALIGN Unsigned together[kBlock];
  for (int64_t c = 0; c < tile.columns; c += kBlock) {
    const int64_t n = std::min(kBlock, tile.columns - c);
    BringTogether<Unsigned>(row + At<T>(c * tile.column_stride), tile.column_stride, n, together);
    const int64_t done = work(reinterpret_cast<const unsigned char*>(together), c, n);
    if (done < n) return c + done;
  }
  return tile.columns;
}

// Indices of other dtypes are too rare to go in blocks.
template <class T>
constexpr bool kGoInBlocks = std::is_signed_v<T> && sizeof(T) >= 4;

// True if strided indices go in blocks.
template <class T>
HWY_INLINE bool GoesInBlocks(const IndexTile& tile) {
  return kGoInBlocks<T> && tile.columns >= kLeastTogether;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
