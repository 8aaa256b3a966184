// SPDX-License-Identifier: Apache-2.0
//
// Shuffles of short rows, on every SIMD target: rows of 1 to 20 elements, from any columns of rows
// of 1 to 20, of which nothing else is read or written.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/target.h"
#include "reference/random.h"

namespace strew {
namespace {

using reference::Random;

class ShuffleOf : public testing::TestWithParam<int32_t> {
 protected:
  // Returns the number of rows that were gathered.
  static int64_t Expect(kernel::ShuffleKernel shuffle, Random& random, int64_t size, int64_t rows,
                        int64_t row, int64_t n) {
    // Exactly as large as the rows, so that a sanitizer sees any access beyond them.
    std::vector<unsigned char> source(static_cast<size_t>(rows * row * size));
    for (unsigned char& byte : source) byte = static_cast<unsigned char>(random.Between(0, 255));
    std::vector<unsigned char> output(static_cast<size_t>(rows * n * size), kKept);
    std::vector<int32_t> columns;
    for (int64_t c = 0; c < n; ++c)
      columns.push_back(static_cast<int32_t>(random.Between(0, row - 1)));
    const int64_t done =
        shuffle({output.data(), source.data(), size, rows, row, columns.data(), n});
    EXPECT_GE(done, 0);
    EXPECT_LE(done, rows);
    std::vector<unsigned char> expected(output.size(), kKept);
    for (int64_t r = 0; r < done; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        std::memcpy(expected.data() + (r * n + c) * size,
                    source.data() + (r * row + columns[static_cast<size_t>(c)]) * size,
                    static_cast<size_t>(size));
      }
    }
    EXPECT_EQ(output, expected) << size << ", " << rows << " x " << row << ", " << n;
    return done;
  }

  static constexpr unsigned char kKept = 0xA5;
};

INSTANTIATE_TEST_SUITE_P(EveryTarget, ShuffleOf, testing::Range(0, kernel::TargetCount()));

TEST_P(ShuffleOf, AnyColumnsOfAnyRows) {
  const kernel::ShuffleKernel shuffle = kernel::ShuffleKernelFor(GetParam());
  if (shuffle == nullptr) GTEST_SKIP() << "this target has no vectors";
  Random random(17);
  for (const int64_t size : {4, 8, 12, 16}) {
    for (int64_t row = 1; row <= 20; ++row) {
      for (int64_t n = 1; n <= 20; ++n) {
        for (const int64_t rows : {1, 2, 100}) Expect(shuffle, random, size, rows, row, n);
      }
    }
  }
}

// All but the last rows, after which a vector would read elements beyond them.
TEST_P(ShuffleOf, MostRowsOfAFewElements) {
  const kernel::ShuffleKernel shuffle = kernel::ShuffleKernelFor(GetParam());
  if (shuffle == nullptr) GTEST_SKIP() << "this target has no vectors";
  Random random(19);
  for (const int64_t n : {1, 2, 3, 4}) EXPECT_GT(Expect(shuffle, random, 4, 1000, n, n), 700) << n;
}

}  // namespace
}  // namespace strew
