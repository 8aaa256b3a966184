// SPDX-License-Identifier: Apache-2.0
//
// The kernels that turn indices into offsets, on every SIMD target: indices of either sign are
// resolved, those out of range are clamped or dropped, in rows of 1 to 70 indices with and without
// gaps, and nothing is written beyond the last row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernel/index_kernels.h"
#include "kernel/index_tile.h"
#include "kernel/kernel.h"
#include "kernel/target.h"

namespace strew {
namespace {

using kernel::IndexTile;
using kernel::Indices;
using kernel::kAxis;

constexpr size_t kMargin = 64;
constexpr int kBeyond = 77;  // the values behind the last row

template <class T>
std::vector<T> RoomFor(const IndexTile& tile, int value) {
  std::vector<T> room(static_cast<size_t>(tile.rows * tile.columns), static_cast<T>(value));
  room.resize(room.size() + kMargin, T{kBeyond});
  return room;
}

template <class T>
void ExpectNothingBeyond(const std::vector<T>& room) {
  EXPECT_EQ(std::count(room.end() - kMargin, room.end(), T{kBeyond}), kMargin);
}

// True for about one number of 5 and one of 3, in no order that vectors have.
bool IsOut(int64_t number) { return number * 7919 % 101 % 5 == 0; }
bool IsNegative(int64_t number) { return number * 6007 % 97 % 3 == 0; }

class OffsetsOfTile : public testing::TestWithParam<int32_t> {
 protected:
  template <class T>
  void ExpectResolved(strew_dtype dtype) const {
    kernel::ForEachTile<T>([&](Indices<T>* indices) {
      ExpectOffsets<T, int32_t>(dtype, kernel::kOffset32, indices);
      ExpectOffsets<T, int64_t>(dtype, kernel::kOffset64, indices);
    });
  }

  template <class T>
  void ExpectClamped(strew_dtype dtype) const {
    const kernel::ClampKernel clamp = kernel::IndexKernelsFor(dtype, GetParam()).clamp;
    kernel::ForEachTile<T>([&](Indices<T>* indices) {
      PutSomeOut(indices);
      const IndexTile& tile = indices->tile();
      for (const bool wraps : {false, true}) {
        std::vector<T> clamped = RoomFor<T>(tile, 0);
        clamp(tile, wraps, clamped.data());
        ForEachIndex(indices, [&](size_t i, T index) {
          const int64_t least = wraps && std::numeric_limits<T>::is_signed ? -kAxis : 0;
          EXPECT_EQ(clamped[i], std::clamp<T>(index, static_cast<T>(least), kAxis - 1)) << i;
        });
        ExpectNothingBeyond(clamped);
      }
    });
  }

  template <class T>
  void ExpectDropped(strew_dtype dtype) const {
    kernel::ForEachTile<T>([&](Indices<T>* indices) {
      PutSomeOut(indices);
      for (const int64_t axis_size : {int64_t{0}, kAxis}) {
        ExpectMarks<T, int32_t>(dtype, kernel::kOffset32, axis_size, indices);
        ExpectMarks<T, int64_t>(dtype, kernel::kOffset64, axis_size, indices);
      }
    });
  }

 private:
  // Calls body(i, index) for each index, numbered in row-major order.
  template <class T, class Body>
  static void ForEachIndex(Indices<T>* indices, const Body& body) {
    const IndexTile& tile = indices->tile();
    for (int64_t i = 0; i < tile.rows * tile.columns; ++i) {
      body(static_cast<size_t>(i), indices->At(i / tile.columns, i % tile.columns));
    }
  }

  template <class T>
  static void PutSomeOut(Indices<T>* indices) {
    ForEachIndex(indices, [](size_t i, T& index) {
      const int64_t number = static_cast<int64_t>(i);
      if (IsOut(number)) {
        index = IsNegative(number) ? std::numeric_limits<T>::min() : static_cast<T>(kAxis);
      } else if (IsNegative(number)) {
        index = static_cast<T>(index - kAxis);
      }
    });
  }

