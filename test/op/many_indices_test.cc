// SPDX-License-Identifier: Apache-2.0
//
// Indices that are checked in several parts, and equal ones, of which most are only compared.
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kAxis = 10;

class ManyIndices : public testing::TestWithParam<int64_t> {
 protected:
  static size_t size() { return static_cast<size_t>(GetParam()); }

  // Places at which something may begin or end: rows that are compared, vectors, parts.
  static std::vector<size_t> Places() {
    std::vector<size_t> places = {0, 1, size() / 2, size() - 2, size() - 1};
    for (const size_t place : {511u, 512u, 513u, 8191u, 8192u, 16384u}) {
      if (place < size()) places.push_back(place);
    }
    return places;
  }

  strew_status Add(std::vector<int64_t> indices) {
    std::vector<float> updates(size(), 1);
    const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor({kAxis}), data_.data());
    const Tensor index = MakeTensor(STREW_INT64, RowMajor({GetParam()}), indices.data());
    const Tensor update = MakeTensor(STREW_FLOAT32, RowMajor({GetParam()}), updates.data());
    return strew_scatter_elements(context_.get(), data.get(), index.get(), update.get(), 0,
                                  STREW_ADD, data.get());
  }

  // One of two axes is longer, so that an index may be good for one of them only.
  strew_status AddAt(std::vector<int64_t> tuples) {
    std::vector<float> updates(size(), 1);
    const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor({2, kAxis / 2}), data_.data());
    const Tensor index = MakeTensor(STREW_INT64, RowMajor({GetParam(), 2}), tuples.data());
    const Tensor update = MakeTensor(STREW_FLOAT32, RowMajor({GetParam()}), updates.data());
    return strew_scatter_nd(context_.get(), data.get(), index.get(), update.get(), STREW_ADD,
                            data.get());
  }

  void ExpectRefusal(strew_status status, size_t place) {
    EXPECT_EQ(status, STREW_INDEX_OUT_OF_RANGE);
    EXPECT_EQ(strew_context_error_position(context_.get()), static_cast<int64_t>(place));
    EXPECT_EQ(data_, std::vector<float>(kAxis)) << "something was written";
  }

  Context context_ = MakeContext();
  std::vector<float> data_ = std::vector<float>(kAxis);
};

INSTANTIATE_TEST_SUITE_P(Sizes, ManyIndices, testing::Values(100, 1000, 5000, 20000, 100000));

TEST_P(ManyIndices, OneBadOneIsFoundAnywhere) {
  std::vector<int64_t> indices(size());
  std::iota(indices.begin(), indices.end(), 0);
  for (int64_t& index : indices) index = index % (2 * kAxis) - kAxis;
  for (const size_t place : Places()) {
    for (const int64_t bad : {kAxis, -kAxis - 1, INT64_MAX, INT64_MIN}) {
      const int64_t good = std::exchange(indices[place], bad);
      ExpectRefusal(Add(indices), place);
      indices[place] = good;
    }
  }
}

TEST_P(ManyIndices, OneBadOneIsFoundAmongEqualOnes) {
  for (const int64_t equal : {int64_t{3}, -kAxis, kAxis - 1}) {
    std::vector<int64_t> indices(size(), equal);
    for (const size_t place : Places()) {
      for (const int64_t bad : {kAxis, -kAxis - 1}) {
        indices[place] = bad;
        ExpectRefusal(Add(indices), place);
        indices[place] = equal;
      }
    }
  }
}

TEST_P(ManyIndices, EqualOnesMayAllBeBad) {
  for (const int64_t equal : {kAxis, -kAxis - 1}) {
    ExpectRefusal(Add(std::vector<int64_t>(size(), equal)), 0);
  }
}

TEST_P(ManyIndices, OneThatDiffersFromTheOthersIsTaken) {
  for (const size_t place : Places()) {
    std::vector<int64_t> indices(size(), -4);
    indices[place] = 2;
    data_.assign(kAxis, 0);
    EXPECT_EQ(Add(indices), STREW_OK);
    std::vector<float> expected(kAxis);
    expected[kAxis - 4] = static_cast<float>(size() - 1);
    expected[2] = 1;
    EXPECT_EQ(data_, expected) << place;
  }
}

// All others are not negative, so that they could be offsets as they are.
TEST_P(ManyIndices, OnlyTheFirstOnesMayBeNegative) {
  for (const size_t count : Places()) {
    std::vector<int64_t> indices(size(), -1);
    std::vector<float> expected(kAxis);
    expected[kAxis - 1] = static_cast<float>(count);
    for (size_t i = count; i < size(); ++i) {
      indices[i] = static_cast<int64_t>(i % kAxis);
      expected[i % kAxis] += 1;
    }
    data_.assign(kAxis, 0);
    EXPECT_EQ(Add(indices), STREW_OK);
    EXPECT_EQ(data_, expected) << count;
  }
}

TEST_P(ManyIndices, PartsMayHaveOneIndexEach) {
  std::vector<int64_t> indices(size());
  std::vector<float> expected(kAxis);
  for (size_t i = 0; i < size(); ++i) {
    indices[i] = static_cast<int64_t>(i * kAxis / size());
    expected[static_cast<size_t>(indices[i])] += 1;
  }
  EXPECT_EQ(Add(indices), STREW_OK);
  EXPECT_EQ(data_, expected);
}

