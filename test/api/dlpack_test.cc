// SPDX-License-Identifier: Apache-2.0
//
// Tensors of DLPack, in both generations of its structures.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <strew/strew.h>

#include "reference/dtypes.h"
#include "reference/handles.h"
#include "support/dlpack.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

alignas(64) unsigned char memory[256];

int deletions = 0;
void CountDeletion(DlManagedTensorVersioned*) { ++deletions; }

enum class Generation { kPlain, kVersioned };

// A tensor that a test may spoil: float32 [2, 3] at memory.
struct Producer {
  Dims shape = {2, 3};
  Dims strides = {};  // NULL
  DlManagedTensorVersioned managed;

  Producer() {
    managed.minor = 3;
    managed.deleter = CountDeletion;
    managed.tensor.data = memory;
    managed.tensor.dtype = {2, 32, 1};
    managed.tensor.ndim = 2;
  }

  strew_status Offer(Generation generation, Tensor* out) {
    DlTensor& tensor = managed.tensor;
    tensor.shape = shape.empty() ? nullptr : shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    // NULL must come out of a failure even where something else went in.
    auto* made = reinterpret_cast<strew_tensor*>(memory);
    const strew_status status = generation == Generation::kPlain
                                    ? strew_tensor_from_dlpack(&tensor, &made)
                                    : strew_tensor_from_dlpack_versioned(&managed, &made);
    EXPECT_EQ(status == STREW_OK, made != nullptr);
    out->reset(made);
    return status;
  }
};

class Dlpack : public testing::TestWithParam<Generation> {
 protected:
  using Change = std::function<void(Producer&)>;

  Tensor Accepted(const Change& change) {
    Producer producer;
    change(producer);
    Tensor tensor;
    EXPECT_EQ(producer.Offer(GetParam(), &tensor), STREW_OK);
    return tensor;
  }

  strew_status StatusOf(const Change& change) {
    Producer producer;
    change(producer);
    Tensor tensor;
    return producer.Offer(GetParam(), &tensor);
  }

  static Dims ShapeOf(const Tensor& tensor) {
    const int64_t* const shape = strew_tensor_shape(tensor.get());
    return {shape, shape + strew_tensor_rank(tensor.get())};
  }
  static Dims StridesOf(const Tensor& tensor) {
    const int64_t* const strides = strew_tensor_strides(tensor.get());
    return {strides, strides + strew_tensor_rank(tensor.get())};
  }
};

INSTANTIATE_TEST_SUITE_P(BothGenerations, Dlpack,
                         testing::Values(Generation::kPlain, Generation::kVersioned),
                         [](const auto& test) {
                           return test.param == Generation::kPlain ? "Plain" : "Versioned";
                         });

// ---- What is accepted ------------------------------------------------------------------------

TEST_P(Dlpack, DescribesWhatTheProducerHas) {
  const Tensor tensor = Accepted([](Producer& p) {
    p.shape = {2, 1, 3};
    p.strides = {-8, 77, 2};
    p.managed.tensor.ndim = 3;
    p.managed.tensor.byte_offset = 64;
    p.managed.tensor.device_id = 5;
  });
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(strew_tensor_dtype(tensor.get()), STREW_FLOAT32);
  EXPECT_EQ(ShapeOf(tensor), (Dims{2, 1, 3}));
  EXPECT_EQ(StridesOf(tensor), (Dims{-8, 77, 2}));
  EXPECT_EQ(strew_tensor_size(tensor.get()), 6);
  EXPECT_EQ(strew_tensor_data(tensor.get()), memory + 64);
  EXPECT_EQ(deletions, 0);
}

TEST_P(Dlpack, MissingStridesAreRowMajor) {
  EXPECT_EQ(StridesOf(Accepted([](Producer&) {})), (Dims{3, 1}));
}

TEST_P(Dlpack, RankZeroNeedsNoArrays) {
  const Tensor tensor = Accepted([](Producer& p) {
    p.shape = {};
    p.managed.tensor.ndim = 0;
  });
  EXPECT_EQ(strew_tensor_rank(tensor.get()), 0);
  EXPECT_EQ(strew_tensor_size(tensor.get()), 1);
}

TEST_P(Dlpack, NoDataIsUnboundWhateverTheOffset) {
  const Tensor tensor = Accepted([](Producer& p) {
    p.managed.tensor.data = nullptr;
    p.managed.tensor.byte_offset = 64;
  });
  EXPECT_EQ(strew_tensor_size(tensor.get()), 6);
  EXPECT_EQ(strew_tensor_data(tensor.get()), nullptr);
}