  template <class T, class Offset>
  void ExpectOffsets(strew_dtype dtype, kernel::OffsetWidth width, Indices<T>* indices) const {
    const IndexTile& tile = indices->tile();
    kernel::ResolveArguments arguments = {tile, 3, 1000, 11, false, nullptr};
    if (std::numeric_limits<T>::is_signed) {
      ForEachIndex(indices, [](size_t i, T& index) {
        const bool changes = index >= 0 && IsNegative(static_cast<int64_t>(i));
        if (changes) index = static_cast<T>(index - kAxis);
      });
    }
    for (const bool accumulates : {false, true}) {
      std::vector<Offset> offsets = RoomFor<Offset>(tile, 5);
      arguments.accumulate = accumulates;
      arguments.offsets = offsets.data();
      kernel::IndexKernelsFor(dtype, GetParam()).resolve[width](arguments);
      ForEachIndex(indices, [&](size_t i, T index) {
        const int64_t value = static_cast<int64_t>(index);
        const int64_t row = static_cast<int64_t>(i) / tile.columns;
        const int64_t column = static_cast<int64_t>(i) % tile.columns;
        const int64_t place = value < 0 ? value + kAxis : value;
        const int64_t expected = 3 * place + 1000 * row + 11 * column + (accumulates ? 5 : 0);
        EXPECT_EQ(offsets[i], expected) << i;
      });
      ExpectNothingBeyond(offsets);
    }
  }

  template <class T, class Offset>
  void ExpectMarks(strew_dtype dtype, kernel::OffsetWidth width, int64_t axis_size,
                   Indices<T>* indices) const {
    IndexTile tile = indices->tile();
    tile.axis_size = axis_size;
    for (const bool wraps : {false, true}) {
      std::vector<Offset> offsets = RoomFor<Offset>(tile, 5);
      kernel::IndexKernelsFor(dtype, GetParam()).drop[width](tile, wraps, offsets.data());
      ForEachIndex(indices, [&](size_t i, T index) {
        const bool is_far = !(index < static_cast<T>(kAxis)) || IsBelow(index, wraps ? kAxis : 0);
        const bool is_dropped = axis_size == 0 || is_far;
        EXPECT_EQ(offsets[i], is_dropped ? kernel::kDropped<Offset> : Offset{5}) << i;
      });
      ExpectNothingBeyond(offsets);
    }
  }

  // True if a signed index is below -n.
  template <class T>
  static bool IsBelow(T index, int64_t n) {
    return std::numeric_limits<T>::is_signed && static_cast<int64_t>(index) < -n;
  }
};

TEST_P(OffsetsOfTile, ResolveEachIndex) {
  ExpectResolved<int8_t>(STREW_INT8);
  ExpectResolved<int16_t>(STREW_INT16);
  ExpectResolved<int32_t>(STREW_INT32);
  ExpectResolved<int64_t>(STREW_INT64);
  ExpectResolved<uint8_t>(STREW_UINT8);
  ExpectResolved<uint32_t>(STREW_UINT32);
  ExpectResolved<uint64_t>(STREW_UINT64);
}

TEST_P(OffsetsOfTile, ClampEachIndex) {
  ExpectClamped<int8_t>(STREW_INT8);
  ExpectClamped<int16_t>(STREW_INT16);
  ExpectClamped<int32_t>(STREW_INT32);
  ExpectClamped<int64_t>(STREW_INT64);
  ExpectClamped<uint16_t>(STREW_UINT16);
  ExpectClamped<uint64_t>(STREW_UINT64);
}

TEST_P(OffsetsOfTile, DropEachIndexThatIsOut) {
  ExpectDropped<int8_t>(STREW_INT8);
  ExpectDropped<int16_t>(STREW_INT16);
  ExpectDropped<int32_t>(STREW_INT32);
  ExpectDropped<int64_t>(STREW_INT64);
  ExpectDropped<uint8_t>(STREW_UINT8);
  ExpectDropped<uint32_t>(STREW_UINT32);
  ExpectDropped<uint64_t>(STREW_UINT64);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, OffsetsOfTile, testing::Range(0, kernel::TargetCount()),
                         [](const auto& test) {
                           return std::string(kernel::TargetName(test.param));
                         });

}  // namespace
}  // namespace strew
