// SPDX-License-Identifier: Apache-2.0
//
// STREW_MEAN of integers of up to 32 bits over as many terms as make sums longer or quotients less
// exact: none may be off by one. Updates and indices of stride 0 stand for any number of terms.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

template <class T>
constexpr strew_dtype kDtype = std::is_same_v<T, int8_t>     ? STREW_INT8
                               : std::is_same_v<T, uint8_t>  ? STREW_UINT8
                               : std::is_same_v<T, int16_t>  ? STREW_INT16
                               : std::is_same_v<T, uint16_t> ? STREW_UINT16
                               : std::is_same_v<T, int32_t>  ? STREW_INT32
                                                             : STREW_UINT32;

template <class T>
T FloorMean(int64_t sum, int64_t terms) {
  const int64_t quotient = sum / terms;
  return static_cast<T>(sum % terms < 0 ? quotient - 1 : quotient);
}

// Numbers at the limits, near them and anywhere.
template <class T>
std::vector<T> Numbers(size_t count, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {Limits::min(),
                       static_cast<T>(Limits::min() + 1),
                       0,
                       1,
                       Limits::max(),
                       static_cast<T>(Limits::max() - 1),
                       static_cast<T>(-1)};
  std::vector<T> numbers(count);
  for (T& number : numbers) {
    const uint64_t bits = random();
    number = bits % 2 == 0 ? special[bits / 2 % std::size(special)] : static_cast<T>(bits / 2);
  }
  return numbers;
}

std::vector<std::string> Targets() {
  std::vector<std::string> targets;
  for (int32_t i = 0; strew_simd_target_at(i) != nullptr; ++i) {
    targets.push_back(strew_simd_target_at(i));
  }
  return targets;
}

// data[0] and `terms` times the same updates, on each target.
template <class T>
void CheckRepeated(strew_reduction reduction, int64_t terms, const std::vector<T>& data,
                   std::vector<T> updates) {
  const auto columns = static_cast<int64_t>(data.size());
  int64_t zero = 0;
  const Tensor indices = MakeTensor(STREW_INT64, {{terms, 1}, {0, 1}}, &zero);
  const Tensor rows = MakeTensor(kDtype<T>, {{terms, columns}, {0, 1}}, updates.data());
  for (const std::string& target : Targets()) {
    const Context context = MakeContext();
    ASSERT_EQ(strew_context_set_simd_target(context.get(), target.c_str()), STREW_OK);
    std::vector<T> output = data;
    const Tensor tensor = MakeTensor(kDtype<T>, RowMajor({1, columns}), output.data());
    ASSERT_EQ(strew_scatter_nd(context.get(), tensor.get(), indices.get(), rows.get(), reduction,
                               tensor.get()),
              STREW_OK);
    const bool excludes_self = (reduction & STREW_EXCLUDE_SELF) != 0;
    for (size_t i = 0; i < data.size(); ++i) {
      const int64_t sum = terms * int64_t{updates[i]} + (excludes_self ? 0 : int64_t{data[i]});
      ASSERT_EQ(output[i], FloorMean<T>(sum, terms + (excludes_self ? 0 : 1)))
          << target << ", " << terms << " times " << int64_t{updates[i]} << " and "
          << int64_t{data[i]};
    }
  }
}

// data[0] and many single updates, all of which go to it, on each target.
template <class T>
void CheckSingles(int64_t terms, const std::vector<T>& data, T update) {
  int64_t zero = 0;
  const Tensor indices = MakeTensor(STREW_INT64, {{terms}, {0}}, &zero);
  const Tensor updates = MakeTensor(kDtype<T>, {{terms}, {0}}, &update);
  for (const std::string& target : Targets()) {
    const Context context = MakeContext();
    ASSERT_EQ(strew_context_set_simd_target(context.get(), target.c_str()), STREW_OK);
    std::vector<T> output = data;
    const Tensor tensor =
        MakeTensor(kDtype<T>, RowMajor({static_cast<int64_t>(data.size())}), output.data());
    ASSERT_EQ(strew_scatter_elements(context.get(), tensor.get(), indices.get(), updates.get(), 0,
                                     STREW_MEAN, tensor.get()),
              STREW_OK);
    std::vector<T> expected = data;
    expected[0] = FloorMean<T>(terms * int64_t{update} + int64_t{data[0]}, terms + 1);
    ASSERT_EQ(output, expected) << target << ", " << terms << " times " << int64_t{update};
  }
}

