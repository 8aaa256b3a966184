// SPDX-License-Identifier: Apache-2.0
// Ranges of destinations that hold about as many entries each.
#ifndef STREW_RUN_RANGES_H_
#define STREW_RUN_RANGES_H_

#include <cstdint>

#include "run/sample.h"

namespace strew::run {

// Units from where the plan begins in the output; both are included.
struct DestinationRange {
  int64_t first;
  int64_t last;

  bool IsEmpty() const { return first > last; }
};

// No destination lies farther away, and there is room for differences.
inline constexpr DestinationRange kEverywhere = {-(INT64_MAX / 2), INT64_MAX / 2};

class Ranges {
 public:
  Ranges() = default;
  Ranges(const Sample& sample, int64_t ranges);

  int64_t count() const { return count_; }
  // Each destination is in one of them.
  DestinationRange At(int64_t i) const;
  // What the entries of the costliest range cost, where all entries together would cost `each` and
  // those that wait for memory would wait for `wait` besides. The sample is the same.
  double MostCost(const Sample& sample, double each, double wait) const;

 private:
  // Each task looks at all entries, so that more of them gain little.
  static constexpr int64_t kMost = 64;

  int64_t count_ = 0;
  int64_t first_[kMost];  // the first destination of each range but the first
};

}  // namespace strew::run

#endif  // STREW_RUN_RANGES_H_
