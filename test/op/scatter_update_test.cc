// SPDX-License-Identifier: Apache-2.0
//
// Special cases of scatter_update with literal results.
#include <gtest/gtest.h>

#include "op/literal.h"
#include "op/request.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

Case Update(const Dims& shape, const Numbers& data, const Array& indices, int64_t axis,
            const Dims& updates_shape, const Numbers& updates) {
  Case c{Operator::kScatterUpdate, NumberArray(STREW_FLOAT32, shape, data),
         NumberArray(STREW_FLOAT32, updates_shape, updates)};
  c.indices = IndexArray(indices.dtype(), indices.shape(), ReadIndices(indices.view()));
  c.axis = axis;
  return c;
}

TEST(ScatterUpdate, WritesRows) {
  for (const Dtype& index : IndexDtypes()) {
    Case c = Update({3, 2}, {1, 2, 3, 4, 5, 6}, IndexArray(index.code, {2}, {2, 0}), 0, {2, 2},
                    {10, 20, 30, 40});
    ExpectApplied(c, 4, {30, 40, 3, 4, 10, 20});
    c.reduction = STREW_ADD;
    ExpectApplied(c, 4, {31, 42, 3, 4, 15, 26});
  }
}

TEST(ScatterUpdate, WritesColumns) {
  for (const int64_t axis : {1, -1}) {
    Case c = Update({2, 3}, {1, 2, 3, 4, 5, 6}, IndexArray(STREW_INT64, {2}, {-1, 0}), axis, {2, 2},
                    {10, 20, 30, 40});
    ExpectNumbers(c, {20, 2, 10, 40, 5, 30});
  }
}

// updates [2, 2, 2, 2]: the dims of indices stand in the place of the axis.
TEST(ScatterUpdate, TakesIndicesOfAnyRank) {
  Numbers updates;
  for (int i = 0; i < 16; ++i) updates.push_back(10 + i);
  Case c = Update({2, 5, 2}, Numbers(20, 0), IndexArray(STREW_INT32, {2, 2}, {4, 1, 0, 2}), 1,
                  {2, 2, 2, 2}, updates);
  ExpectApplied(c, 16, {14, 15, 12, 13, 16, 17, 0, 0, 10, 11,  //
                        22, 23, 20, 21, 24, 25, 0, 0, 18, 19});
}

// One line of destinations for each row of data, but the rows of indices lie apart.
TEST(ScatterUpdate, TakesRowsOfIndicesThatLieApart) {
  constexpr int64_t kRows = 8, kAxis = 5000, kLong = 3000;
  Random random(Seed());
  Case c{Operator::kScatterUpdate, RandomArray(random, STREW_INT32, RowMajor({kRows, kAxis})),
         RandomArray(random, STREW_INT32, RowMajor({kRows, 2, kLong}))};
  c.indices = RandomIndices(random, STREW_INT64, {{2, kLong}, {4000, 1}}, kAxis);
  c.axis = 1;
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MAX}) {
    c.reduction = reduction;
    EXPECT_TRUE(Check(c)) << reduction;
  }
}

TEST(ScatterUpdate, MovesRowsOfEveryLength) {
  constexpr int64_t kRows = 9, kEntries = 21;
  Random random(Seed());
  for (int64_t bytes = 1; bytes <= 140; ++bytes) {
    Case c{Operator::kScatterUpdate, RandomArray(random, STREW_INT8, RowMajor({kRows, bytes})),
           RandomArray(random, STREW_INT8, RowMajor({kEntries, bytes}))};
    c.indices = RandomIndices(random, STREW_INT32, RowMajor({kEntries}), kRows);
    ASSERT_TRUE(Check(c));
  }
}

// Each run of a few elements has one update.
TEST(ScatterUpdate, RepeatsUpdatesAlongManyShortRuns) {
  Random random(Seed());
  for (const int64_t rows : {15, 16, 300}) {
    for (const int64_t run : {2, 3, 8}) {
      Case c{Operator::kScatterUpdate, RandomArray(random, STREW_INT16, RowMajor({rows, 9, run})),
             RandomArray(random, STREW_INT16, {{rows, 24, run}, {24, 1, 0}})};
      c.indices = RandomIndices(random, STREW_INT32, RowMajor({24}), 9);
      c.axis = 1;
      for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MAX}) {
        c.reduction = reduction;
        ASSERT_TRUE(Check(c)) << reduction;
      }
    }
  }
}