template <class T>
class MeanOfManyTerms : public testing::Test {};

using Integers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(MeanOfManyTerms, Integers, );  // clang misses an empty argument

TYPED_TEST(MeanOfManyTerms, IsExactInRows) {
  using T = TypeParam;
  std::mt19937_64 random(sizeof(T));
  for (const int64_t terms :
       {1,   2,   3,    4,    5,    6,    7,    9,     31,     48,     100,
        127, 255, 1000, 8190, 8191, 8192, 8193, 65535, 262142, 262143, 262144}) {
    const size_t columns = terms < 10000 ? 83 : 19;
    const auto data = Numbers<T>(columns, random);
    const auto updates = Numbers<T>(columns, random);
    CheckRepeated<T>(STREW_MEAN, terms, data, updates);
    CheckRepeated<T>(STREW_MEAN | STREW_EXCLUDE_SELF, terms, data, updates);
    // One less in many terms takes one from the floor; one more adds nothing.
    auto near = updates;
    for (size_t i = 0; i < near.size(); ++i) {
      if (i % 2 == 0 && near[i] != std::numeric_limits<T>::min()) --near[i];
      if (i % 2 == 1 && near[i] != std::numeric_limits<T>::max()) ++near[i];
    }
    CheckRepeated<T>(STREW_MEAN, terms, near, updates);
  }
}

TYPED_TEST(MeanOfManyTerms, IsExactInSingleElements) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(sizeof(T));
  std::vector<T> data = Numbers<T>(37, random);
  std::vector<int64_t> counts = {1, 2, 6, 1000, 65533, 65534, 65535, 65536};
  // So many terms that float64 no longer holds sums of 32 bits, and sums of 8 bits outgrow theirs.
  if (sizeof(T) == 4) counts.insert(counts.end(), {(1 << 21) - 2, (1 << 21) - 1, 1 << 21});
  if (sizeof(T) == 1) counts.insert(counts.end(), {(1 << 23) - 2, (1 << 23) - 1, 1 << 23});
  for (const int64_t terms : counts) {
    for (const T update : {Limits::max(), static_cast<T>(Limits::min() + 1)}) {
      data[0] = static_cast<T>(update - 1);
      CheckSingles<T>(terms, data, update);
    }
  }
}

// Three places far from one another, again and again.
TYPED_TEST(MeanOfManyTerms, IsExactInFewElementsOfALargeAxis) {
  using T = TypeParam;
  constexpr int64_t kEntries = 100000;
  constexpr int64_t kPlaces = 1 << 22;
  const int64_t places[] = {7, kPlaces / 2 + 1, kPlaces - 1};
  std::mt19937_64 random(sizeof(T));
  const std::vector<T> data = Numbers<T>(kPlaces, random);
  std::vector<T> updates = Numbers<T>(kEntries, random);
  std::vector<int64_t> indices(kEntries);
  int64_t sum[] = {data[7], data[places[1]], data[places[2]]};
  int64_t terms[] = {1, 1, 1};
  for (size_t i = 0; i < indices.size(); ++i) {
    const uint64_t choice = random() % 3;
    indices[i] = places[choice];
    sum[choice] += updates[i];
    ++terms[choice];
  }
  std::vector<T> expected = data;
  for (int i = 0; i < 3; ++i) {
    expected[static_cast<size_t>(places[i])] = FloorMean<T>(sum[i], terms[i]);
  }
  const Tensor index = MakeTensor(STREW_INT64, RowMajor({kEntries, 1}), indices.data());
  const Tensor update = MakeTensor(kDtype<T>, RowMajor({kEntries}), updates.data());
  for (const std::string& target : Targets()) {
    const Context context = MakeContext();
    ASSERT_EQ(strew_context_set_simd_target(context.get(), target.c_str()), STREW_OK);
    std::vector<T> output = data;
    const Tensor tensor = MakeTensor(kDtype<T>, RowMajor({kPlaces}), output.data());
    ASSERT_EQ(strew_scatter_nd(context.get(), tensor.get(), index.get(), update.get(), STREW_MEAN,
                               tensor.get()),
              STREW_OK);
    EXPECT_EQ(output, expected) << target;
  }
}

