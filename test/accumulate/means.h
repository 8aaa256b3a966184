// SPDX-License-Identifier: Apache-2.0
//
// Means of uint32 in the way that is chosen, compared with a plain loop.
#ifndef STREW_TEST_ACCUMULATE_MEANS_H_
#define STREW_TEST_ACCUMULATE_MEANS_H_

#include <cstdint>
#include <map>

#include <gtest/gtest.h>

#include "accumulate/wide_ways.h"
#include "walk/bound_scatter.h"

namespace strew_test {

// A slot of uint32: a sum of 8 bytes and a count of 4.
inline constexpr int64_t kSlot = 12;
inline constexpr int64_t kHuge = INT64_MAX / 4;

inline BoundScatter::Words ExpectedMeans(const BoundScatter& bound) {
  struct Sum {
    uint64_t sum;
    uint64_t count;
  };
  std::map<int64_t, Sum> sums;
  BoundScatter::Words expected = bound.data();
  bound.ForEachUpdate([&](int64_t destination, int64_t update) {
    const Sum self = {expected[static_cast<size_t>(destination)], 1};
    Sum& sum = sums.emplace(destination, self).first->second;
    sum.sum += bound.update(update);
    ++sum.count;
  });
  for (const auto& [destination, sum] : sums) {
    expected[static_cast<size_t>(destination)] = static_cast<uint32_t>(sum.sum / sum.count);
  }
  return expected;
}

inline strew::accumulate::WideWay WayOf(const BoundScatter& bound) {
  const BoundScatter::Words expected = ExpectedMeans(bound);
  const strew::accumulate::SlotSums sums(bound.scatter());
  strew::accumulate::WideWay way;
  EXPECT_TRUE(strew::accumulate::Combine({bound.scatter(), sums}, &way).ok());
  EXPECT_EQ(bound.output(), expected);
  return way;
}

}  // namespace strew_test

#endif  // STREW_TEST_ACCUMULATE_MEANS_H_
