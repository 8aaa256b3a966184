// SPDX-License-Identifier: Apache-2.0
//
// Shapes that cross the blocks, strips and thresholds inside the library.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

class Large : public testing::TestWithParam<strew_reduction> {
 protected:
  Random random_{Seed()};

  Case MakeElements(strew_dtype dtype, const Dims& data, const Layout& indices, int64_t axis,
                    strew_dtype index = STREW_INT64) {
    Case c{Operator::kScatterElements, RandomArray(random_, dtype, RowMajor(data)),
           RandomArray(random_, dtype, RowMajor(indices.shape))};
    c.indices = RandomIndices(random_, index, indices, data[static_cast<size_t>(axis)]);
    c.axis = axis;
    c.reduction = GetParam();
    return c;
  }

  Case MakeRows(strew_dtype dtype, const Dims& data, int64_t rows,
                strew_dtype index = STREW_INT64) {
    Dims updates = data;
    updates[0] = rows;
    Case c{Operator::kScatterNd, RandomArray(random_, dtype, RowMajor(data)),
           RandomArray(random_, dtype, RowMajor(updates))};
    c.indices = RandomIndices(random_, index, RowMajor({rows, 1}), data[0]);
    c.reduction = GetParam();
    return c;
  }

  // Into a fresh output, then in place.
  void CheckTwice(Case& c) {
    c.output = RandomArray(random_, c.data.dtype(), RowMajor(c.data.shape()));
    ASSERT_TRUE(Check(c));
    c.output.reset();
    ASSERT_TRUE(Check(c));
  }
};

INSTANTIATE_TEST_SUITE_P(EveryReduction, Large, testing::ValuesIn(Reductions()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(Large, ManySingleUpdatesOfFewElements) {
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT8, STREW_FLOAT16, STREW_FLOAT64}) {
    Case nd = MakeRows(dtype, {777}, 100000);
    CheckTwice(nd);
    Case elements = MakeElements(dtype, {777}, RowMajor({100000}), 0, STREW_INT16);
    CheckTwice(elements);
  }
}

TEST_P(Large, PairsOfIndices) {
  Case c{Operator::kScatterNd, RandomArray(random_, STREW_FLOAT32, RowMajor({300, 300})),
         RandomArray(random_, STREW_FLOAT32, RowMajor({200, 250}))};
  c.indices = RandomIndices(random_, STREW_INT32, RowMajor({200, 250, 2}), 300);
  c.reduction = GetParam();
  CheckTwice(c);
}

TEST_P(Large, MatrixOnEitherAxis) {
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_UINT8, STREW_BFLOAT16, STREW_INT64}) {
    for (const int64_t axis : {0, 1}) {
      Case c = MakeElements(dtype, {300, 700}, RowMajor({300, 700}), axis, STREW_INT32);
      CheckTwice(c);
    }
  }
}

TEST_P(Large, AxisInTheMiddle) {
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT16}) {
    for (const Dims& shape : {Dims{64, 3, 500}, Dims{3, 500, 64}, Dims{2, 900, 3, 5}}) {
      Case c = MakeElements(dtype, shape, RowMajor(shape), 1);
      CheckTwice(c);
    }
  }
}

// Thousands of sheets of a few entries each, in a block of offsets or across several.
TEST_P(Large, SmallSheets) {
  for (const Dims& shape : {Dims{900, 3, 3}, Dims{2500, 1, 4}, Dims{700, 9, 1}, Dims{1, 3000, 3},
                            Dims{3, 1100, 2}, Dims{40, 5, 2, 3, 4}, Dims{1500, 2, 2}}) {
    for (const strew_dtype dtype : {STREW_FLOAT32, STREW_UINT8, STREW_BFLOAT16}) {
      Case c = MakeElements(dtype, shape, RowMajor(shape), 1, STREW_INT16);
      CheckTwice(c);
    }
  }
  Dims narrow = {800, 3, 2};
  Case one_update = MakeElements(STREW_FLOAT32, {801, 7, 5}, RowMajor(narrow), 1);
  one_update.updates = RandomArray(random_, STREW_FLOAT32, {narrow, {0, 0, 0}});
  CheckTwice(one_update);
  Case smaller = MakeElements(STREW_INT32, {801, 7, 5}, RowMajor(narrow), 1);
  CheckTwice(smaller);
  Case reversed = MakeElements(STREW_INT32, {800, 3, 2}, {narrow, {-6, 2, -1}}, 1);
  CheckTwice(reversed);
  Case transposed = MakeElements(STREW_FLOAT32, {800, 3, 2}, RowMajor(narrow), 1);
  transposed.output = RandomArray(random_, STREW_FLOAT32, {narrow, {1, 800, 2400}});
  ASSERT_TRUE(Check(transposed));
}

