// SPDX-License-Identifier: Apache-2.0
//
// STREW_DUPLICATE_ERROR: what is a duplicate, and which one is reported.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "op/literal.h"
#include "op/request.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "support/counting_allocator.h"
#include "support/reference.h"

namespace strew_test {
namespace {

Case Line(const Dims& indices) {
  Case c = MakeLine(STREW_INT32, {1, 2, 3, 4}, indices, Numbers(indices.size(), 9));
  c.duplicates = STREW_DUPLICATE_ERROR;
  return c;
}

TEST(Duplicates, AreReportedWhereTheyBegin) {
  Case c = Line({2, 0, 3, 0, 2});
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 3);
  c = Line({3, -1});
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 1);
  c = Line({3, 1, 0, 2});
  ExpectApplied(c, 4, {9, 9, 9, 9});
}

TEST(Duplicates, AreRefusedForEveryReduction) {
  for (const strew_reduction reduction : AllReductionsOf(Find(STREW_INT32))) {
    Case c = Line({1, 1});
    c.reduction = reduction;
    ExpectRefused(c, STREW_DUPLICATE_INDEX, 1);
  }
}

// The first of more entries than there are elements has to name one again; later ones are not read.
TEST(Duplicates, AreFoundAmongMoreEntriesThanElements) {
  constexpr int32_t kPlaces = (1 << 22) + 1;
  std::vector<int32_t> indices(kPlaces + 11);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i) % kPlaces;
  std::vector<int8_t> output(kPlaces, 1);
  int8_t update = 2;
  const auto entries = static_cast<int64_t>(indices.size());
  const Tensor data = MakeTensor(STREW_INT8, RowMajor({kPlaces}), output.data());
  const Tensor index = MakeTensor(STREW_INT32, RowMajor({entries}), indices.data());
  const Tensor updates = MakeTensor(STREW_INT8, {{entries}, {0}}, &update);
  const Context context = MakeContext();
  ASSERT_EQ(strew_context_set_duplicate_policy(context.get(), STREW_DUPLICATE_ERROR), STREW_OK);
  EXPECT_EQ(strew_scatter_elements(context.get(), data.get(), index.get(), updates.get(), 0,
                                   STREW_ADD, data.get()),
            STREW_DUPLICATE_INDEX);
  EXPECT_EQ(strew_context_error_position(context.get()), kPlaces);
  EXPECT_EQ(output, std::vector<int8_t>(kPlaces, 1));
}

// No more entries are compared than there are, or than there are elements and one more: 64 of them
// have room without scratch.
TEST(Duplicates, OfUpTo64EntriesNeedNoScratch) {
  const auto check = [](int64_t elements, int64_t entries) {
    std::vector<int8_t> output(static_cast<size_t>(elements), 1);
    std::vector<int64_t> indices(static_cast<size_t>(entries));
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i) % elements;
    int8_t update = 2;
    const Tensor data = MakeTensor(STREW_INT8, RowMajor({elements}), output.data());
    const Tensor index = MakeTensor(STREW_INT64, RowMajor({entries}), indices.data());
    const Tensor updates = MakeTensor(STREW_INT8, {{entries}, {0}}, &update);
    const Context context = MakeContext();
    EXPECT_EQ(strew_context_set_duplicate_policy(context.get(), STREW_DUPLICATE_ERROR), STREW_OK);
    CountingAllocator allocator(0);
    allocator.InstallIn(context.get());
    const strew_status status = strew_scatter_elements(context.get(), data.get(), index.get(),
                                                       updates.get(), 0, STREW_ADD, data.get());
    EXPECT_EQ(allocator.requests(), 0) << entries << " entries of " << elements << " elements";
    EXPECT_EQ(strew_context_error_position(context.get()), entries > elements ? elements : -1);
    return status;
  };
  EXPECT_EQ(check(1000, 64), STREW_OK);
  EXPECT_EQ(check(64, 64), STREW_OK);
  EXPECT_EQ(check(63, 1000), STREW_DUPLICATE_INDEX);
  EXPECT_EQ(check(40, 1000), STREW_DUPLICATE_INDEX);
}

TEST(Duplicates, AreNoErrorByDefault) {
  Case c = Line({1, 1});
  c.duplicates = STREW_DUPLICATE_LAST;
  ExpectApplied(c, 2, {1, 9, 3, 4});
}

// The same index in another line names another element.
TEST(Duplicates, OfElementsAreOfOneLine) {
  Case c{Operator::kScatterElements, NumberArray(STREW_INT32, {2, 3}, {1, 2, 3, 4, 5, 6}),
         NumberArray(STREW_INT32, {2, 2}, {10, 20, 30, 40})};
  c.duplicates = STREW_DUPLICATE_ERROR;
  c.axis = 1;
  c.indices = IndexArray(STREW_INT64, {2, 2}, {2, 0, 2, 0});
  ExpectNumbers(c, {20, 2, 10, 40, 5, 30});
  c.indices = IndexArray(STREW_INT64, {2, 2}, {2, 0, 1, -2});
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 3);
}

TEST(Duplicates, LeaveDroppedUpdatesOut) {
  Case c = Line({7, 0, 7, -9, 2});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 2, {9, 2, 9, 4});
  c = Line({7, 0, 7, 0});
  c.policy = STREW_INDEX_DROP;
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 3);
}