TEST_P(Dlpack, EmptyTensorsAreNotJudged) {
  const Tensor tensor = Accepted([](Producer& p) {
    p.shape = {kHighest, 0};
    p.strides = {kHighest, kHighest};
    p.managed.tensor.data = memory + 1;
    p.managed.tensor.byte_offset = UINT64_MAX;
  });
  EXPECT_EQ(strew_tensor_size(tensor.get()), 0);
}

// Every code with every number of bits: those of the specification, and no other.
TEST_P(Dlpack, EveryTypeWithACounterpart) {
  std::vector<strew_dtype> expected(0x10000, 0);
  for (strew_dtype dtype = STREW_BOOL; dtype <= LastCode(); ++dtype) {
    const DlType type = DlTypeOf(dtype);
    if (type.bits != 0) expected[type.code * 256u + type.bits] = dtype;
  }
  for (unsigned code = 0; code < 256; ++code) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      const strew_dtype dtype = expected[code * 256 + bits];
      Producer producer;
      producer.managed.tensor.dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
      Tensor tensor;
      const strew_status status = producer.Offer(GetParam(), &tensor);
      ASSERT_EQ(status, dtype == 0 ? STREW_UNSUPPORTED : STREW_OK)
          << "code " << code << " bits " << bits;
      ASSERT_EQ(strew_tensor_dtype(tensor.get()), dtype);
    }
  }
}

// ---- What is refused -------------------------------------------------------------------------

TEST_P(Dlpack, Nulls) {
  strew_tensor* out = reinterpret_cast<strew_tensor*>(memory);
  Producer producer;
  if (GetParam() == Generation::kPlain) {
    EXPECT_EQ(strew_tensor_from_dlpack(nullptr, &out), STREW_INVALID_ARGUMENT);
    EXPECT_EQ(strew_tensor_from_dlpack(&producer.managed.tensor, nullptr), STREW_INVALID_ARGUMENT);
  } else {
    EXPECT_EQ(strew_tensor_from_dlpack_versioned(nullptr, &out), STREW_INVALID_ARGUMENT);
    EXPECT_EQ(strew_tensor_from_dlpack_versioned(&producer.managed, nullptr),
              STREW_INVALID_ARGUMENT);
  }
  EXPECT_EQ(out, nullptr);
}

TEST_P(Dlpack, OtherDevices) {
  for (const int32_t device : {INT_MIN, -1, 0, 2, 3, 10, 11, 13, 14, 18, INT_MAX}) {
    EXPECT_EQ(StatusOf([=](Producer& p) { p.managed.tensor.device_type = device; }),
              STREW_UNSUPPORTED)
        << device;
  }
}

TEST_P(Dlpack, OtherLanes) {
  for (const uint16_t lanes : {uint16_t{0}, uint16_t{2}, uint16_t{257}, uint16_t{0xffff}}) {
    EXPECT_EQ(StatusOf([=](Producer& p) { p.managed.tensor.dtype.lanes = lanes; }),
              STREW_UNSUPPORTED)
        << lanes;
  }
}

TEST_P(Dlpack, WhatIsUnsupportedIsNotLookedIntoFurther) {
  EXPECT_EQ(StatusOf([](Producer& p) {
              p.managed.tensor.device_type = 2;
              p.managed.tensor.ndim = -1;
              p.shape = {};
            }),
            STREW_UNSUPPORTED);
}

