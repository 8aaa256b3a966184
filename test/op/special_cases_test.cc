// SPDX-License-Identifier: Apache-2.0
//
// Special cases of the operators' definitions, one by one and with literal results.
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "op/request.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "support/check.h"
#include "support/numbers.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using Numbers = std::vector<double>;

Array Floats(const Dims& shape, const Numbers& values) {
  return NumberArray(STREW_FLOAT32, shape, values);
}

// ---- Order -----------------------------------------------------------------------------------

TEST(Order, LastOfSeveralWritersWins) {
  Case c{Operator::kScatterElements, Floats({3}, {0, 0, 0}), Floats({5}, {1, 2, 3, 4, 5})};
  c.indices = IndexArray(STREW_INT64, {5}, {1, 0, 1, -2, 0});
  ExpectOutput(c, Floats(c.data.shape(), {5, 4, 0}));
}

// 1e8 + 1 = 1e8 in float32, so that every other order has another sum.
TEST(Order, SumsAreAddedInRowMajorOrder) {
  Case c{Operator::kScatterElements, Floats({1}, {1}), Floats({4}, {1e8, 1, -1e8, 3})};
  c.indices = IndexArray(STREW_INT64, {4}, {0, 0, 0, 0});
  c.reduction = STREW_ADD;
  ExpectOutput(c, Floats(c.data.shape(), {3}));
}

TEST(Order, IsThatOfIndicesWhateverTheAxis) {
  Case c{Operator::kScatterElements, Floats({2, 2}, {0, 0, 0, 0}),
         Floats({3, 2}, {1, 2, 3, 4, 5, 6})};
  c.indices = IndexArray(STREW_INT64, {3, 2}, {0, 1, 1, 1, 0, 0});
  c.axis = 0;
  ExpectOutput(c, Floats(c.data.shape(), {5, 6, 3, 4}));
}

// ---- scatter_nd ------------------------------------------------------------------------------

TEST(ScatterNd, TuplesOfNoComponentsNameTheWholeTensor) {
  Case c{Operator::kScatterNd, Floats({2, 2}, {1, 2, 3, 4}),
         Floats({2, 2, 2}, {10, 20, 30, 40, 100, 200, 300, 400})};
  c.indices.emplace(STREW_INT32, RowMajor({2, 0}));
  ExpectOutput(c, Floats(c.data.shape(), {100, 200, 300, 400}));
  c.reduction = STREW_ADD;
  ExpectOutput(c, Floats(c.data.shape(), {111, 222, 333, 444}));
}

TEST(ScatterNd, OneTupleOfNoComponents) {
  Case c{Operator::kScatterNd, Floats({3}, {1, 2, 3}), Floats({3}, {4, 5, 6})};
  c.indices.emplace(STREW_UINT8, RowMajor({0}));
  ExpectOutput(c, Floats(c.data.shape(), {4, 5, 6}));
}

TEST(ScatterNd, UpdatesOfRankZeroMayHaveAnyShapeWithOneElement) {
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{1, 1, 1}, Dims(32, 1)}) {
    Case c{Operator::kScatterNd, Floats({2, 2}, {1, 2, 3, 4}), Floats(shape, {9})};
    c.indices = IndexArray(STREW_INT64, {2}, {1, 0});
    ExpectOutput(c, Floats(c.data.shape(), {1, 2, 9, 4}));
  }
  for (const Dims& shape : {Dims{2}, Dims{0}, Dims{1, 2}}) {
    Request request = GoodRequest(Operator::kScatterNd);
    request.indices.SetValues({2}, {1, 0});
    request.updates.SetShape(shape);
    EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE) << ToString(shape);
  }
}

// Only where they should be of rank 0: [1] is not [1, 1].
TEST(ScatterNd, OtherUpdatesMustHaveTheShape) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.indices.SetValues({1, 2}, {1, 0});
  request.updates.SetShape({1});
  EXPECT_EQ(Send(request, nullptr).status, STREW_OK);
  request.updates.SetShape({1, 1});
  EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE);
  request.updates.SetShape({});
  EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE);
}

