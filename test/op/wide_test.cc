// SPDX-License-Identifier: Apache-2.0
//
// STREW_WIDE: sums, differences and products of floats of 8 and 16 bits are rounded once, and
// nothing else changes.
#include <cstdint>
#include <limits>
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const strew_dtype kShort[] = {STREW_FLOAT16, STREW_BFLOAT16, STREW_FLOAT8_E4M3FN,
                              STREW_FLOAT8_E5M2};

// data [old, old] of which the first gets all updates.
Case Gather(strew_dtype dtype, strew_reduction reduction, double old, const Numbers& updates) {
  Case c = MakeLine(dtype, {old, old}, Dims(updates.size(), 0), updates);
  c.reduction = reduction;
  return c;
}

void ExpectGathered(strew_dtype dtype, strew_reduction reduction, double old,
                    const Numbers& updates, double expected) {
  Case c = Gather(dtype, reduction, old, updates);
  ExpectNumbers(c, {expected, old});
}

// The same without STREW_WIDE and with it.
void ExpectBoth(strew_dtype dtype, strew_reduction reduction, double old, const Numbers& updates,
                double rounded_each_time, double rounded_once) {
  ExpectGathered(dtype, reduction, old, updates, rounded_each_time);
  ExpectGathered(dtype, reduction | STREW_WIDE, old, updates, rounded_once);
}

// ---- Rounding -----------------------------------------------------------------------------------

TEST(Wide, SumsAreRoundedOnce) {
  const Numbers many(70000, 1), few(300, 1);
  ExpectBoth(STREW_BFLOAT16, STREW_ADD, 0, many, 256, 70144);
  ExpectBoth(STREW_FLOAT16, STREW_ADD, 0, Numbers(50001, 1), 2048, 50016);
  ExpectBoth(STREW_FLOAT8_E4M3FN, STREW_ADD, 0, few, 16, 288);
  ExpectBoth(STREW_FLOAT8_E5M2, STREW_ADD, 0, few, 8, 320);
}

TEST(Wide, SumsCountTheOldValueUnlessItIsExcluded) {
  const strew_reduction of_updates = STREW_ADD | STREW_EXCLUDE_SELF;
  ExpectBoth(STREW_BFLOAT16, STREW_ADD, 1024, Numbers(6, 1), 1024, 1032);
  ExpectBoth(STREW_BFLOAT16, of_updates, 1024, {1024, 1, 1, 1, 1, 1, 1}, 1024, 1032);
  ExpectBoth(STREW_FLOAT8_E5M2, of_updates, kNan, {8, 1, 1, 1}, 8, 12);
}

TEST(Wide, DifferencesAreRoundedOnce) {
  ExpectBoth(STREW_BFLOAT16, STREW_SUB, 0, Numbers(70000, 1), -256, -70144);
  ExpectBoth(STREW_FLOAT16, STREW_SUB, 4096, Numbers(8, 1), 4096, 4088);
  ExpectBoth(STREW_FLOAT8_E4M3FN, STREW_SUB, -16, Numbers(8, 1), -16, -24);
  ExpectBoth(STREW_FLOAT8_E5M2, STREW_SUB, -8, Numbers(4, 1), -8, -12);
}

TEST(Wide, ProductsAreRoundedOnce) {
  const double bfloat16 = 1 + 1.0 / 128, half = 1 + 1.0 / 1024;
  for (const strew_reduction of_updates : {0, static_cast<strew_reduction>(STREW_EXCLUDE_SELF)}) {
    const strew_reduction reduction = STREW_MUL | of_updates;
    ExpectBoth(STREW_BFLOAT16, reduction, 1, Numbers(40, bfloat16), 1.3125, 1.3671875);
    ExpectBoth(STREW_FLOAT16, reduction, 1, Numbers(64, half), 1.0625, 1.064453125);
    ExpectBoth(STREW_FLOAT8_E4M3FN, reduction, 1, Numbers(9, 1.125), 2.75, 3);
    ExpectBoth(STREW_FLOAT8_E5M2, reduction, 1, {1.25, 1.25, 1.75, 1.75}, 4, 5);
  }
}

