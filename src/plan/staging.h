// SPDX-License-Identifier: Apache-2.0
// How a scatter with lanes brings the lines of the indexed axis near before it writes into them.
#ifndef STREW_PLAN_STAGING_H_
#define STREW_PLAN_STAGING_H_

#include <cstdint>

#include "plan/indexed.h"

namespace strew::plan {

struct Staging {
  // Data is copied line by line or strip by strip, each just before its updates, and not
  // beforehand.
  bool copies_data;
  // Columns of a strip that is held in scratch, 0 for none.
  int64_t strip;
  int64_t scratch_bytes;
};

inline constexpr Staging kNoStaging = {false, 0, 0};

// What one of so many tasks may take for itself, as strew.h tells.
constexpr int64_t MostScratch(int64_t tasks) {
  constexpr int64_t kOfCall = int64_t{2} << 20;
  constexpr int64_t kOfWorker = int64_t{64} << 10;
  return tasks == 1 ? kOfCall : kOfCall / tasks + kOfWorker;
}

// The plan is arranged. `width` is that of a unit, `units` how many the output has, and `in_place`
// whether it is data itself. Each of `tasks` tasks has scratch of its own.
Staging StagingOf(const IndexedPlan& plan, int64_t width, int64_t units, bool in_place,
                  int64_t tasks);

}  // namespace strew::plan

#endif  // STREW_PLAN_STAGING_H_