TEST_P(Large, IndicesSmallerThanDataOnOtherAxes) {
  for (const int64_t axis : {0, 1, 2}) {
    Case c = MakeElements(STREW_FLOAT32, {40, 50, 60}, RowMajor({33, 47, 31}), axis);
    CheckTwice(c);
  }
}

TEST_P(Large, MoreIndicesThanDataOnTheAxis) {
  Case first = MakeElements(STREW_FLOAT32, {5, 400}, RowMajor({300, 400}), 0);
  CheckTwice(first);
  Case last = MakeElements(STREW_FLOAT32, {400, 5}, RowMajor({400, 300}), 1);
  CheckTwice(last);
}

// One index for each row, as in rows.wide: written out in full, and with stride 0.
TEST_P(Large, IndicesConstantAlongOtherAxes) {
  const Dims shape = {3000, 80};
  Case stride0 = MakeElements(STREW_FLOAT32, {2000, 80}, {shape, {1, 0}}, 0);
  Case full = MakeElements(STREW_FLOAT32, {2000, 80}, RowMajor(shape), 0);
  ForEachIndex(shape, [&](const Dims& i) {
    WriteIndex(STREW_INT64, full.indices->view().At(i),
               ReadIndex(STREW_INT64, stride0.indices->view().At(i)));
  });
  CheckTwice(stride0);
  CheckTwice(full);
  Case middle = MakeElements(STREW_INT32, {7, 300, 30}, {{7, 400, 30}, {0, 1, 0}}, 1);
  CheckTwice(middle);
}

TEST_P(Large, IndicesInColumnMajorOrder) {
  Case c = MakeElements(STREW_FLOAT32, {300, 200}, {{300, 200}, {1, 300}}, 0);
  CheckTwice(c);
}

// Index values fill several blocks before the first bad one.
TEST_P(Large, BadIndexFarBehind) {
  Case c = MakeElements(STREW_FLOAT32, {300, 700}, RowMajor({300, 700}), 1, STREW_INT32);
  WriteIndex(STREW_INT32, c.indices->view().At({299, 698}), 700);
  WriteIndex(STREW_INT32, c.indices->view().At({299, 699}), -701);
  CheckTwice(c);
}

TEST_P(Large, WideRows) {
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT8, STREW_FLOAT16}) {
    Case c = MakeRows(dtype, {5, 20011}, 9);
    CheckTwice(c);
  }
}

TEST_P(Large, SliceOfManyDims) {
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT16}) {
    Case c{Operator::kSliceScatterInt64, RandomArray(random_, dtype, RowMajor({16, 33, 517})),
           RandomArray(random_, dtype, RowMajor({8, 17, 172}))};
    c.SetSlice({0, 32, 515}, {16, -34, -518}, {2, -2, -3});
    c.reduction = GetParam();
    CheckTwice(c);
  }
}

// Updates that repeat after one element, after short rows and after long ones.
TEST_P(Large, BroadcastUpdates) {
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT8, STREW_COMPLEX128}) {
    for (const Dims& shape : {Dims{3, 20011}, Dims{7001, 5}, Dims{60, 3, 200}}) {
      const Dims last = {shape.back()};
      Dims first(shape.size(), 1);
      first[0] = shape[0];
      for (const Dims& updates : {Dims{}, last, first}) {
        Case c{Operator::kSliceScatterInt64, RandomArray(random_, dtype, RowMajor(shape)),
               RandomArray(random_, dtype, RowMajor(updates))};
        c.SetSlice({}, {}, {});
        const std::vector<strew_reduction> defined = ReductionsOf(Find(dtype));
        if (std::find(defined.begin(), defined.end(), GetParam()) == defined.end()) continue;
        c.reduction = GetParam();
        CheckTwice(c);
      }
    }
  }
}