// ---- scatter_elements ------------------------------------------------------------------------

TEST(ScatterElements, IndicesMayBeLongerThanTheAxis) {
  Case c{Operator::kScatterElements, Floats({2}, {1, 1}), Floats({5}, {1, 2, 3, 4, 5})};
  c.indices = IndexArray(STREW_INT8, {5}, {0, 1, 0, 1, 0});
  c.reduction = STREW_ADD;
  ExpectOutput(c, Floats(c.data.shape(), {10, 7}));
}

TEST(ScatterElements, NoUpdatesLeaveACopy) {
  Case c{Operator::kScatterElements, Floats({2, 2}, {1, 2, 3, 4}), Floats({0, 2}, {})};
  c.indices = IndexArray(STREW_INT64, {0, 2}, {});
  c.output = Floats({2, 2}, {9, 9, 9, 9});
  const Context context = MakeContext();
  ASSERT_EQ(Call(c, context.get(), c.output->tensor()), STREW_OK);
  EXPECT_EQ(c.output->Snapshot(), c.data.Snapshot());
  EXPECT_EQ(strew_context_applied(context.get()), 0);
}

// ---- slice_scatter ---------------------------------------------------------------------------

TEST(SliceScatter, LimitsOfTheTypeAreOpenEnds) {
  for (const strew_dtype dtype : {STREW_INT8, STREW_INT32, STREW_INT64}) {
    Case c{Operator::kSliceScatter, Floats({3}, {0, 0, 0}), Floats({3}, {1, 2, 3})};
    c.SetSlice({LowestIndex(dtype)}, {HighestIndex(dtype)}, {1}, {}, dtype);
    ExpectOutput(c, Floats(c.data.shape(), {1, 2, 3}));
    c.SetSlice({HighestIndex(dtype)}, {LowestIndex(dtype)}, {-1}, {}, dtype);
    ExpectOutput(c, Floats(c.data.shape(), {3, 2, 1}));
  }
}

TEST(SliceScatter, LargeUnsignedBoundsAreNotNegative) {
  Case c{Operator::kSliceScatter, Floats({3}, {0, 0, 0}), Floats({3}, {1, 2, 3})};
  c.SetSlice({0}, {-1}, {1}, {}, STREW_UINT64);  // to 2^64 - 1
  ExpectOutput(c, Floats(c.data.shape(), {1, 2, 3}));
}

TEST(SliceScatter, StepsBeyondTheAxisTakeOneElement) {
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  const int64_t highest = std::numeric_limits<int64_t>::max();
  Case c{Operator::kSliceScatterInt64, Floats({3}, {0, 0, 0}), Floats({1}, {7})};
  c.SetSlice({1}, {highest}, {highest});
  ExpectOutput(c, Floats(c.data.shape(), {0, 7, 0}));
  c.stop = IndexArray(STREW_INT64, {1}, {lowest});
  c.step = IndexArray(STREW_INT64, {1}, {lowest});
  ExpectOutput(c, Floats(c.data.shape(), {0, 7, 0}));
}

TEST(SliceScatter, StartBelowTheAxisIsEmptyBackwards) {
  Case c{Operator::kSliceScatterInt64, Floats({3}, {1, 2, 3}), Floats({0}, {})};
  c.SetSlice({-4}, {std::numeric_limits<int64_t>::min()}, {-1});
  ExpectOutput(c, Floats(c.data.shape(), {1, 2, 3}));
}

// Axes are remembered as bits, of which the last is axis 31.
TEST(SliceScatter, RefusesEachOf32AxesASecondTime) {
  const Context context = MakeContext();
  float number = 1, other = 2;
  const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor(Dims(32, 1)), &number);
  const Tensor updates = MakeTensor(STREW_FLOAT32, RowMajor(Dims(32, 1)), &other);
  const int64_t zeros[] = {0, 0}, ones[] = {1, 1};
  const auto write = [&](int64_t first, int64_t second) {
    const int64_t axes[] = {first, second};
    return strew_slice_scatter_int64(context.get(), data.get(), updates.get(), 2, zeros, ones, ones,
                                     axes, STREW_NONE, data.get());
  };
  for (int64_t axis = 0; axis < 32; ++axis) {
    EXPECT_EQ(write(axis, axis), STREW_INVALID_AXIS) << axis;
    EXPECT_EQ(write(axis, axis - 32), STREW_INVALID_AXIS) << axis;
    EXPECT_EQ(write(axis, (axis + 1) % 32), STREW_OK) << strew_context_error(context.get());
  }
}

