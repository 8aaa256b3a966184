// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strew/strew.h>

#include "reference/handles.h"
#include "support/dlpack.h"
#include "support/reference.h"

namespace strew_test {
namespace {

alignas(8) float memory[8];
constexpr int64_t kShape[] = {2, 3};

// The sentence about a creation that has to fail.
std::string Refused(strew_status expected, strew_dtype dtype, int32_t rank, const int64_t* shape,
                    void* data = memory) {
  strew_tensor* tensor;
  EXPECT_EQ(strew_tensor_create(dtype, rank, shape, nullptr, data, &tensor), expected);
  EXPECT_EQ(tensor, nullptr);
  return strew_last_error();
}

TEST(LastError, OfACreation) {
  constexpr int64_t kNegative[] = {2, -4}, kLarge[] = {INT64_MAX, 2};
  EXPECT_EQ(Refused(STREW_INVALID_ARGUMENT, STREW_FLOAT32, 33, kShape),
            "rank = 33 is out of range [0, 32]");
  EXPECT_EQ(Refused(STREW_INVALID_ARGUMENT, STREW_FLOAT32, 2, nullptr),
            "shape is NULL, but rank is 2");
  EXPECT_EQ(Refused(STREW_INVALID_ARGUMENT, 99, 2, kShape), "dtype 99 is unknown");
  EXPECT_EQ(Refused(STREW_INVALID_ARGUMENT, STREW_FLOAT32, 2, kNegative),
            "shape[1] = -4 is negative");
  EXPECT_EQ(Refused(STREW_SIZE_OVERFLOW, STREW_FLOAT32, 2, kLarge),
            "shape has more elements than PTRDIFF_MAX");
  char* const odd = reinterpret_cast<char*>(memory) + 1;
  const std::string misaligned = Refused(STREW_INVALID_ARGUMENT, STREW_FLOAT32, 2, kShape, odd);
  EXPECT_NE(misaligned.find("is not a multiple of 4, which float32 needs"), std::string::npos)
      << misaligned;
}

TEST(LastError, OfStridesThatReachTooFar) {
  constexpr int64_t kStrides[] = {INT64_MAX / 2, 1};
  strew_tensor* tensor;
  EXPECT_EQ(strew_tensor_create(STREW_FLOAT32, 2, kShape, kStrides, memory, &tensor),
            STREW_SIZE_OVERFLOW);
  EXPECT_STREQ(strew_last_error(),
               "the elements reach over more than PTRDIFF_MAX bytes, by shape and strides");
}

TEST(LastError, OfNullHandles) {
  EXPECT_EQ(strew_tensor_create(STREW_FLOAT32, 2, kShape, nullptr, memory, nullptr),
            STREW_INVALID_ARGUMENT);
  EXPECT_STREQ(strew_last_error(), "out is NULL");
  EXPECT_EQ(strew_tensor_set_data(nullptr, memory), STREW_INVALID_ARGUMENT);
  EXPECT_STREQ(strew_last_error(), "tensor is NULL");
  EXPECT_EQ(strew_context_set_num_threads(nullptr, 1), STREW_INVALID_ARGUMENT);
  EXPECT_STREQ(strew_last_error(), "context is NULL");
}

TEST(LastError, OfDlpack) {
  DlManagedTensorVersioned managed;
  int64_t shape[] = {8};
  managed.tensor.data = memory;
  managed.tensor.ndim = 1;
  managed.tensor.shape = shape;
  managed.tensor.dtype = {2, 24, 1};
  strew_tensor* tensor;
  EXPECT_EQ(strew_tensor_from_dlpack(&managed.tensor, &tensor), STREW_UNSUPPORTED);
  EXPECT_STREQ(strew_last_error(), "no dtype has the DLPack code 2, 24 bits and 1 lanes");
  managed.tensor.dtype = {2, 32, 1};
  managed.tensor.device_type = 2;
  EXPECT_EQ(strew_tensor_from_dlpack(&managed.tensor, &tensor), STREW_UNSUPPORTED);
  EXPECT_STREQ(strew_last_error(), "device type 2 is not that of the CPU, 1");
  managed.major = 3;
  EXPECT_EQ(strew_tensor_from_dlpack_versioned(&managed, &tensor), STREW_UNSUPPORTED);
  EXPECT_STREQ(strew_last_error(), "DLPack has major version 3, not 1");
}

TEST(LastError, OfSettings) {
  const Context context = MakeContext();
  EXPECT_EQ(strew_context_set_num_threads(context.get(), -2), STREW_INVALID_ARGUMENT);
  EXPECT_STREQ(strew_last_error(), "n = -2 is negative");
  EXPECT_EQ(strew_context_set_index_policy(context.get(), 7), STREW_INVALID_ARGUMENT);
  EXPECT_STREQ(strew_last_error(), "index policy 7 is unknown: it must be 0, 1 or 2");
  EXPECT_EQ(strew_context_set_duplicate_policy(context.get(), -1), STREW_INVALID_ARGUMENT);
  EXPECT_STREQ(strew_last_error(), "duplicate policy -1 is unknown: it must be 0 or 1");
  EXPECT_EQ(strew_context_set_simd_target(context.get(), "none"), STREW_UNSUPPORTED);
  EXPECT_STREQ(strew_last_error(), "strew_simd_target_at() does not list 'none'");
}

// The sentence is that of a context, and a call that has one leaves the thread's alone.
TEST(LastError, OfAnOperatorWithoutAContext) {
  float data[4] = {}, updates[1] = {};
  int64_t indices[1] = {9};
  const Tensor d = MakeTensor(STREW_FLOAT32, Layout{{4}, {1}}, data);
  const Tensor u = MakeTensor(STREW_FLOAT32, Layout{{1}, {1}}, updates);
  const Tensor i = MakeTensor(STREW_INT64, Layout{{1}, {1}}, indices);
  const auto scatter = [&](strew_context* context) {
    return strew_scatter_update(context, d.get(), i.get(), u.get(), 0, STREW_NONE, d.get());
  };
  EXPECT_EQ(scatter(nullptr), STREW_INDEX_OUT_OF_RANGE);
  const std::string sentence =
      "indices[0] = 9 is out of range [-4, 3] for axis 0 of data, which has 4 elements";
  EXPECT_EQ(strew_last_error(), sentence);

  const Context context = MakeContext();
  indices[0] = 5;
  EXPECT_EQ(scatter(context.get()), STREW_INDEX_OUT_OF_RANGE);
  indices[0] = 0;
  EXPECT_EQ(scatter(nullptr), STREW_OK);
  EXPECT_EQ(strew_last_error(), sentence);
}

TEST(LastError, OfAnotherThreadIsItsOwn) {
  EXPECT_EQ(strew_tensor_set_data(nullptr, memory), STREW_INVALID_ARGUMENT);
  std::string before, after;
  std::thread([&] {
    before = strew_last_error();
    static_cast<void>(strew_context_set_num_threads(nullptr, 1));
    after = strew_last_error();
  }).join();
  EXPECT_EQ(before, "");
  EXPECT_EQ(after, "context is NULL");
  EXPECT_STREQ(strew_last_error(), "tensor is NULL");
}

}  // namespace
}  // namespace strew_test
