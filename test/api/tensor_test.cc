// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strew/strew.h>

#include "reference/dtypes.h"
#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

alignas(64) unsigned char memory[256];

// The arguments of create and reset. Absent strides are row-major.
struct Description {
  strew_dtype dtype = STREW_FLOAT32;
  int32_t rank = 2;
  std::vector<int64_t> shape = {2, 3};
  std::vector<int64_t> strides = {};
  void* data = memory;

  const int64_t* shape_or_null() const { return shape.empty() ? nullptr : shape.data(); }
  const int64_t* strides_or_null() const { return strides.empty() ? nullptr : strides.data(); }
};

strew_status Reset(strew_tensor* tensor, const Description& d) {
  return strew_tensor_reset(tensor, d.dtype, d.rank, d.shape_or_null(), d.strides_or_null(),
                            d.data);
}

// Creates; NULL must come out of a failure even where something else went in.
strew_status Create(const Description& d, Tensor* out) {
  auto* tensor = reinterpret_cast<strew_tensor*>(memory);
  const strew_status status =
      strew_tensor_create(d.dtype, d.rank, d.shape_or_null(), d.strides_or_null(), d.data, &tensor);
  EXPECT_EQ(status == STREW_OK, tensor != nullptr);
  out->reset(tensor);
  return status;
}

std::vector<int64_t> ShapeOf(const Tensor& tensor) {
  const int64_t* shape = strew_tensor_shape(tensor.get());
  return {shape, shape + strew_tensor_rank(tensor.get())};
}
std::vector<int64_t> StridesOf(const Tensor& tensor) {
  const int64_t* strides = strew_tensor_strides(tensor.get());
  return {strides, strides + strew_tensor_rank(tensor.get())};
}

// The description that MakeTensor below gets and failing resets must leave.
const Description kOriginal = {STREW_INT16, 3, {2, 1, 4}, {-9, 5, 2}, memory + 64};

void ExpectOriginal(const Tensor& tensor) {
  EXPECT_EQ(strew_tensor_dtype(tensor.get()), kOriginal.dtype);
  ASSERT_EQ(strew_tensor_rank(tensor.get()), kOriginal.rank);
  EXPECT_EQ(strew_tensor_size(tensor.get()), 8);
  EXPECT_EQ(ShapeOf(tensor), kOriginal.shape);
  EXPECT_EQ(StridesOf(tensor), kOriginal.strides);
  EXPECT_EQ(strew_tensor_data(tensor.get()), kOriginal.data);
}

Tensor MakeOriginal() {
  Tensor tensor;
  EXPECT_EQ(Create(kOriginal, &tensor), STREW_OK);
  return tensor;
}

// Create refuses the description, and so does reset, which leaves the descriptor alone.
void ExpectRefused(const Description& d, strew_status status) {
  Tensor created;
  EXPECT_EQ(Create(d, &created), status);
  const Tensor tensor = MakeOriginal();
  EXPECT_EQ(Reset(tensor.get(), d), status);
  ExpectOriginal(tensor);
}

// Create accepts it, and so does reset.
void ExpectAccepted(const Description& d, int64_t size) {
  Tensor created;
  ASSERT_EQ(Create(d, &created), STREW_OK);
  const Tensor reset = MakeOriginal();
  ASSERT_EQ(Reset(reset.get(), d), STREW_OK);
  for (const Tensor* tensor : std::initializer_list<const Tensor*>{&created, &reset}) {
    EXPECT_EQ(strew_tensor_dtype(tensor->get()), d.dtype);
    EXPECT_EQ(strew_tensor_rank(tensor->get()), d.rank);
    EXPECT_EQ(strew_tensor_size(tensor->get()), size);
    EXPECT_EQ(ShapeOf(*tensor), d.shape);
    EXPECT_TRUE(d.strides.empty() || StridesOf(*tensor) == d.strides);
    EXPECT_EQ(strew_tensor_data(tensor->get()), d.data);
  }
}

