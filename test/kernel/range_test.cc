// SPDX-License-Identifier: Apache-2.0
//
// The check of the indices of a tile, on every SIMD target: a single negative or out-of-range index
// is found in any column, in rows of 1 to 70 indices, with and without gaps between indices.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "kernel/index_kernels.h"
#include "kernel/index_tile.h"
#include "kernel/kernel.h"
#include "kernel/target.h"

namespace strew {
namespace {

using kernel::IndexRange;
using kernel::Indices;
using kernel::kAxis;

class RangeOfTile : public testing::TestWithParam<int32_t> {
 protected:
  template <class T>
  void ExpectAll(strew_dtype dtype) const {
    const kernel::CheckKernel check = kernel::IndexKernelsFor(dtype, GetParam()).check;
    kernel::ForEachTile<T>([&](Indices<T>* indices) {
      const kernel::IndexTile& tile = indices->tile();
      EXPECT_EQ(check(tile, true), kernel::kNonNegative);
      EXPECT_EQ(check(tile, false), kernel::kNonNegative);
      for (int64_t r = 0; r < tile.rows; r += tile.rows / 4 + 1) {
        for (int64_t c = 0; c < tile.columns; ++c) ExpectOne<T>(check, r, c, indices);
      }
    });
  }

 private:
  template <class T>
  static void ExpectOne(kernel::CheckKernel check, int64_t row, int64_t column,
                        Indices<T>* indices) {
    const T before = indices->At(row, column);
    const auto expect = [&](T index, IndexRange wrapped, IndexRange strict) {
      indices->At(row, column) = index;
      EXPECT_EQ(check(indices->tile(), true), wrapped) << row << ", " << column;
      EXPECT_EQ(check(indices->tile(), false), strict) << row << ", " << column;
    };
    expect(static_cast<T>(kAxis), kernel::kOutOfRange, kernel::kOutOfRange);
    expect(std::numeric_limits<T>::max(), kernel::kOutOfRange, kernel::kOutOfRange);
    expect(static_cast<T>(kAxis - 1), kernel::kNonNegative, kernel::kNonNegative);
    if (std::numeric_limits<T>::is_signed) {
      expect(static_cast<T>(-kAxis), kernel::kInRange, kernel::kOutOfRange);
      expect(static_cast<T>(-1), kernel::kInRange, kernel::kOutOfRange);
      expect(static_cast<T>(-kAxis - 1), kernel::kOutOfRange, kernel::kOutOfRange);
      expect(std::numeric_limits<T>::min(), kernel::kOutOfRange, kernel::kOutOfRange);
    }
    indices->At(row, column) = before;
  }
};

TEST_P(RangeOfTile, FindsEachBadSignedIndex) {
  ExpectAll<int8_t>(STREW_INT8);
  ExpectAll<int16_t>(STREW_INT16);
  ExpectAll<int32_t>(STREW_INT32);
  ExpectAll<int64_t>(STREW_INT64);
}

TEST_P(RangeOfTile, FindsEachBadUnsignedIndex) {
  ExpectAll<uint8_t>(STREW_UINT8);
  ExpectAll<uint16_t>(STREW_UINT16);
  ExpectAll<uint32_t>(STREW_UINT32);
  ExpectAll<uint64_t>(STREW_UINT64);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, RangeOfTile, testing::Range(0, kernel::TargetCount()),
                         [](const auto& test) {
                           return std::string(kernel::TargetName(test.param));
                         });

}  // namespace
}  // namespace strew