TEST_P(ManyIndices, EachNumberOfATupleHasItsAxis) {
  std::vector<int64_t> tuples(2 * size(), 1);
  for (const size_t place : Places()) {
    for (const size_t component : {0, 1}) {
      const size_t at = 2 * place + component;
      tuples[at] = component == 0 ? 2 : kAxis / 2;
      ExpectRefusal(AddAt(tuples), at);
      tuples[at] = 1;
    }
    tuples[2 * place + 1] = kAxis / 2 - 1;
    data_.assign(kAxis, 0);
    EXPECT_EQ(AddAt(tuples), STREW_OK);
    EXPECT_EQ(data_[kAxis / 2 + 1], static_cast<float>(size() - 1));
    EXPECT_EQ(data_[kAxis - 1], 1);
    data_.assign(kAxis, 0);
    tuples[2 * place + 1] = 1;
  }
}

// ---- Layouts ------------------------------------------------------------------------------------

// A call whose indices have any strides. What lies between and behind them is no index.
class LayoutsOfIndices : public testing::Test {
 protected:
  static constexpr int32_t kNone = 1000;

  strew_status AddTuples(std::vector<int32_t> numbers, const Layout& layout) {
    const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor({kAxis, kAxis}), data_.data());
    const Tensor index = MakeTensor(STREW_INT32, layout, numbers.data());
    const Dims tuples(layout.shape.begin(), layout.shape.end() - 1);
    const Tensor update = MakeTensor(STREW_FLOAT32, {tuples, Dims(tuples.size(), 0)}, &one_);
    return strew_scatter_nd(context_.get(), data.get(), index.get(), update.get(), STREW_ADD,
                            data.get());
  }

  strew_status AddRows(std::vector<int32_t> numbers, const Layout& layout) {
    const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor({kAxis, kAxis}), data_.data());
    const Tensor index = MakeTensor(STREW_INT32, layout, numbers.data());
    const Tensor update = MakeTensor(STREW_FLOAT32, {layout.shape, {0, 0}}, &one_);
    return strew_scatter_elements(context_.get(), data.get(), index.get(), update.get(), 0,
                                  STREW_ADD, data.get());
  }

  Context context_ = MakeContext();
  std::vector<float> data_ = std::vector<float>(kAxis * kAxis);
  float one_ = 1;
};

// Each tuple begins with the last number of the one before it.
TEST_F(LayoutsOfIndices, TuplesMayOverlap) {
  std::vector<int32_t> chain(101);
  for (size_t i = 0; i < chain.size(); ++i) chain[i] = static_cast<int32_t>(i % kAxis);
  chain.insert(chain.end(), 100, kNone);
  EXPECT_EQ(AddTuples(chain, {{100, 2}, {1, 1}}), STREW_OK) << strew_context_error(context_.get());
  for (size_t i = 0; i < kAxis; ++i) EXPECT_EQ(data_[i * kAxis + (i + 1) % kAxis], 10);
  chain[100] = kAxis;
  EXPECT_EQ(AddTuples(chain, {{100, 2}, {1, 1}}), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(strew_context_error_position(context_.get()), 199);
}

TEST_F(LayoutsOfIndices, TuplesMayOverlapInTwoDims) {
  std::vector<int32_t> numbers(2 * 50 + 50, 1);
  const Layout layout = {{50, 50, 2}, {2, 1, 1}};
  EXPECT_EQ(AddTuples(numbers, layout), STREW_OK);
  EXPECT_EQ(data_[kAxis + 1], 2500);
  numbers[2 * 49 + 50] = kAxis;
  EXPECT_EQ(AddTuples(numbers, layout), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(strew_context_error_position(context_.get()), 50 * 50 * 2 - 1);
}

TEST_F(LayoutsOfIndices, TuplesMayLieApart) {
  std::vector<int32_t> numbers(5 * 100, kNone);
  const Layout layout = {{100, 2}, {5, 3}};
  for (size_t i = 0; i < 100; ++i) numbers[5 * i] = numbers[5 * i + 3] = 1;
  EXPECT_EQ(AddTuples(numbers, layout), STREW_OK) << strew_context_error(context_.get());
  EXPECT_EQ(data_[kAxis + 1], 100);
  numbers[5 * 99 + 3] = -kAxis - 1;
  EXPECT_EQ(AddTuples(numbers, layout), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(strew_context_error_position(context_.get()), 199);
}

// Rows of so few columns are checked together.
TEST_F(LayoutsOfIndices, ColumnsMayLieApart) {
  for (const int64_t columns : {1, 2, 3, 4}) {
    const Layout layout = {{100, columns}, {10, 2}};
    const auto last = static_cast<size_t>(10 * 99 + 2 * (columns - 1));
    std::vector<int32_t> numbers(1000, kNone);
    for (size_t i = 0; i < 100; ++i) {
      for (size_t c = 0; c < static_cast<size_t>(columns); ++c) numbers[10 * i + 2 * c] = 1;
    }
    data_.assign(kAxis * kAxis, 0);
    EXPECT_EQ(AddRows(numbers, layout), STREW_OK) << strew_context_error(context_.get());
    EXPECT_EQ(data_[kAxis + static_cast<size_t>(columns) - 1], 100);
    numbers[last] = kAxis;
    EXPECT_EQ(AddRows(numbers, layout), STREW_INDEX_OUT_OF_RANGE);
    EXPECT_EQ(strew_context_error_position(context_.get()), 100 * columns - 1);
  }
}

}  // namespace
}  // namespace strew_test
