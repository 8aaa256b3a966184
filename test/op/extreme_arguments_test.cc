// SPDX-License-Identifier: Apache-2.0
//
// Descriptors and arrays that are legal and absurd: each call must answer at once and in order.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

class ExtremeArguments : public testing::Test {
 protected:
  int64_t Position() const { return strew_context_error_position(context_.get()); }
  std::string Error() const { return strew_context_error(context_.get()); }

  Context context_ = MakeContext();
  float data_[4] = {1, 2, 3, 4};
  float update_[8] = {};
};

// The search for the first bad value must not turn once for each of 2^60 places that are one.
TEST_F(ExtremeArguments, BadIndexOfStride0IsReportedAtOnce) {
  int64_t index = 9;
  const int64_t count = int64_t{1} << 60;
  const Tensor data = MakeTensor(STREW_FLOAT32, {{4}, {1}}, data_);
  const Tensor indices = MakeTensor(STREW_INT64, {{count}, {0}}, &index);
  const Tensor updates = MakeTensor(STREW_FLOAT32, {{count}, {0}}, update_);
  EXPECT_EQ(strew_scatter_elements(context_.get(), data.get(), indices.get(), updates.get(), 0,
                                   STREW_NONE, data.get()),
            STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(Position(), 0);
  EXPECT_EQ(Error(),
            "indices[0] = 9 is out of range [-4, 3] for axis 0 of data, which has 4 elements");
}

// Only the last of 2^60 equal updates is moved. They have more bytes than fit 64 bits.
TEST_F(ExtremeArguments, EqualUpdatesOfAnyNumberAreMovedAtOnce) {
  constexpr strew_dtype kDtype = STREW_OPAQUE(4096);
  const int64_t index = 1, count = int64_t{1} << 60;
  std::vector<char> data(2 * 4096, 'd'), update(4096, 'u'), output(2 * 4096);
  const Tensor from = MakeTensor(kDtype, {{2}, {1}}, data.data());
  const Tensor to = MakeTensor(kDtype, {{2}, {1}}, output.data());
  const Tensor indices = MakeTensor(STREW_INT64, {{count}, {0}}, const_cast<int64_t*>(&index));
  const Tensor updates = MakeTensor(kDtype, {{count}, {0}}, update.data());
  ASSERT_EQ(strew_scatter_elements(context_.get(), from.get(), indices.get(), updates.get(), 0,
                                   STREW_NONE, to.get()),
            STREW_OK)
      << Error();
  EXPECT_EQ(std::string(output.begin(), output.end()),
            std::string(4096, 'd') + std::string(4096, 'u'));
  EXPECT_EQ(strew_context_applied(context_.get()), count);
}

TEST_F(ExtremeArguments, PositionCountsTheStepsOverStrides0) {
  int64_t index[2] = {0, 9};
  const int64_t count = int64_t{1} << 40;
  const Tensor data = MakeTensor(STREW_FLOAT32, {{4, 0}, {1, 1}}, nullptr);
  const Tensor indices = MakeTensor(STREW_INT64, {{2, count, 1}, {1, 0, 0}}, index);
  const Tensor updates = MakeTensor(STREW_FLOAT32, {{2, count, 0}, {1, 1, 1}}, nullptr);
  EXPECT_EQ(strew_scatter_nd(context_.get(), data.get(), indices.get(), updates.get(), STREW_NONE,
                             data.get()),
            STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(Position(), count);
  EXPECT_NE(Error().find("indices[1,0,0] = 9"), std::string::npos) << Error();
}

TEST_F(ExtremeArguments, ArraysLongerThanTheRankAreInvalidShape) {
  const int64_t numbers[1] = {0};
  const Tensor data = MakeTensor(STREW_FLOAT32, {{4}, {1}}, data_);
  for (const int64_t count : {int64_t{2}, int64_t{33}, int64_t{1} << 61, kMost}) {
    EXPECT_EQ(strew_slice_scatter_int64(context_.get(), data.get(), data.get(), count, numbers,
                                        numbers, numbers, nullptr, STREW_NONE, data.get()),
              STREW_INVALID_SHAPE)
        << count;
    EXPECT_EQ(strew_slice_scatter_int64(context_.get(), nullptr, data.get(), count, numbers,
                                        numbers, numbers, nullptr, STREW_NONE, data.get()),
              STREW_INVALID_ARGUMENT)
        << count;
  }
}

// No element is named, so that nobody may look at each of 2^41 tuples.
TEST_F(ExtremeArguments, PoliciesDoNotVisitTuplesThatNameNothing) {
  int64_t index[2] = {0, 9};
  const int64_t count = int64_t{1} << 40;
  const Tensor data = MakeTensor(STREW_FLOAT32, {{4, 0}, {1, 1}}, nullptr);
  const Tensor indices = MakeTensor(STREW_INT64, {{2, count, 1}, {1, 0, 0}}, index);
  const Tensor updates = MakeTensor(STREW_FLOAT32, {{2, count, 0}, {1, 1, 1}}, nullptr);
  for (const strew_index_policy policy : {STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
    ASSERT_EQ(strew_context_set_index_policy(context_.get(), policy), STREW_OK);
    EXPECT_EQ(strew_scatter_nd(context_.get(), data.get(), indices.get(), updates.get(), STREW_NONE,
                               data.get()),
              STREW_OK);
    EXPECT_EQ(strew_context_applied(context_.get()), 0);
  }
}

// B = 2^40 batch entries of no heads.
TEST_F(ExtremeArguments, CachesOfNothingAreNotVisited) {
  int64_t write_index = 1;
  const int64_t count = int64_t{1} << 40;
  const Tensor past = MakeTensor(STREW_FLOAT32, {{count, 0, 4}, {1, 1, 1}}, nullptr);
  const Tensor update = MakeTensor(STREW_FLOAT32, {{count, 0, 2}, {1, 1, 1}}, nullptr);
  const Tensor indices = MakeTensor(STREW_INT64, {{count}, {0}}, &write_index);
  for (const strew_cache_mode mode : {STREW_CACHE_LINEAR, STREW_CACHE_CIRCULAR}) {
    for (const strew_index_policy policy :
         {STREW_INDEX_ERROR, STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
      ASSERT_EQ(strew_context_set_index_policy(context_.get(), policy), STREW_OK);
      EXPECT_EQ(strew_tensor_scatter(context_.get(), past.get(), update.get(), indices.get(), 2,
                                     mode, past.get()),
                STREW_OK);
    }
  }
}

// They are no duplicates either, however many places the tuples might name.
TEST_F(ExtremeArguments, TuplesThatNameNothingAreNotCompared) {
  int64_t index[2] = {0, 2};
  const int64_t count = int64_t{1} << 40;
  const Tensor data = MakeTensor(STREW_FLOAT32, {{count, count, 0}, {1, 1, 1}}, nullptr);
  const Tensor indices = MakeTensor(STREW_INT64, {{2, count, 2}, {1, 0, 0}}, index);
  const Tensor updates = MakeTensor(STREW_FLOAT32, {{2, count, 0}, {1, 1, 1}}, nullptr);
  ASSERT_EQ(strew_context_set_duplicate_policy(context_.get(), STREW_DUPLICATE_ERROR), STREW_OK);
  for (const strew_reduction reduction :
       std::vector<strew_reduction>{STREW_NONE, STREW_MEAN, STREW_MEAN | STREW_EXCLUDE_SELF,
                                    STREW_ADD | STREW_EXCLUDE_SELF}) {
    EXPECT_EQ(strew_scatter_nd(context_.get(), data.get(), indices.get(), updates.get(), reduction,
                               data.get()),
              STREW_OK)
        << Error();
  }
}

// Complex products remember which elements have met an update, and here is none.
TEST_F(ExtremeArguments, UpdatesOfNothingNeedNoMemory) {
  int64_t index = 1;
  const int64_t count = int64_t{1} << 60;
  const Tensor data = MakeTensor(STREW_COMPLEX64, {{4, 0}, {1, 1}}, nullptr);
  const Tensor indices = MakeTensor(STREW_INT64, {{count}, {0}}, &index);
  const Tensor updates = MakeTensor(STREW_COMPLEX64, {{count, 0}, {1, 1}}, nullptr);
  for (const strew_reduction reduction :
       std::vector<strew_reduction>{STREW_MUL | STREW_EXCLUDE_SELF, STREW_MEAN}) {
    EXPECT_EQ(strew_scatter_update(context_.get(), data.get(), indices.get(), updates.get(), 0,
                                   reduction, data.get()),
              STREW_OK)
        << Error();
  }
}

// Strides of dims <= 1 and of empty tensors may be anything, also times the parts of an element.
TEST_F(ExtremeArguments, StridesThatMeanNothingAreNotComputedWith) {
  unsigned char bytes[12] = {};
  unsigned char update[3] = {7, 8, 9};
  int64_t index = -1;
  const strew_dtype three = STREW_OPAQUE(3);
  for (const int64_t wild : {kMost, kLeast}) {
    const Tensor data = MakeTensor(three, {{1, 4}, {wild, 1}}, bytes);
    const Tensor indices = MakeTensor(STREW_INT64, {{1, 1}, {wild, wild}}, &index);
    const Tensor updates = MakeTensor(three, {{1, 1}, {wild, wild}}, update);
    EXPECT_EQ(strew_scatter_elements(nullptr, data.get(), indices.get(), updates.get(), 1,
                                     STREW_NONE, data.get()),
              STREW_OK);
    EXPECT_EQ(std::memcmp(bytes + 9, update, 3), 0);

    const Tensor no_data = MakeTensor(three, {{4, 0}, {wild, wild}}, nullptr);
    const Tensor no_indices = MakeTensor(STREW_INT64, {{0, 3}, {wild, wild}}, nullptr);
    const Tensor no_updates = MakeTensor(three, {{0}, {wild}}, nullptr);
    const Tensor cube = MakeTensor(three, {{1, 1, 4}, {wild, wild, 1}}, bytes);
    EXPECT_EQ(strew_scatter_nd(nullptr, cube.get(), no_indices.get(), no_updates.get(), STREW_NONE,
                               cube.get()),
              STREW_OK);
    const Tensor two_indices = MakeTensor(STREW_INT64, {{0, 2}, {wild, wild}}, nullptr);
    EXPECT_EQ(strew_scatter_nd(nullptr, no_data.get(), two_indices.get(), no_updates.get(),
                               STREW_NONE, no_data.get()),
              STREW_OK);
  }
}

// Strides of dims of 1 mean nothing, and dims of an empty slice may have any product.
TEST_F(ExtremeArguments, BroadcastUpdatesOfAnyStrides) {
  const int64_t start = 0, end = 4, step = 1, wild = kLeast;
  const Tensor data = MakeTensor(STREW_FLOAT32, {{kMost, kMost, 0}, {wild, wild, wild}}, nullptr);
  const Tensor updates = MakeTensor(STREW_FLOAT32, {{1, 1}, {wild, wild}}, update_);
  EXPECT_EQ(strew_slice_scatter_int64(context_.get(), data.get(), updates.get(), 1, &start, &end,
                                      &step, nullptr, STREW_ADD, data.get()),
            STREW_OK);
  const Tensor line = MakeTensor(STREW_FLOAT32, {{4, 1}, {1, wild}}, data_);
  update_[0] = 5;
  EXPECT_EQ(strew_slice_scatter_int64(context_.get(), line.get(), updates.get(), 1, &start, &end,
                                      &step, nullptr, STREW_ADD, line.get()),
            STREW_OK);
  EXPECT_EQ(data_[3], 9);
}

// Sentences with the longest of shapes are whole.
TEST_F(ExtremeArguments, LongSentencesAreNotCut) {
  const Dims longest(31, kMost);
  Dims shape = {0};
  shape.insert(shape.end(), longest.begin(), longest.end());
  Dims other = shape;
  other[31] = kMost - 1;
  const Dims strides(32, 1);
  const Tensor data = MakeTensor(STREW_FLOAT32, {shape, strides}, nullptr);
  const Tensor indices = MakeTensor(STREW_INT8, {shape, strides}, nullptr);
  const Tensor updates = MakeTensor(STREW_FLOAT32, {other, strides}, nullptr);
  EXPECT_EQ(strew_scatter_elements(context_.get(), data.get(), indices.get(), updates.get(), 0,
                                   STREW_NONE, data.get()),
            STREW_INVALID_SHAPE);
  EXPECT_EQ(Error().back(), ']');
}

}  // namespace
}  // namespace strew_test
