// SPDX-License-Identifier: Apache-2.0
// Boxes of moves that are transposes: rows of the output are columns of the updates.
#if defined(STREW_KERNEL_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_TRANSPOSE_INL_H_
#undef STREW_KERNEL_TRANSPOSE_INL_H_
#else
#define STREW_KERNEL_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/cache_size.h"
#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/strided-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// There are no arrays of scalable vectors.
#undef STREW_TRANSPOSES
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
#define STREW_TRANSPOSES 0
#else
#define STREW_TRANSPOSES 1
#endif

#if STREW_TRANSPOSES

// Distances between rows of the output and between columns of the updates, in elements.
struct Steps {
  int64_t output;
  int64_t updates;
};

// Loads vectors of kSide elements of updates, kSide columns apart, side by side.
template <int64_t kSide, class D>
HWY_INLINE hn::Vec<D> LoadApart(D d, const hn::TFromD<D>* updates, int64_t step) {
  constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  if constexpr (kLanes == kSide) {
    return hn::LoadU(d, updates);
  } else {
    const hn::Half<D> half;
    const auto lower = LoadApart<kSide>(half, updates, step);
    return hn::Combine(d, LoadApart<kSide>(half, updates + kLanes / 2 * step, step), lower);
  }
}

// Interleaves vectors with those half of all vectors behind them. If that is done as often as
// kSide can be halved, all squares of kSide by kSide elements are transposed.
template <int64_t kSide, int64_t kTurns, class D>
HWY_INLINE void InterleaveHalves(D d, hn::Vec<D>* vectors) {
  if constexpr (kTurns > 1) {
    hn::Vec<D> interleaved[kSide];
    for (int64_t i = 0; i < kSide / 2; ++i) {
      interleaved[2 * i] = hn::InterleaveLower(d, vectors[i], vectors[i + kSide / 2]);
      interleaved[2 * i + 1] = hn::InterleaveUpper(d, vectors[i], vectors[i + kSide / 2]);
    }
    InterleaveHalves<kSide, kTurns / 2>(d, interleaved);
    std::copy_n(interleaved, kSide, vectors);
  }
}

// Moves kSide rows of one vector each.
template <int64_t kSide, class D>
HWY_INLINE void MoveSquares(D d, hn::TFromD<D>* output, const hn::TFromD<D>* updates,
                            const Steps& step) {
  hn::Vec<D> vectors[kSide];
  for (int64_t i = 0; i < kSide; ++i) {
    vectors[i] = LoadApart<kSide>(d, updates + i * step.updates, step.updates);
  }
  InterleaveHalves<kSide, kSide>(d, vectors);
  for (int64_t i = 0; i < kSide; ++i) hn::StoreU(vectors[i], d, output + i * step.output);
}

// Moves a tile by vectors of at most kBytes, and what is left over by shorter ones.
template <class T, int64_t kBytes>
HWY_NOINLINE void MoveTile(T* output, const T* updates, const Steps& step, int64_t rows,
                           int64_t columns) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));
  if constexpr (kBytes <= kSize) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        CombineElement<T, Move<T>>(
            reinterpret_cast<unsigned char*>(output + r * step.output + c),
            reinterpret_cast<const unsigned char*>(updates + r + c * step.updates));
      }
    }
  } else {
    const hn::CappedTag<T, kBytes / kSize> d;
    constexpr int64_t kColumns = static_cast<int64_t>(hn::MaxLanes(d));
    constexpr int64_t kSide = std::min<int64_t>(kColumns, 16 / kSize);
    const int64_t whole_rows = rows / kSide * kSide;
    const int64_t whole = columns / kColumns * kColumns;
    for (int64_t c = 0; c < whole; c += kColumns) {
      for (int64_t r = 0; r < whole_rows; r += kSide) {
        MoveSquares<kSide>(d, output + r * step.output + c, updates + r + c * step.updates, step);
      }
    }
    constexpr int64_t kNext = kBytes > 16 ? 16 : kBytes > 8 ? 8 : kSize;
    if (whole < columns && whole_rows > 0) {
      MoveTile<T, kNext>(output + whole, updates + whole * step.updates, step, whole_rows,
                         columns - whole);
    }
    if (whole_rows < rows) {
      MoveTile<T, kNext>(output + whole_rows * step.output, updates + whole_rows, step,
                         rows - whole_rows, columns);
    }
  }
}

// A row of a tile is one cache line in both operands. These lines stay in the L1 cache until the
// tile is complete, even if all of them fall into the same set; so do few whole columns of updates.
template <class T>
bool Transpose(const BoxArguments& box) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kTile = kCacheLine / kSize;
  constexpr int64_t kFewLines = 4;
  constexpr int64_t kMostBytes = 32;  // vectors of 64 bytes took 1.0 to 1.8 x the time
  if (box.output_stride != 1 || box.updates_row_stride != 1) return false;
  if (std::min(box.rows, box.run) < LeastTransposed(kSize) / kSize) return false;
  const Steps step = {box.output_row_stride, box.updates_stride};
  T* const output = reinterpret_cast<T*>(box.output);
  const T* const updates = reinterpret_cast<const T*>(box.updates);
  const int64_t height = box.rows <= kFewLines * kTile ? box.rows : kTile;
  for (int64_t r = 0; r < box.rows; r += height) {
    for (int64_t c = 0; c < box.run; c += kTile) {
      MoveTile<T, kMostBytes>(output + r * step.output + c, updates + r + c * step.updates, step,
                              std::min(height, box.rows - r), std::min(kTile, box.run - c));
    }
  }
  return true;
}

#endif

// NULL if elements of this width are moved one by one. Copies of 300 x 200 to 5000 x 3000 elements
// took 0.06 to 0.4 x the time of the other loops for int8, 0.09 to 0.6 x for int16, and for float32
// 0.2 to 1.15 x (Emerald Rapids), for elements of 8 bytes 0.35 to 0.9 x (Zen 5).
template <class T>
constexpr TransposeKernel TransposeKernelOf() {
#if STREW_TRANSPOSES
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 8 && !STREW_OF_OLD_CPUS) return Transpose<T>;
#endif
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
