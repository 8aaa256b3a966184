// SPDX-License-Identifier: Apache-2.0
//
// Moves of more entries than the axis has elements: only the last one of each is written.
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// An axis of `axis_size` elements, with dims before and behind it, and its entries.
struct Shape {
  int64_t before;
  int64_t axis_size;
  int64_t behind;
  int64_t entries;
};

class LastEntries : public testing::TestWithParam<std::tuple<Dtype, Shape>> {
 protected:
  static Dtype dtype() { return std::get<0>(GetParam()); }
  static const Shape& shape() { return std::get<1>(GetParam()); }

  Array Any(const Layout& layout) { return RandomArray(random_, dtype().code, layout); }

  Case Updates(strew_dtype index) {
    const Shape& s = shape();
    Case c{Operator::kScatterUpdate, Any(RowMajor({s.before, s.axis_size, s.behind})),
           Any(RowMajor({s.before, s.entries, s.behind}))};
    c.indices = RandomIndices(random_, index, RowMajor({s.entries}), s.axis_size);
    c.axis = 1;
    return c;
  }

  Random random_{Seed()};
};

std::vector<Dtype> SomeDtypes() {
  return {Find(STREW_INT8), Find(STREW_FLOAT32), Find(STREW_COMPLEX128), Find(STREW_OPAQUE(12)),
          Find(STREW_OPAQUE(100))};
}

INSTANTIATE_TEST_SUITE_P(
    EverySize, LastEntries,
    testing::Combine(testing::ValuesIn(SomeDtypes()),
                     testing::Values(Shape{1, 2, 300, 3}, Shape{40, 3, 20, 5}, Shape{3, 1, 300, 2},
                                     Shape{2, 64, 300, 96}, Shape{1, 65, 256, 500},
                                     Shape{30, 2, 16, 9}, Shape{200, 2, 1, 6})));

TEST_P(LastEntries, AreAsIfEachWereWritten) {
  for (const strew_dtype index : {STREW_INT64, STREW_INT32, STREW_UINT8, STREW_INT16}) {
    Case c = Updates(index);
    EXPECT_TRUE(Check(c));
    EXPECT_TRUE(CheckWithWorkers(c, {3}));
    c.output = Any(RowMajor(c.data.shape()));
    EXPECT_TRUE(Check(c));
    c.reduction = STREW_NONE | STREW_EXCLUDE_SELF;
    EXPECT_TRUE(Check(c));
  }
}

TEST_P(LastEntries, MayLieApart) {
  const Shape& s = shape();
  Case c = Updates(STREW_INT64);
  c.updates = Any({{s.before, s.entries, s.behind}, {s.behind, s.before * s.behind, 1}});
  c.indices = RandomIndices(random_, STREW_INT32, {{s.entries}, {-3}}, s.axis_size);
  EXPECT_TRUE(Check(c));
  c.output = Any({{s.before, s.axis_size, s.behind}, {s.axis_size * s.behind + 5, s.behind, 1}});
  EXPECT_TRUE(Check(c));
}

TEST_P(LastEntries, MayHaveIndicesOfAnyRank) {
  const Shape& s = shape();
  Case c{Operator::kScatterUpdate, Any(RowMajor({s.before, s.axis_size, s.behind})),
         Any(RowMajor({s.before, 2, s.entries, s.behind}))};
  c.indices = RandomIndices(random_, STREW_INT64, {{2, s.entries}, {1, 2}}, s.axis_size);
  c.axis = 1;
  EXPECT_TRUE(Check(c));
  c.indices = RandomIndices(random_, STREW_INT64, {{2, s.entries}, {0, 1}}, s.axis_size);
  EXPECT_TRUE(Check(c));
  Case nd{Operator::kScatterNd, Any(RowMajor({s.axis_size, s.behind})),
          Any(RowMajor({s.entries, s.behind}))};
  nd.indices = RandomIndices(random_, STREW_INT64, RowMajor({s.entries, 1}), s.axis_size);
  EXPECT_TRUE(Check(nd));
}

TEST_P(LastEntries, MayBeNone) {
  for (const int64_t axis_size : {int64_t{0}, shape().axis_size}) {
    Case c{Operator::kScatterUpdate, Any(RowMajor({5, axis_size, 300})),
           Any(RowMajor({5, 0, 300}))};
    c.indices = Array(STREW_INT64, RowMajor({0}));
    c.axis = 1;
    EXPECT_TRUE(Check(c));
  }
}

TEST_P(LastEntries, FollowThePolicy) {
  for (const strew_index_policy policy : {STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
    Case c = Updates(STREW_INT64);
    c.policy = policy;
    EXPECT_TRUE(Check(c));
    WriteIndex(STREW_INT64, c.indices->view().At({shape().entries / 2}), shape().axis_size);
    EXPECT_TRUE(Check(c));
  }
  Case bad = Updates(STREW_INT64);
  WriteIndex(STREW_INT64, bad.indices->view().At({1}), -shape().axis_size - 1);
  EXPECT_TRUE(CheckRefused(bad, STREW_INDEX_OUT_OF_RANGE, 1));
}

}  // namespace
}  // namespace strew_test