Description With(std::function<void(Description&)> change) {
  Description d;
  change(d);
  return d;
}

Description Shaped(std::vector<int64_t> shape, std::vector<int64_t> strides = {},
                   strew_dtype dtype = STREW_INT8) {
  return {dtype, static_cast<int32_t>(shape.size()), shape, strides, memory};
}

// ---- What is accepted ------------------------------------------------------------------------

TEST(Tensor, EveryDtype) {
  for (const Dtype& dtype : Dtypes()) {
    ExpectAccepted(With([&](Description& d) { d.dtype = dtype.code; }), 6);
  }
}

TEST(Tensor, MissingStridesAreRowMajor) {
  Tensor tensor;
  ASSERT_EQ(Create(Shaped({2, 3, 4}), &tensor), STREW_OK);
  EXPECT_EQ(StridesOf(tensor), (std::vector<int64_t>{12, 4, 1}));
}

TEST(Tensor, RankZeroHasOneElement) { ExpectAccepted(Shaped({}), 1); }

TEST(Tensor, RankUpTo32) { ExpectAccepted(Shaped(std::vector<int64_t>(32, 1)), 1); }

TEST(Tensor, StridesMayBeNegativeAndZero) {
  ExpectAccepted(Shaped({2, 3}, {-3, 1}), 6);
  ExpectAccepted(Shaped({2, 3}, {0, 0}), 6);
}

TEST(Tensor, MayBeUnbound) {
  ExpectAccepted(With([](Description& d) { d.data = nullptr; }), 6);
}

TEST(Tensor, EmptyTensorsAreNotJudged) {
  ExpectAccepted(Shaped({0}, {kLowest}), 0);
  ExpectAccepted(Shaped({kHighest, 0, kHighest}, {kLowest, kHighest, kLowest}), 0);
  ExpectAccepted(Shaped({kHighest, kHighest, 0}), 0);
  ExpectAccepted(Shaped({0, kHighest, kHighest}), 0);
}

TEST(Tensor, StridesOfSmallDimsAreNotJudged) {
  ExpectAccepted(Shaped({1, 3, 1}, {kLowest, 1, kHighest}), 3);
}

TEST(Tensor, ExtentsUpToPtrdiffMax) {
  ExpectAccepted(Shaped({kHighest}), kHighest);
  ExpectAccepted(Shaped({kHighest}, {-1}), kHighest);
  ExpectAccepted(Shaped({2}, {kHighest - 1}), 2);
  ExpectAccepted(Shaped({kHighest / 8}, {}, STREW_INT64), kHighest / 8);
  ExpectAccepted(Shaped({kHighest / 2, 2}, {0, 1}), kHighest - 1);
}