TEST(Wide, ResultsComeBackIntoRange) {
  ExpectBoth(STREW_FLOAT16, STREW_ADD, 60000, {60000, -60000}, kInfinity, 60000);
  ExpectBoth(STREW_FLOAT16, STREW_SUB, -60000, {60000, -60000}, -kInfinity, -60000);
  ExpectBoth(STREW_FLOAT16, STREW_MUL, 60000, {2, 0.5}, kInfinity, 60000);
  ExpectBoth(STREW_FLOAT8_E4M3FN, STREW_ADD, 448, {448, -448}, kNan, 448);
  ExpectBoth(STREW_FLOAT8_E4M3FN, STREW_MUL, 448, {448, 0.0078125}, kNan, 448 * 448 / 128);
  ExpectBoth(STREW_FLOAT8_E5M2, STREW_ADD, 57344, {57344, -57344}, kInfinity, 57344);
  // Subnormals that vanish between two products.
  ExpectBoth(STREW_FLOAT8_E5M2, STREW_MUL, 0.0000152587890625, {0.25, 4}, 0, 0.0000152587890625);
  ExpectBoth(STREW_FLOAT16, STREW_MUL, 0.00006103515625, {0.0001220703125, 8192}, 0,
             0.00006103515625);
}

TEST(Wide, WhatIsTooLargeIsInfinityOrNan) {
  ExpectGathered(STREW_FLOAT16, STREW_ADD | STREW_WIDE, 0, Numbers(70000, 1), kInfinity);
  ExpectGathered(STREW_FLOAT8_E4M3FN, STREW_ADD | STREW_WIDE, 0, Numbers(70000, 1), kNan);
  ExpectGathered(STREW_FLOAT8_E5M2, STREW_SUB | STREW_WIDE, 0, Numbers(70000, 1), -kInfinity);
  ExpectGathered(STREW_BFLOAT16, STREW_ADD | STREW_WIDE, 3e38, {3e38, -3e38}, kInfinity);
}

// ---- Special values -----------------------------------------------------------------------------

TEST(Wide, NansAndInfinitiesStay) {
  for (const strew_dtype dtype : kShort) {
    for (const strew_reduction kind : {STREW_ADD, STREW_SUB, STREW_MUL}) {
      const strew_reduction reduction = kind | STREW_WIDE;
      ExpectGathered(dtype, reduction, 1, {2, kNan, 3}, kNan);
      ExpectGathered(dtype, reduction, kNan, {2, 1}, kNan);
      if (!Find(dtype).format.has_infinity) continue;
      ExpectGathered(dtype, reduction, kInfinity, {2, 1}, kInfinity);
    }
    if (!Find(dtype).format.has_infinity) continue;
    ExpectGathered(dtype, STREW_SUB | STREW_WIDE, 1, {kInfinity, kInfinity}, -kInfinity);
    // NaNs of either sign.
    Case difference = Gather(dtype, STREW_ADD | STREW_WIDE, 1, {kInfinity, -kInfinity});
    Check(difference);
    Case product = Gather(dtype, STREW_MUL | STREW_WIDE, 0, {kInfinity, 1});
    Check(product);
  }
}

TEST(Wide, ZerosKeepTheirSign) {
  for (const strew_dtype dtype : kShort) {
    const uint64_t minus = uint64_t{1} << (8 * Find(dtype).width - 1);
    const auto expect = [&](strew_reduction reduction, uint64_t old,
                            const std::vector<uint64_t>& updates, uint64_t expected) {
      Case c = MakeLine(BitArray(dtype, {old, minus}), Dims(updates.size(), 0),
                        BitArray(dtype, updates));
      c.reduction = reduction | STREW_WIDE;
      ExpectOutput(c, BitArray(dtype, {expected, minus}));
    };
    expect(STREW_ADD, minus, {minus, minus}, minus);
    expect(STREW_ADD, minus, {minus, 0}, 0);
    expect(STREW_SUB, minus, {0, 0}, minus);
    expect(STREW_SUB, minus, {0, minus}, 0);
    expect(STREW_MUL, minus, {0, minus}, 0);
    expect(STREW_ADD | STREW_EXCLUDE_SELF, 0, {minus, minus}, minus);
    expect(STREW_ADD | STREW_EXCLUDE_SELF, 0, {minus}, minus);
  }
}

