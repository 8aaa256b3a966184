// SPDX-License-Identifier: Apache-2.0
//
// What the library remembers of a descriptor beside its arguments.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "api/tensor.h"
#include "reference/handles.h"

namespace strew_test {
namespace {

using Dims = std::vector<int64_t>;

strew::TensorView Describe(const Dims& shape, const Dims& strides) {
  static float memory[4096];
  strew::TensorView view;
  const auto rank = static_cast<int32_t>(shape.size());
  EXPECT_TRUE(
      strew::DescribeTensor(STREW_FLOAT32, rank, shape.data(), strides.data(), memory, &view).ok());
  return view;
}

TEST(TensorView, IsContiguousWhateverTheStridesOfSingleElements) {
  EXPECT_TRUE(Describe({2, 3, 4}, {12, 4, 1}).contiguous);
  EXPECT_TRUE(Describe({1, 3, 4}, {-7, 4, 1}).contiguous);
  EXPECT_TRUE(Describe({3, 1, 4}, {4, 99, 1}).contiguous);
  EXPECT_TRUE(Describe({3, 4, 1}, {4, 1, 0}).contiguous);
  EXPECT_TRUE(Describe({1, 1}, {5, 5}).contiguous);
  EXPECT_TRUE(Describe({}, {}).contiguous);
  EXPECT_FALSE(Describe({3, 4}, {5, 1}).contiguous);
  EXPECT_FALSE(Describe({3, 4}, {1, 3}).contiguous);
  EXPECT_FALSE(Describe({4}, {2}).contiguous);
  EXPECT_FALSE(Describe({4}, {-1}).contiguous);
  EXPECT_FALSE(Describe({2}, {0}).contiguous);
}

TEST(TensorView, ReachesFromItsLowestByteToBehindItsHighest) {
  const strew::TensorView forward = Describe({2, 3}, {10, 2});
  EXPECT_EQ(forward.lowest, 0);
  EXPECT_EQ(forward.highest, 4 * (10 + 4 + 1));
  const strew::TensorView backward = Describe({2, 3}, {-10, 2});
  EXPECT_EQ(backward.lowest, -40);
  EXPECT_EQ(backward.highest, 4 * (4 + 1));
}

TEST(TensorView, OfNoElementsHasNoBytesAndNoFaults) {
  for (const Dims& strides : {Dims{0, 0}, Dims{5, -7}, Dims{1, 3}}) {
    const strew::TensorView view = Describe({3, 0}, strides);
    EXPECT_EQ(view.size, 0);
    EXPECT_EQ(view.lowest, 0);
    EXPECT_EQ(view.highest, 0);
    EXPECT_TRUE(view.injective);
    EXPECT_TRUE(view.contiguous);
    EXPECT_FALSE(view.read_only);
    for (const int dim : {0, 1}) EXPECT_EQ(StrideOf(view, dim), 0);
  }
}

TEST(TensorView, OfOneElementHasItsBytes) {
  for (const Dims& strides : {Dims{0, 0}, Dims{5, -7}, Dims{1, 3}}) {
    const strew::TensorView view = Describe({1, 1}, strides);
    EXPECT_EQ(view.size, 1);
    EXPECT_EQ(view.lowest, 0);
    EXPECT_EQ(view.highest, 4);
    for (const int dim : {0, 1}) EXPECT_EQ(StrideOf(view, dim), 0);
  }
}

TEST(TensorView, IsInjectiveUnlessElementsMayShareMemory) {
  EXPECT_TRUE(Describe({2, 3}, {3, 1}).injective);
  EXPECT_TRUE(Describe({2, 3}, {1, 2}).injective);
  EXPECT_TRUE(Describe({1, 3}, {0, 1}).injective);
  EXPECT_FALSE(Describe({2, 3}, {2, 1}).injective);
  EXPECT_FALSE(Describe({2, 3}, {0, 1}).injective);
}

}  // namespace
}  // namespace strew_test
