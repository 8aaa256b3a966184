// SPDX-License-Identifier: Apache-2.0
//
// The bytes do not depend on the number of workers, nor on the order in which tasks are run.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "support/bulk.h"
#include "support/reference.h"
#include "threads/parallel_call.h"

namespace strew_test {
namespace {

constexpr Operator kElements = Operator::kScatterElements;
constexpr Operator kNd = Operator::kScatterNd;
constexpr Operator kSlice = Operator::kSliceScatterInt64;

const std::vector<int32_t>& Workers() {
  static const std::vector<int32_t> workers = {2, 3, 8, 64};
  return workers;
}

// ---- Every dtype -------------------------------------------------------------------------------

class ParallelDtype : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, ParallelDtype, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

// One thread would do less than this sooner by itself.
TEST_P(ParallelDtype, GivesTheBytesOfOneThread) {
  const Dtype dtype = GetParam();
  const int64_t in_runs = (9 << 18) / static_cast<int64_t>(dtype.width);
  const int64_t single = std::min<int64_t>(3 << 15, in_runs);
  for (const strew_reduction reduction : ReductionsOf(dtype)) {
    for (const CallShape& call_shape : CallShapes(single, in_runs)) {
      LargeCall call(call_shape, dtype.code, reduction);
      for (const Place place : kPlaces) {
        call.Choose(place);
        const int64_t least = CheckWorkers(call, Workers());
        EXPECT_TRUE(least >= 2 || call_shape.lands_anywhere) << call.Describe();
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

// ---- Places that the caches do not hold --------------------------------------------------------

struct Element {
  strew_dtype dtype;
  strew_reduction reduction;
};

std::string NameOfElement(const testing::TestParamInfo<Element>& test) {
  return TestName(Find(test.param.dtype)) + "_" + NameOf(test.param.reduction);
}

class ParallelFar : public testing::TestWithParam<Element> {};

INSTANTIATE_TEST_SUITE_P(SomeElements, ParallelFar,
                         testing::Values(Element{STREW_FLOAT32, STREW_ADD},
                                         Element{STREW_INT64, STREW_NONE},
                                         Element{STREW_BFLOAT16, STREW_MAX},
                                         Element{STREW_COMPLEX128, STREW_MUL},
                                         Element{STREW_OPAQUE(12), STREW_NONE}),
                         NameOfElement);

// Outputs of twice the size of the last cache, where a test can be asked to fill so much.
TEST_P(ParallelFar, IsSharedOutToTwoWorkers) {
  constexpr int64_t kMostBytes = int64_t{128} << 20;
  const int64_t bytes = std::min(4 * StreamedBytes(), kMostBytes);
  const bool far = bytes < kMostBytes;
  const int64_t size = bytes / static_cast<int64_t>(WidthOf(GetParam().dtype));
  constexpr int64_t kUpdates = 1 << 20;
  const std::vector<CallShape> call_shapes = {
      {"one line", kElements, {size}, {kUpdates}},
      {"tall axis", kElements, {size / 2, 2}, {kUpdates / 2, 2}, 0, STREW_INT32},
      {"pairs", kNd, {32, size / 32}, {kUpdates, 2}, 0, STREW_INT32},
  };
  for (const CallShape& call_shape : call_shapes) {
    LargeCall call(call_shape, GetParam().dtype, GetParam().reduction);
    const int64_t least = CheckWorkers(call, {2, 3});
    EXPECT_TRUE(least >= 2 || !far) << call.Describe();
    ASSERT_FALSE(HasFailure());
  }
}

// ---- Many tasks --------------------------------------------------------------------------------

class ParallelLarge : public testing::TestWithParam<Element> {};

INSTANTIATE_TEST_SUITE_P(SomeElements, ParallelLarge,
                         testing::Values(Element{STREW_FLOAT32, STREW_ADD},
                                         Element{STREW_INT64, STREW_NONE},
                                         Element{STREW_OPAQUE(12), STREW_NONE}),
                         NameOfElement);

TEST_P(ParallelLarge, IsSharedOut) {
  for (const CallShape& call_shape : AllCallShapes(1 << 19)) {
    LargeCall call(call_shape, GetParam().dtype, GetParam().reduction);
    for (const Place place : kPlaces) {
      call.Choose(place);
      EXPECT_GE(CheckWorkers(call, {2, 8, 64}), 2) << call.Describe();
      ASSERT_FALSE(HasFailure());
    }
  }
}

// Few updates, so that what takes time is the copy of data.
TEST(ParallelCopy, IsSharedOut) {
  const std::vector<CallShape> call_shapes = {
      {"one line", kElements, {1 << 22}, {100}},
      {"last axis", kElements, {2048, 2048}, {10, 10}, 1, STREW_INT32, 1},
      {"rows", kNd, {1 << 14, 250}, {3, 1}},
      {"no updates", kNd, {1 << 22}, {0, 1}},
      {"a slice", kSlice, {1 << 13, 500}, {1 << 12, 7}},
  };
  for (const CallShape& call_shape : call_shapes) {
    LargeCall call(call_shape, STREW_FLOAT32, STREW_ADD);
    call.Choose(Place::kNewOutput);
    EXPECT_GE(CheckWorkers(call, Workers()), 2) << call.Describe();
  }
}

// ---- Places that are named unevenly -------------------------------------------------------------

class ParallelSpread : public testing::TestWithParam<Spread> {};

INSTANTIATE_TEST_SUITE_P(EverySpread, ParallelSpread, testing::ValuesIn(Spreads()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(ParallelSpread, GivesTheBytesOfOneThread) {
  const Element elements[] = {{STREW_FLOAT32, STREW_ADD},
                              {STREW_UINT8, STREW_NONE},
                              {STREW_COMPLEX128, STREW_NONE},
                              {STREW_BFLOAT16, STREW_MAX}};
  for (CallShape call_shape : CallShapes(1 << 18)) {
    if (call_shape.op == kSlice) continue;
    call_shape.spread = GetParam();
    for (const auto& [dtype, reduction] : elements) {
      LargeCall call(call_shape, dtype, reduction);
      for (const Place place : kPlaces) {
        call.Choose(place);
        CheckWorkers(call, {2, 8});
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

// If this fails, sums do not show the order and the tests above say less than they seem to.
TEST(ParallelSums, DependOnTheOrder) {
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_FLOAT64, STREW_FLOAT16, STREW_BFLOAT16}) {
    const CallShape call_shape{"one line", kElements, {16}, {1 << 16}};
    LargeCall call(call_shape, dtype, STREW_ADD);
    const Bytes forwards = call.Alone();
    const int64_t size = call_shape.indices[0];
    const auto swap_elements = [=](Array& array) {
      const size_t width = WidthOf(array.dtype());
      unsigned char* const bytes = array.buffer().bytes();
      for (int64_t i = 0; i < size / 2; ++i) {
        unsigned char* const first = bytes + static_cast<size_t>(i) * width;
        std::swap_ranges(first, first + width, bytes + static_cast<size_t>(size - 1 - i) * width);
      }
    };
    swap_elements(call.updates());
    swap_elements(call.indices());
    EXPECT_NE(call.Alone(), forwards) << NameOf(STREW_ADD) << " " << TestName(Find(dtype));
  }
}

// ---- Small work is not --------------------------------------------------------------------------

void ExpectNoQuestions(const CallShape& call_shape, Place place) {
  LargeCall call(call_shape, STREW_FLOAT32, STREW_ADD);
  call.Choose(place);
  const Bytes expected = call.Alone();
  StdThreads threads;
  for (const int32_t workers : Workers()) {
    Recorder recorder(threads);
    const Context context = MakeContext();
    recorder.InstallIn(context.get(), workers);
    EXPECT_EQ(call.Trouble(context.get(), expected), "") << call.Describe();
    EXPECT_EQ(recorder.phases(), 0) << call.Describe();
  }
}

TEST(ParallelSmall, NeverAsksTheRunner) {
  const std::vector<CallShape> call_shapes = {
      {"nothing", kElements, {0}, {0}},
      {"no line", kElements, {0, 5}, {0, 5}, 1},
      {"no updates", kElements, {50}, {0}},
      {"no tuples", kNd, {50}, {0, 1}},
      {"rows of nothing", kNd, {50, 0}, {7, 1}},
      {"a line", kElements, {64}, {64}},
      {"first axis", kElements, {8, 8}, {8, 8}, 0},
      {"last axis", kElements, {8, 8}, {8, 8}, 1},
      {"rows", kNd, {16, 4}, {16, 1}},
      {"pairs", kNd, {9, 9}, {64, 2}},
      {"everything", kNd, {60}, {1, 0}},
      {"a slice", kSlice, {128}, {-2}},
  };
  for (const CallShape& call_shape : call_shapes) {
    for (const Place place : kPlaces) ExpectNoQuestions(call_shape, place);
  }
}

// However large data is, as long as it is not copied.
TEST(ParallelSmall, NeverAsksForFewUpdatesInPlace) {
  const std::vector<CallShape> call_shapes = {
      {"a line", kElements, {1 << 22}, {64}},
      {"first axis", kElements, {2048, 2048}, {8, 8}, 0},
      {"last axis", kElements, {2048, 2048}, {1, 64}, 1},
      {"rows", kNd, {1 << 18, 16}, {4, 1}},
      {"pairs", kNd, {2048, 2048}, {64, 2}},
      {"a slice", kSlice, {1 << 22}, {1 << 16}},
  };
  for (const CallShape& call_shape : call_shapes) ExpectNoQuestions(call_shape, Place::kInPlace);
}

TEST(ParallelSmall, NeverAsksForOneWorker) {
  LargeCall call({"one line", kElements, {1 << 18}, {1 << 18}}, STREW_FLOAT32, STREW_ADD);
  const Bytes expected = call.Alone();
  StdThreads threads;
  Recorder recorder(threads);
  const Context context = MakeContext();
  recorder.InstallIn(context.get(), 1);
  EXPECT_EQ(call.Trouble(context.get(), expected), "");
  EXPECT_LE(recorder.largest_count(), 1);
}

}  // namespace
}  // namespace strew_test