// NaNs, of 16 bits signalling ones, that conversions would change.
TEST(Wide, ElementsWithoutUpdatesKeepTheirBits) {
  for (const strew_dtype dtype : kShort) {
    const uint64_t bits = dtype == STREW_FLOAT16 ? 0x7c01 : dtype == STREW_BFLOAT16 ? 0x7f81 : 0xff;
    Case c = MakeLine(BitArray(dtype, {bits, 0, bits, bits, bits, bits, bits, bits, bits, bits}),
                      Dims(40, 1), NumberArray(dtype, {40}, Numbers(40, 1)));
    c.reduction = STREW_ADD | STREW_WIDE;
    Check(c);
  }
}

// ---- Every operator -----------------------------------------------------------------------------

TEST(Wide, RowsAreRoundedOnce) {
  for (const int64_t columns : {1, 3, 8, 67}) {
    Case c{Operator::kScatterUpdate,
           NumberArray(STREW_BFLOAT16, {3, columns}, Numbers(3 * columns, 256)),
           NumberArray(STREW_BFLOAT16, {9, columns}, Numbers(9 * columns, 1))};
    c.indices = IndexArray(STREW_INT32, {9}, {2, 0, 2, 2, 2, 2, 2, 2, 2});
    c.reduction = STREW_ADD | STREW_WIDE;
    Numbers expected(3 * columns, 256);
    for (int64_t i = 0; i < columns; ++i) expected[2 * columns + i] = 264;
    for (int64_t i = 0; i < columns; ++i) expected[i] = 256;  // 257 is a tie
    ExpectNumbers(c, expected);
  }
}

TEST(Wide, TuplesAndWholeTensorsAreRoundedOnce) {
  Case c{Operator::kScatterNd, NumberArray(STREW_FLOAT16, {2}, {2048, 4096}),
         NumberArray(STREW_FLOAT16, {4, 2}, {1, 1, 1, 1, 1, 1, 1, 1})};
  c.indices.emplace(STREW_INT32, RowMajor({4, 0}));
  c.reduction = STREW_ADD | STREW_WIDE;
  ExpectNumbers(c, {2052, 4100});
  c.indices = IndexArray(STREW_UINT8, {4, 1}, {1, 1, 1, 1});
  c.updates = NumberArray(STREW_FLOAT16, {4}, {1, 1, 1, 1});
  ExpectNumbers(c, {2048, 4100});
}

// An element of a slice has one update, which is rounded once in any case.
TEST(Wide, SlicesAreTheSame) {
  Case c{Operator::kSliceScatterInt64, NumberArray(STREW_BFLOAT16, {4}, {256, 256, 256, 256}),
         NumberArray(STREW_BFLOAT16, {2}, {3, 1})};
  c.SetSlice({3}, {-5}, {-2});
  for (const strew_reduction wide : {0, static_cast<strew_reduction>(STREW_WIDE)}) {
    c.reduction = STREW_ADD | wide;
    ExpectNumbers(c, {256, 256, 256, 260});
    c.reduction = STREW_MUL | STREW_EXCLUDE_SELF | wide;
    ExpectNumbers(c, {256, 1, 256, 3});
  }
}

TEST(Wide, DroppedUpdatesAreLeftOut) {
  Case c = MakeLine(STREW_BFLOAT16, {256, 256}, {7, 0, 7, 0, -9, 0, 0}, {9, 1, 9, 1, 9, 1, 1});
  c.reduction = STREW_ADD | STREW_WIDE;
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 4, {260, 256});
}

TEST(Wide, DistinctUpdatesAreTheSame) {
  Case c = MakeLine(STREW_BFLOAT16, {256, 256}, {1, 0}, {3, 1});
  c.reduction = STREW_ADD | STREW_WIDE;
  c.duplicates = STREW_DUPLICATE_ERROR;
  ExpectNumbers(c, {256, 260});
}

// ---- Where it makes no difference ---------------------------------------------------------------

