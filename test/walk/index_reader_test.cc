// SPDX-License-Identifier: Apache-2.0
//
// Single indices: what they add to an offset, and which are out of range.
#include "walk/index_reader.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/call.h"
#include "base/tensor_view.h"

namespace strew_test {
namespace {

using strew::Call;
using strew::Settings;
using strew::TensorView;
using strew::plan::Component;
using strew::walk::IndexReader;

constexpr int64_t kOutOfRange = -1000;

// The sum of 7 and the index at `at`, or kOutOfRange.
template <class Index>
int64_t Offset(strew_dtype dtype, std::vector<Index> indices, const std::vector<Component>& of,
               const Settings& settings, int64_t at = 0) {
  TensorView view = {};
  view.dtype = dtype;
  view.element_size = sizeof(Index);
  view.data = reinterpret_cast<unsigned char*>(indices.data());
  const Call call(settings, nullptr);
  int64_t offset = 7;
  const bool good =
      IndexReader(call, view).AddOffset(of.data(), static_cast<int>(of.size()), at, &offset);
  return good ? offset - 7 : kOutOfRange;
}

const Component kTen = {0, 10, 3, 1, 0};

int64_t OfTen(int64_t index, const Settings& settings) {
  return Offset<int64_t>(STREW_INT64, {index}, {kTen}, settings);
}

TEST(IndexReader, CountsFromEitherEnd) {
  const Settings settings;
  EXPECT_EQ(OfTen(0, settings), 0);
  EXPECT_EQ(OfTen(9, settings), 27);
  EXPECT_EQ(OfTen(10, settings), kOutOfRange);
  EXPECT_EQ(OfTen(-1, settings), 27);
  EXPECT_EQ(OfTen(-10, settings), 0);
  EXPECT_EQ(OfTen(-11, settings), kOutOfRange);
  EXPECT_EQ(OfTen(INT64_MAX, settings), kOutOfRange);
  EXPECT_EQ(OfTen(INT64_MIN, settings), kOutOfRange);
}

TEST(IndexReader, CountsFromTheBeginningAlone) {
  Settings settings;
  settings.wrap_negative_indices = false;
  EXPECT_EQ(OfTen(9, settings), 27);
  EXPECT_EQ(OfTen(-1, settings), kOutOfRange);
}

TEST(IndexReader, Clamps) {
  Settings settings;
  settings.index_policy = STREW_INDEX_CLAMP;
  EXPECT_EQ(OfTen(10, settings), 27);
  EXPECT_EQ(OfTen(-11, settings), 0);
  EXPECT_EQ(OfTen(-1, settings), 27);
  settings.wrap_negative_indices = false;
  EXPECT_EQ(OfTen(-1, settings), 0);
  const Component none = {0, 0, 1, 1, 0};
  EXPECT_EQ(Offset<int64_t>(STREW_INT64, {0}, {none}, settings), kOutOfRange);
}

TEST(IndexReader, DropsNothingByItself) {
  Settings settings;
  settings.index_policy = STREW_INDEX_DROP;
  EXPECT_EQ(OfTen(10, settings), kOutOfRange);
}

TEST(IndexReader, AddsTheComponentsOfATuple) {
  const std::vector<Component> two = {{0, 10, 100, 1, 0}, {1, 20, 2, 1, 1}};
  const Settings settings;
  EXPECT_EQ(Offset<int32_t>(STREW_INT32, {1, 2, 3, 19}, two, settings), 104);
  EXPECT_EQ(Offset<int32_t>(STREW_INT32, {1, 2, 3, 19}, two, settings, 2), 338);
  EXPECT_EQ(Offset<int32_t>(STREW_INT32, {1, 20}, two, settings), kOutOfRange);
  EXPECT_EQ(Offset<int32_t>(STREW_INT32, {10, 2}, two, settings), kOutOfRange);
  EXPECT_EQ(Offset<int32_t>(STREW_INT32, {1}, {}, settings), 0);
}

template <class Index>
void ExpectReads(strew_dtype dtype) {
  using Limits = std::numeric_limits<Index>;
  const Settings settings;
  const Component axis = {0, 100, 1, 1, 0};
  EXPECT_EQ(Offset<Index>(dtype, {1, 99}, {axis}, settings, 1), 99);
  EXPECT_EQ(Offset<Index>(dtype, {100}, {axis}, settings), kOutOfRange);
  EXPECT_EQ(Offset<Index>(dtype, {Limits::max()}, {axis}, settings), kOutOfRange);
  const auto minus_one = static_cast<Index>(-1);
  EXPECT_EQ(Offset<Index>(dtype, {minus_one}, {axis}, settings),
            Limits::is_signed ? 99 : kOutOfRange);
}

TEST(IndexReader, ReadsEveryIndexDtype) {
  ExpectReads<int8_t>(STREW_INT8);
  ExpectReads<int16_t>(STREW_INT16);
  ExpectReads<int32_t>(STREW_INT32);
  ExpectReads<int64_t>(STREW_INT64);
  ExpectReads<uint8_t>(STREW_UINT8);
  ExpectReads<uint16_t>(STREW_UINT16);
  ExpectReads<uint32_t>(STREW_UINT32);
  ExpectReads<uint64_t>(STREW_UINT64);
}

}  // namespace
}  // namespace strew_test
