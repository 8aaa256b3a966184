// SPDX-License-Identifier: Apache-2.0
//
// Indices out of range that are dropped or clamped, and the count of what was applied.
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "op/literal.h"
#include "op/request.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Array Floats(const Dims& shape, const Numbers& values) {
  return NumberArray(STREW_FLOAT32, shape, values);
}

Case Line(const Dims& indices, const Numbers& updates) {
  return MakeLine(STREW_FLOAT32, {1, 2, 3, 4}, indices, updates);
}

Case Tuples(const Dims& shape, const Dims& indices, const Numbers& updates) {
  Case c{Operator::kScatterNd, Floats({2, 3}, {1, 2, 3, 4, 5, 6}), Floats({shape[0]}, updates)};
  c.indices = IndexArray(STREW_INT32, shape, indices);
  return c;
}

// ---- Drop --------------------------------------------------------------------------------------

TEST(Drop, SkipsWhatLiesBeforeAndBehind) {
  Case c = Line({4, 0, -5, -1, kMost, kLeast}, {10, 20, 30, 40, 50, 60});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 2, {20, 2, 3, 40});
  c.reduction = STREW_ADD;
  ExpectApplied(c, 2, {21, 2, 3, 44});
}

TEST(Drop, SkipsNegativeIndicesWithoutWrap) {
  Case c = Line({-1, 3, -4}, {10, 20, 30});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 3, {30, 2, 3, 20});
  c.wrap = false;
  ExpectApplied(c, 1, {1, 2, 3, 20});
}

// 2^63 and 2^64 - 1 are large: neither negative nor 2^63 - 2^64.
TEST(Drop, SkipsLargeUnsignedIndices) {
  Case c = Line({kLeast, -1, 1}, {10, 20, 30});
  c.indices = IndexArray(STREW_UINT64, {3}, {kLeast, -1, 1});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 1, {1, 30, 3, 4});
}

TEST(Drop, TakesAllIndices) {
  Case c = Line({4, 5, 6}, {10, 20, 30});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 0, {1, 2, 3, 4});
  c.output = Floats({4}, {9, 9, 9, 9});
  ExpectApplied(c, 0, {1, 2, 3, 4});
}

TEST(Drop, TakesTheWholeTuple) {
  Case c = Tuples({4, 2}, {0, 3, 2, 0, 1, -3, -2, 0}, {10, 20, 30, 40});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 2, {40, 2, 3, 30, 5, 6});
}

TEST(Drop, TakesTheSliceOfATuple) {
  Case c{Operator::kScatterNd, Floats({2, 3}, {1, 2, 3, 4, 5, 6}),
         Floats({2, 3}, {10, 20, 30, 40, 50, 60})};
  c.indices = IndexArray(STREW_INT8, {2, 1}, {2, -1});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 3, {1, 2, 3, 40, 50, 60});
}

TEST(Drop, EmptiesAnAxisWithoutElements) {
  Case c{Operator::kScatterElements, Floats({0}, {}), Floats({3}, {1, 2, 3})};
  c.indices = IndexArray(STREW_INT64, {3}, {0, -1, 1});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 0, {});
}

// A tensor without elements may have no memory. UndefinedBehaviorSanitizer sees copies of NULL.
TEST(Drop, NeedsNoMemoryForNoElements) {
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MEAN}) {
    for (const int64_t updates_count : {1, 3, 100}) {
      float memory = 0;
      std::vector<int64_t> index(static_cast<size_t>(updates_count), 5);
      std::vector<float> update(index.size(), 1);
      const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor({0}), &memory);
      const Tensor output = MakeTensor(STREW_FLOAT32, RowMajor({0}), nullptr);
      const Tensor indices = MakeTensor(STREW_INT64, RowMajor({updates_count}), index.data());
      const Tensor tuples = MakeTensor(STREW_INT64, RowMajor({updates_count, 1}), index.data());
      const Tensor updates = MakeTensor(STREW_FLOAT32, RowMajor({updates_count}), update.data());
      const Context context = MakeContext();
      ASSERT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP), STREW_OK);
      for (const strew_tensor* const from : {data.get(), output.get()}) {
        EXPECT_EQ(strew_scatter_elements(context.get(), from, indices.get(), updates.get(), 0,
                                         reduction, output.get()),
                  STREW_OK);
        EXPECT_EQ(strew_scatter_update(context.get(), from, indices.get(), updates.get(), 0,
                                       reduction, output.get()),
                  STREW_OK);
        EXPECT_EQ(strew_scatter_nd(context.get(), from, tuples.get(), updates.get(), reduction,
                                   output.get()),
                  STREW_OK);
        EXPECT_EQ(strew_context_applied(context.get()), 0);
      }
    }
  }
}

// ---- Clamp -------------------------------------------------------------------------------------

TEST(Clamp, TakesTheNearestElement) {
  Case c = Line({4, -5, 1}, {10, 20, 30});
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 3, {20, 30, 3, 10});
  c = Line({kMost, kLeast}, {10, 20});
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 2, {20, 2, 3, 10});
}

