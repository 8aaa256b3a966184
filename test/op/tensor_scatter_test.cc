// SPDX-License-Identifier: Apache-2.0
//
// Special cases of tensor_scatter with literal results.
#include <limits>

#include <gtest/gtest.h>

#include "op/literal.h"
#include "op/request.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
const strew_cache_mode kModes[] = {STREW_CACHE_LINEAR, STREW_CACHE_CIRCULAR};

// past_cache [batches, 4], where the tens are those of the batch, and `size` new positions of 1, 2,
// ... plus 100 for each batch.
Case Lines(int64_t batches, int64_t size, const Dims& write_indices,
           strew_dtype dtype = STREW_INT64) {
  Numbers past, update;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t i = 0; i < 4; ++i) past.push_back(static_cast<double>(10 * (b + 1) + i));
    for (int64_t i = 0; i < size; ++i) update.push_back(static_cast<double>(100 * (b + 1) + i));
  }
  Case c{Operator::kTensorScatter, NumberArray(STREW_FLOAT32, {batches, 4}, past),
         NumberArray(STREW_FLOAT32, {batches, size}, update)};
  c.indices = IndexArray(dtype, {batches}, write_indices);
  c.axis = 1;
  return c;
}

Case Line(int64_t size, int64_t write_index, strew_dtype dtype = STREW_INT64) {
  return Lines(1, size, {write_index}, dtype);
}

// ---- Linear ------------------------------------------------------------------------------------

TEST(LinearCache, IsWrittenFromItsIndexOn) {
  for (const Dtype& index : IndexDtypes()) {
    Case c = Lines(2, 2, {2, 0}, index.code);
    ExpectApplied(c, 4, {10, 11, 100, 101, 200, 201, 22, 23});
    c.axis = -1;
    ExpectNumbers(c, {10, 11, 100, 101, 200, 201, 22, 23});
  }
}

TEST(LinearCache, IsWrittenFromZeroWithoutIndices) {
  Case c = Lines(2, 2, {0, 0});
  c.indices.reset();
  ExpectApplied(c, 4, {100, 101, 12, 13, 200, 201, 22, 23});
}

// [2, 2, 4, 2] with the sequence on axis 2, as the caches of attention have it.
TEST(LinearCache, IsWrittenInEveryHead) {
  Numbers past(32, 0), update;
  for (int i = 0; i < 8; ++i) update.push_back(1 + i);
  for (const int64_t axis : {2, -2}) {
    Case c{Operator::kTensorScatter, NumberArray(STREW_FLOAT16, {2, 2, 4, 2}, past),
           NumberArray(STREW_FLOAT16, {2, 2, 1, 2}, update)};
    c.indices = IndexArray(STREW_INT32, {2}, {1, 3});
    c.axis = axis;
    ExpectNumbers(c, {0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0,
                      0, 0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 7, 8});
  }
}

TEST(LinearCache, EndsAtItsEnd) {
  Case c = Line(2, 2);
  ExpectNumbers(c, {10, 11, 100, 101});
  for (const int64_t w : Dims{3, 4, -1, -4, kMost, kLeast}) {
    c = Line(2, w);
    ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 0);
  }
  c = Line(2, kLeast, STREW_UINT64);
  ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 0);
  c = Lines(3, 2, {0, 1, 3});
  ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 2);
}

// ---- Circular ----------------------------------------------------------------------------------

Case Circular(Case c) {
  c.mode = STREW_CACHE_CIRCULAR;
  return c;
}

TEST(CircularCache, RunsPastItsEnd) {
  for (const Dtype& index : IndexDtypes()) {
    Case c = Circular(Lines(2, 3, {3, 1}, index.code));
    ExpectApplied(c, 6, {101, 102, 12, 100, 20, 200, 201, 202});
    c = Circular(Lines(2, 4, {2, 7}, index.code));
    ExpectApplied(c, 8, {102, 103, 100, 101, 201, 202, 203, 200});
  }
}

TEST(CircularCache, TakesAnyIndexThatIsNotNegative) {
  Case c = Circular(Line(2, kMost));  // 2^63 - 1 = 3 modulo 4
  ExpectNumbers(c, {101, 11, 12, 100});
  c = Circular(Line(2, -2, STREW_UINT64));  // 2^64 - 2 = 2
  ExpectNumbers(c, {10, 11, 100, 101});
  c = Circular(Line(2, 255, STREW_UINT8));
  ExpectNumbers(c, {101, 11, 12, 100});
}

TEST(CircularCache, RefusesNegativeIndices) {
  for (const bool wrap : {true, false}) {
    Case c = Circular(Lines(2, 2, {1, -1}));
    c.wrap = wrap;
    ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 1);
  }
}

