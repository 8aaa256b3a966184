// SPDX-License-Identifier: Apache-2.0
//
// The check of the indices by itself: what it finds out, and which value it names.
#include "share/share.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/call.h"
#include "plan/spaces.h"
#include "plan/tuning.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::Call;
using strew::Report;
using strew::Settings;
using strew::TensorView;
using strew::plan::Findings;
using strew::plan::IndexSpace;
using strew::plan::OutOfRange;
using strew::plan::Tuning;

int32_t RunBackwards(void*, int64_t count, strew_task run, void* task) {
  for (int64_t i = count; i > 0; --i) run(task, i - 1);
  return 0;
}

class IndexCheck : public testing::TestWithParam<int32_t> {
 protected:
  IndexCheck() {
    settings_.tuning = &tuning_;
    settings_.runner = {RunBackwards, nullptr, GetParam()};
    tuning_.least_task_ns = 1e-3;
    tuning_.least_constant_batches = 4;
  }

  strew_status Check(const IndexSpace& space, const Dims& shape) {
    return Check(space, RowMajor(shape));
  }

  strew_status Check(const IndexSpace& space, const Layout& layout) {
    const Dims& shape = layout.shape;
    TensorView view = {};
    view.dtype = STREW_INT32;
    view.element_size = 4;
    view.rank = static_cast<int32_t>(shape.size());
    view.size = Product(shape);
    view.contiguous = layout.strides == RowMajor(shape).strides;
    for (size_t i = 0; i < shape.size(); ++i) {
      view.shape[i] = shape[i];
      view.strides[i] = layout.strides[i];
    }
    indices_.resize(static_cast<size_t>(Span(layout)));
    view.data = reinterpret_cast<unsigned char*>(indices_.data() + Origin(layout));
    findings_ = Findings();
    report_ = Report();
    const Call call(settings_, &report_);
    return strew::share::CheckIndices(call, view, space, &findings_).code();
  }

  // A call with rows of one index each, for scatter_elements on the first axis of 10.
  strew_status CheckRows(int64_t columns) {
    return Check(ElementsSpace({10, columns}, {20, columns}, 0), {20, columns});
  }
  void FillRows(int64_t columns) {
    indices_.clear();
    for (int64_t i = 0; i < 20 * columns; ++i) {
      indices_.push_back(static_cast<int32_t>(i / columns % 20 - 10));
    }
  }

  Tuning tuning_;
  Settings settings_;
  std::vector<int32_t> indices_;
  Findings findings_;
  Report report_;
};

TEST_P(IndexCheck, FindsRowsOfOneIndexFromSoManyBatchesOn) {
  FillRows(4);
  EXPECT_EQ(CheckRows(4), STREW_OK);
  EXPECT_TRUE(findings_.constant);
  EXPECT_EQ(findings_.out_of_range, OutOfRange::kNothing);
  FillRows(3);
  EXPECT_EQ(CheckRows(3), STREW_OK);
  EXPECT_FALSE(findings_.constant);
  tuning_.least_constant_batches = 3;
  EXPECT_EQ(CheckRows(3), STREW_OK);
  EXPECT_TRUE(findings_.constant);
}

TEST_P(IndexCheck, FindsTheOneIndexThatDiffers) {
  for (size_t i = 0; i < 100; ++i) {
    FillRows(5);
    indices_[i] = -indices_[i] - 1;  // in range still
    EXPECT_EQ(CheckRows(5), STREW_OK);
    EXPECT_FALSE(findings_.constant) << i;
  }
}