TEST(Tensor, CopiesShapeAndStrides) {
  int64_t shape[] = {2, 3};
  int64_t strides[] = {1, 2};
  strew_tensor* created = nullptr;
  ASSERT_EQ(strew_tensor_create(STREW_INT8, 2, shape, strides, memory, &created), STREW_OK);
  const Tensor tensor(created);
  shape[0] = strides[0] = 77;
  EXPECT_EQ(ShapeOf(tensor), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(StridesOf(tensor), (std::vector<int64_t>{1, 2}));
}

// ---- What is refused -------------------------------------------------------------------------

TEST(Tensor, NullOut) {
  const int64_t shape[] = {2};
  EXPECT_EQ(strew_tensor_create(STREW_INT8, 1, shape, nullptr, memory, nullptr),
            STREW_INVALID_ARGUMENT);
}

TEST(Tensor, NullShape) {
  ExpectRefused(With([](Description& d) { d.shape.clear(); }), STREW_INVALID_ARGUMENT);
}

TEST(Tensor, RankOutOfRange) {
  for (const int32_t rank : {-1, INT_MIN, 33, INT_MAX}) {
    Description d = Shaped(std::vector<int64_t>(33, 1));
    d.rank = rank;
    ExpectRefused(d, STREW_INVALID_ARGUMENT);
  }
}

TEST(Tensor, UnknownDtype) {
  for (const strew_dtype dtype : {-1, 0, 19, 0xffff, 0x10000, 0x11001, INT_MAX, INT_MIN}) {
    ExpectRefused(With([=](Description& d) { d.dtype = dtype; }), STREW_INVALID_ARGUMENT);
  }
}

TEST(Tensor, NegativeDim) {
  ExpectRefused(Shaped({2, -1}), STREW_INVALID_ARGUMENT);
  ExpectRefused(Shaped({0, -1}), STREW_INVALID_ARGUMENT);
  ExpectRefused(Shaped({kLowest}), STREW_INVALID_ARGUMENT);
  ExpectRefused(Shaped({kHighest, kHighest, -1}), STREW_INVALID_ARGUMENT);
}

TEST(Tensor, MisalignedData) {
  for (const Dtype& dtype : Dtypes()) {
    for (size_t offset = 0; offset <= 16; ++offset) {
      const Description d = {dtype.code, 2, {2, 3}, {}, memory + offset};
      if (offset % dtype.alignment == 0) {
        ExpectAccepted(d, 6);
      } else {
        ExpectRefused(d, STREW_INVALID_ARGUMENT);
      }
    }
  }
}

// 2^32 * 2^32 is 0 in 64 bits, but the tensor is not empty.
TEST(Tensor, MisalignedDataDecidesBeforeTheSize) {
  const int64_t large = int64_t{1} << 32;
  ExpectRefused({STREW_INT32, 2, {large, large}, {}, memory + 1}, STREW_INVALID_ARGUMENT);
  ExpectRefused({STREW_INT32, 2, {large, large}, {}, memory}, STREW_SIZE_OVERFLOW);
}

TEST(Tensor, MisalignedDataOfAnEmptyTensorIsNotJudged) {
  ExpectAccepted({STREW_FLOAT64, 1, {0}, {}, memory + 1}, 0);
}

TEST(Tensor, SizeOverflow) {
  ExpectRefused(Shaped({kHighest, 2}), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({kHighest, 2}, {0, 0}), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({kHighest, kHighest, kHighest}), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({kHighest}, {}, STREW_INT16), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({kHighest / 8 + 1}, {}, STREW_INT64), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({2}, {kHighest}), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({2}, {kLowest}), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({2}, {-kHighest}), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({3}, {kHighest / 2 + 1}), STREW_SIZE_OVERFLOW);
  ExpectRefused(Shaped({2, 2}, {kHighest / 2 + 1, kHighest / 2 + 1}), STREW_SIZE_OVERFLOW);
  // The extent counts from the lowest to the highest element: signs do not cancel.
  ExpectRefused(Shaped({2, 2}, {kHighest / 2 + 1, -(kHighest / 2 + 1)}), STREW_SIZE_OVERFLOW);
}

TEST(Tensor, InvalidArgumentComesBeforeOverflow) {
  ExpectRefused({STREW_INT64, 2, {kHighest, 2}, {}, memory + 1}, STREW_INVALID_ARGUMENT);
}

// ---- reset, set_data and getters -------------------------------------------------------------

TEST(Tensor, ShapeOfNullIsThatOfRank0Only) {
  strew_tensor* tensor = nullptr;
  for (const int32_t rank : {1, 2, 32}) {
    EXPECT_EQ(strew_tensor_create(STREW_INT8, rank, nullptr, nullptr, memory, &tensor),
              STREW_INVALID_ARGUMENT);
  }
  ASSERT_EQ(strew_tensor_create(STREW_INT8, 0, nullptr, nullptr, memory, &tensor), STREW_OK);
  strew_tensor_destroy(tensor);
}

TEST(Tensor, ResetOfNull) { EXPECT_EQ(Reset(nullptr, Description()), STREW_INVALID_ARGUMENT); }

TEST(Tensor, ResetWithItsOwnArrays) {
  const Tensor tensor = MakeOriginal();
  strew_tensor* t = tensor.get();
  ASSERT_EQ(strew_tensor_reset(t, STREW_INT16, 3, strew_tensor_shape(t), strew_tensor_strides(t),
                               kOriginal.data),
            STREW_OK);
  ExpectOriginal(tensor);
  // The last two dims, from the middle of its own arrays.
  ASSERT_EQ(strew_tensor_reset(t, STREW_INT8, 2, strew_tensor_shape(t) + 1,
                               strew_tensor_strides(t) + 1, memory),
            STREW_OK);
  EXPECT_EQ(ShapeOf(tensor), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(StridesOf(tensor), (std::vector<int64_t>{5, 2}));
  // Strides for a shape and a shape for strides.
  ASSERT_EQ(
      strew_tensor_reset(t, STREW_INT8, 2, strew_tensor_strides(t), strew_tensor_shape(t), memory),
      STREW_OK);
  EXPECT_EQ(ShapeOf(tensor), (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(StridesOf(tensor), (std::vector<int64_t>{1, 4}));
  // Row-major strides from its own shape.
  ASSERT_EQ(strew_tensor_reset(t, STREW_INT8, 2, strew_tensor_shape(t), nullptr, memory), STREW_OK);
  EXPECT_EQ(StridesOf(tensor), (std::vector<int64_t>{2, 1}));
}

TEST(Tensor, ResetToAnotherRank) {
  const Tensor tensor = MakeOriginal();
  for (const size_t rank : {32u, 0u, 5u, 1u}) {
    Description d = Shaped(std::vector<int64_t>(rank, 1));
    ASSERT_EQ(Reset(tensor.get(), d), STREW_OK);
    EXPECT_EQ(ShapeOf(tensor), d.shape);
  }
}

TEST(Tensor, SetData) {
  const Tensor tensor = MakeOriginal();
  EXPECT_EQ(strew_tensor_set_data(tensor.get(), memory + 1), STREW_INVALID_ARGUMENT);
  ExpectOriginal(tensor);
  EXPECT_EQ(strew_tensor_set_data(tensor.get(), memory + 2), STREW_OK);
  EXPECT_EQ(strew_tensor_data(tensor.get()), memory + 2);
  EXPECT_EQ(strew_tensor_set_data(tensor.get(), nullptr), STREW_OK);
  EXPECT_EQ(strew_tensor_data(tensor.get()), nullptr);
  EXPECT_EQ(strew_tensor_set_data(nullptr, memory), STREW_INVALID_ARGUMENT);
}

TEST(Tensor, StridesOfAnEmptyOneAreThoseOfDimsOf1) {
  const Tensor tensor = MakeOriginal();
  ASSERT_EQ(Reset(tensor.get(), Shaped({2, 0, 3})), STREW_OK);
  EXPECT_EQ(StridesOf(tensor), (std::vector<int64_t>{3, 3, 1}));
}

// Nothing is read where an empty tensor points.
TEST(Tensor, SetDataOfAnEmptyOneAtAnyAddress) {
  const Tensor tensor = MakeOriginal();
  ASSERT_EQ(Reset(tensor.get(), Shaped({3, 0}, {}, STREW_INT64)), STREW_OK);
  EXPECT_EQ(strew_tensor_set_data(tensor.get(), memory + 1), STREW_OK);
  EXPECT_EQ(strew_tensor_data(tensor.get()), memory + 1);
}

TEST(Tensor, GettersAcceptNull) {
  EXPECT_EQ(strew_tensor_dtype(nullptr), 0);
  EXPECT_EQ(strew_tensor_rank(nullptr), 0);
  EXPECT_EQ(strew_tensor_size(nullptr), 0);
  EXPECT_EQ(strew_tensor_shape(nullptr), nullptr);
  EXPECT_EQ(strew_tensor_strides(nullptr), nullptr);
  EXPECT_EQ(strew_tensor_data(nullptr), nullptr);
  strew_tensor_destroy(nullptr);
}

}  // namespace
}  // namespace strew_test