// max = 3, where 2^64 is no multiple.
TEST(CircularCache, CountsUnsignedIndicesTo2To64) {
  Case c{Operator::kTensorScatter, NumberArray(STREW_INT8, {1, 3}, {0, 0, 0}),
         NumberArray(STREW_INT8, {1, 2}, {1, 2})};
  c.axis = 1;
  c.mode = STREW_CACHE_CIRCULAR;
  c.indices = IndexArray(STREW_UINT64, {1}, {-1});  // 2^64 - 1 = 0 modulo 3
  ExpectNumbers(c, {1, 2, 0});
  c.indices = IndexArray(STREW_UINT64, {1}, {kLeast});  // 2^63 = 2 modulo 3
  ExpectNumbers(c, {2, 0, 1});
}

// ---- Policies ----------------------------------------------------------------------------------

TEST(CachePolicy, DropSkipsBatchEntries) {
  for (const strew_cache_mode mode : kModes) {
    Case c = Lines(3, 2, {-1, 2, -4});
    c.mode = mode;
    c.policy = STREW_INDEX_DROP;
    ExpectApplied(c, 2, {10, 11, 12, 13, 20, 21, 200, 201, 30, 31, 32, 33});
  }
  Case c = Lines(2, 2, {3, 0});
  c.policy = STREW_INDEX_DROP;
  ExpectApplied(c, 2, {10, 11, 12, 13, 200, 201, 22, 23});
}

TEST(CachePolicy, ClampTakesTheNearestIndex) {
  Case c = Lines(3, 2, {-7, 3, kMost});
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 6, {100, 101, 12, 13, 20, 21, 200, 201, 30, 31, 300, 301});
  c = Circular(Lines(3, 2, {-7, 3, kMost}));
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 6, {100, 101, 12, 13, 201, 21, 22, 200, 301, 31, 32, 300});
}

TEST(CachePolicy, NoEntryIsADuplicate) {
  Case c = Circular(Lines(3, 4, {1, 1, 1}));
  c.duplicates = STREW_DUPLICATE_ERROR;
  ExpectApplied(c, 12, {103, 100, 101, 102, 203, 200, 201, 202, 303, 300, 301, 302});
}

// ---- Nothing to write --------------------------------------------------------------------------

TEST(EmptyCache, ChecksIndicesOfNoPositions) {
  Case c = Line(0, 4);
  ExpectApplied(c, 0, {10, 11, 12, 13});
  for (const int64_t w : Dims{5, -1}) {
    c = Line(0, w);
    ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 0);
    for (const strew_index_policy policy : {STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
      c.policy = policy;
      ExpectApplied(c, 0, {10, 11, 12, 13});
    }
  }
  c = Circular(Line(0, 5));
  ExpectApplied(c, 0, {10, 11, 12, 13});
}

TEST(EmptyCache, HasOneGoodIndex) {
  for (const strew_cache_mode mode : kModes) {
    for (const int64_t w : Dims{0, 1, -1}) {
      Case c{Operator::kTensorScatter, NumberArray(STREW_INT16, {1, 0}, {}),
             NumberArray(STREW_INT16, {1, 0}, {})};
      c.indices = IndexArray(STREW_INT64, {1}, {w});
      c.axis = 1;
      c.mode = mode;
      const bool good = w == 0 || (w > 0 && mode == STREW_CACHE_CIRCULAR);
      if (good) ExpectApplied(c, 0, {});
      if (!good) ExpectRefused(c, STREW_INDEX_OUT_OF_RANGE, 0);
      c.policy = STREW_INDEX_CLAMP;
      ExpectApplied(c, 0, {});
    }
  }
}

// ---- Refusals ----------------------------------------------------------------------------------

TEST(CacheRefusal, NamesTheIndex) {
  const Context context = MakeContext();
  Request request = GoodRequest(Operator::kTensorScatter);
  request.indices.values = {0, 1, 3};
  const Answer answer = Send(request, context.get());
  EXPECT_EQ(answer.status, STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(answer.position, 2);
  for (const char* const part : {"write_indices[2] = 3", "[0, 2]", "axis 1 of past_cache"}) {
    EXPECT_NE(answer.error.find(part), std::string::npos)
        << "'" << answer.error << "' lacks '" << part << "'";
  }
}

TEST(CacheRefusal, WantsOneIndexForEachBatchEntry) {
  for (const Dims& shape : {Dims{2}, Dims{4}, Dims{1}, Dims{0}, Dims{}, Dims{3, 1}}) {
    Request request = GoodRequest(Operator::kTensorScatter);
    request.indices.SetShape(shape);
    EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE) << ToString(shape);
  }
}

TEST(CacheRefusal, WantsUpdatesThatFit) {
  for (const Dims& shape : {Dims{3, 5}, Dims{2, 2}, Dims{4, 2}, Dims{6}}) {
    Request request = GoodRequest(Operator::kTensorScatter);
    request.updates.SetShape(shape);
    EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_SHAPE) << ToString(shape);
  }
}

}  // namespace
}  // namespace strew_test
