// SPDX-License-Identifier: Apache-2.0
//
// Among a million indices and more the first bad one is reported, whichever thread finds it, and
// nothing is written.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "support/reference.h"
#include "threads/parallel_call.h"

namespace strew_test {
namespace {

// At least 2 MiB of indices: one thread checks less sooner.
int64_t IndicesOf(strew_dtype dtype) {
  return std::max<int64_t>(1 << 20, (1 << 21) / static_cast<int64_t>(WidthOf(dtype))) + 5;
}

// A bad number of an index operand: where it stands, and a value that no axis has.
struct BadIndex {
  int64_t position;
  int64_t value;
};

// Writes bad values into the indices of a call, and takes them out again.
class BadIndices {
 public:
  BadIndices(LargeCall& call, const std::vector<BadIndex>& bad_indices)
      : indices_(call.indices()), before_(indices_.Snapshot()) {
    const auto width = static_cast<int64_t>(WidthOf(indices_.dtype()));
    for (const BadIndex& bad_index : bad_indices) {
      WriteIndex(indices_.dtype(), indices_.buffer().bytes() + bad_index.position * width,
                 bad_index.value);
    }
  }
  ~BadIndices() { indices_.Restore(before_); }
  BadIndices(const BadIndices&) = delete;
  BadIndices& operator=(const BadIndices&) = delete;

 private:
  Array& indices_;
  const Bytes before_;
};

class ParallelIndex : public testing::TestWithParam<strew_dtype> {
 protected:
  static BadIndex BadIndexAt(int64_t position) {
    const strew_dtype dtype = GetParam();
    const bool lowest = LowestIndex(dtype) < 0 && position % 2 == 0;
    return {position, lowest ? LowestIndex(dtype) : HighestIndex(dtype)};
  }

  // Every answer of a call with these indices is that of one thread: the first bad one, and no byte
  // of the output changed.
  void Check(LargeCall& call, const std::vector<BadIndex>& list, int64_t first) {
    const BadIndices bad_indices(call, list);
    const Context alone = MakeContext();
    EXPECT_EQ(call.Send(alone.get()), STREW_INDEX_OUT_OF_RANGE) << call.Describe();
    for (const Target* const target : ChosenTargets()) {
      for (const int32_t workers : {1, 2, 8}) {
        CheckAnswer(call, target->context.get(), workers, strew_context_error(alone.get()), first);
        if (HasFailure()) FAIL() << target->name << ", " << workers << " workers";
      }
    }
  }

 private:
  void CheckAnswer(LargeCall& call, strew_context* context, int32_t workers, std::string error,
                   int64_t first) {
    on_threads_ = !on_threads_;
    Recorder recorder(on_threads_ ? static_cast<Runner&>(threads_) : backwards_);
    recorder.InstallIn(context, workers);
    EXPECT_EQ(call.Send(context), STREW_INDEX_OUT_OF_RANGE) << call.Describe();
    EXPECT_EQ(strew_context_error_position(context), first) << call.Describe();
    EXPECT_EQ(strew_context_error(context), error) << call.Describe();
    EXPECT_EQ(strew_context_applied(context), 0);
    EXPECT_TRUE(call.output().Snapshot() == call.before()) << "wrote into " << call.Describe();
    if (workers > 1) {
      EXPECT_GE(recorder.largest_count(), 2) << call.Describe();
    }
    EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
  }

  StdThreads threads_;
  Backwards backwards_;
  bool on_threads_ = false;
};

INSTANTIATE_TEST_SUITE_P(SomeIndexDtypes, ParallelIndex,
                         testing::Values(STREW_INT64, STREW_INT32, STREW_UINT16, STREW_INT8),
                         [](const auto& test) { return TestName(Find(test.param)); });

std::vector<CallShape> IndexedCallShapes(int64_t indices) {
  constexpr Operator kElements = Operator::kScatterElements;
  constexpr Operator kNd = Operator::kScatterNd;
  const int64_t rows = indices / 64;
  return {
      {"last axis", kElements, {rows, 64}, {rows, 64}, 1},
      {"first axis", kElements, {100, rows}, {64, rows}, 0},
      {"middle axis of a part", kElements, {5, 120, 5000}, {4, indices / 20000 + 1, 4999}, 1},
      {"one line", kElements, {100}, {indices}},
      {"single elements", kNd, {100}, {indices, 1}},
      {"pairs", kNd, {100, 90}, {indices / 2, 2}},
      {"short rows", kNd, {100, 3}, {indices, 1}},
  };
}

TEST_P(ParallelIndex, ReportsTheFirstOne) {
  for (CallShape call_shape : IndexedCallShapes(IndicesOf(GetParam()))) {
    call_shape.index = GetParam();
    LargeCall call(call_shape, STREW_INT8, STREW_NONE);
    call.Choose(call_shape.axis == 0 ? Place::kInPlace : Place::kNewOutput);
    const int64_t size = Product(call_shape.indices);
    const std::vector<int64_t> positions = {0, size / 3, size / 2 - 1, 7 * (size / 8) + 3,
                                            size - 1};
    for (const int64_t position : positions) {
      Check(call, {BadIndexAt(position)}, position);
      ASSERT_FALSE(HasFailure()) << "at " << position;
    }
    for (size_t i = 1; i < positions.size(); ++i) {
      Check(call, {BadIndexAt(positions[i]), BadIndexAt(positions[i - 1])}, positions[i - 1]);
      ASSERT_FALSE(HasFailure()) << "at " << positions[i - 1] << " and " << positions[i];
    }
    Check(call, {BadIndexAt(size - 2), BadIndexAt(size - 1), BadIndexAt(1)}, 1);
    ASSERT_FALSE(HasFailure()) << "at 1 and the last two";
  }
}

// Rows of one value each are recognised while they are checked.
TEST_P(ParallelIndex, ReportsTheFirstOneAmongRows) {
  const int64_t rows = IndicesOf(GetParam()) / 64;
  CallShape call_shape{"one index for each row", Operator::kScatterElements, {100, 64}, {rows, 64}};
  call_shape.index = GetParam();
  call_shape.spread = Spread::kAlongRows;
  LargeCall call(call_shape, STREW_INT8, STREW_ADD);
  const int64_t size = Product(call_shape.indices);
  for (const int64_t first : {int64_t{64}, size / 2 + 7, size - 64}) {
    std::vector<BadIndex> row;
    for (int64_t i = 0; i < 64 - first % 64; ++i)
      row.push_back({first + i, BadIndexAt(first).value});
    Check(call, row, first);
    ASSERT_FALSE(HasFailure()) << "from " << first << " on";
    Check(call, {BadIndexAt(size - 1), BadIndexAt(first)}, first);
    ASSERT_FALSE(HasFailure()) << "at " << first;
  }
}

}  // namespace
}  // namespace strew_test
