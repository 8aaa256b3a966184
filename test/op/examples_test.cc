// SPDX-License-Identifier: Apache-2.0
//
// The worked examples of ONNX ScatterElements-11 to -18 and TensorScatter-24, and of OpenVINO
// ScatterNDUpdate-3 and SliceScatter-15, as literals: for every dtype that can hold them and every
// index dtype.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "support/check.h"
#include "support/numbers.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using Numbers = std::vector<double>;

class Examples : public testing::TestWithParam<Dtype> {
 protected:
  static strew_dtype dtype() { return GetParam().code; }

  static Array Make(const Dims& shape, const Numbers& values) {
    return NumberArray(dtype(), shape, values);
  }

  // The example into a fresh output and in place.
  static void ExpectBoth(Case& c, const Numbers& output) {
    const Array expected = Make(c.data.shape(), output);
    c.output.emplace(dtype(), RowMajor(c.data.shape()));
    ExpectOutput(c, expected);
    c.output.reset();
    ExpectOutput(c, expected);
  }
};

INSTANTIATE_TEST_SUITE_P(EveryDtype, Examples, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

// ---- ONNX ScatterElements --------------------------------------------------------------------

TEST_P(Examples, ScatterElementsWithoutAxis) {
  for (const Dtype& index : IndexDtypes()) {
    Case c{Operator::kScatterElements, Make({3, 3}, Numbers(9, 0.0)),
           Make({2, 3}, {1.0, 1.1, 1.2, 2.0, 2.1, 2.2})};
    c.indices = IndexArray(index.code, {2, 3}, {1, 0, 2, 0, 2, 1});
    ExpectBoth(c, {2.0, 1.1, 0.0, 1.0, 0.0, 2.2, 0.0, 2.1, 1.2});
  }
}

class ScatterElementsExample : public Examples {
 protected:
  // data = [[1, 2, 3, 4, 5]], updates = [[1.1, 2.1]], axis = 1
  static void Expect(const Dims& indices, strew_reduction reduction, const Numbers& output) {
    for (const Dtype& index : IndexDtypes()) {
      if (!IndexFits(index.code, indices[1])) continue;
      Case c{Operator::kScatterElements, Make({1, 5}, {1, 2, 3, 4, 5}), Make({1, 2}, {1.1, 2.1})};
      c.indices = IndexArray(index.code, {1, 2}, indices);
      c.axis = 1;
      c.reduction = reduction;
      ExpectBoth(c, output);
      c.axis = -1;
      ExpectBoth(c, output);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(EveryDtype, ScatterElementsExample, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(ScatterElementsExample, WithAxis) { Expect({1, 3}, STREW_NONE, {1.0, 1.1, 3.0, 2.1, 5.0}); }

TEST_P(ScatterElementsExample, WithNegativeIndices) {
  Expect({1, -3}, STREW_NONE, {1.0, 1.1, 2.1, 4.0, 5.0});
}

// The numbers on which a reduction is defined.
std::vector<Dtype> NumbersWith(strew_reduction reduction) {
  std::vector<Dtype> numbers;
  for (const Dtype& dtype : Dtypes()) {
    const auto reductions = ReductionsOf(dtype);
    const bool defined = std::count(reductions.begin(), reductions.end(), reduction) > 0;
    if (defined && dtype.kind != Kind::kBool) numbers.push_back(dtype);
  }
  return numbers;
}

class AddExample : public ScatterElementsExample {};
INSTANTIATE_TEST_SUITE_P(EveryNumber, AddExample, testing::ValuesIn(NumbersWith(STREW_ADD)),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(AddExample, WithDuplicateIndices) { Expect({1, 1}, STREW_ADD, {1.0, 5.2, 3.0, 4.0, 5.0}); }

class ExtremumExample : public ScatterElementsExample {};
INSTANTIATE_TEST_SUITE_P(EveryNumber, ExtremumExample, testing::ValuesIn(NumbersWith(STREW_MAX)),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(ExtremumExample, WithReductionMax) { Expect({1, 1}, STREW_MAX, {1.0, 2.1, 3.0, 4.0, 5.0}); }

TEST_P(ExtremumExample, WithReductionMin) { Expect({1, 1}, STREW_MIN, {1.0, 1.1, 3.0, 4.0, 5.0}); }

// ---- OpenVINO ScatterNDUpdate ----------------------------------------------------------------

TEST_P(Examples, ScatterNdUpdatesFourSingleElements) {
  for (const Dtype& index : IndexDtypes()) {
    Case c{Operator::kScatterNd, Make({8}, {1, 2, 3, 4, 5, 6, 7, 8}), Make({4}, {9, 10, 11, 12})};
    c.indices = IndexArray(index.code, {4, 1}, {4, 3, 1, 7});
    ExpectBoth(c, {1, 11, 3, 10, 9, 6, 7, 12});
  }
}

TEST_P(Examples, ScatterNdUpdatesTwoSlices) {
  const Numbers rising = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1};
  const Numbers falling = {8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8};
  const Numbers fives = {5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8};
  const Numbers ones = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4};
  const auto join = [](std::vector<Numbers> parts) {
    Numbers all;
    for (const Numbers& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  for (const Dtype& index : IndexDtypes()) {
    Case c{Operator::kScatterNd, Make({4, 4, 4}, join({rising, rising, falling, falling})),
           Make({2, 4, 4}, join({fives, ones}))};
    c.indices = IndexArray(index.code, {2, 1}, {0, 2});
    ExpectBoth(c, join({fives, rising, ones, falling}));
  }
}

// ---- OpenVINO SliceScatter -------------------------------------------------------------------

class SliceScatterExample : public Examples {
 protected:
  // data counts up from 0.
  static void Expect(const Dims& shape, const Dims& updates_shape, const Numbers& updates,
                     const std::vector<Dims>& slice, const Numbers& output) {
    Numbers data;
    for (int64_t i = 0; i < Product(shape); ++i) data.push_back(static_cast<double>(i));
    for (const Dtype& index : IndexDtypes()) {
      if (!IndexFits(index.code, slice[0][0])) continue;
      for (const Operator op : {Operator::kSliceScatter, Operator::kSliceScatterInt64}) {
        Case c{op, Make(shape, data), Make(updates_shape, updates)};
        std::optional<Array>* const operands[] = {&c.start, &c.stop, &c.step, &c.axes};
        for (size_t i = 0; i < slice.size(); ++i) {
          const auto length = static_cast<int64_t>(slice[i].size());
          *operands[i] = IndexArray(index.code, {length}, slice[i]);
        }
        ExpectBoth(c, output);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(EveryDtype, SliceScatterExample, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(SliceScatterExample, FillsSliceOverAxis0) {
  Expect({2, 5}, {1, 5}, {10, 20, 30, 40, 50}, {{0}, {1}, {1}, {0}},
         {10, 20, 30, 40, 50, 5, 6, 7, 8, 9});
}

TEST_P(SliceScatterExample, UpdatesEverySecondValueAndClamps) {
  Expect({2, 5}, {2, 3}, {10, 20, 30, 40, 50, 60}, {{-25}, {25}, {2}, {1}},
         {10, 1, 20, 3, 30, 40, 6, 50, 8, 60});
}

TEST_P(SliceScatterExample, UpdatesEverySecondValueOverBothAxes) {
  Expect({3, 5}, {2, 2}, {50, 60, 70, 80}, {{0, 1}, {3, 5}, {2, 2}},
         {0, 50, 2, 60, 4, 5, 6, 7, 8, 9, 10, 70, 12, 80, 14});
}

// ---- ONNX TensorScatter ------------------------------------------------------------------------

class TensorScatterExample : public Examples {
 protected:
  // Rows of five equal numbers, after the four that every batch entry of past_cache begins with.
  static void Expect(const Dims& shape, const Numbers& updates, const Dims& write_indices,
                     strew_cache_mode mode, const std::vector<Numbers>& rows) {
    const Numbers past = {1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 4, 3, 2, 1, 0};
    const auto batches = static_cast<size_t>(shape.front());
    Numbers data, update, output;
    for (size_t b = 0; b < batches; ++b) data.insert(data.end(), past.begin(), past.end());
    for (const double number : updates) update.insert(update.end(), 5, number);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto old = past.begin() + static_cast<int64_t>(i % 4 * 5);
      const Numbers row = rows[i].empty() ? Numbers(old, old + 5) : Numbers(5, rows[i][0]);
      output.insert(output.end(), row.begin(), row.end());
    }
    Dims update_shape = shape;
    *(update_shape.end() - 2) = static_cast<int64_t>(updates.size() / batches);
    for (const Dtype& index : IndexDtypes()) {
      Case c{Operator::kTensorScatter, Make(shape, data), Make(update_shape, update)};
      c.indices = IndexArray(index.code, {shape.front()}, write_indices);
      c.axis = -2;
      c.mode = mode;
      ExpectBoth(c, output);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(EveryDtype, TensorScatterExample, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(TensorScatterExample, Linear) {
  Expect({2, 1, 4, 5}, {5, 1}, {1, 2}, STREW_CACHE_LINEAR, {{}, {5}, {}, {}, {}, {}, {1}, {}});
}

TEST_P(TensorScatterExample, Circular) {
  Expect({2, 1, 4, 5}, {5, 6, 1, 2}, {1, 3}, STREW_CACHE_CIRCULAR,
         {{}, {5}, {6}, {}, {2}, {}, {}, {1}});
}

TEST_P(TensorScatterExample, OfThreeDims) {
  Expect({3, 4, 5}, {4, 5, 6, 7, 2, 3}, {1, 2, 0}, STREW_CACHE_LINEAR,
         {{}, {4}, {5}, {}, {}, {}, {6}, {7}, {2}, {3}, {}, {}});
}

}  // namespace
}  // namespace strew_test