// The wrap of negatives comes first.
TEST(Clamp, FollowsTheWrap) {
  Case c = Line({-1, -2}, {10, 20});
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 2, {1, 2, 20, 10});
  c.wrap = false;
  ExpectApplied(c, 2, {20, 2, 3, 4});
}

TEST(Clamp, TakesLargeUnsignedIndicesForTheLast) {
  Case c = Line({kLeast, -1}, {10, 20});
  c.indices = IndexArray(STREW_UINT64, {2}, {kLeast, -1});
  c.policy = STREW_INDEX_CLAMP;
  c.reduction = STREW_ADD;
  ExpectApplied(c, 2, {1, 2, 3, 34});
}

TEST(Clamp, GoesByComponent) {
  Case c = Tuples({3, 2}, {9, 1, -9, 9, 1, -9}, {10, 20, 30});
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 3, {1, 2, 20, 30, 10, 6});
}

TEST(Clamp, FindsNothingOnAnAxisWithoutElements) {
  Case c{Operator::kScatterElements, Floats({0}, {}), Floats({3}, {1, 2, 3})};
  c.indices = IndexArray(STREW_INT64, {3}, {0, -1, 1});
  c.policy = STREW_INDEX_CLAMP;
  ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 0);
  Case nd{Operator::kScatterNd, Floats({2, 0}, {}), Floats({2}, {1, 2})};
  nd.indices = IndexArray(STREW_INT64, {2, 2}, {7, 0, 0, 0});
  nd.policy = STREW_INDEX_CLAMP;
  ExpectRefused(nd, STREW_INDEX_OUT_OF_RANGE, 1);
}

// ---- Errors stay errors ------------------------------------------------------------------------

TEST(Policy, ErrorIsTheDefault) {
  Case c = Line({0, 4, 9}, {10, 20, 30});
  ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 1);
  c = Line({0, -1}, {10, 20});
  c.wrap = false;
  ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 1);
}

TEST(Policy, MayBeSetBack) {
  const Context context = MakeContext();
  Request request = GoodRequest(Operator::kScatterElements);
  request.indices.values[1] = 4;
  for (const strew_index_policy policy : {STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
    ASSERT_EQ(strew_context_set_index_policy(context.get(), policy), STREW_OK);
    EXPECT_EQ(Send(request, context.get()).status, STREW_OK);
    EXPECT_EQ(strew_context_set_index_policy(context.get(), 3), STREW_INVALID_ARGUMENT);
    EXPECT_EQ(Send(request, context.get()).status, STREW_OK);
    ASSERT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_ERROR), STREW_OK);
    EXPECT_EQ(Send(request, context.get()).status, STREW_INDEX_OUT_OF_RANGE);
  }
}

// A slice has no indices.
TEST(Policy, DoesNotApplyToSlices) {
  for (const strew_index_policy policy : {STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
    Case c{Operator::kSliceScatterInt64, Floats({3}, {1, 2, 3}), Floats({2}, {8, 9})};
    c.SetSlice({-2}, {99}, {1});
    c.policy = policy;
    c.wrap = false;
    ExpectApplied(c, 2, {1, 8, 9});
  }
}

// ---- Applied -----------------------------------------------------------------------------------

class Applied : public testing::TestWithParam<Operator> {};

INSTANTIATE_TEST_SUITE_P(EveryOperator, Applied, testing::ValuesIn(Operators()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(Applied, CountsTheElementsOfUpdates) {
  const Context context = MakeContext();
  EXPECT_EQ(strew_context_applied(context.get()), 0);
  EXPECT_EQ(strew_context_applied(nullptr), 0);
  const Request request = GoodRequest(GetParam());
  const int64_t size = Product(request.updates.layout.shape);
  EXPECT_EQ(Send(request, context.get()).applied, size);
  EXPECT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP), STREW_OK);
  EXPECT_EQ(strew_context_applied(context.get()), size) << "setters leave the report alone";
}

TEST_P(Applied, IsZeroAfterAFailure) {
  const Context context = MakeContext();
  Request request = GoodRequest(GetParam());
  EXPECT_GT(Send(request, context.get()).applied, 0);
  request.updates.null = true;
  EXPECT_EQ(Send(request, context.get()).applied, 0);
  EXPECT_EQ(Send(request, nullptr).applied, 0);
}

TEST_P(Applied, LeavesOutWhatWasDropped) {
  if (IsSlice(GetParam())) return;
  const Context context = MakeContext();
  ASSERT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP), STREW_OK);
  Request request = GoodRequest(GetParam());
  const int64_t size = Product(request.updates.layout.shape);
  const int64_t entries = static_cast<int64_t>(request.indices.values.size());
  request.indices.values[1] = 100;
  EXPECT_EQ(Send(request, context.get()).applied, size - size / entries);
  request.indices.values.assign(request.indices.values.size(), -100);
  const Answer answer = Send(request, context.get());
  EXPECT_EQ(answer.applied, 0);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.position, -1);
}

}  // namespace
}  // namespace strew_test
