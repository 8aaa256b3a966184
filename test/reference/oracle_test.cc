// SPDX-License-Identifier: Apache-2.0
//
// The oracle against literals that were worked out by hand or by CPython: who checks must be right.
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "reference/arithmetic.h"
#include "reference/dtypes.h"
#include "reference/mean.h"
#include "reference/oracle.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// ---- Floats of 8 and 16 bits -----------------------------------------------------------------

const FloatFormat kFloat16 = LineOf(STREW_FLOAT16).format;
const FloatFormat kBfloat16 = LineOf(STREW_BFLOAT16).format;
const FloatFormat kFloat8E4m3fn = LineOf(STREW_FLOAT8_E4M3FN).format;
const FloatFormat kFloat8E5m2 = LineOf(STREW_FLOAT8_E5M2).format;

TEST(SmallFloats, EveryPatternComesBack) {
  for (const Dtype& dtype : Dtypes()) {
    if (dtype.kind != Kind::kFloat || dtype.width > 2) continue;
    const FloatFormat format = dtype.format;
    const int bits_of_format = 1 + format.exponent_bits + format.fraction_bits;
    for (int pattern = 0; pattern < 1 << bits_of_format; ++pattern) {
      const auto bits = static_cast<uint16_t>(pattern);
      const double value = Decode(format, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(Encode(format, value), bits);
    }
  }
}

TEST(Float16, Landmarks) {
  EXPECT_EQ(Decode(kFloat16, 0x3c00), 1.0);
  EXPECT_EQ(Decode(kFloat16, 0xc000), -2.0);
  EXPECT_EQ(Decode(kFloat16, 0x7bff), 65504.0);
  EXPECT_EQ(Decode(kFloat16, 0x0400), std::ldexp(1, -14));
  EXPECT_EQ(Decode(kFloat16, 0x0001), std::ldexp(1, -24));
  EXPECT_EQ(Decode(kFloat16, 0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(Decode(kFloat16, 0x7c01)));
  EXPECT_EQ(Decode(kBfloat16, 0x3f80), 1.0);
  EXPECT_EQ(Decode(kBfloat16, 0x0001), std::ldexp(1, -133));
}

// A bfloat16 is the upper half of a float32.
TEST(Bfloat16, IsTheUpperHalfOfAFloat32) {
  for (int pattern = 0; pattern <= 0xffff; ++pattern) {
    const uint32_t bits = static_cast<uint32_t>(pattern) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isnan(value)) continue;
    ASSERT_EQ(Decode(kBfloat16, static_cast<uint16_t>(pattern)), static_cast<double>(value));
  }
}

TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(Encode(kFloat16, 2049), 0x6800);                // tie, down to 2048
  EXPECT_EQ(Encode(kFloat16, 2051), 0x6802);                // tie, up to 2052
  EXPECT_EQ(Encode(kFloat16, 2049.001), 0x6801);            // 2050
  EXPECT_EQ(Encode(kFloat16, 65519.99), 0x7bff);            // 65504
  EXPECT_EQ(Encode(kFloat16, 65520), 0x7c00);               // infinity
  EXPECT_EQ(Encode(kFloat16, -1e300), 0xfc00);              // far beyond
  EXPECT_EQ(Encode(kFloat16, 4095.9), 0x6c00);              // carries into the exponent: 4096
  EXPECT_EQ(Encode(kFloat16, std::ldexp(1, -25)), 0x0000);  // tie, down to 0
  EXPECT_EQ(Encode(kFloat16, std::ldexp(1.01, -25)), 0x0001);
  EXPECT_EQ(Encode(kFloat16, std::ldexp(3, -25)), 0x0002);     // tie, up
  EXPECT_EQ(Encode(kFloat16, std::ldexp(2047, -25)), 0x0400);  // to the smallest normal number
  EXPECT_EQ(Encode(kFloat16, -std::ldexp(1, -30)), 0x8000);    // keeps the sign
  EXPECT_EQ(Encode(kBfloat16, 257), 0x4380);                   // tie, down to 256
  EXPECT_EQ(Encode(kBfloat16, 259), 0x4382);                   // tie, up to 260
}

