// SPDX-License-Identifier: Apache-2.0
//
// Rows that replace others: so many bytes of updates that rows of 256 bytes and more are written
// past the caches, and narrow rows whose places are fetched ahead.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/random.h"
#include "support/bulk.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// The destination of each row: most are named more than once, the first and the last row among
// them, the one before with the one behind it, and every third by a negative number.
std::vector<int64_t> AnyRows(Random& random, int64_t entries, int64_t rows) {
  std::vector<int64_t> indices(static_cast<size_t>(entries));
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = random.Between(0, rows - 1);
    if (i > 0 && random.OneIn(8)) indices[i] = indices[i - 1];
    if (random.OneIn(64)) indices[i] = random.OneIn(2) ? 0 : rows - 1;
  }
  for (size_t i = 0; i < indices.size(); i += 3) {
    if (indices[i] >= 0) indices[i] -= rows;
  }
  return indices;
}

// Row `row`, counted from the end where it is negative.
View RowOf(const View& view, int64_t row) {
  if (row < 0) row += view.shape()[0];
  View result = view;
  result.origin += row * view.layout.strides[0] * static_cast<int64_t>(WidthOf(view.dtype));
  result.layout.shape.erase(result.layout.shape.begin());
  result.layout.strides.erase(result.layout.strides.begin());
  return result;
}

enum class By { kScatterNd, kScatterElements };

struct Rows {
  strew_dtype dtype;
  Layout output;  // of rank 2
  Layout updates;
  int64_t output_shift = 0;
  int64_t updates_shift = 0;
  strew_reduction reduction = STREW_NONE;
  bool in_place = true;
  By by = By::kScatterNd;
  bool drops = false;  // every fifth row
};

bool CheckRows(Random& random, const Rows& rows) {
  const int64_t entries = rows.updates.shape[0];
  std::vector<int64_t> indices = AnyRows(random, entries, rows.output.shape[0]);
  const auto is_dropped = [&](int64_t entry) { return rows.drops && entry % 5 == 2; };
  const BulkArray updates(random, rows.dtype, rows.updates, rows.updates_shift);
  const BulkArray data(random, rows.dtype,
                       RowMajor(rows.in_place ? Dims{1, 1} : rows.output.shape));
  BulkArray output(random, rows.dtype, rows.output, rows.output_shift);

  const unsigned char* const before = output.buffer().bytes();
  std::vector<unsigned char> expected(before, before + output.buffer().size());
  const View result = output.ViewOf(expected.data());
  if (!rows.in_place) CombineEach(STREW_NONE, result, data.view());
  for (int64_t i = 0; i < entries; ++i) {
    int64_t& index = indices[static_cast<size_t>(i)];
    if (is_dropped(i)) {
      index = rows.output.shape[0];
    } else {
      CombineEach(rows.reduction, RowOf(result, index), RowOf(updates.view(), i));
    }
  }

  // An index for each row, or the same one for each element of it.
  const bool by_tuples = rows.by == By::kScatterNd;
  const Layout layout = by_tuples ? RowMajor({entries, 1}) : Layout{rows.updates.shape, {1, 0}};
  const Tensor index = MakeTensor(STREW_INT64, layout, indices.data());
  const auto call = [&](strew_context* context) {
    strew_context_set_index_policy(context, rows.drops ? STREW_INDEX_DROP : STREW_INDEX_ERROR);
    const strew_tensor* const from = rows.in_place ? output.tensor() : data.tensor();
    if (by_tuples) {
      return strew_scatter_nd(context, from, index.get(), updates.tensor(), rows.reduction,
                              output.tensor());
    }
    return strew_scatter_elements(context, from, index.get(), updates.tensor(), 0, rows.reduction,
                                  output.tensor());
  };
  return CheckBulk(output, expected, call,
                   std::string(by_tuples ? "scatter_nd " : "scatter_elements ") +
                       NameOf(rows.reduction) + (rows.in_place ? " in place" : "") +
                       "\n  updates " + updates.Describe());
}

// ---- Streamed -----------------------------------------------------------------------------------

// `rows` of `length` elements with so many between them, and updates for as many as it takes.
Rows Streamed(strew_dtype dtype, int64_t rows, int64_t length, int64_t gap) {
  const int64_t row_bytes = length * static_cast<int64_t>(WidthOf(dtype));
  const Dims updates = {StreamedBytes() / row_bytes + 1, length};
  return {dtype, {{rows, length}, {length + gap, 1}}, RowMajor(updates)};
}