TEST(Wide, ChangesNothingElse) {
  const Numbers updates(300, 1);
  ExpectBoth(STREW_INT8, STREW_ADD, 0, updates, 44, 44);
  ExpectBoth(STREW_UINT16, STREW_SUB, 500, updates, 200, 200);
  ExpectBoth(STREW_FLOAT32, STREW_ADD, 16777216, updates, 16777216, 16777216);
  ExpectBoth(STREW_FLOAT64, STREW_ADD, 16777216, updates, 16777516, 16777516);
  for (const strew_dtype dtype : kShort) {
    ExpectBoth(dtype, STREW_NONE, 0, {3, 2}, 2, 2);
    ExpectBoth(dtype, STREW_MIN, 4, {3, 2}, 2, 2);
    ExpectBoth(dtype, STREW_MAX, 1, {3, 2}, 3, 3);
    ExpectBoth(dtype, STREW_MEAN, 1, {3, 2}, 2, 2);
    ExpectBoth(dtype, STREW_NONE | STREW_EXCLUDE_SELF, 0, {3, 2}, 2, 2);
  }
}

int64_t RequestsOf(strew_dtype dtype, strew_reduction reduction, size_t updates) {
  Case c = Gather(dtype, reduction, 1, Numbers(updates, 1));
  const Context context = MakeContext();
  CountingAllocator allocator(CountingAllocator::kGrantsAll);
  allocator.InstallIn(context.get());
  EXPECT_EQ(Call(c, context.get(), c.destination().tensor()), STREW_OK);
  return allocator.requests();
}

TEST(Wide, FewUpdatesNeedNoScratchWhereItMakesNoDifference) {
  EXPECT_EQ(RequestsOf(STREW_FLOAT32, STREW_ADD | STREW_WIDE, 64), 0);
  EXPECT_EQ(RequestsOf(STREW_BFLOAT16, STREW_MAX | STREW_WIDE, 64), 0);
  EXPECT_EQ(RequestsOf(STREW_BFLOAT16, STREW_ADD | STREW_WIDE, 1), 0);
}

// ---- Refusals -----------------------------------------------------------------------------------

TEST(WideRefusal, IsThatOfTheReduction) {
  const auto status = [](strew_dtype dtype, strew_reduction reduction) {
    Request request = GoodRequest(Operator::kScatterNd);
    request.SetDtype(dtype);
    request.reduction = reduction;
    return Send(request, nullptr).status;
  };
  const strew_reduction wide = STREW_WIDE;
  EXPECT_EQ(status(STREW_FLOAT16, STREW_SUB | STREW_EXCLUDE_SELF | wide), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(status(STREW_FLOAT16, 7 | wide), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(status(STREW_FLOAT16, STREW_ADD | wide << 1), STREW_INVALID_ARGUMENT);
  EXPECT_EQ(status(STREW_BOOL, STREW_MEAN | wide), STREW_INVALID_DTYPE);
  EXPECT_EQ(status(STREW_STRING, STREW_ADD | wide), STREW_INVALID_DTYPE);
  EXPECT_EQ(status(STREW_COMPLEX64, STREW_MIN | wide), STREW_INVALID_DTYPE);
  EXPECT_EQ(status(STREW_STRING, STREW_NONE | wide), STREW_OK);
}

TEST(WideRefusal, TellsOfBadIndicesBeforeItAsksForScratch) {
  for (const Operator op :
       {Operator::kScatterElements, Operator::kScatterNd, Operator::kScatterUpdate}) {
    for (const bool is_bad : {true, false}) {
      Request request = GoodRequest(op);
      request.SetDtype(STREW_BFLOAT16);
      request.reduction = STREW_ADD | STREW_WIDE;
      if (is_bad) request.indices.values[0] = 99;
      const Context context = MakeContext();
      CountingAllocator allocator(0);
      allocator.InstallIn(context.get());
      const Answer answer = Send(request, context.get());
      EXPECT_EQ(answer.status, is_bad ? STREW_INDEX_OUT_OF_RANGE : STREW_OUT_OF_MEMORY)
          << NameOf(op);
      EXPECT_FALSE(answer.wrote) << NameOf(op);
    }
  }
}

}  // namespace
}  // namespace strew_test