TEST_P(Dlpack, Shapes) {
  for (const int32_t rank : {-1, INT_MIN, 33, INT_MAX}) {
    EXPECT_EQ(StatusOf([=](Producer& p) {
                p.shape.assign(33, 1);
                p.managed.tensor.ndim = rank;
              }),
              STREW_INVALID_ARGUMENT)
        << rank;
  }
  EXPECT_EQ(StatusOf([](Producer& p) { p.shape = {}; }), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(StatusOf([](Producer& p) { p.shape = {2, -1}; }), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(StatusOf([](Producer& p) { p.shape = {kHighest, kHighest}; }), STREW_SIZE_OVERFLOW);
  EXPECT_EQ(StatusOf([](Producer& p) { p.strides = {kHighest, kHighest}; }), STREW_SIZE_OVERFLOW);
}

TEST_P(Dlpack, OffsetsThatMisalign) {
  for (const uint64_t offset : {1U, 2U, 3U, 5U}) {
    EXPECT_EQ(StatusOf([=](Producer& p) { p.managed.tensor.byte_offset = offset; }),
              STREW_INVALID_ARGUMENT);
    Accepted([=](Producer& p) {
      p.managed.tensor.data = memory + 8 - offset;
      p.managed.tensor.byte_offset = offset;
    });
  }
}

TEST_P(Dlpack, OffsetsBeyondTheAddressSpace) {
  const uint64_t around = ~reinterpret_cast<uintptr_t>(memory) + 1;  // the sum is 0
  for (const uint64_t offset : {around, around + 64, UINT64_MAX - 3, uint64_t{1} << 63}) {
    EXPECT_EQ(StatusOf([=](Producer& p) { p.managed.tensor.byte_offset = offset; }),
              STREW_SIZE_OVERFLOW)
        << offset;
  }
  EXPECT_EQ(StatusOf([=](Producer& p) {
              p.managed.tensor.data = reinterpret_cast<void*>(UINTPTR_MAX - 63);
              p.managed.tensor.byte_offset = 64;
            }),
            STREW_SIZE_OVERFLOW);
}

// ---- Versions and flags ----------------------------------------------------------------------

TEST(DlpackVersion, AnotherMajorVersionIsUnsupported) {
  for (const uint32_t major : {0u, 2u, UINT32_MAX}) {
    Producer producer;
    producer.managed.major = major;
    producer.managed.tensor.ndim = -1;
    Tensor tensor;
    EXPECT_EQ(producer.Offer(Generation::kVersioned, &tensor), STREW_UNSUPPORTED);
  }
  EXPECT_EQ(deletions, 0);
}

// Adds 1 to the first of two numbers in the memory.
strew_status AddOne(const Tensor& data, const Tensor& output) {
  int64_t index = 0;
  float update = 1;
  const Tensor indices = MakeTensor(STREW_INT64, {{1}, {1}}, &index);
  const Tensor updates = MakeTensor(STREW_FLOAT32, {{1}, {1}}, &update);
  return strew_scatter_elements(nullptr, data.get(), indices.get(), updates.get(), 0, STREW_ADD,
                                output.get());
}

class DlpackReadOnly : public testing::Test {
 protected:
  float numbers_[2] = {1, 2};
  const Tensor tensor_ = MakeReadOnlyTensor(STREW_FLOAT32, {{2}, {1}}, numbers_);
};

TEST_F(DlpackReadOnly, IsNoOutputButAnInput) {
  EXPECT_EQ(AddOne(tensor_, tensor_), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(numbers_[0], 1);
  float result[2];
  EXPECT_EQ(AddOne(tensor_, MakeTensor(STREW_FLOAT32, {{2}, {1}}, result)), STREW_OK);
  EXPECT_EQ(result[0], 2);
}

TEST_F(DlpackReadOnly, StaysSoWithOtherMemory) {
  float others[2] = {3, 4};
  EXPECT_EQ(strew_tensor_set_data(tensor_.get(), others), STREW_OK);
  EXPECT_EQ(AddOne(tensor_, tensor_), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(others[0], 3);
}

TEST_F(DlpackReadOnly, EndsWithASuccessfulReset) {
  const int64_t shape = 2;
  EXPECT_EQ(strew_tensor_reset(tensor_.get(), STREW_FLOAT32, 33, &shape, nullptr, numbers_),
            STREW_INVALID_ARGUMENT);
  EXPECT_EQ(AddOne(tensor_, tensor_), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(strew_tensor_reset(tensor_.get(), STREW_FLOAT32, 1, &shape, nullptr, numbers_),
            STREW_OK);
  EXPECT_EQ(AddOne(tensor_, tensor_), STREW_OK);
  EXPECT_EQ(numbers_[0], 2);
}

TEST_F(DlpackReadOnly, EvenWithoutElements) {
  const Tensor empty = MakeReadOnlyTensor(STREW_FLOAT32, {{0}, {1}}, nullptr);
  const Tensor none = MakeTensor(STREW_INT64, {{0}, {1}}, nullptr);
  EXPECT_EQ(strew_scatter_elements(nullptr, empty.get(), none.get(), empty.get(), 0, STREW_NONE,
                                   empty.get()),
            STREW_INVALID_ARGUMENT);
}

TEST(DlpackFlags, OthersMeanNothing) {
  Producer producer;
  producer.managed.flags = ~kDlReadOnly;
  Tensor tensor;
  producer.shape = {2};
  producer.managed.tensor.ndim = 1;
  ASSERT_EQ(producer.Offer(Generation::kVersioned, &tensor), STREW_OK);
  EXPECT_EQ(AddOne(tensor, tensor), STREW_OK);
}

}  // namespace
}  // namespace strew_test