TEST(ScatterUpdate, TakesAScalarIndex) {
  Case c = Update({2, 3}, {1, 2, 3, 4, 5, 6}, IndexArray(STREW_UINT8, {}, {1}), 1, {2}, {10, 20});
  ExpectApplied(c, 2, {1, 10, 3, 4, 20, 6});
  Case line = Update({3}, {1, 2, 3}, IndexArray(STREW_INT64, {}, {-1}), 0, {}, {9});
  ExpectApplied(line, 1, {1, 2, 9});
  line.indices = IndexArray(STREW_INT64, {}, {3});
  ExpectRefused(line, STREW_INDEX_OUT_OF_RANGE, 0);
}

TEST(ScatterUpdate, LastOfSeveralWritersWins) {
  Case c = Update({2, 2}, {1, 2, 3, 4}, IndexArray(STREW_INT64, {3}, {1, 0, -1}), 0, {3, 2},
                  {10, 20, 30, 40, 50, 60});
  ExpectNumbers(c, {30, 40, 50, 60});
}

// 1e8 + 1 = 1e8 in float32, so that every other order has another sum.
TEST(ScatterUpdate, AddsInTheOrderOfIndices) {
  Case c = Update({2, 1}, {1, 1}, IndexArray(STREW_INT64, {2, 2}, {0, 0, 0, 0}), 1, {2, 2, 2},
                  {1e8, 1, -1e8, 3, 3, 1e8, 1, -1e8});
  c.reduction = STREW_ADD;
  ExpectNumbers(c, {3, 0});
}

TEST(ScatterUpdate, ChecksIndicesWhereNothingWouldBeWritten) {
  Case c = Update({0, 3}, {}, IndexArray(STREW_INT64, {2}, {0, 3}), 1, {0, 2}, {});
  ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 1);
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 0, {});
  Case empty_axis = Update({3, 0}, {}, IndexArray(STREW_INT64, {1}, {0}), 1, {3, 1}, {1, 2, 3});
  ExpectRefused(empty_axis, STREW_INDEX_OUT_OF_RANGE, 0);
  empty_axis.policy = STREW_INDEX_CLAMP;
  ExpectRefused(empty_axis, STREW_INDEX_OUT_OF_RANGE, 0);
}

TEST(ScatterUpdate, NamesTheIndexInItsSentence) {
  const Context context = MakeContext();
  Request request = GoodRequest(Operator::kScatterUpdate);
  request.indices.SetValues({1, 2}, {3, 7});
  request.updates.SetShape({3, 1, 2});
  const Answer answer = Send(request, context.get());
  EXPECT_EQ(answer.status, STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(answer.position, 1);
  EXPECT_EQ(answer.error,
            "indices[0,1] = 7 is out of range [-4, 3] for axis 1 of data, which has 4 elements");
}

TEST(ScatterUpdate, WantsTheShapeOfTheFormula) {
  Request request = GoodRequest(Operator::kScatterUpdate);  // data [3, 4], indices [2], axis 1
  for (const Dims& shape : {Dims{3, 3}, Dims{2, 2}, Dims{4, 2}, Dims{3, 1}}) {
    request.updates.SetShape(shape);
    EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE) << ToString(shape);
  }
  request.axis = -2;
  for (const Dims& shape : {Dims{2, 3}, Dims{2, 5}, Dims{2, 1}, Dims{3, 4}, Dims{1, 4}}) {
    request.updates.SetShape(shape);
    EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE) << ToString(shape);
  }
  request.updates.SetShape({2, 4});
  request.indices.values = {0, 2};
  EXPECT_EQ(Send(request, nullptr).status, STREW_OK);
}

}  // namespace
}  // namespace strew_test
