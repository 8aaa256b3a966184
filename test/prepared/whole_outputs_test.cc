// SPDX-License-Identifier: Apache-2.0
//
// Calls with plans that replace every element of a fresh output, so that nothing of data is left;
// that leave one; and rows that are moved past the caches.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "prepared/check_plans.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "reference/targets.h"
#include "support/reference.h"

namespace strew_test {
namespace {

Dims Permutation(Random& random, int64_t count) {
  Dims values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  for (int64_t i = count - 1; i > 0; --i) {
    std::swap(values[static_cast<size_t>(i)], values[static_cast<size_t>(random.Between(0, i))]);
  }
  return values;
}

Array RandomLike(Random& random, const Array& array) {
  return RandomArray(random, array.dtype(), RowMajor(array.shape()));
}

// Rows of a matrix, with a fresh output.
Case Rows(Random& random, strew_dtype dtype, int64_t rows, int64_t columns, const Dims& values) {
  const int64_t entries = static_cast<int64_t>(values.size());
  Case c{Operator::kScatterUpdate, RandomArray(random, dtype, RowMajor({rows, columns})),
         RandomArray(random, dtype, RowMajor({entries, columns}))};
  c.indices = IndexArray(STREW_INT32, {entries}, values);
  c.output = RandomLike(random, c.data);
  return c;
}

// Each column of a matrix has a permutation of its own.
Case Columns(Random& random, strew_dtype dtype, int64_t rows, int64_t columns) {
  Case c{Operator::kScatterElements, RandomArray(random, dtype, RowMajor({rows, columns})),
         RandomArray(random, dtype, RowMajor({rows, columns}))};
  Dims values(static_cast<size_t>(rows * columns));
  for (int64_t column = 0; column < columns; ++column) {
    const Dims rows_of_column = Permutation(random, rows);
    for (int64_t row = 0; row < rows; ++row) {
      values[static_cast<size_t>(row * columns + column)] =
          rows_of_column[static_cast<size_t>(row)];
    }
  }
  c.indices = IndexArray(STREW_INT64, {rows, columns}, values);
  c.output = RandomLike(random, c.data);
  return c;
}

class WholeOutputs : public testing::TestWithParam<Dtype> {
 protected:
  strew_dtype dtype() const { return GetParam().code; }
  Random random_{Seed()};
};

INSTANTIATE_TEST_SUITE_P(EveryDtype, WholeOutputs, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(WholeOutputs, HaveUpdatesOnly) {
  Dims twice = Permutation(random_, 40);
  const Dims again = Permutation(random_, 40);
  twice.insert(twice.end(), again.begin(), again.begin() + 7);
  std::vector<Case> cases;
  cases.push_back(Rows(random_, dtype(), 40, 5, Permutation(random_, 40)));
  cases.push_back(Rows(random_, dtype(), 40, 5, twice));
  cases.push_back(Rows(random_, dtype(), 40, 5, Permutation(random_, 39)));
  cases.push_back(Columns(random_, dtype(), 30, 7));
  for (Case& c : cases) {
    for (const strew_reduction reduction : AllReductionsOf(GetParam())) {
      c.reduction = reduction;
      ASSERT_TRUE(CheckScatter(c));
      ASSERT_TRUE(CheckScatter(c, 3));
    }
  }
}

// An element whose update is taken from nowhere keeps its old value.
TEST_P(WholeOutputs, HaveGatheredUpdatesAndWhatHasNone) {
  for (const int64_t beyond : {0, 1}) {
    Dims places = Permutation(random_, 40);
    places[11] += 40 * beyond;
    GatherScatterCase c{Rows(random_, dtype(), 40, 5, places),
                        Rows(random_, dtype(), 40, 5, Permutation(random_, 40))};
    c.from.output.reset();
    c.from.policy = STREW_INDEX_DROP;
    for (const strew_reduction reduction : AllReductionsOf(GetParam())) {
      c.to.reduction = reduction;
      ASSERT_TRUE(CheckGatherScatter(c));
      ASSERT_TRUE(CheckGatherScatter(c, 3));
    }
  }
}

// A cache that holds nothing.
TEST_P(WholeOutputs, HaveRowsThatAreMovedPastTheCaches) {
  strew::plan::Tuning tuning;
  tuning.cache_bytes = 1;
  tuning.least_streamed_row = 1;
  GatherScatterCase c{Rows(random_, dtype(), 30, 67, Permutation(random_, 29)),
                      Rows(random_, dtype(), 30, 67, Permutation(random_, 29))};
  c.from.output.reset();
  const Plan from = PlanOf(c.from), to = PlanOf(c.to);
  const auto call = [&] {
    const Context context = MakeContext();
    return strew_plan_gather_scatter(context.get(), from.get(), c.from.data.tensor(), nullptr,
                                     to.get(), c.to.data.tensor(), STREW_NONE,
                                     c.to.output->tensor());
  };
  ASSERT_EQ(call(), STREW_OK);
  const auto expected = c.to.output->Snapshot();
  for (const Target& target : Targets()) {
    c.to.output = RandomLike(random_, c.to.data);
    strew_context* const context = target.context.get();
    context->settings.tuning = &tuning;
    EXPECT_EQ(
        strew_plan_gather_scatter(context, from.get(), c.from.data.tensor(), nullptr, to.get(),
                                  c.to.data.tensor(), STREW_NONE, c.to.output->tensor()),
        STREW_OK);
    context->settings.tuning = nullptr;
    EXPECT_TRUE(c.to.output->Snapshot() == expected) << target.name;
  }
}

}  // namespace
}  // namespace strew_test