TEST(Float8, Landmarks) {
  EXPECT_EQ(Decode(kFloat8E4m3fn, 0x38), 1.0);
  EXPECT_EQ(Decode(kFloat8E4m3fn, 0xfe), -448.0);
  EXPECT_EQ(Decode(kFloat8E4m3fn, 0x01), std::ldexp(1, -9));
  EXPECT_TRUE(std::isnan(Decode(kFloat8E4m3fn, 0xff)));
  EXPECT_EQ(Decode(kFloat8E5m2, 0x3c), 1.0);
  EXPECT_EQ(Decode(kFloat8E5m2, 0xfb), -57344.0);
  EXPECT_EQ(Decode(kFloat8E5m2, 0x01), std::ldexp(1, -16));
  EXPECT_EQ(Decode(kFloat8E5m2, 0x7c), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(Decode(kFloat8E5m2, 0x7d)));
}

TEST(Float8, RoundsToNearestEven) {
  EXPECT_EQ(Encode(kFloat8E4m3fn, 17), 0x58);                   // tie, down to 16
  EXPECT_EQ(Encode(kFloat8E4m3fn, -19), 0xda);                  // tie, away from 0 to -20
  EXPECT_EQ(Encode(kFloat8E4m3fn, 464), 0x7e);                  // tie, down to 448
  EXPECT_EQ(Encode(kFloat8E4m3fn, 464.01), 0x7f);               // NaN
  EXPECT_EQ(Encode(kFloat8E4m3fn, -496), 0xff);                 // would carry into the sign
  EXPECT_EQ(Encode(kFloat8E4m3fn, 1e300), 0x7f);                // far beyond
  EXPECT_EQ(Encode(kFloat8E4m3fn, std::ldexp(1, -10)), 0x00);   // tie, down to 0
  EXPECT_EQ(Encode(kFloat8E4m3fn, std::ldexp(15, -10)), 0x08);  // to the smallest normal number
  EXPECT_EQ(Encode(kFloat8E5m2, 61439.99), 0x7b);               // 57344
  EXPECT_EQ(Encode(kFloat8E5m2, -61440), 0xfc);                 // infinity
  EXPECT_EQ(Encode(kFloat8E5m2, -std::ldexp(3, -17)), 0x82);    // tie, away from 0
}

// ---- Reductions ------------------------------------------------------------------------------

template <class T>
T Combined(strew_dtype dtype, strew_reduction reduction, T element, T update) {
  unsigned char bytes[sizeof(T)], other[sizeof(T)];
  std::memcpy(bytes, &element, sizeof(T));
  std::memcpy(other, &update, sizeof(T));
  Combine(dtype, reduction, bytes, other);
  std::memcpy(&element, bytes, sizeof(T));
  return element;
}

TEST(Reduction, IntegersWrap) {
  EXPECT_EQ(Combined<int8_t>(STREW_INT8, STREW_ADD, 127, 1), -128);
  EXPECT_EQ(Combined<int8_t>(STREW_INT8, STREW_MUL, -128, -1), -128);
  EXPECT_EQ(Combined<uint16_t>(STREW_UINT16, STREW_MUL, 65535, 65535), 1);
  EXPECT_EQ(Combined<int64_t>(STREW_INT64, STREW_ADD, std::numeric_limits<int64_t>::max(), 1),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Combined<uint8_t>(STREW_UINT8, STREW_SUB, 1, 2), 255);
  EXPECT_EQ(Combined<int64_t>(STREW_INT64, STREW_SUB, std::numeric_limits<int64_t>::min(), 1),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Combined<uint8_t>(STREW_UINT8, STREW_MAX, 200, 100), 200);
  EXPECT_EQ(Combined<int8_t>(STREW_INT8, STREW_MIN, 100, -56), -56);
}

TEST(Reduction, MinimumAndMaximumOrderZerosAndKeepNans) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const strew_reduction reduction : {STREW_MIN, STREW_MAX}) {
    EXPECT_TRUE(std::isnan(Combined(STREW_FLOAT32, reduction, nan, 1.0f)));
    EXPECT_TRUE(std::isnan(Combined(STREW_FLOAT32, reduction, 1.0f, nan)));
    const bool negative = reduction == STREW_MIN;
    EXPECT_EQ(std::signbit(Combined(STREW_FLOAT32, reduction, 0.0f, -0.0f)), negative);
    EXPECT_EQ(std::signbit(Combined(STREW_FLOAT32, reduction, -0.0f, 0.0f)), negative);
  }
  EXPECT_EQ(Combined(STREW_FLOAT64, STREW_MIN, 3.0, -2.0), -2.0);
  EXPECT_EQ(Combined(STREW_FLOAT64, STREW_MAX, 3.0, -2.0), 3.0);
}