// By the bytes of a row; the data passes what a CPU keeps near in one case and not in the other.
class StreamedRows : public testing::TestWithParam<int64_t> {
 protected:
  Random random_{Seed()};
};

INSTANTIATE_TEST_SUITE_P(Bytes, StreamedRows,
                         testing::Values(255, 256, 257, 271, 304, 319, 333, 511, 1000, 1040, 2049,
                                         4999),
                         testing::PrintToStringParamName());

TEST_P(StreamedRows, AtAnyAddress) {
  const int64_t length = GetParam();
  const int64_t far_rows = (int64_t{1} << 20) / length;
  int64_t turn = 0;
  for (const int64_t shift : {0, 1, 4, 8, 16}) {
    // Rows one behind the other, each beginning elsewhere, or all of them where the first does.
    const int64_t gap = turn % 2 == 0 ? turn % 3 : 64 - length % 64;
    Rows rows = Streamed(STREW_INT8, turn % 2 == 0 ? far_rows : 50, length, gap);
    rows.output_shift = shift;
    rows.updates_shift = turn;
    rows.in_place = turn != 2;
    rows.by = turn == 3 ? By::kScatterElements : By::kScatterNd;
    ASSERT_TRUE(CheckRows(random_, rows));
    ++turn;
  }
}

class StreamedDtypes : public testing::TestWithParam<Dtype> {
 protected:
  Random random_{Seed()};
};

