// SPDX-License-Identifier: Apache-2.0
//
// Which operands may share memory, which outputs are injective, and extents beyond 64 bits.
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "op/request.h"
#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr size_t kFloat = sizeof(float);

void ExpectStatus(const Request& request, strew_status status) {
  const Context context = MakeContext();
  const Answer answer = Send(request, context.get());
  EXPECT_EQ(answer.status, status) << answer.error;
  if (status != STREW_OK) {
    EXPECT_FALSE(answer.wrote);
  }
}
void ExpectOverlap(const Request& request) { ExpectStatus(request, STREW_OVERLAPPING_MEMORY); }
void ExpectOk(const Request& request) { ExpectStatus(request, STREW_OK); }

class Overlap : public testing::TestWithParam<Operator> {
 protected:
  Request request_ = GoodRequest(GetParam());
};

INSTANTIATE_TEST_SUITE_P(EveryOperator, Overlap, testing::ValuesIn(Operators()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(Overlap, InPlace) {
  request_.output.offset = request_.data.offset;
  ExpectOk(request_);
}

TEST_P(Overlap, SamePointerWithOtherStrides) {
  request_.output.offset = request_.data.offset;
  request_.output.layout.strides = {1, 3};
  ExpectOverlap(request_);
  request_.output.layout.strides = {5, 1};
  ExpectOverlap(request_);
}

TEST_P(Overlap, ByOneElement) {
  request_.data.offset = 256;
  request_.output.offset = 256 + 11 * kFloat;
  ExpectOverlap(request_);
  request_.output.offset = 256 - 11 * kFloat;
  ExpectOverlap(request_);
}

TEST_P(Overlap, ByOneByte) {
  request_.SetDtype(STREW_INT8);
  request_.data.offset = 256;
  for (const size_t distance : {11, 12}) {
    request_.output.offset = 256 + distance;
    ExpectStatus(request_, distance < 12 ? STREW_OVERLAPPING_MEMORY : STREW_OK);
    request_.output.offset = 256 - distance;
    ExpectStatus(request_, distance < 12 ? STREW_OVERLAPPING_MEMORY : STREW_OK);
  }
}

TEST_P(Overlap, NeighboursDoNotOverlap) {
  request_.data.offset = 256;
  request_.output.offset = 256 + 12 * kFloat;
  ExpectOk(request_);
  request_.output.offset = 256 - 12 * kFloat;
  ExpectOk(request_);
}

// No element is shared, the extents intersect all the same.
TEST_P(Overlap, Interleaved) {
  request_.data.layout.strides = {8, 2};
  request_.output.layout.strides = {8, 2};
  request_.output.offset = request_.data.offset + kFloat;
  ExpectOverlap(request_);
}

// The extent starts below the pointer where strides are negative.
TEST_P(Overlap, BelowThePointer) {
  request_.data.offset = 256;
  request_.output.layout.strides = {-4, 1};
  request_.output.offset = 256 + (12 + 7) * kFloat;
  ExpectOverlap(request_);
  request_.output.offset = 256 + (12 + 8) * kFloat;
  ExpectOk(request_);
}

TEST_P(Overlap, UpdatesInPlace) {
  request_.output.offset = request_.data.offset;
  request_.updates.offset = request_.data.offset;
  ExpectOverlap(request_);
}

// The arrays of a slice lie in one memory, 8 bytes for each of their entries. The output follows
// the last byte of one of them, ends before its first one, or meets it.
TEST(OverlapOfSlices, ArraysWithTheOutput) {
  constexpr size_t kArray = 64 * sizeof(int64_t);
  const Context context = MakeContext();
  for (const int64_t rank : {1, 2, 32}) {
    const size_t entries = static_cast<size_t>(rank);
    const Layout layout = RowMajor(Dims(entries, 1));
    float number = 1;
    const Tensor data = MakeTensor(STREW_FLOAT32, layout, &number);
    for (size_t met = 0; met < 4; ++met) {
      alignas(64) unsigned char memory[5 * kArray];
      int64_t* arrays[4];
      for (size_t a = 0; a < 4; ++a) {
        arrays[a] = reinterpret_cast<int64_t*>(memory + (a + 1) * kArray);
        for (int64_t i = 0; i < rank; ++i) arrays[a][i] = a == 0 ? 0 : a == 3 ? i : 1;
      }
      unsigned char* const begin = reinterpret_cast<unsigned char*>(arrays[met]);
      unsigned char* const end = reinterpret_cast<unsigned char*>(arrays[met] + rank);
      const auto write = [&](unsigned char* to) {
        const Tensor output = MakeTensor(STREW_FLOAT32, layout, to);
        return strew_slice_scatter_int64(context.get(), data.get(), data.get(), rank, arrays[0],
                                         arrays[1], arrays[2], arrays[3], STREW_NONE, output.get());
      };
      EXPECT_EQ(write(end - kFloat), STREW_OVERLAPPING_MEMORY) << rank << " " << met;
      EXPECT_EQ(write(end), STREW_OK) << strew_context_error(context.get());
      EXPECT_EQ(write(begin), STREW_OVERLAPPING_MEMORY) << rank << " " << met;
      EXPECT_EQ(write(begin - kFloat), STREW_OK) << strew_context_error(context.get());
    }
  }
}

TEST_P(Overlap, InputsMayShareMemory) {
  request_.updates.offset = request_.data.offset + kFloat;
  ExpectOk(request_);
}

TEST_P(Overlap, OutputThatMeetsItself) {
  request_.output.offset = 2600;
  for (const Dims& strides : {Dims{0, 1}, Dims{4, 0}, Dims{1, 1}, Dims{3, 1}, Dims{6, 2},
                              Dims{-3, 1}, Dims{1, 2}, Dims{2, 2}}) {
    SCOPED_TRACE(ToString(strides));
    request_.output.layout.strides = strides;
    ExpectOverlap(request_);
  }
}

TEST_P(Overlap, OutputThatMeetsItselfInPlace) {
  request_.data.layout.strides = {3, 1};
  request_.output.layout.strides = {3, 1};
  request_.output.offset = request_.data.offset;
  ExpectOverlap(request_);
}

TEST_P(Overlap, InjectiveOutputs) {
  for (const Dims& strides :
       {Dims{4, 1}, Dims{1, 3}, Dims{7, 2}, Dims{-4, 1}, Dims{4, -1}, Dims{-7, -2}, Dims{2, 5}}) {
    SCOPED_TRACE(ToString(strides));
    request_.output.layout.strides = strides;
    ExpectOk(request_);
  }
}

TEST_P(Overlap, DataMayMeetItselfWhereOutputIsAnother) {
  request_.data.layout.strides = {0, 0};
  ExpectOk(request_);
}

TEST(InPlace, StridesOfSmallDimsDoNotMatter) {
  Request request = GoodRequest(Operator::kScatterElements);
  request.data.SetShape({1, 4});
  request.output.layout = {{1, 4}, {-77, 1}};
  request.output.offset = request.data.offset;
  request.indices.SetValues({1, 2}, {0, 1});
  request.updates.SetShape({1, 2});
  ExpectOk(request);
}

TEST(EmptyUpdates, HaveNoExtent) {
  Request request = GoodRequest(Operator::kScatterElements);
  request.indices.SetValues({3, 0}, {});
  request.updates.SetShape({3, 0});
  request.updates.offset = request.output.offset;
  request.indices.offset = request.output.offset;
  ExpectOk(request);
}

// ---- Extents that run around the end of the address space ------------------------------------

// int8 of 64 elements at an address where no memory is: the call is refused before it is read.
Tensor At(uintptr_t address, int64_t stride) {
  return MakeTensor(STREW_INT8, {{64}, {stride}}, reinterpret_cast<void*>(address));
}

strew_status ScatterBeside(uintptr_t output, int64_t stride, uintptr_t indices) {
  const Tensor data = At(uintptr_t{1} << 20, 1);
  const Tensor updates = At(uintptr_t{1} << 21, 1);
  return strew_scatter_elements(nullptr, data.get(), At(indices, 1).get(), updates.get(), 0,
                                STREW_NONE, At(output, stride).get());
}

TEST(EndOfTheAddresses, AnExtentThatBeginsBeforeThemIsCut) {
  EXPECT_EQ(ScatterBeside(16, -1, 1), STREW_OVERLAPPING_MEMORY);
  EXPECT_EQ(ScatterBeside(16, -1, 16), STREW_OVERLAPPING_MEMORY);
}

TEST(EndOfTheAddresses, AnExtentThatEndsBehindThemIsCut) {
  EXPECT_EQ(ScatterBeside(UINTPTR_MAX - 16, 1, UINTPTR_MAX - 70), STREW_OVERLAPPING_MEMORY);
  EXPECT_EQ(ScatterBeside(UINTPTR_MAX - 16, 1, UINTPTR_MAX - 8), STREW_OVERLAPPING_MEMORY);
}

// ---- Extents whose products pass 64 bits, legal because the tensors are empty ----------------

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(HugeExtents, TuplesThatNameTheWholeOfAnEmptyTensor) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.data.SetShape({0});
  request.output.SetShape({0});
  request.indices.layout = {{kHuge, kHuge, 0}, {0, 0, 1}};
  request.updates.layout = {{kHuge, kHuge, 0}, {0, 0, 1}};
  request.indices.values = {};
  ExpectOk(request);
}

TEST(HugeExtents, TuplesOfAnEmptyTensorThatUpdatesDoNotMatch) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.data.SetShape({0});
  request.output.SetShape({0});
  request.indices.layout = {{kHuge, kHuge, 0}, {0, 0, 1}};
  request.indices.values = {};
  request.updates.layout = {{kHuge, kHuge - 1, 0}, {0, 0, 1}};
  ExpectStatus(request, STREW_INVALID_SHAPE);
}

