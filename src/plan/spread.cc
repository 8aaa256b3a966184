// SPDX-License-Identifier: Apache-2.0
#include "plan/spread.h"

#include <algorithm>

#include "plan/tuning.h"

namespace strew::plan {

int64_t Spread::CountFor(const Tuning& tuning, int64_t entries, int64_t ranges) {
  const int64_t affordable =
      std::clamp(entries / tuning.entries_of_sample, tuning.least_samples_of_range * ranges,
                 tuning.most_samples_of_range * ranges);
  return std::min(affordable, kMost);
}

void Spread::Finish(double apart_share, int64_t near) {
  apart_share_ = apart_share;
  std::sort(destination_, destination_ + count_);
  for (int64_t first = 0, end = 0; first < count_; ++first) {
    while (end < count_ && destination_[end] - destination_[first] <= near) ++end;
    if (end - first <= densest_end_ - densest_first_) continue;
    densest_first_ = first;
    densest_end_ = end;
  }
}

double Spread::FarShare(int64_t first, int64_t end) const {
  int64_t far = 0;
  for (int64_t i = first; i < end; ++i) {
    const bool before = i > 0 && destination_[i - 1] == destination_[i];
    const bool behind = i + 1 < count_ && destination_[i + 1] == destination_[i];
    const bool in_densest = i >= densest_first_ && i < densest_end_;
    far += before || behind || in_densest ? 0 : 1;
  }
  return apart_share_ * static_cast<double>(far) / static_cast<double>(count_);
}

Ranges::Ranges(const Spread& spread, int64_t ranges) : count_(std::min(ranges, kMost)) {
  for (int64_t i = 1; i < count_; ++i) first_[i] = spread[i * spread.count() / count_];
}

double Ranges::MostCost(const Spread& spread, double each, double wait) const {
  double most = 0;
  int64_t end = 0;
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t first = end;
    while (end < spread.count() && spread[end] <= At(i).last) ++end;
    const double share = static_cast<double>(end - first) / static_cast<double>(spread.count());
    most = std::max(most, share * each + spread.FarShare(first, end) * wait);
  }
  return most;
}

DestinationRange Ranges::At(int64_t i) const {
  const int64_t first = i == 0 ? kEverywhere.first : first_[i];
  const int64_t last = i + 1 == count_ ? kEverywhere.last : first_[i + 1] - 1;
  return {first, last};
}

}  // namespace strew::plan
