// SPDX-License-Identifier: Apache-2.0
//
// STREW_EXCLUDE_SELF: the old value of a touched element takes no part, and nothing takes its
// place.
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "op/literal.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "support/counting_allocator.h"
#include "support/reference.h"

namespace strew_test {
namespace {

const strew_reduction kStarting[] = {STREW_ADD, STREW_MUL, STREW_MIN, STREW_MAX};

std::vector<Dtype> Floats() {
  std::vector<Dtype> floats;
  for (const Dtype& dtype : Dtypes()) {
    if (dtype.kind == Kind::kFloat) floats.push_back(dtype);
  }
  return floats;
}

// Floats that are no NaN and that an element which is not quite neutral would change.
std::vector<uint64_t> Delicate(const Dtype& dtype) {
  const auto sign = uint64_t{1} << (8 * dtype.width - 1);
  const auto hidden = uint64_t{1} << dtype.format.fraction_bits;
  std::vector<uint64_t> bits = {
      0, 1, hidden - 1, hidden, sign - 2 * hidden, sign - hidden - 1, sign - hidden};
  if (!dtype.format.has_infinity) bits.push_back(sign - 2);  // the largest number
  const size_t positive = bits.size();
  for (size_t i = 0; i < positive; ++i) bits.push_back(bits[i] | sign);
  return bits;
}

class ExcludeSelfOf : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryFloat, ExcludeSelfOf, testing::ValuesIn(Floats()),
                         [](const auto& test) { return TestName(test.param); });

// One update for each element: it stays as it is, with its sign and up to infinity.
TEST_P(ExcludeSelfOf, LeavesASingleUpdateAlone) {
  const Dtype dtype = GetParam();
  const std::vector<uint64_t> bits = Delicate(dtype);
  const Array expected = BitArray(dtype.code, bits);
  Dims indices;
  for (size_t i = 0; i < bits.size(); ++i) indices.push_back(static_cast<int64_t>(i));
  Case c = MakeLine(NumberArray(dtype.code, expected.shape(), Numbers(bits.size(), 7)), indices,
                    BitArray(dtype.code, bits));
  for (const strew_reduction reduction : kStarting) {
    c.reduction = reduction | STREW_EXCLUDE_SELF;
    ExpectOutput(c, expected);
  }
}

// Infinities and a NaN of old, which would stay in every sum.
TEST_P(ExcludeSelfOf, ForgetsTheOldValue) {
  const Dtype dtype = GetParam();
  const uint64_t sign = uint64_t{1} << (8 * dtype.width - 1);
  const uint64_t infinity = sign - (uint64_t{1} << dtype.format.fraction_bits);
  Case c =
      MakeLine(BitArray(dtype.code, {infinity, infinity | sign, sign - 1, infinity | 1}),
               {0, 1, 2, 3, 0, 1, 2, 3}, NumberArray(dtype.code, {8}, {2, 2, 2, 2, 3, 3, 3, 3}));
  const auto expect = [&](strew_reduction reduction, double number) {
    c.reduction = reduction | STREW_EXCLUDE_SELF;
    ExpectNumbers(c, Numbers(4, number));
  };
  expect(STREW_ADD, 5);
  expect(STREW_MUL, 6);
  expect(STREW_MIN, 2);
  expect(STREW_MAX, 3);
}

TEST_P(ExcludeSelfOf, KeepsNans) {
  const Dtype dtype = GetParam();
  const uint64_t nan = (uint64_t{1} << (8 * dtype.width - 1)) - 1;
  for (const strew_reduction reduction : kStarting) {
    for (const Dims& indices : {Dims{1, 2}, Dims{1, 1}}) {
      Case c = MakeLine(NumberArray(dtype.code, {4}, {1, 2, 3, 4}), indices,
                        BitArray(dtype.code, {nan, 0}));
      c.reduction = reduction | STREW_EXCLUDE_SELF;
      Check(c);
    }
  }
}

// ---- Every operator ----------------------------------------------------------------------------

void ExpectAll(Case& c, const std::vector<Numbers>& add_mul_min_max) {
  for (size_t i = 0; i < add_mul_min_max.size(); ++i) {
    c.reduction = kStarting[i] | STREW_EXCLUDE_SELF;
    ExpectNumbers(c, add_mul_min_max[i]);
  }
}

const strew_dtype kDtypes[] = {STREW_INT8, STREW_UINT32, STREW_INT64, STREW_FLOAT16, STREW_FLOAT64};

TEST(ExcludeSelf, StartsElementsFromTheirFirstUpdate) {
  for (const strew_dtype dtype : kDtypes) {
    Case c = MakeLine(dtype, {9, 9, 9}, {0, 2, 0, -3}, {3, 4, 2, 1});
    ExpectAll(c, {{6, 9, 4}, {6, 9, 4}, {1, 9, 4}, {3, 9, 4}});
  }
}

TEST(ExcludeSelf, StartsRowsFromTheirFirstTuple) {
  for (const strew_dtype dtype : kDtypes) {
    Case c{Operator::kScatterNd, NumberArray(dtype, {3, 2}, {9, 9, 9, 9, 9, 9}),
           NumberArray(dtype, {3, 2}, {3, 4, 1, 5, 2, 6})};
    c.indices = IndexArray(STREW_INT32, {3, 1}, {2, 0, 2});
    ExpectAll(c,
              {{1, 5, 9, 9, 5, 10}, {1, 5, 9, 9, 6, 24}, {1, 5, 9, 9, 2, 4}, {1, 5, 9, 9, 3, 6}});
  }
}

TEST(ExcludeSelf, StartsTheWholeTensorFromItsFirstUpdate) {
  for (const strew_dtype dtype : kDtypes) {
    Case c{Operator::kScatterNd, NumberArray(dtype, {2}, {9, 9}),
           NumberArray(dtype, {2, 2}, {3, 4, 2, 5})};
    c.indices.emplace(STREW_INT32, RowMajor({2, 0}));
    ExpectAll(c, {{5, 9}, {6, 20}, {2, 4}, {3, 5}});
  }
}

TEST(ExcludeSelf, StartsPositionsFromTheirFirstIndex) {
  for (const strew_dtype dtype : kDtypes) {
    Case c{Operator::kScatterUpdate, NumberArray(dtype, {2, 3}, {9, 9, 9, 9, 9, 9}),
           NumberArray(dtype, {2, 3}, {3, 4, 2, 1, 5, 6})};
    c.indices = IndexArray(STREW_INT32, {3}, {1, 2, 1});
    c.axis = 1;
    ExpectAll(c, {{9, 5, 4, 9, 7, 5}, {9, 6, 4, 9, 6, 5}, {9, 2, 4, 9, 1, 5}, {9, 3, 4, 9, 6, 5}});
  }
}

TEST(ExcludeSelf, ReplacesSlices) {
  for (const strew_dtype dtype : kDtypes) {
    Case c{Operator::kSliceScatterInt64, NumberArray(dtype, {4}, {9, 9, 9, 9}),
           NumberArray(dtype, {2}, {3, 4})};
    c.SetSlice({3}, {-5}, {-2});
    ExpectAll(c, std::vector<Numbers>(4, {9, 4, 9, 3}));
  }
}

TEST(ExcludeSelf, LeavesDroppedUpdatesOut) {
  Case c = MakeLine(STREW_FLOAT32, {9, 9}, {7, 0, 7, 0}, {1, 3, 1, 4});
  c.policy = STREW_INDEX_DROP;
  ExpectAll(c, {{7, 9}, {12, 9}, {3, 9}, {4, 9}});
}

TEST(ExcludeSelf, ChangesNothingForNone) {
  Case c = MakeLine(BitArray(STREW_FLOAT32, {1, 2, 3}), {2, 0, 2},
                    BitArray(STREW_FLOAT32, {0x7f800001, 0xff812345, 0x80000000}));
  c.reduction = STREW_NONE | STREW_EXCLUDE_SELF;
  ExpectOutput(c, BitArray(STREW_FLOAT32, {0xff812345, 2, 0x80000000}));
}

// ---- Dtypes of their own arithmetic ------------------------------------------------------------

TEST(ExcludeSelf, WritesBoolsOfZeroOrOne) {
  Case c = MakeLine(BitArray(STREW_BOOL, {0, 0, 255, 255, 254}), {0, 1, 2, 3},
                    BitArray(STREW_BOOL, {2, 0, 255, 0}));
  for (const strew_reduction reduction : kStarting) {
    c.reduction = reduction | STREW_EXCLUDE_SELF;
    ExpectOutput(c, BitArray(STREW_BOOL, {1, 0, 1, 0, 254}));
  }
}

TEST(ExcludeSelf, CombinesBools) {
  Case c = MakeLine(BitArray(STREW_BOOL, {1, 0}), {0, 1, 0, 1}, BitArray(STREW_BOOL, {0, 8, 0, 0}));
  for (const strew_reduction reduction : kStarting) {
    c.reduction = reduction | STREW_EXCLUDE_SELF;
    const bool either = reduction == STREW_ADD || reduction == STREW_MAX;
    ExpectOutput(c, BitArray(STREW_BOOL, {0, either ? uint64_t{1} : 0}));
  }
}

Array Complex(const std::vector<float>& parts) {
  Array array(STREW_COMPLEX64, RowMajor({static_cast<int64_t>(parts.size() / 2)}));
  std::memcpy(array.buffer().bytes(), parts.data(), parts.size() * sizeof(float));
  return array;
}

// 1 + 0i is not neutral: it makes NaN of infinities, and loses signs of zeros.
TEST(ExcludeSelf, LeavesASingleComplexUpdateAlone) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> parts = {infinity, 0, -0.0f, 5, -0.0f, -0.0f, -infinity, 3, 7, -0.0f};
  Case c = MakeLine(Complex(std::vector<float>(parts.size(), infinity)), {0, 1, 2, 3, 4},
                    Complex(parts));
  for (const strew_reduction reduction : {STREW_ADD, STREW_MUL}) {
    c.reduction = reduction | STREW_EXCLUDE_SELF;
    ExpectOutput(c, Complex(parts));
  }
}