TEST(HugeExtents, ElementsOfAnEmptyTensor) {
  Request request = GoodRequest(Operator::kScatterElements);
  for (Operand* operand : {&request.data, &request.output, &request.indices, &request.updates}) {
    operand->layout = {{kHuge, kHuge, 0}, {kHuge, kHuge, 1}};
    operand->values = {};
  }
  ExpectOk(request);
}

TEST(HugeExtents, SliceOfAnEmptyTensor) {
  Request request = GoodRequest(Operator::kSliceScatterInt64);
  const int64_t highest = std::numeric_limits<int64_t>::max();
  for (Operand* operand : {&request.data, &request.output}) {
    operand->layout = {{highest, 0}, {1, 1}};
  }
  request.updates.layout = {{highest, 0}, {1, 1}};
  request.SetSlice({0}, {highest}, {1}, {0});
  ExpectOk(request);
  request.SetSlice({-1}, {std::numeric_limits<int64_t>::min()}, {-1}, {0});
  ExpectOk(request);
  request.updates.layout.shape = {1, 0};
  request.SetSlice({0}, {highest}, {highest}, {0});
  ExpectOk(request);
  request.SetSlice({-1}, {std::numeric_limits<int64_t>::min()},
                   {std::numeric_limits<int64_t>::min()}, {0});
  ExpectOk(request);
}

}  // namespace
}  // namespace strew_test
