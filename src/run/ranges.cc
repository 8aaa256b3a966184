// SPDX-License-Identifier: Apache-2.0
#include "run/ranges.h"

#include <algorithm>

namespace strew::run {
Ranges::Ranges(const Sample& sample, int64_t ranges) : count_(std::min(ranges, kMost)) {
  for (int64_t i = 1; i < count_; ++i) first_[i] = sample[i * sample.count() / count_];
}

double Ranges::MostCost(const Sample& sample, double each, double wait) const {
  double most = 0;
  int64_t end = 0;
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t first = end;
    while (end < sample.count() && sample[end] <= At(i).last) ++end;
    const double share = static_cast<double>(end - first) / static_cast<double>(sample.count());
    most = std::max(most, share * each + sample.FarShare(first, end) * wait);
  }
  return most;
}

DestinationRange Ranges::At(int64_t i) const {
  const int64_t first = i == 0 ? kEverywhere.first : first_[i];
  const int64_t last = i + 1 == count_ ? kEverywhere.last : first_[i + 1] - 1;
  return {first, last};
}

}  // namespace strew::run