INSTANTIATE_TEST_SUITE_P(EveryWidth, StreamedDtypes,
                         testing::Values(Find(STREW_INT16), Find(STREW_FLOAT32),
                                         Find(STREW_FLOAT64), Find(STREW_COMPLEX64),
                                         Find(STREW_COMPLEX128), Find(STREW_OPAQUE(2)),
                                         Find(STREW_OPAQUE(3)), Find(STREW_OPAQUE(12)),
                                         Find(STREW_OPAQUE(24)), Find(STREW_OPAQUE(300))),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(StreamedDtypes, OddLengths) {
  const auto width = static_cast<int64_t>(GetParam().width);
  const auto alignment = static_cast<int64_t>(GetParam().alignment);
  for (const By by : {By::kScatterNd, By::kScatterElements}) {
    Rows rows = Streamed(GetParam().code, 700, 1000 / width | 1, 2);
    rows.output_shift = alignment;
    rows.updates_shift = 3 * alignment;
    rows.by = by;
    ASSERT_TRUE(CheckRows(random_, rows));
  }
}

TEST_P(StreamedDtypes, OfOneElement) {
  const auto width = static_cast<int64_t>(GetParam().width);
  const auto alignment = static_cast<int64_t>(GetParam().alignment);
  for (const int64_t length : {5000 / width | 1, 1000 / width | 1}) {
    for (const int64_t gap : {0, 1}) {
      Rows rows = Streamed(GetParam().code, 300, length, gap);
      rows.updates.strides = {1, 0};
      rows.output_shift = gap * alignment;
      ASSERT_TRUE(CheckRows(random_, rows));
    }
  }
}

// So long that several pages are copied side by side, with some bytes before and behind these.
TEST(StreamedRowsOf, ManyPages) {
  Random random(Seed());
  const int64_t length = (int64_t{64} << 20) + 20000 + 63;
  Rows rows = {STREW_INT8, RowMajor({1, length}), RowMajor({1, length})};
  rows.output_shift = 3;
  rows.updates_shift = 1;
  ASSERT_TRUE(CheckRows(random, rows));
}

// Single opaque elements as wide as a row.
TEST(StreamedRowsOf, WideElements) {
  Random random(Seed());
  for (const int size : {256, 264, 1001, 4096}) {
    Rows rows = Streamed(STREW_OPAQUE(size), 600, 1, 0);
    rows.output_shift = size % 64;
    ASSERT_TRUE(CheckRows(random, rows));
  }
}

TEST(StreamedRowsOf, WhatIsNotDropped) {
  Random random(Seed());
  for (const bool in_place : {true, false}) {
    Rows rows = Streamed(STREW_INT32, 2000, 333, 1);
    rows.in_place = in_place;
    rows.drops = true;
    ASSERT_TRUE(CheckRows(random, rows));
  }
}

// Calls that cannot be streamed although they write enough.
TEST(StreamedRowsOf, ElementsApart) {
  Random random(Seed());
  Rows columns = Streamed(STREW_FLOAT32, 300, 301, 0);
  columns.output.strides = {1, 300};
  ASSERT_TRUE(CheckRows(random, columns));
  Rows backwards = Streamed(STREW_INT16, 300, 301, 1);
  backwards.output.strides[1] = -1;
  ASSERT_TRUE(CheckRows(random, backwards));
  backwards.updates.strides[1] = -1;
  ASSERT_TRUE(CheckRows(random, backwards));
  Rows alike = Streamed(STREW_INT32, 300, 301, 1);
  alike.updates.strides = {0, 1};
  ASSERT_TRUE(CheckRows(random, alike));
  alike.updates.strides = {1, 0};
  ASSERT_TRUE(CheckRows(random, alike));
}

// A reduction reads what it writes.
TEST(StreamedRowsOf, Reductions) {
  Random random(Seed());
  for (const strew_reduction reduction : {STREW_ADD, STREW_MAX}) {
    Rows rows = Streamed(STREW_INT16, 2000, 333, 1);
    rows.reduction = reduction;
    rows.output_shift = 2;
    ASSERT_TRUE(CheckRows(random, rows));
  }
}

// ---- Repeated -----------------------------------------------------------------------------------

class RepeatedRows : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, RepeatedRows, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

// One update for each row, or for all of them, in rows around the length of a pattern.
TEST_P(RepeatedRows, OfOneElement) {
  Random random(Seed());
  const auto alignment = static_cast<int64_t>(GetParam().alignment);
  for (const strew_reduction reduction : ReductionsOf(GetParam())) {
    const int64_t length = random.OneIn(3) ? random.Between(4000, 4200) : random.Between(60, 300);
    Rows rows = {GetParam().code,
                 {{40, length}, {length + random.Between(0, 3), 1}},
                 {{70, length}, {random.Between(0, 1), 0}}};
    rows.output_shift = random.Between(0, 3) * alignment;
    rows.reduction = reduction;
    rows.drops = random.OneIn(3);
    ASSERT_TRUE(CheckRows(random, rows));
  }
}

// ---- Apart --------------------------------------------------------------------------------------

class RowsApart : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, RowsApart, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

// Elements that do not lie together in the updates, in the output, or in both.
TEST_P(RowsApart, OfFewElements) {
  Random random(Seed());
  const auto alignment = static_cast<int64_t>(GetParam().alignment);
  for (int64_t length = 2; length <= 16; ++length) {
    const int64_t step = random.Between(1, 3);
    const int64_t entries = random.Between(100, 200);
    const Layout apart = {{90, length}, {length * step, step}};
    const Layout reversed = {{90, length}, {length, -1}};
    const Layout columns = {{entries, length}, {1, entries}};
    const Layout every_second = {{entries, length}, {length * 2, 2}};
    Rows rows = {GetParam().code, random.OneIn(3) ? reversed : apart,
                 random.OneIn(2) ? columns : every_second};
    rows.output_shift = random.Between(0, 3) * alignment;
    rows.updates_shift = random.Between(0, 3) * alignment;
    rows.in_place = random.OneIn(2);
    ASSERT_TRUE(CheckRows(random, rows)) << "length " << length;
    rows.reduction = random.Pick(ReductionsOf(GetParam()));
    ASSERT_TRUE(CheckRows(random, rows)) << "length " << length;
  }
}

// ---- Fetched ahead ------------------------------------------------------------------------------

class NarrowRows : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, NarrowRows, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(NarrowRows, OfMoreDataThanIsNear) {
  Random random(Seed());
  const auto width = static_cast<int64_t>(GetParam().width);
  const auto alignment = static_cast<int64_t>(GetParam().alignment);
  const bool adds = GetParam().kind != Kind::kMoved;
  for (int64_t length = 1; length <= 20; ++length) {
    const int64_t bytes = length * width;
    const int64_t gap = length % 3;
    const Dims shape = {(int64_t{600} << 10) / bytes + 1, length};
    Rows rows = {GetParam().code,
                 {shape, {length + gap, 1}},
                 RowMajor({(int64_t{64} << 10) / bytes + 200, length})};
    rows.output_shift = length % 8 * alignment;
    rows.in_place = length % 4 != 0;
    rows.by = length % 5 == 0 ? By::kScatterElements : By::kScatterNd;
    ASSERT_TRUE(CheckRows(random, rows));
    rows.reduction = adds && length % 2 == 1 ? STREW_ADD : STREW_NONE;
    if (rows.reduction != STREW_NONE) {
      ASSERT_TRUE(CheckRows(random, rows));
    }
  }
}

}  // namespace
}  // namespace strew_test
