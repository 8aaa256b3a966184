// SPDX-License-Identifier: Apache-2.0
//
// Numbers, names and sizes that callers and bindings have compiled in.
#include <climits>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <strew/strew.h>

#include "reference/dtypes.h"
#include "reference/targets.h"
#include "support/reference.h"

namespace strew_test {
namespace {

static_assert(STREW_OK == 0 && STREW_INVALID_ARGUMENT == 1 && STREW_INVALID_DTYPE == 2 &&
              STREW_INVALID_SHAPE == 3 && STREW_INVALID_AXIS == 4 &&
              STREW_INDEX_OUT_OF_RANGE == 5 && STREW_DUPLICATE_INDEX == 6 &&
              STREW_OVERLAPPING_MEMORY == 7 && STREW_SIZE_OVERFLOW == 8 &&
              STREW_OUT_OF_MEMORY == 9 && STREW_UNSUPPORTED == 10 && STREW_RUNNER_FAILED == 11);
static_assert(STREW_BOOL == 1 && STREW_INT8 == 2 && STREW_INT16 == 3 && STREW_INT32 == 4 &&
              STREW_INT64 == 5 && STREW_UINT8 == 6 && STREW_UINT16 == 7 && STREW_UINT32 == 8 &&
              STREW_UINT64 == 9 && STREW_FLOAT16 == 10 && STREW_BFLOAT16 == 11 &&
              STREW_FLOAT32 == 12 && STREW_FLOAT64 == 13 && STREW_COMPLEX64 == 14 &&
              STREW_COMPLEX128 == 15 && STREW_STRING == 16 && STREW_FLOAT8_E4M3FN == 17 &&
              STREW_FLOAT8_E5M2 == 18);
static_assert(STREW_OPAQUE(1) == 0x10001 && STREW_OPAQUE(4096) == 0x11000);
static_assert(STREW_NONE == 0 && STREW_ADD == 1 && STREW_MUL == 2 && STREW_MIN == 3 &&
              STREW_MAX == 4 && STREW_SUB == 5 && STREW_MEAN == 6 && STREW_EXCLUDE_SELF == 0x100 &&
              STREW_WIDE == 0x200);
static_assert(STREW_INDEX_ERROR == 0 && STREW_INDEX_DROP == 1 && STREW_INDEX_CLAMP == 2);
static_assert(STREW_DUPLICATE_LAST == 0 && STREW_DUPLICATE_ERROR == 1);
static_assert(STREW_CACHE_LINEAR == 0 && STREW_CACHE_CIRCULAR == 1);
static_assert(sizeof(strew_status) == 4 && sizeof(strew_dtype) == 4 &&
              sizeof(strew_reduction) == 4 && sizeof(strew_index_policy) == 4 &&
              sizeof(strew_duplicate_policy) == 4 && sizeof(strew_cache_mode) == 4);

TEST(Version, LibraryAndHeaderAgree) {
  EXPECT_EQ(strew_version(), std::to_string(STREW_VERSION_MAJOR) + "." +
                                 std::to_string(STREW_VERSION_MINOR) + "." +
                                 std::to_string(STREW_VERSION_PATCH));
  EXPECT_EQ(strew_version_number(),
            STREW_VERSION_MAJOR * 10000 + STREW_VERSION_MINOR * 100 + STREW_VERSION_PATCH);
}

TEST(StatusName, IsThatOfTheConstant) {
  EXPECT_STREQ(strew_status_name(STREW_OK), "STREW_OK");
  EXPECT_STREQ(strew_status_name(STREW_INVALID_ARGUMENT), "STREW_INVALID_ARGUMENT");
  EXPECT_STREQ(strew_status_name(STREW_INVALID_DTYPE), "STREW_INVALID_DTYPE");
  EXPECT_STREQ(strew_status_name(STREW_INVALID_SHAPE), "STREW_INVALID_SHAPE");
  EXPECT_STREQ(strew_status_name(STREW_INVALID_AXIS), "STREW_INVALID_AXIS");
  EXPECT_STREQ(strew_status_name(STREW_INDEX_OUT_OF_RANGE), "STREW_INDEX_OUT_OF_RANGE");
  EXPECT_STREQ(strew_status_name(STREW_DUPLICATE_INDEX), "STREW_DUPLICATE_INDEX");
  EXPECT_STREQ(strew_status_name(STREW_OVERLAPPING_MEMORY), "STREW_OVERLAPPING_MEMORY");
  EXPECT_STREQ(strew_status_name(STREW_SIZE_OVERFLOW), "STREW_SIZE_OVERFLOW");
  EXPECT_STREQ(strew_status_name(STREW_OUT_OF_MEMORY), "STREW_OUT_OF_MEMORY");
  EXPECT_STREQ(strew_status_name(STREW_UNSUPPORTED), "STREW_UNSUPPORTED");
  EXPECT_STREQ(strew_status_name(STREW_RUNNER_FAILED), "STREW_RUNNER_FAILED");
}

TEST(StatusName, IsUnknownForOtherCodes) {
  for (const strew_status status : {-1, STREW_RUNNER_FAILED + 1, INT_MAX, INT_MIN}) {
    EXPECT_STREQ(strew_status_name(status), "unknown");
  }
}

TEST(StatusDescription, IsOneSentenceForEach) {
  std::set<std::string> sentences;
  for (strew_status status = STREW_OK; status <= STREW_RUNNER_FAILED; ++status) {
    const char* text = strew_status_description(status);
    ASSERT_NE(text, nullptr);
    EXPECT_NE(std::string(text).find(' '), std::string::npos) << text;
    EXPECT_TRUE(sentences.insert(text).second) << text;
  }
  for (const strew_status status : {-1, STREW_RUNNER_FAILED + 1, INT_MAX, INT_MIN}) {
    EXPECT_NE(strew_status_description(status), nullptr);
  }
}

TEST(DtypeName, IsThatOfNumPy) {
  for (const Dtype& dtype : Dtypes()) EXPECT_STREQ(strew_dtype_name(dtype.code), dtype.name);
}

TEST(DtypeSize, IsThatOfAnElement) {
  for (const Dtype& dtype : Dtypes()) EXPECT_EQ(strew_dtype_size(dtype.code), dtype.width);
  for (int n = 1; n <= 4096; ++n) {
    ASSERT_EQ(strew_dtype_size(STREW_OPAQUE(n)), static_cast<size_t>(n));
    ASSERT_STREQ(strew_dtype_name(STREW_OPAQUE(n)), "opaque");
  }
}

TEST(Dtype, IsUnknownForOtherCodes) {
  for (const strew_dtype dtype :
       {-1, 0, LastCode() + 1, 0xffff, 0x10000, 0x11001, INT_MAX, INT_MIN}) {
    EXPECT_STREQ(strew_dtype_name(dtype), "unknown") << dtype;
    EXPECT_EQ(strew_dtype_size(dtype), 0u) << dtype;
  }
}

TEST(SimdTarget, FirstOfTheListIsInUse) {
  ASSERT_NE(strew_simd_target_at(0), nullptr);
  EXPECT_STREQ(strew_simd_target(), strew_simd_target_at(0));
}

TEST(SimdTarget, ListHasNoDuplicatesAndEnds) {
  std::set<std::string> names;
  for (const Target& target : Targets()) EXPECT_TRUE(names.insert(target.name).second);
  const auto count = static_cast<int32_t>(Targets().size());
  for (const int32_t i : {-1, count, count + 1, INT_MAX, INT_MIN}) {
    EXPECT_EQ(strew_simd_target_at(i), nullptr) << i;
  }
}

// The target of a CPU without extensions can be tested on every CPU.
TEST(SimdTarget, ListHasThePortableOne) {
  std::set<std::string> names;
  for (const Target& target : Targets()) names.insert(target.name);
  EXPECT_EQ(names.count("SCALAR") + names.count("EMU128"), 1u);
}

}  // namespace
}  // namespace strew_test