TEST(SliceScatter, NoEntriesNameTheWholeTensor) {
  const Array data = Floats({2}, {1, 2});
  const Array updates = Floats({2}, {3, 4});
  EXPECT_EQ(strew_slice_scatter_int64(nullptr, data.tensor(), updates.tensor(), 0, nullptr, nullptr,
                                      nullptr, nullptr, STREW_ADD, data.tensor()),
            STREW_OK);
  EXPECT_EQ(data.Snapshot(), Floats({2}, {4, 6}).Snapshot());
  const Array none = IndexArray(STREW_INT16, {0}, {});
  EXPECT_EQ(strew_slice_scatter(nullptr, data.tensor(), updates.tensor(), none.tensor(),
                                none.tensor(), none.tensor(), nullptr, STREW_NONE, data.tensor()),
            STREW_OK);
  EXPECT_EQ(data.Snapshot(), updates.Snapshot());
}

// Wrap is a policy for indices, and a slice has none.
TEST(SliceScatter, NegativeBoundsCountFromTheEndWithoutWrap) {
  Case c{Operator::kSliceScatterInt64, Floats({3}, {1, 2, 3}), Floats({1}, {9})};
  c.SetSlice({-2}, {-1}, {1});
  c.wrap = false;
  ExpectOutput(c, Floats(c.data.shape(), {1, 9, 3}));
}

// Backwards on the axis that is not repeated, every other element of the one that is.
TEST(SliceScatter, UpdatesAreBroadcast) {
  struct Sample {
    Array updates;
    Numbers expected;
  };
  Sample samples[] = {{Floats({2, 1}, {4, 5}), {5, 0, 5, 4, 0, 4}},
                      {Floats({2}, {4, 5}), {4, 0, 5, 4, 0, 5}},
                      {Floats({1, 2}, {4, 5}), {4, 0, 5, 4, 0, 5}},
                      {Floats({1}, {4}), {4, 0, 4, 4, 0, 4}},
                      {Floats({}, {4}), {4, 0, 4, 4, 0, 4}}};
  for (Sample& sample : samples) {
    Case c{Operator::kSliceScatterInt64, Floats({2, 3}, Numbers(6, 0)), std::move(sample.updates)};
    c.SetSlice({-1, 0}, {-3, 3}, {-1, 2});
    ExpectOutput(c, Floats({2, 3}, sample.expected));
  }
}

TEST(SliceScatter, BroadcastUpdatesCountAsStored) {
  Case c{Operator::kSliceScatterInt64, Floats({3}, {0, 0, 0}), Floats({}, {7})};
  c.start = IndexArray(STREW_INT64, {1}, {0});
  c.step = IndexArray(STREW_INT64, {1}, {1});
  const Context context = MakeContext();
  for (const int64_t stop : {3, 0}) {
    c.stop = IndexArray(STREW_INT64, {1}, {stop});
    ASSERT_EQ(Call(c, context.get(), c.data.tensor()), STREW_OK);
    EXPECT_EQ(strew_context_applied(context.get()), 1) << stop;
  }
}

TEST(SliceScatter, UpdatesThatNumPyWouldNotBroadcast) {
  for (const Operator op : {Operator::kSliceScatter, Operator::kSliceScatterInt64}) {
    Request request = GoodRequest(op);  // a slice of shape [2, 4]
    for (const Dims& shape :
         {Dims{2}, Dims{3, 4}, Dims{1, 2, 4}, Dims{2, 0}, Dims{0}, Dims{2, 2}}) {
      request.updates.SetShape(shape);
      EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE) << ToString(shape);
    }
  }
}

}  // namespace
}  // namespace strew_test