TEST(Reduction, BoolsAnswerZeroOrOne) {
  using Byte = unsigned char;
  for (const strew_reduction either : {STREW_ADD, STREW_MAX}) {
    EXPECT_EQ(Combined<Byte>(STREW_BOOL, either, 2, 0), 1);
    EXPECT_EQ(Combined<Byte>(STREW_BOOL, either, 0, 0), 0);
  }
  for (const strew_reduction both : {STREW_MUL, STREW_MIN}) {
    EXPECT_EQ(Combined<Byte>(STREW_BOOL, both, 2, 255), 1);
    EXPECT_EQ(Combined<Byte>(STREW_BOOL, both, 255, 0), 0);
  }
  EXPECT_EQ(Combined<Byte>(STREW_BOOL, STREW_SUB, 2, 255), 0);
  EXPECT_EQ(Combined<Byte>(STREW_BOOL, STREW_SUB, 0, 4), 1);
  EXPECT_EQ(Combined<Byte>(STREW_BOOL, STREW_NONE, 1, 255), 255);
}

// ---- Means -----------------------------------------------------------------------------------

template <class T>
T MeanOf(strew_dtype dtype, const std::vector<T>& terms) {
  Mean mean;
  unsigned char bytes[sizeof(T)];
  for (const T term : terms) {
    std::memcpy(bytes, &term, sizeof(T));
    mean.Add(dtype, bytes);
  }
  mean.Write(dtype, bytes);
  T result;
  std::memcpy(&result, bytes, sizeof(T));
  return result;
}

TEST(Means, OfIntegersAreRoundedDown) {
  EXPECT_EQ(MeanOf<int32_t>(STREW_INT32, {-3, -4}), -4);
  EXPECT_EQ(MeanOf<int32_t>(STREW_INT32, {3, 4}), 3);
  EXPECT_EQ(MeanOf<int8_t>(STREW_INT8, {-128, -128, -127}), -128);
  EXPECT_EQ(MeanOf<int8_t>(STREW_INT8, {-1, 0, 0}), -1);
  EXPECT_EQ(MeanOf<int16_t>(STREW_INT16, {-6, -6}), -6);
  EXPECT_EQ(MeanOf<uint8_t>(STREW_UINT8, {255, 255, 254}), 254);
}

TEST(Means, OfIntegersHaveExactSums) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(MeanOf<int64_t>(STREW_INT64, {kMost, kMost, kMost}), kMost);
  EXPECT_EQ(MeanOf<int64_t>(STREW_INT64, {kLeast, kLeast, kLeast}), kLeast);
  EXPECT_EQ(MeanOf<int64_t>(STREW_INT64, {kMost, kLeast}), -1);  // -1 / 2, down
  EXPECT_EQ(MeanOf<int64_t>(STREW_INT64, {kMost, kLeast, 1}), 0);
  EXPECT_EQ(MeanOf<int64_t>(STREW_INT64, {kMost, kMost - 1}), kMost - 1);
  EXPECT_EQ(MeanOf<int64_t>(STREW_INT64, {kLeast, kLeast + 1}), kLeast);
  EXPECT_EQ(MeanOf<uint64_t>(STREW_UINT64, {kAll, kAll, kAll - 1}), kAll - 1);
  EXPECT_EQ(MeanOf<uint64_t>(STREW_UINT64, {kAll, 0}), kAll / 2);
  EXPECT_EQ(MeanOf(STREW_INT64, std::vector<int64_t>(100000, kLeast)), kLeast);
  EXPECT_EQ(MeanOf(STREW_UINT64, std::vector<uint64_t>(100000, kAll)), kAll);
}