TEST_P(IndexCheck, FindsWhetherAllAreEqual) {
  for (const int64_t count : {2, 511, 512, 513, 1024, 1025, 5000}) {
    const IndexSpace line = ElementsSpace({10}, {count}, 0);
    const auto size = static_cast<size_t>(count);
    indices_.assign(size, -3);
    EXPECT_EQ(Check(line, {count}), STREW_OK);
    EXPECT_TRUE(findings_.all_equal);
    EXPECT_FALSE(findings_.non_negative);
    for (size_t i = 0; i < size; i += std::max<size_t>(size / 37, 1)) {
      indices_[i] = 4;
      EXPECT_EQ(Check(line, {count}), STREW_OK);
      EXPECT_FALSE(findings_.all_equal) << i;
      EXPECT_FALSE(findings_.non_negative) << i;
      indices_[i] = 10;
      EXPECT_EQ(Check(line, {count}), STREW_INDEX_OUT_OF_RANGE);
      EXPECT_EQ(report_.position, static_cast<int64_t>(i));
      indices_[i] = -3;
    }
    // Each part may have one number of its own.
    std::iota(indices_.begin(), indices_.end(), 0);
    for (int32_t& index : indices_) index = index * 7 / static_cast<int32_t>(count);
    EXPECT_EQ(Check(line, {count}), STREW_OK);
    EXPECT_FALSE(findings_.all_equal);
    EXPECT_TRUE(findings_.non_negative);
    indices_.assign(size, 10);
    EXPECT_EQ(Check(line, {count}), STREW_INDEX_OUT_OF_RANGE);
    EXPECT_EQ(report_.position, 0);
  }
}

TEST_P(IndexCheck, FindsEqualOnesInEveryLayout) {
  const Dims shape = {6, 7};
  IndexSpace space = ElementsSpace({6, 10}, shape, 1);
  for (const Dims& strides :
       {Dims{7, 1}, {9, 1}, {20, 2}, {1, 6}, {1, 8}, {2, 14}, {-9, 1}, {9, -1}}) {
    const Layout layout{shape, strides};
    space.batch.loop[0].stride[strew::plan::kIndices] = strides[0];
    space.entries.loop[0].stride[strew::plan::kIndices] = strides[1];
    const auto index = [&](const Dims& i) -> int32_t& {
      return indices_[static_cast<size_t>(Origin(layout) + i[0] * strides[0] + i[1] * strides[1])];
    };
    indices_.assign(static_cast<size_t>(Span(layout)), 99);
    ForEachIndex(shape, [&](const Dims& i) { index(i) = -3; });
    EXPECT_EQ(Check(space, layout), STREW_OK);
    EXPECT_TRUE(findings_.all_equal);
    EXPECT_FALSE(findings_.non_negative);
    int64_t position = 0;
    ForEachIndex(shape, [&](const Dims& i) {
      index(i) = 4;
      EXPECT_EQ(Check(space, layout), STREW_OK);
      EXPECT_FALSE(findings_.all_equal) << position;
      EXPECT_FALSE(findings_.non_negative) << position;
      index(i) = 10;
      EXPECT_EQ(Check(space, layout), STREW_INDEX_OUT_OF_RANGE);
      EXPECT_EQ(report_.position, position++);
      index(i) = -3;
    });
  }
}

// Equal indices are compared, and not looked at one by one.
TEST_P(IndexCheck, FindsThatOnlyTheLeadingEqualOnesAreNegative) {
  for (const int64_t count : {513, 1024, 1025, 5000}) {
    const IndexSpace line = ElementsSpace({10}, {count}, 0);
    for (const int64_t equal : {int64_t{1}, int64_t{511}, int64_t{512}, count / 2, count - 1}) {
      indices_.assign(static_cast<size_t>(count), 4);
      std::fill_n(indices_.begin(), equal, -3);
      EXPECT_EQ(Check(line, {count}), STREW_OK);
      EXPECT_FALSE(findings_.non_negative) << equal << " of " << count;
      EXPECT_FALSE(findings_.all_equal) << equal << " of " << count;
    }
  }
}

TEST_P(IndexCheck, FindsTheOneIndexThatIsNegative) {
  const IndexSpace line = ElementsSpace({10}, {100}, 0);
  for (size_t i = 0; i <= 100; ++i) {
    indices_.assign(100, 9);
    if (i < 100) indices_[i] = -10;
    EXPECT_EQ(Check(line, {100}), STREW_OK);
    EXPECT_EQ(findings_.non_negative, i == 100) << i;
  }
}

