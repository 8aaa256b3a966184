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

// The plan is arranged. `width` is that of a unit, `units` how many the output has, and `in_place`
// whether it is data itself.
Staging StagingOf(const IndexedPlan& plan, int64_t width, int64_t units, bool in_place);

}  // namespace strew::plan

#endif  // STREW_PLAN_STAGING_H_