// Bytes that pass the last cache of most machines, where copies may turn to streaming stores.
int64_t BeyondTheCache() {
  int64_t bytes = int64_t{32} << 20;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  bytes = std::max<int64_t>(bytes, sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  return std::min(bytes, int64_t{64} << 20);
}

// Rows of an odd length and a gap behind each: streams start and end anywhere in a vector.
TEST_P(Large, OutputBeyondTheCache) {
  const int64_t length = 2047;
  const Dims shape = {BeyondTheCache() / (length * int64_t{sizeof(float)}) + 1, length};
  Case rows = MakeRows(STREW_FLOAT32, shape, 100);
  rows.output = RandomArray(random_, STREW_FLOAT32, {shape, {length + 3, 1}});
  ASSERT_TRUE(Check(rows));

  Case slice{Operator::kSliceScatterInt64, std::move(rows.data),
             RandomArray(random_, STREW_FLOAT32, RowMajor({shape[0], 101}))};
  slice.output = std::move(rows.output);
  slice.SetSlice({203}, {404}, {2}, {-1});
  slice.reduction = GetParam();
  ASSERT_TRUE(Check(slice));

  Case repeated{Operator::kSliceScatterInt64, std::move(slice.data),
                RandomArray(random_, STREW_FLOAT32, RowMajor({}))};
  repeated.output = std::move(slice.output);
  repeated.SetSlice({3}, {-5}, {1}, {-1});
  repeated.reduction = GetParam();
  ASSERT_TRUE(Check(repeated));
}

// Opaque elements of an odd size are a pattern of bytes.
TEST(LargeShape, BroadcastOfOneOpaqueElement) {
  Random random(Seed());
  for (const Dims& shape : {Dims{100, 300}, Dims{20011}}) {
    Case c{Operator::kSliceScatterInt64, RandomArray(random, STREW_OPAQUE(7), RowMajor(shape)),
           RandomArray(random, STREW_OPAQUE(7), RowMajor({1}))};
    c.SetSlice({0}, {20011}, {1});
    EXPECT_TRUE(Check(c));
    c.output.emplace(STREW_OPAQUE(7), RowMajor(shape));
    EXPECT_TRUE(Check(c));
  }
}

// The odd byte comes first where the output ends with a page, and last where it begins with one.
TEST(LargeShape, OddNumberOfBytesBeyondTheCache) {
  Random random(Seed());
  const Dims shape = {BeyondTheCache() + 1};
  Case c{Operator::kScatterNd, RandomArray(random, STREW_INT8, RowMajor(shape)),
         RandomArray(random, STREW_INT8, RowMajor({50}))};
  c.indices = RandomIndices(random, STREW_INT64, RowMajor({50, 1}), shape[0]);
  for (const Guard guard : {Guard::kBefore, Guard::kBehind}) {
    c.output.emplace(STREW_INT8, RowMajor(shape), guard);
    EXPECT_TRUE(Check(c));
  }
}

// The shapes of the layer in the specification of ScatterNDUpdate-3.
TEST(LargeShape, ScatterNdUpdateOfTheSpecification) {
  Random random(Seed());
  Case c{Operator::kScatterNd, RandomArray(random, STREW_INT8, RowMajor({1000, 256, 10, 15})),
         RandomArray(random, STREW_INT8, RowMajor({25, 125, 15}))};
  c.indices = RandomIndices(random, STREW_INT32, RowMajor({25, 125, 3}), 10);
  c.output.emplace(STREW_INT8, RowMajor(c.data.shape()));
  EXPECT_TRUE(Check(c));
}

}  // namespace
}  // namespace strew_test
