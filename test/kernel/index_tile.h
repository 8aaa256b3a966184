// SPDX-License-Identifier: Apache-2.0
// Tiles of indices of every kind, for tests of the kernels that read them.
#ifndef STREW_TEST_KERNEL_INDEX_TILE_H_
#define STREW_TEST_KERNEL_INDEX_TILE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernel/index_kernels.h"

namespace strew::kernel {

inline constexpr int64_t kAxis = 100;  // kAxis and -kAxis - 1 fit int8_t

// Indices of a tile, with -1 in the gaps between them: no check may read these.
template <class T>
class Indices {
 public:
  Indices(int64_t rows, int64_t columns, int64_t column_stride, int64_t gap)
      : tile_{nullptr, rows, columns * column_stride + gap, columns, column_stride, kAxis},
        numbers_(static_cast<size_t>(rows * tile_.row_stride), static_cast<T>(-1)) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) At(r, c) = static_cast<T>((7 * r + c) % kAxis);
    }
    tile_.indices = reinterpret_cast<const unsigned char*>(numbers_.data());
  }

  T& At(int64_t row, int64_t column) {
    return numbers_[static_cast<size_t>(row * tile_.row_stride + column * tile_.column_stride)];
  }
  const IndexTile& tile() const { return tile_; }

 private:
  IndexTile tile_;
  std::vector<T> numbers_;
};

// Calls body(indices) for tiles of every kind.
template <class T, class Body>
void ForEachTile(const Body& body) {
  const auto one = [&](int64_t rows, int64_t columns, int64_t stride, int64_t gap) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", stride " << stride << ", gap "
                                    << gap << ", " << sizeof(T) << " bytes");
    Indices<T> indices(rows, columns, stride, gap);
    body(&indices);
  };
  for (const int64_t rows : {1, 2, 5, 40}) {
    for (const int64_t columns : {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 40, 70}) {
      for (const int64_t stride : {1, 2}) {
        for (const int64_t gap : {0, 3}) one(rows, columns, stride, gap);
      }
    }
  }
}

}  // namespace strew::kernel

#endif  // STREW_TEST_KERNEL_INDEX_TILE_H_
