// SPDX-License-Identifier: Apache-2.0
//
// Slots of sums and counts: elements that begin them, updates that are added, and what is left
// alone.
#include "accumulate/wide_sums.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "accumulate/line.h"

namespace strew_test {
namespace {

using strew::accumulate::SlotLine;
using strew::accumulate::Slots;
using strew::accumulate::SlotSums;

// Slot i stands for element i.
struct Lines {
  Line& line;
  int64_t run;
  int64_t count;
  template <class Body>
  void ForEachLine(bool /*writes*/, const Body& body) const {
    auto* const elements = reinterpret_cast<unsigned char*>(line.data.data());
    if (run == 1) return body(SlotLine{0, elements, 1, count});
    for (int64_t i = 0; i < count; ++i) {
      body(SlotLine{i, elements + i * run * int64_t{sizeof(float)}, 1, run});
    }
  }
};

class SumsOf : public testing::TestWithParam<int64_t> {
 protected:
  // Adds updates 0, 1, 2 to slots 2, 0, 2 and drops one more. Answers how many were counted.
  int64_t Combine(Line& line) {
    const int64_t run = GetParam();
    const SlotSums sums(line.scatter);
    EXPECT_EQ(sums.are_single(), run == 1);
    std::vector<uint64_t> memory(static_cast<size_t>(4 * sums.slot_bytes() / 8 + 1));
    const Slots slots = sums.At(reinterpret_cast<unsigned char*>(memory.data()), 4);
    const int32_t numbers[] = {2, 0, 2, INT32_MIN};
    sums.Combine(slots, 4, Lines{line, run, 4}, [&] {
      sums.Add(slots, numbers, reinterpret_cast<unsigned char*>(line.updates.data()), run, 2);
      // The others from another slot on.
      const int32_t after[] = {1, INT32_MIN};
      const float* const updates = line.updates.data() + 2 * run;
      sums.Add(sums.From(slots, 1), after, reinterpret_cast<const unsigned char*>(updates), run, 2);
    });
    return sums.Updates(slots, 4);
  }
};

INSTANTIATE_TEST_SUITE_P(Runs, SumsOf, testing::Values(1, 3, 40));

TEST_P(SumsOf, ElementsAndUpdatesAreDivided) {
  Line line(4, GetParam(), {0, 0, 0, 0});
  const std::vector<float> old = line.data;
  EXPECT_EQ(Combine(line), 3);
  const auto run = static_cast<size_t>(GetParam());
  for (size_t i = 0; i < run; ++i) {
    EXPECT_EQ(line.data[i], (old[i] + line.updates[run + i]) / 2);
    EXPECT_EQ(line.data[2 * run + i],
              (old[2 * run + i] + line.updates[i] + line.updates[2 * run + i]) / 3);
  }
}

TEST_P(SumsOf, SumsAndCountsAreAligned) {
  Line line(1, GetParam(), {0});
  const SlotSums sums(line.scatter);
  for (int64_t count = 1; count < 9; ++count) {
    std::vector<uint64_t> memory(static_cast<size_t>(count * sums.slot_bytes() / 8 + 1));
    const Slots slots = sums.At(reinterpret_cast<unsigned char*>(memory.data()), count);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slots.sums) % alignof(double), 0U);
    const size_t alignment = GetParam() == 1 ? alignof(uint32_t) : alignof(int64_t);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(slots.counts) % alignment, 0U);
  }
}

TEST(SumsOfSingles, LeaveAloneWhatGetsNothing) {
  Line line(3, 1, {0});
  const std::vector<float> old = line.data;
  const SlotSums sums(line.scatter);
  std::vector<uint64_t> memory(static_cast<size_t>(3 * sums.slot_bytes() / 8 + 1));
  const Slots slots = sums.At(reinterpret_cast<unsigned char*>(memory.data()), 3);
  sums.Combine(slots, 3, Lines{line, 1, 3}, [] {});
  EXPECT_EQ(line.data, old);
  EXPECT_EQ(sums.Updates(slots, 3), 0);
}

TEST(SumsOfSingles, LeaveTheOldValueOut) {
  Line line(1, 1, {0, 0}, STREW_MEAN | STREW_EXCLUDE_SELF);
  line.data[0] = 100;
  line.updates = {3, 6};
  line.updates_view.data = reinterpret_cast<unsigned char*>(line.updates.data());
  const SlotSums sums(line.scatter);
  std::vector<uint64_t> memory(static_cast<size_t>(sums.slot_bytes()));
  const Slots slots = sums.At(reinterpret_cast<unsigned char*>(memory.data()), 1);
  const int32_t numbers[] = {0, 0};
  sums.Combine(slots, 1, Lines{line, 1, 1},
               [&] { sums.Add(slots, numbers, line.updates_view.data, 1, 2); });
  EXPECT_EQ(line.data[0], 4.5F);
}

// Short integers, whose sums share words with their counts.
TEST(SumsOfSingles, ShareWordsWithCounts) {
  constexpr strew_reduction kReductions[] = {STREW_MEAN, STREW_MEAN | STREW_EXCLUDE_SELF};
  for (const strew_reduction reduction : kReductions) {
    LineOf<int8_t, STREW_INT8> line(4, 1, {0, 0, 0, 0}, reduction);
    line.data = {100, 7, -128, 3};
    line.updates = {127, -128, -128, 1};
    const SlotSums sums(line.scatter);
    std::vector<uint64_t> memory(static_cast<size_t>(sums.slot_bytes()));
    const Slots slots = sums.At(reinterpret_cast<unsigned char*>(memory.data()), 4);
    EXPECT_EQ(sums.slot_bytes(), sums.accumulator().are_compact() ? 8 : 12);
    const int32_t numbers[] = {0, 2, 2, INT32_MIN};
    auto* const data = reinterpret_cast<unsigned char*>(line.data.data());
    sums.Combine(slots, 4, SlotLine{0, data, 1, 4}, [&] {
      const auto* const updates = reinterpret_cast<const unsigned char*>(line.updates.data());
      sums.Add(slots, numbers, updates, 1, 4);
    });
    EXPECT_EQ(sums.Updates(slots, 4), 3);
    const int8_t first = reduction == STREW_MEAN ? (100 + 127) / 2 : 127;
    EXPECT_EQ(line.data, (std::vector<int8_t>{first, 7, -128, 3}));
  }
}

}  // namespace
}  // namespace strew_test
