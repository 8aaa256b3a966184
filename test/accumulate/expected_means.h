// SPDX-License-Identifier: Apache-2.0
//
// A plain loop for the means of uint32.
#ifndef STREW_TEST_ACCUMULATE_EXPECTED_MEANS_H_
#define STREW_TEST_ACCUMULATE_EXPECTED_MEANS_H_

#include <cstdint>
#include <map>

#include "walk/bound_scatter.h"

namespace strew_test {

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

}  // namespace strew_test

#endif  // STREW_TEST_ACCUMULATE_EXPECTED_MEANS_H_
