// SPDX-License-Identifier: Apache-2.0
//
// Entries in buckets and in groups, against a list of the updates of each destination.
#include "accumulate/bucket_sort.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accumulate/line.h"
#include "kernel/kernel.h"
#include "support/counting_allocator.h"

namespace strew_test {
namespace {

using strew::accumulate::Buckets;
using strew::accumulate::EntryGroups;
using strew::accumulate::MovedEntries;
using strew::plan::DestinationNumbers;

struct Draw {
  const char* name;
  int64_t destinations;
  int64_t entries;
  int shift;
  int64_t sorted;  // of the entries, the first ones
  bool drops = true;
};

const Draw kDraws[] = {
    {"One", 1, 1, 3, 0},
    {"OneBucket", 100, 1000, 10, 0},
    {"ManyBuckets", 5000, 3000, 4, 0},
    {"Ascending", 5000, 3000, 10, 3000},
    {"AscendingInManyRows", 4096, 60000, 11, 60000},
    {"AscendingWithoutDrops", 5000, 3000, 10, 3000, false},
    {"AscendingAtFirst", 5000, 3000, 10, 2000, false},
    {"MostEntriesOfOneDestination", 3, 70000, 1, 0},
};

// Every fifth entry may be dropped.
std::vector<int64_t> IndicesOf(const Draw& draw) {
  std::mt19937_64 random(5);
  std::vector<int64_t> indices(static_cast<size_t>(draw.entries));
  for (int64_t& index : indices) {
    index = static_cast<int64_t>(random() % static_cast<uint64_t>(draw.destinations));
  }
  std::sort(indices.begin(), indices.begin() + draw.sorted);
  for (size_t i = 4; draw.drops && i < indices.size(); i += 5) indices[i] = -1;
  return indices;
}

class SortInBuckets : public testing::TestWithParam<Draw> {
 protected:
  // The updates of each destination, in order.
  std::map<int64_t, std::vector<int64_t>> Expected(const Line& line) const {
    std::map<int64_t, std::vector<int64_t>> updates;
    for (size_t i = 0; i < line.indices.size(); ++i) {
      if (line.indices[i] >= 0) updates[line.indices[i]].push_back(static_cast<int64_t>(i));
    }
    return updates;
  }
};

INSTANTIATE_TEST_SUITE_P(EveryDraw, SortInBuckets, testing::ValuesIn(kDraws),
                         [](const auto& test) { return std::string(test.param.name); });

std::vector<uint64_t> MemoryFor(const Buckets& buckets, int64_t update_bytes) {
  const int64_t bytes = MovedEntries::Bytes(buckets.entries(), buckets.count(), update_bytes);
  return std::vector<uint64_t>(static_cast<size_t>(bytes / 8 + 1));
}

TEST_P(SortInBuckets, MovesElementsInOrder) {
  const Draw& draw = GetParam();
  const Line line(draw.destinations, 1, IndicesOf(draw));
  const DestinationNumbers numbers(line.loops);
  const Buckets buckets(line.scatter, numbers, draw.shift, 0);
  ASSERT_TRUE(buckets.ok());
  EXPECT_TRUE(buckets.is_reached());
  std::vector<uint64_t> memory = MemoryFor(buckets, sizeof(float));
  const MovedEntries moved(buckets, MovedEntries::Moves::kElements,
                           reinterpret_cast<unsigned char*>(memory.data()));
  std::map<int64_t, std::vector<int64_t>> found;
  for (int64_t b = 0; b < buckets.count(); ++b) {
    for (int64_t i = buckets.first(b); i < buckets.end(b); ++i) {
      float update;
      std::memcpy(&update, moved.updates + i * int64_t{sizeof(update)}, sizeof(update));
      found[b * buckets.size() + moved.remainders[i]].push_back(static_cast<int64_t>(update));
    }
  }
  EXPECT_EQ(found, Expected(line));
}

TEST_P(SortInBuckets, OrdersRunsInGroups) {
  constexpr int64_t kRun = 3;
  const Draw& draw = GetParam();
  const Line line(draw.destinations, kRun, IndicesOf(draw));
  const DestinationNumbers numbers(line.loops);
  const Buckets buckets(line.scatter, numbers, draw.shift, 0);
  ASSERT_TRUE(buckets.ok());
  std::vector<uint64_t> memory = MemoryFor(buckets, EntryGroups::kUpdateBytes);
  const MovedEntries moved(buckets, MovedEntries::Moves::kPositions,
                           reinterpret_cast<unsigned char*>(memory.data()));
  std::vector<uint32_t> scratch(
      static_cast<size_t>(buckets.size() * EntryGroups::kScratchBytes / 4));
  const EntryGroups groups(buckets, moved, reinterpret_cast<unsigned char*>(scratch.data()));
  const strew::kernel::Group* const group = groups.groups();
  ASSERT_NE(group, nullptr);
  std::map<int64_t, std::vector<int64_t>> found;
  for (int64_t g = 0; g < groups.count; ++g) {
    std::vector<int64_t>& updates = found[group[g].destination / kRun];
    EXPECT_TRUE(updates.empty()) << "two groups of one destination";
    for (int64_t i = group[g].first; i < group[g + 1].first; ++i) {
      updates.push_back(groups.order[i] / kRun);
    }
  }
  EXPECT_EQ(found, Expected(line));
}

TEST_P(SortInBuckets, TellsWhetherEnoughAreTouched) {
  const Draw& draw = GetParam();
  const Line line(draw.destinations, 1, IndicesOf(draw));
  const DestinationNumbers numbers(line.loops);
  const auto touched = static_cast<int64_t>(Expected(line).size());
  for (const int64_t least : {touched, touched + 1}) {
    const Buckets buckets(line.scatter, numbers, draw.shift, least);
    ASSERT_TRUE(buckets.ok());
    // It may give up early, but never promises too much. If destinations ascend at first only, it
    // counts the others.
    if (least > touched) {
      EXPECT_FALSE(buckets.is_reached());
    } else if (draw.entries <= 3000 && (draw.sorted == 0 || draw.sorted == draw.entries)) {
      EXPECT_TRUE(buckets.is_reached());
    }
  }
}

// A bit for each of so many destinations takes more scratch than every call may have.
class ManyDestinations : public testing::Test {
 protected:
  static constexpr int64_t kDestinations = int64_t{1} << 24, kTouched = 400000;

