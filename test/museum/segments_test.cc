// SPDX-License-Identifier: Apache-2.0
//
// Defects of segment sums. strew has none; scatter_update with STREW_ADD on zeros is one.
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "exhibit.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/targets.h"
#include "support/counting_allocator.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kTwoTo32 = int64_t{1} << 32;

// 70 ids for four segments of three numbers.
Exhibit SegmentSum(strew_dtype index = STREW_INT64) {
  Exhibit sum{Operator::kScatterUpdate, {4, 3}, {70}, {70, 3}};
  sum.index = index;
  sum.reduction = STREW_ADD;
  sum.values = {0, 1, 2, 3, 1};
  return sum;
}

// TensorFlow, UnsortedSegmentSum: ids and counts of 64 bits were kept in 32, so that an id of
// 2^32 + 1 passed for 1, and counts turned negative.
TEST(Cve2019_16778, IdsKeepTheirUpperHalf) {
  for (const int64_t good : {0, 1, 3, -1}) {
    for (const int64_t times : {1, 2, -1, 1 << 30}) {
      ExpectBadIndex(SegmentSum(), good + times * kTwoTo32);
    }
    ExpectBadIndex(SegmentSum(STREW_UINT64), good + kTwoTo32);
  }
}

// TensorFlow Lite, segment sum: an id below 0 was an offset before the output, and was written to.
TEST(Cve2020_15212, IdsBelow0) {
  for (const strew_dtype index : {STREW_INT8, STREW_INT16, STREW_INT32, STREW_INT64}) {
    ExpectBadIndex(SegmentSum(index), -5);
    ExpectBadIndex(SegmentSum(index), LowestIndex(index));
    Exhibit without_wrap = SegmentSum(index);
    without_wrap.wrap = false;
    ExpectBadIndex(without_wrap, -1);
    ExpectBadIndex(without_wrap, -4);
  }
}

// TensorFlow Lite, segment sum: the output had as many rows as the last id said, so that one id
// could take all memory. Here no value of an index decides how much is allocated.
TEST(Cve2020_15213, LargeIdsAllocateNothing) {
  for (const Dtype& index : IndexDtypes()) {
    ExpectBadIndex(SegmentSum(index.code), HighestIndex(index.code));
    for (const strew_index_policy policy : {STREW_INDEX_ERROR, STREW_INDEX_DROP}) {
      Exhibit sum{Operator::kScatterUpdate, {4, 3}, {20}, {20, 3}};
      sum.index = index.code;
      sum.reduction = STREW_ADD;
      sum.values = {HighestIndex(index.code)};
      Case c = sum.At({Guard::kBehind, true});
      for (const Target& target : Targets()) {
        CountingAllocator allocator(CountingAllocator::kGrantsAll);
        allocator.InstallIn(target.context.get());
        ASSERT_EQ(strew_context_set_index_policy(target.context.get(), policy), STREW_OK);
        const strew_status status = Call(c, target.context.get(), c.data.tensor());
        EXPECT_EQ(status, policy == STREW_INDEX_DROP ? STREW_OK : STREW_INDEX_OUT_OF_RANGE);
        EXPECT_LE(allocator.peak(), size_t{2} << 20) << index.name;
        ASSERT_EQ(strew_context_set_allocator(target.context.get(), nullptr, nullptr, nullptr),
                  STREW_OK);
      }
    }
  }
}

// TensorFlow Lite, segment sum: ids were taken for sorted, and the output for one row longer than
// the last of them; a larger one before it was written behind the end.
TEST(Cve2020_15214, IdsInAnyOrder) {
  for (const Dtype& index : IndexDtypes()) {
    Exhibit sum{Operator::kScatterUpdate, {6, 3}, {4}, {4, 3}};
    sum.index = index.code;
    sum.reduction = STREW_ADD;
    sum.values = {5, 0, 4, 2};
    ExpectGood(sum);
    sum.data = {3, 3};
    ExpectRefused(sum, STREW_INDEX_OUT_OF_RANGE, 0);
    sum.values = {2, 0, 4, 2};
    ExpectRefused(sum, STREW_INDEX_OUT_OF_RANGE, 2);
  }
}

// TensorFlow, tf.math.segment_*: the largest id and the size of a row were multiplied unchecked;
// what overflowed ended the process.
TEST(Cve2021_41195, LargeIdsTimesTheSizeOfARow) {
  Exhibit sum{Operator::kScatterUpdate, {4, 8}, {20}, {20, 8}};
  sum.reduction = STREW_ADD;
  sum.values = {0, 1, 2, 3, 1};
  // 8 * 2^61 is 0 modulo 2^64, and 32 bytes * 2^59 are as well.
  for (const int64_t id :
       {int64_t{1} << 61, int64_t{1} << 59, (int64_t{1} << 61) + 1,
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    ExpectBadIndex(sum, id);
  }
}

}  // namespace
}  // namespace strew_test
