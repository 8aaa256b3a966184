// SPDX-License-Identifier: Apache-2.0
//
// Slices in place whose runs are short or lie apart: rows of a few elements, in any order of the
// dims, with updates that are packed, repeated, reversed or strided first.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/random.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// Nearest first in memory; gaps behind dims, steps within, backwards or all the same.
Layout AnyLayout(Random& random, const Dims& shape, bool may_repeat) {
  std::vector<size_t> axes(shape.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
  if (random.OneIn(3)) random.Shuffle(axes);
  Layout layout{shape, Dims(shape.size())};
  int64_t stride = random.OneIn(3) ? random.Between(2, 3) : 1;
  for (const size_t axis : axes) {
    const bool repeats = may_repeat && random.OneIn(6);
    const bool backwards = random.OneIn(5);
    layout.strides[axis] = repeats ? 0 : backwards ? -stride : stride;
    if (!repeats) stride = stride * shape[axis] + (random.OneIn(3) ? random.Between(1, 5) : 0);
  }
  return layout;
}

// Many rows of a short run, with other short dims around and between.
Dims AnyShape(Random& random) {
  Dims shape = {random.Between(14, random.OneIn(3) ? 400 : 90), random.Between(1, 12)};
  if (random.OneIn(2)) shape.push_back(random.Between(1, 4));
  if (random.OneIn(4)) shape.push_back(random.Between(1, 3));
  if (random.OneIn(3)) random.Shuffle(shape);
  return shape;
}

class Boxes : public testing::TestWithParam<std::tuple<Dtype, strew_reduction>> {};

INSTANTIATE_TEST_SUITE_P(EveryPair, Boxes, testing::ValuesIn(DefinedPairs()), [](const auto& test) {
  return TestName(std::get<0>(test.param)) + "_" + NameOf(std::get<1>(test.param));
});

TEST_P(Boxes, ShortRuns) {
  const auto& [dtype, reduction] = GetParam();
  const int64_t cases = Cases(12);
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = Seed() + static_cast<uint64_t>(i);
    Random random(seed);
    const Dims shape = AnyShape(random);
    const Guard guard = random.OneIn(2) ? Guard::kBefore : Guard::kBehind;
    Case c{Operator::kSliceScatterInt64,
           RandomArray(random, dtype.code, AnyLayout(random, shape, false), guard),
           RandomArray(random, dtype.code, AnyLayout(random, shape, true), guard)};
    if (random.OneIn(3)) {
      c.output = RandomArray(random, dtype.code, AnyLayout(random, shape, false), guard);
    }
    c.SetSlice({0}, {shape[0]}, {1});
    c.reduction = reduction;
    ASSERT_TRUE(Check(c)) << "STREW_SEED=" << seed;
  }
}

class Transposes : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, Transposes, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

// Rows that are columns of the updates, of lengths around those of squares and tiles, some of them
// with gaps between the rows or with the rows backwards.
TEST_P(Transposes, OfAnySides) {
  Random random(Seed());
  constexpr int64_t kSides[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 70, 130};
  for (const int64_t rows : kSides) {
    const int64_t columns = kSides[random.Between(0, 15)];
    const int64_t step = random.OneIn(4) ? -1 : 1;
    const Layout output = {{rows, columns}, {(columns + random.Between(0, 2)) * step, 1}};
    const Layout updates = {{rows, columns}, {1, (rows + random.Between(0, 2)) * step}};
    const Guard guard = random.OneIn(2) ? Guard::kBefore : Guard::kBehind;
    Case c{Operator::kSliceScatterInt64, RandomArray(random, GetParam().code, output, guard),
           RandomArray(random, GetParam().code, updates, guard)};
    c.SetSlice({0}, {rows}, {1});
    ASSERT_TRUE(Check(c)) << rows << " x " << columns;
  }
}

// Short rows whose columns are shorter than a vector, with a loop between them whose turns lie near
// each other in the updates.
TEST_P(Transposes, OfShortColumns) {
  Random random(Seed());
  for (const int64_t turns : {63, 64, 65, 130}) {
    for (int64_t columns = 8; columns <= 17; ++columns) {
      const int64_t rows = random.Between(1, 9);
      const int64_t gap = random.Between(0, 2);
      const Layout output = {{rows, turns, columns}, {turns * (columns + gap), columns + gap, 1}};
      const int64_t step = random.OneIn(4) ? -1 : 1;
      const Layout updates = {{rows, turns, columns}, {1, rows * step, rows * turns + gap}};
      const Guard guard = random.OneIn(2) ? Guard::kBefore : Guard::kBehind;
      Case c{Operator::kSliceScatterInt64, RandomArray(random, GetParam().code, output, guard),
             RandomArray(random, GetParam().code, updates, guard)};
      c.SetSlice({0}, {rows}, {1});
      ASSERT_TRUE(Check(c)) << rows << " x " << turns << " x " << columns;
    }
  }
}

}  // namespace
}  // namespace strew_test
