// SPDX-License-Identifier: Apache-2.0
// Where a sample of the entries of a plan land: how to share them out evenly, and whether that pays.
#ifndef STREW_RUN_SAMPLE_H_
#define STREW_RUN_SAMPLE_H_

#include <cstdint>

#include "plan/indexed.h"
#include "run/pace.h"

namespace strew::run {

class Sample {
 public:
  // Takes enough for `ranges` ranges of an arranged plan. What is out of range counts as clamped.
  Sample(const IndexedScatter& scatter, const plan::IndexedPlan& plan, int64_t width,
         int64_t ranges);

  int64_t count() const { return count_; }
  // The i-th destination, in units from where the plan begins; in ascending order.
  int64_t operator[](int64_t i) const { return destination_[i]; }
  // The share of all entries that are in [first, end) and wait for memory: that land neither near
  // the entry before them, nor where so many others do that the caches hold it.
  double FarShare(int64_t first, int64_t end) const;

 private:
  static constexpr int64_t kMost = 2048;

  void FindDensest(int64_t span);

  int64_t count_;
  double apart_share_;  // of entries that land far from the one before them
  int64_t densest_first_;
  int64_t densest_end_;
  int64_t destination_[kMost];
};

}  // namespace strew::run

#endif  // STREW_RUN_SAMPLE_H_