TEST_P(IndexCheck, NamesTheFirstThatIsOutOfRange) {
  for (const size_t at : {0, 1, 50, 98, 99}) {
    FillRows(5);
    indices_[at] = indices_[99] = 10;
    EXPECT_EQ(CheckRows(5), STREW_INDEX_OUT_OF_RANGE);
    EXPECT_EQ(report_.position, static_cast<int64_t>(at));
    EXPECT_NE(std::string(report_.sentence).find("10"), std::string::npos);
  }
}

TEST_P(IndexCheck, LeavesWhatIsOutOfRangeToThePolicy) {
  FillRows(5);
  indices_[7] = -11;
  settings_.index_policy = STREW_INDEX_DROP;
  EXPECT_EQ(CheckRows(5), STREW_OK);
  EXPECT_EQ(findings_.out_of_range, OutOfRange::kDrop);
  EXPECT_FALSE(findings_.constant);
  settings_.index_policy = STREW_INDEX_CLAMP;
  EXPECT_EQ(CheckRows(5), STREW_OK);
  EXPECT_EQ(findings_.out_of_range, OutOfRange::kClamp);
  FillRows(5);
  EXPECT_EQ(CheckRows(5), STREW_OK);
  EXPECT_EQ(findings_.out_of_range, OutOfRange::kNothing);
}

TEST_P(IndexCheck, CannotClampToAnAxisWithoutElements) {
  settings_.index_policy = STREW_INDEX_CLAMP;
  indices_.assign(8, 0);
  EXPECT_EQ(Check(ElementsSpace({0}, {8}, 0), {8}), STREW_INDEX_OUT_OF_RANGE);
  settings_.index_policy = STREW_INDEX_DROP;
  EXPECT_EQ(Check(ElementsSpace({0}, {8}, 0), {8}), STREW_OK);
  EXPECT_EQ(findings_.out_of_range, OutOfRange::kDrop);
}

TEST_P(IndexCheck, ChecksEachNumberOfATupleAgainstItsAxis) {
  const IndexSpace space = NdSpace({10, 3}, 50, 2);
  for (int32_t i = 0; i < 100; ++i) indices_.push_back(i % 3);
  EXPECT_EQ(Check(space, {50, 2}), STREW_OK);
  indices_[40] = 9;
  EXPECT_EQ(Check(space, {50, 2}), STREW_OK);
  indices_[41] = 3;
  indices_[60] = 10;
  EXPECT_EQ(Check(space, {50, 2}), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(report_.position, 41);
  indices_[41] = 2;
  EXPECT_EQ(Check(space, {50, 2}), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(report_.position, 60);
}

// Axis c of data has c + 2 elements.
TEST_P(IndexCheck, FindsTheOneNumberOfAllTuplesThatIsOutOfRange) {
  for (int64_t length = 1; length <= 9; ++length) {
    Dims data;
    for (int64_t c = 0; c < length; ++c) data.push_back(c + 2);
    for (const int64_t tuples : {1, 15, 16, 17, 70}) {
      const IndexSpace space = NdSpace(data, tuples, static_cast<int>(length));
      const Dims shape = {tuples, length};
      indices_.clear();
      for (int64_t i = 0; i < tuples * length; ++i) {
        indices_.push_back(static_cast<int32_t>(i % length + 1));
      }
      EXPECT_EQ(Check(space, shape), STREW_OK);
      EXPECT_TRUE(findings_.non_negative);
      for (size_t i = 0; i < indices_.size(); ++i) {
        const int32_t highest = indices_[i];
        indices_[i] = -highest - 1;
        EXPECT_EQ(Check(space, shape), STREW_OK);
        EXPECT_FALSE(findings_.non_negative) << i;
        for (const int32_t outside : {highest + 1, -highest - 2}) {
          indices_[i] = outside;
          EXPECT_EQ(Check(space, shape), STREW_INDEX_OUT_OF_RANGE);
          EXPECT_EQ(report_.position, static_cast<int64_t>(i));
        }
        indices_[i] = highest;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, IndexCheck, testing::Values(1, 2, 3, 8),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace strew_test
