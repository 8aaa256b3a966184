// SPDX-License-Identifier: Apache-2.0
// Where the entries of a call land, by a sample, and ranges of destinations that hold about as many
// entries each.
#ifndef STREW_PLAN_SPREAD_H_
#define STREW_PLAN_SPREAD_H_

#include <cstdint>

#include "plan/tuning.h"

namespace strew::plan {

// A sample of destinations, in units from where the index space begins.
class Spread {
 public:
  static constexpr int64_t kMost = 2048;

  // How many should be drawn of so many entries for so many ranges.
  static int64_t CountFor(const Tuning& tuning, int64_t entries, int64_t ranges);

  void Add(int64_t destination) { destination_[count_++] = destination; }
  // Sorts them. `apart_share` of all entries land far from the entry before them; destinations that
  // lie within `near` are in the caches together.
  void Finish(double apart_share, int64_t near);

  int64_t count() const { return count_; }
  // In ascending order.
  int64_t operator[](int64_t i) const { return destination_[i]; }
  // The share of all entries that are in [first, end) and wait for memory: that land neither near
  // the entry before them, nor where so many others do that the caches hold it.
  double FarShare(int64_t first, int64_t end) const;

 private:
  int64_t count_ = 0;
  double apart_share_ = 0;
  int64_t densest_first_ = 0;
  int64_t densest_end_ = 0;
  int64_t destination_[kMost];
};

// Units from where the index space begins; both are included.
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
  Ranges(const Spread& spread, int64_t ranges);

  int64_t count() const { return count_; }
  // Each destination is in one of them.
  DestinationRange At(int64_t i) const;
  // What the entries of the costliest range cost, where all entries together would cost `each` and
  // those that wait for memory would wait for `wait` besides. The spread is the same.
  double MostCost(const Spread& spread, double each, double wait) const;

 private:
  // Each task looks at all entries, so that more of them gain little.
  static constexpr int64_t kMost = 64;

  int64_t count_ = 0;
  int64_t first_[kMost];  // the first destination of each range but the first
};

}  // namespace strew::plan

#endif  // STREW_PLAN_SPREAD_H_