// A replaced value takes no part anyway, so nothing is remembered of what was touched.
TEST(ExcludeSelf, OfReplacementsNeedsNoScratch) {
  constexpr int64_t kElements = 500, kUpdates = 2000;
  std::vector<float> numbers(kElements, 7), updates(kUpdates);
  std::vector<int64_t> indices(kUpdates);
  for (size_t i = 0; i < updates.size(); ++i) {
    updates[i] = static_cast<float>(i);
    indices[i] = static_cast<int64_t>(i * 7 % kElements);
  }
  const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor({kElements}), numbers.data());
  const Tensor index = MakeTensor(STREW_INT64, RowMajor({kUpdates}), indices.data());
  const Tensor update = MakeTensor(STREW_FLOAT32, RowMajor({kUpdates}), updates.data());
  const Context context = MakeContext();
  CountingAllocator allocator(0);
  allocator.InstallIn(context.get());
  EXPECT_EQ(strew_scatter_elements(context.get(), data.get(), index.get(), update.get(), 0,
                                   STREW_NONE | STREW_EXCLUDE_SELF, data.get()),
            STREW_OK);
  EXPECT_EQ(allocator.requests(), 0);
  for (size_t i = kUpdates - kElements; i < updates.size(); ++i) {
    EXPECT_EQ(numbers[static_cast<size_t>(indices[i])], updates[i]);
  }
}

TEST(ExcludeSelf, CombinesComplexNumbers) {
  Case c = MakeLine(Complex({9, 9, 9, 9}), {0, 0}, Complex({1, 2, 3, -1}));
  c.reduction = STREW_ADD | STREW_EXCLUDE_SELF;
  ExpectOutput(c, Complex({4, 1, 9, 9}));
  c.reduction = STREW_MUL | STREW_EXCLUDE_SELF;
  ExpectOutput(c, Complex({5, 5, 9, 9}));
}

}  // namespace
}  // namespace strew_test
