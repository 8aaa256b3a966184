// SPDX-License-Identifier: Apache-2.0
// A sample of the destinations of a call, and ranges of destinations that have about the same
// number of entries each.
#ifndef STREW_PLAN_SPREAD_H_
#define STREW_PLAN_SPREAD_H_

#include <cstdint>

#include "plan/tuning.h"

namespace strew::plan {

// Sampled destinations, in units from the origin of the index space.
class Spread {
 public:
  // Limit: the samples are on the stack.
  static constexpr int64_t kMost = 2048;

  // The number of samples for `entries` entries and `ranges` ranges.
  static int64_t CountFor(const Tuning& tuning, int64_t entries, int64_t ranges);

  void Add(int64_t destination) { destination_[count_++] = destination; }
  // Sorts the sample. A fraction `apart_share` of all entries writes far from the entry before it.
  // Destinations at most `near` apart fit the caches together.
  void Finish(double apart_share, int64_t near);

  int64_t count() const { return count_; }
  // In ascending order.
  int64_t operator[](int64_t i) const { return destination_[i]; }
  // The estimated fraction of all entries that belong to samples [first, end) and wait for memory:
  // they write neither near the entry before them nor to a part of the output that is written so
  // often that it stays in the caches.
  double FarShare(int64_t first, int64_t end) const;

 private:
  int64_t count_ = 0;
  double apart_share_ = 0;
  int64_t densest_first_ = 0;
  int64_t densest_end_ = 0;
  int64_t destination_[kMost];
};

// Bounds in units from the origin of the index space, both included.
struct DestinationRange {
  int64_t first;
  int64_t last;

  bool IsEmpty() const { return first > last; }
};

// Contains every destination. The difference of its bounds does not overflow.
inline constexpr DestinationRange kEverywhere = {-(INT64_MAX / 2), INT64_MAX / 2};

class Ranges {
 public:
  Ranges() = default;
  Ranges(const Spread& spread, int64_t ranges);

  int64_t count() const { return count_; }
  // Each destination is in exactly one range.
  DestinationRange At(int64_t i) const;
  // The cost of the costliest range, if all entries together cost `each`, and `wait` more if all of
  // them wait for memory. `spread` must be that of the constructor.
  double MostCost(const Spread& spread, double each, double wait) const;

 private:
  // Limit: the ranges are on the stack. Each task reads all entries, so more tasks gain little.
  static constexpr int64_t kMost = 64;

  int64_t count_ = 0;
  int64_t first_[kMost];  // the first destination of each range; not set for the first range
};

}  // namespace strew::plan

#endif  // STREW_PLAN_SPREAD_H_