  // Descending numbers of which neighbours lie far apart in the list.
  static std::vector<int64_t> EvenThenOdd() {
    std::vector<int64_t> indices;
    for (int64_t first : {0, 1}) {
      for (int64_t i = first; i < kTouched; i += 2) indices.push_back(kTouched - i);
    }
    return indices;
  }

  static bool Reaches(Line& line, int64_t least) {
    const DestinationNumbers numbers(line.loops);
    const Buckets buckets(line.scatter, numbers, 15, least);
    EXPECT_TRUE(buckets.ok());
    return buckets.is_reached();
  }
};

TEST_F(ManyDestinations, AreCountedExactlyWhileTheyAscend) {
  std::vector<int64_t> indices = EvenThenOdd();
  std::sort(indices.begin(), indices.end());
  Line line(kDestinations, 1, indices);
  EXPECT_TRUE(Reaches(line, kTouched));
  EXPECT_FALSE(Reaches(line, kTouched + 1));
}

// The entries of the first 52,429 touched destinations pay for the bits, and are not counted.
TEST_F(ManyDestinations, AreCountedOneByOneOnceEnoughAreTouched) {
  Line line(kDestinations, 1, EvenThenOdd());
  EXPECT_TRUE(Reaches(line, kTouched - 60000));
  EXPECT_FALSE(Reaches(line, kTouched));
}

TEST_F(ManyDestinations, AreCountedInPairsWithoutMoreScratch) {
  Line line(kDestinations, 1, EvenThenOdd());
  CountingAllocator allocator(2);  // the counts of entries and the bits of pairs
  line.settings.allocator = {CountingAllocator::Allocate, CountingAllocator::Free, &allocator};
  EXPECT_TRUE(Reaches(line, kTouched / 2));
  CountingAllocator other(2);
  line.settings.allocator.opaque = &other;
  EXPECT_FALSE(Reaches(line, kTouched / 2 + 2));
  EXPECT_TRUE(other.has_refused());
}

}  // namespace
}  // namespace strew_test