// Rows that lie backwards, and more updates of them than are counted without an estimate.
TEST(MeanOfManyRows, MayGoBackwards) {
  constexpr int64_t kRows = 4, kColumns = 8, kEntries = 40000;
  std::vector<float> data(kRows * kColumns, 5);
  std::vector<float> updates(kEntries * kColumns);
  std::vector<int32_t> indices(kEntries);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i % kRows);
  for (size_t i = 0; i < updates.size(); ++i) {
    updates[i] = static_cast<float>(i / kColumns % kRows + i % kColumns);
  }
  const Tensor tensor = MakeTensor(STREW_FLOAT32, {{kRows, kColumns}, {-kColumns, 1}},
                                   data.data() + (kRows - 1) * kColumns);
  const Tensor index = MakeTensor(STREW_INT32, RowMajor({kEntries}), indices.data());
  const Tensor update = MakeTensor(STREW_FLOAT32, RowMajor({kEntries, kColumns}), updates.data());
  ASSERT_EQ(strew_scatter_update(nullptr, tensor.get(), index.get(), update.get(), 0,
                                 STREW_MEAN | STREW_EXCLUDE_SELF, tensor.get()),
            STREW_OK);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      const auto at = static_cast<size_t>((kRows - 1 - row) * kColumns + column);
      EXPECT_EQ(data[at], static_cast<float>(row + column));
    }
  }
}

// Most updates go to one of many places, more than sums of 32 bits hold.
TEST(MeanOfBytes, IsExactBesideManyPlaces) {
  constexpr int64_t kPlaces = 2000000;
  constexpr int64_t kRepeated = (1 << 23) + 3;
  std::vector<int32_t> indices(kPlaces + kRepeated, 5);
  for (int32_t i = 0; i < kPlaces; ++i) indices[static_cast<size_t>(i)] = i;
  const auto entries = static_cast<int64_t>(indices.size());
  std::vector<int8_t> updates(indices.size(), -128);
  std::vector<int8_t> output(kPlaces, -125);
  output[5] = -128;
  std::vector<int8_t> expected(kPlaces, -127);  // (-125 - 128) / 2, rounded down
  expected[5] = -128;
  const Tensor index = MakeTensor(STREW_INT32, RowMajor({entries, 1}), indices.data());
  const Tensor update = MakeTensor(STREW_INT8, RowMajor({entries}), updates.data());
  const Tensor tensor = MakeTensor(STREW_INT8, RowMajor({kPlaces}), output.data());
  ASSERT_EQ(
      strew_scatter_nd(nullptr, tensor.get(), index.get(), update.get(), STREW_MEAN, tensor.get()),
      STREW_OK);
  EXPECT_EQ(output, expected);
}

// The same of rows, which all get the same update.
TEST(MeanOfBytes, IsExactInRowsBesideManyRows) {
  constexpr int64_t kRows = 400000, kColumns = 8;
  constexpr int64_t kRepeated = (1 << 23) + (1 << 16);
  const uint8_t old = 254;
  std::vector<uint8_t> update = {255, 254, 253, 128, 127, 2, 1, 0};
  std::vector<int32_t> indices(kRows + kRepeated, 5);
  for (int32_t i = 0; i < kRows; ++i) indices[static_cast<size_t>(i)] = i;
  const auto entries = static_cast<int64_t>(indices.size());
  std::vector<uint8_t> output(kRows * kColumns, old);
  std::vector<uint8_t> expected(output.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const int64_t terms = i / kColumns == 5 ? kRepeated + 1 : 1;
    expected[i] = FloorMean<uint8_t>(terms * update[i % kColumns] + old, terms + 1);
  }
  const Tensor index = MakeTensor(STREW_INT32, RowMajor({entries}), indices.data());
  const Tensor rows = MakeTensor(STREW_UINT8, {{entries, kColumns}, {0, 1}}, update.data());
  const Tensor tensor = MakeTensor(STREW_UINT8, RowMajor({kRows, kColumns}), output.data());
  ASSERT_EQ(strew_scatter_update(nullptr, tensor.get(), index.get(), rows.get(), 0, STREW_MEAN,
                                 tensor.get()),
            STREW_OK);
  EXPECT_TRUE(output == expected);
}

}  // namespace
}  // namespace strew_test