TEST(Duplicates, CountClampedUpdates) {
  Case c = Line({7, 0, 3});
  c.policy = STREW_INDEX_CLAMP;
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 2);
  c = Line({7, 0});
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 2, {9, 2, 3, 9});
}

TEST(Duplicates, ComeAfterIndicesOutOfRange) {
  Case c = Line({0, 0, 4});
  ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 2);
}

TEST(Duplicates, OfNoElementsAreDropped) {
  Case c = MakeLine(STREW_INT32, {}, {0, 0}, {9, 9});
  c.duplicates = STREW_DUPLICATE_ERROR;
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 0, {});
}

// ---- scatter_nd --------------------------------------------------------------------------------

Case Tuples(const Dims& shape, const Dims& indices_shape, const Dims& indices,
            const Dims& updates_shape) {
  Case c{Operator::kScatterNd,
         NumberArray(STREW_INT32, shape, Numbers(static_cast<size_t>(Product(shape)), 1)),
         NumberArray(STREW_INT32, updates_shape,
                     Numbers(static_cast<size_t>(Product(updates_shape)), 9))};
  c.indices = IndexArray(STREW_INT64, indices_shape, indices);
  c.duplicates = STREW_DUPLICATE_ERROR;
  return c;
}

TEST(DuplicateTuples, AreReportedByTheirFirstComponent) {
  Case c = Tuples({2, 3}, {3, 2}, {1, 2, 0, 0, -1, -1}, {3});
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 4);
  c = Tuples({2, 3}, {3, 2}, {1, 2, 1, 0, 0, 2}, {3});
  ExpectApplied(c, 3, {1, 1, 9, 9, 1, 9});
  c = Tuples({2, 3}, {2, 2, 1}, {0, 1, 0, 1}, {2, 2, 3});
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 2);
}

TEST(DuplicateTuples, OfNoComponentsHaveNoPosition) {
  Case c = Tuples({2}, {2, 0}, {}, {2, 2});
  ExpectRefused(c, STREW_DUPLICATE_INDEX, -1);
  c = Tuples({2}, {1, 0}, {}, {1, 2});
  ExpectApplied(c, 2, {9, 9});
}

TEST(DuplicateTuples, ThatNameNothingAreNone) {
  Case c = Tuples({2, 0}, {2, 1}, {1, 1}, {2, 0});
  ExpectApplied(c, 0, {});
  c = Tuples({0}, {2, 0}, {}, {2, 0});
  ExpectApplied(c, 0, {});
}

TEST(DuplicateTuples, ThatAreDroppedAreNone) {
  Case c = Tuples({2, 3}, {3, 2}, {1, 3, 0, 0, 1, 3}, {3});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 1, {9, 1, 1, 1, 1, 1});
}

// ---- scatter_update ----------------------------------------------------------------------------

TEST(DuplicateUpdates, AreReportedByTheirIndex) {
  Case c{Operator::kScatterUpdate, NumberArray(STREW_INT32, {2, 3}, {1, 2, 3, 4, 5, 6}),
         NumberArray(STREW_INT32, {2, 2, 2}, Numbers(8, 9))};
  c.axis = 1;
  c.duplicates = STREW_DUPLICATE_ERROR;
  c.indices = IndexArray(STREW_INT64, {2, 2}, {0, 2, -1, 0});
  ExpectRefused(c, STREW_DUPLICATE_INDEX, 2);
  c.indices = IndexArray(STREW_INT64, {2, 2}, {0, 2, 7, 1});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 6, Numbers(6, 9));
}

TEST(DuplicateUpdates, OfNothingAreNone) {
  Case c{Operator::kScatterUpdate, NumberArray(STREW_INT32, {0, 3}, {}),
         NumberArray(STREW_INT32, {0, 2}, {})};
  c.axis = 1;
  c.duplicates = STREW_DUPLICATE_ERROR;
  c.indices = IndexArray(STREW_INT64, {2}, {1, 1});
  ExpectApplied(c, 0, {});
}

// ---- Sentences ---------------------------------------------------------------------------------

TEST(DuplicateSentence, NamesThePlace) {
  const Context context = MakeContext();
  ASSERT_EQ(strew_context_set_duplicate_policy(context.get(), STREW_DUPLICATE_ERROR), STREW_OK);
  EXPECT_EQ(strew_context_set_duplicate_policy(context.get(), 2), STREW_INVALID_ARGUMENT);
  for (const Operator op :
       {Operator::kScatterElements, Operator::kScatterNd, Operator::kScatterUpdate}) {
    Request request = GoodRequest(op);
    request.indices.values.assign(request.indices.values.size(), 1);
    const Answer answer = Send(request, context.get());
    EXPECT_EQ(answer.status, STREW_DUPLICATE_INDEX) << NameOf(op);
    EXPECT_EQ(answer.position, 1);
    EXPECT_EQ(answer.applied, 0);
    EXPECT_FALSE(answer.wrote);
    EXPECT_NE(answer.error.find("indices["), std::string::npos) << answer.error;
    EXPECT_EQ(Send(GoodRequest(op), context.get()).status, STREW_OK);
  }
}

}  // namespace
}  // namespace strew_test