TEST(Means, OfFloatsRoundTheSumAndTheQuotient) {
  EXPECT_EQ(MeanOf<float>(STREW_FLOAT32, {1e8f, 1, -1e8f, 3}), 0.75f);
  EXPECT_EQ(MeanOf<float>(STREW_FLOAT32, {1, 0, 0}), 1.0f / 3.0f);
  EXPECT_EQ(MeanOf<double>(STREW_FLOAT64, {1, 0, 0}), 1.0 / 3.0);
  EXPECT_TRUE(std::signbit(MeanOf<float>(STREW_FLOAT32, {-0.0f})));
  EXPECT_FALSE(std::signbit(MeanOf<float>(STREW_FLOAT32, {-0.0f, 0.0f})));
}

// Their sums are of float32: four times 65504 is no float16.
TEST(Means, OfSmallFloatsDoNotOverflow) {
  EXPECT_EQ(MeanOf<uint16_t>(STREW_FLOAT16, {0x7bff, 0x7bff, 0x7bff, 0x7bff}), 0x7bff);
  EXPECT_EQ(MeanOf<uint16_t>(STREW_BFLOAT16, {0x4380, 0x3f80}), 0x4300);      // 128.5 is a tie
  EXPECT_EQ(MeanOf<uint16_t>(STREW_BFLOAT16, {0x7f7f, 0x7f7f}), 0x7f80);      // no float32 either
  EXPECT_EQ(MeanOf<uint8_t>(STREW_FLOAT8_E4M3FN, {0x7e, 0x7e, 0x7e}), 0x7e);  // 448
  EXPECT_EQ(MeanOf<uint8_t>(STREW_FLOAT8_E5M2, {0x3c, 0x3d}), 0x3c);          // 1.125 is a tie
}

TEST(Means, OfComplexNumbersGoByComponent) {
  using Complex = std::complex<float>;
  EXPECT_EQ(MeanOf<Complex>(STREW_COMPLEX64, {{1, -2}, {2, -4}}), Complex(1.5f, -3));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(MeanOf<Complex>(STREW_COMPLEX64, {{infinity, 1}, {0, 2}}), Complex(infinity, 1.5f));
}

// ---- Python's slices: the expectations are those of CPython ----------------------------------

struct Slice {
  int64_t dim, start, stop, step;
  int64_t first, count;
};
void PrintTo(const Slice& s, std::ostream* out) {
  *out << "range(" << s.dim << ")[" << s.start << ":" << s.stop << ":" << s.step << "]";
}

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

class PythonSlices : public testing::TestWithParam<Slice> {};

TEST_P(PythonSlices, Agree) {
  const Slice& s = GetParam();
  const Range range = PythonSlice(s.start, s.stop, s.step, s.dim);
  EXPECT_EQ(range.count, s.count);
  if (s.count > 0) {
    EXPECT_EQ(range.first, s.first);
  }
}

INSTANTIATE_TEST_SUITE_P(
    CPython, PythonSlices,
    testing::Values(Slice{5, 0, 5, 1, 0, 5}, Slice{5, -25, 25, 2, 0, 3}, Slice{5, 1, -1, 1, 1, 3},
                    Slice{5, 4, 0, -1, 4, 4}, Slice{5, 4, -6, -1, 4, 5}, Slice{5, -1, -6, -2, 4, 3},
                    Slice{5, 10, -10, -3, 4, 2}, Slice{5, 3, 3, 1, 0, 0}, Slice{5, 4, 2, 1, 0, 0},
                    Slice{5, -7, -9, -1, 0, 0}, Slice{5, -6, kLowest, -1, 0, 0},
                    Slice{5, -5, kLowest, -1, 0, 1}, Slice{5, kLowest, kHighest, 1, 0, 5},
                    Slice{5, kHighest, kLowest, -1, 4, 5}, Slice{5, 0, kHighest, kHighest, 0, 1},
                    Slice{5, kHighest, kLowest, kLowest, 4, 1},
                    Slice{5, kLowest, kHighest, kLowest, 0, 0}, Slice{5, 2, kLowest, -2, 2, 2},
                    Slice{5, 5, kLowest, -1, 4, 5}, Slice{0, 0, kHighest, 1, 0, 0},
                    Slice{0, kHighest, kLowest, -1, 0, 0}, Slice{0, -1, 0, -1, 0, 0},
                    Slice{1, 0, 1, 3, 0, 1}, Slice{1, -1, kLowest, -3, 0, 1},
                    Slice{7, -6, -1, 3, 1, 2}, Slice{7, 6, -8, -5, 6, 2}));

}  // namespace
}  // namespace strew_test
