// SPDX-License-Identifier: Apache-2.0
//
// The set of destinations, in each of its forms, against std::map; with memory and without.
#include "accumulate/destination_set.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/call.h"
#include "support/counting_allocator.h"

namespace strew_test {
namespace {

using strew::accumulate::DestinationSet;

// Destinations of a range, of which so many are named.
struct Draw {
  const char* name;
  int64_t range;
  int64_t entries;
  int64_t distinct;
};

// By the limits in destination_set.cc: a bitmap up to 2^22, blocks up to 2^29, or fewer if there
// are few entries; else a sorted list.
const Draw kDraws[] = {
    {"One", 1, 1, 1},
    {"OneOfMany", int64_t{1} << 60, 1, 1},
    {"AFew", int64_t{1} << 60, 64, 60},
    {"OneMoreThanAFew", int64_t{1} << 60, 65, 65},
    {"OneWord", 64, 1000, 60},
    {"Bitmap", (int64_t{1} << 22), 40000, 30000},
    {"BitmapOfOddRange", 4161, 5000, 4161},
    {"BitmapOfOnePlace", 1, 500, 1},
    {"FewForABitmap", (int64_t{1} << 22), 30000, 30000},
    {"Blocks", (int64_t{1} << 22) + 1, 5000, 4000},
    {"BlocksOfMany", int64_t{1} << 29, 300000, 100000},
    {"BlocksThatAreFull", (int64_t{1} << 22) + 4096, 600000, 500000},
    {"BlocksOfDifferentWords", int64_t{1} << 29, 131072, 131072},
    {"FewForBlocks", int64_t{1} << 29, 1000, 900},
    {"ListThatGrows", (int64_t{1} << 29) + 1, 400000, 300000},
    {"ListThatNeedNotGrow", INT64_MAX, 400000, 500},
};

class Destinations : public testing::TestWithParam<Draw> {
 protected:
  Destinations() {
    const Draw& draw = GetParam();
    std::mt19937_64 random(7);
    std::vector<int64_t> distinct(static_cast<size_t>(draw.distinct));
    for (int64_t& destination : distinct) {
      destination = static_cast<int64_t>(random() % static_cast<uint64_t>(draw.range));
    }
    distinct.front() = 0;
    distinct.back() = draw.range - 1;
    for (int64_t i = 0; i < draw.entries; ++i) {
      destinations_.push_back(distinct[random() % distinct.size()]);
    }
    for (const int64_t destination : destinations_) ++expected_[destination];
  }

  DestinationSet Collect(const strew::Call& call) const {
    return DestinationSet(call, GetParam().range, GetParam().entries, 1000,
                          [&](const auto& collect) {
                            for (const int64_t destination : destinations_) collect(destination);
                          });
  }

  // False where memory is refused.
  bool Number(DestinationSet& set) const {
    if (!set.ok()) return false;
    std::map<int64_t, int64_t> seen;
    for (const int64_t destination : destinations_) {
      EXPECT_EQ(set.Insert(destination), ++seen[destination] == 1);
    }
    return set.Number();
  }

  std::vector<int64_t> destinations_;
  std::map<int64_t, int64_t> expected_;
};

INSTANTIATE_TEST_SUITE_P(EveryDraw, Destinations, testing::ValuesIn(kDraws),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Destinations, AreNumberedInAscendingOrder) {
  const strew::Settings settings;
  const strew::Call call(settings, nullptr);
  DestinationSet set = Collect(call);
  ASSERT_TRUE(Number(set));
  EXPECT_EQ(set.count(), static_cast<int64_t>(expected_.size()));
  int64_t number = 0;
  for (const auto& [destination, times] : expected_) {
    set.Fetch(destination);  // changes nothing
    ASSERT_EQ(set.NumberOf(destination), number++);
  }
}

TEST_P(Destinations, AreGoneThroughPieceByPiece) {
  const strew::Settings settings;
  const strew::Call call(settings, nullptr);
  DestinationSet set = Collect(call);
  ASSERT_TRUE(Number(set));
  const int64_t pieces = set.pieces();
  auto next = expected_.begin();
  int64_t number = 0;
  int64_t first = 0;
  for (const int64_t end : {pieces / 3, pieces / 2, pieces}) {
    set.ForEach(first, end, [&](int64_t destination, int64_t i) {
      ASSERT_NE(next, expected_.end());
      EXPECT_EQ(destination, (next++)->first);
      EXPECT_EQ(i, number++);
    });
    first = end;
  }
  EXPECT_EQ(next, expected_.end());
}

TEST_P(Destinations, TakeAtMostWhatIsTold) {
  CountingAllocator allocator(CountingAllocator::kGrantsAll);
  strew::Settings settings;
  settings.allocator = {CountingAllocator::Allocate, CountingAllocator::Free, &allocator};
  const strew::Call call(settings, nullptr);
  const int64_t entries = GetParam().entries;
  const DestinationSet set(call, GetParam().range, entries, entries, [&](const auto& collect) {
    for (const int64_t destination : destinations_) collect(destination);
  });
  ASSERT_TRUE(set.ok());
  EXPECT_LE(static_cast<int64_t>(allocator.peak()),
            DestinationSet::MostBytes(GetParam().range, entries));
}

// 24 bytes for each while a list grows, and 1.5 MiB; up to 64 need none.
TEST_P(Destinations, TakeLittleMemoryWhichMayBeRefused) {
  const Draw& draw = GetParam();
  const auto requests_of = [&](int64_t granted) {
    CountingAllocator allocator(granted);
    strew::Settings settings;
    settings.allocator = {CountingAllocator::Allocate, CountingAllocator::Free, &allocator};
    const strew::Call call(settings, nullptr);
    DestinationSet set = Collect(call);
    const bool numbered = Number(set);
    EXPECT_EQ(numbered, !allocator.has_refused());
    const auto distinct = static_cast<int64_t>(expected_.size());
    EXPECT_LE(static_cast<int64_t>(allocator.peak()), (int64_t{3} << 19) + 24 * distinct);
    return allocator.requests();
  };
  const int64_t wanted = requests_of(CountingAllocator::kGrantsAll);
  EXPECT_EQ(wanted == 0, draw.entries <= 64);
  for (int64_t granted = 0; granted < wanted; ++granted) requests_of(granted);
}

}  // namespace
}  // namespace strew_test
