// SPDX-License-Identifier: Apache-2.0
// Ranges of destinations that hold about as many entries each.
#ifndef STREW_RUN_RANGES_H_
#define STREW_RUN_RANGES_H_

#include <cstdint>

#include "plan/indexed.h"
#include "run/pace.h"
#include "run/sieve.h"

namespace strew::run {

class Ranges {
 public:
  // Looks at a sample of the entries of an arranged plan. All indices are in range.
  Ranges(const IndexedScatter& scatter, const plan::IndexedPlan& plan, int64_t ranges);

  int64_t count() const { return count_; }
  // Each destination is in one of them.
  DestinationRange At(int64_t i) const;

 private:
  static constexpr int64_t kMostRanges = 256;

  int64_t count_;
  int64_t first_[kMostRanges];  // the first destination of each range but the first
};

}  // namespace strew::run

#endif  // STREW_RUN_RANGES_H_
