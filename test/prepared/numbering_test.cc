// SPDX-License-Identifier: Apache-2.0
//
// Offsets of many numbers at once are those of each number.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "prepared/numbering.h"
#include "prepared/numbers.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::prepared::kNoUpdate;
using strew::prepared::Numbering;

using Loops = std::initializer_list<std::pair<int64_t, int64_t>>;  // counts and strides

// Compares the offsets of all numbers of a list but the first, which is left out.
void CompareLists(const Numbering& numbering, int64_t all, const std::vector<int64_t>& numbers,
                  std::vector<int64_t> expected) {
  const auto n = static_cast<int64_t>(numbers.size());
  strew::prepared::Numbers list;
  ASSERT_TRUE(list.Allocate(n, strew::prepared::Numbers::WidthFor(all)));
  list.Visit([&](auto* to) {
    using Number = std::remove_pointer_t<decltype(to)>;
    std::transform(numbers.begin(), numbers.end(), to,
                   [](int64_t number) { return static_cast<Number>(number); });
  });
  expected.erase(expected.begin());
  std::vector<int64_t> offsets(expected.size());
  numbering.Locate(list, 1, n - 1, offsets.data());
  EXPECT_EQ(offsets, expected);
  list.Visit(
      [](auto* to) { to[2] = strew::prepared::Numbers::kNone<std::decay_t<decltype(*to)>>; });
  expected[1] = kNoUpdate;
  numbering.LocateMarked(list, 1, n - 1, offsets.data());
  EXPECT_EQ(offsets, expected);
}

// Compares the first and last numbers, those around multiples of the last count, and random ones.
void Compare(const Loops& loops) {
  Numbering numbering;
  int64_t all = 1, last = 1;
  for (const auto& [count, stride] : loops) {
    numbering.Append(count, stride);
    all *= count;
    last = count;
  }
  numbering.Finish();
  std::vector<int64_t> numbers = {0, all - 1, last - 1, last % all, all - last};
  Random random(Seed());
  for (int i = 0; i < 1000; ++i) {
    const int64_t number = random.Between(0, all - 1);
    numbers.push_back(number);
    numbers.push_back(number / last * last);
    numbers.push_back(number / last * last + last - 1);
  }
  std::vector<int64_t> expected, marked;
  for (const int64_t number : numbers) {
    expected.push_back(numbering.OffsetOf(number));
    marked.push_back(number == 0 ? -1 : number);
  }
  const auto n = static_cast<int64_t>(numbers.size());
  CompareLists(numbering, all, numbers, expected);
  numbering.ResolveMarked(marked.data(), n);
  for (size_t i = 0; i < marked.size(); ++i) {
    EXPECT_EQ(marked[i], numbers[i] == 0 ? kNoUpdate : expected[i]) << numbers[i];
  }
  numbering.Resolve(numbers.data(), n);
  EXPECT_EQ(numbers, expected);
}

TEST(Numbering, OfOneLoop) {
  Compare({{1000, 1}});
  Compare({{1000, -7}});
  Compare({{1, 5}});
}

TEST(Numbering, OfTwoLoopsWith32Bits) {
  Compare({{100, 1}, {6, 200}});
  Compare({{17, -8}, {3, 1000}});
  Compare({{5, int64_t{1} << 40}, {7, -3}});
  Compare({{2, 1}, {(int64_t{1} << 31) - 1, 3}});
  Compare({{(int64_t{1} << 31) - 1, 3}, {2, 1}});
  Compare({{65535, 1}, {65537, 1 << 20}});  // 2^32 - 1
}

TEST(Numbering, OfMoreThan32Bits) {
  Compare({{65536, 1}, {65536, 1 << 20}});
  Compare({{int64_t{1} << 33, 1}, {3, int64_t{1} << 34}});
}

TEST(Numbering, OfSeveralLoops) {
  Compare({{4, 1}, {5, 100}, {6, 10}});
  Compare({{10, 1}, {120, 10}, {869, -1200}});
  Compare({{3, int64_t{1} << 40}, {21845, -1}, {65537, int64_t{1} << 41}});  // 2^32 - 1
  Compare({{4, -1}, {65537, 1 << 18}, {65535, 16}});
  Compare({{7, 3}, {5, 1}, {3, 1000}, {2, -1}, {9, 100000}});
}

// A loop without turns has no numbers.
TEST(Numbering, OfNothing) {
  Numbering numbering;
  numbering.Append(0, 1);
  numbering.Append(3, 2);
  numbering.Finish();
  numbering.Resolve(nullptr, 0);
  numbering.ResolveMarked(nullptr, 0);
}

}  // namespace
}  // namespace strew_test
