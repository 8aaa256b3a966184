// SPDX-License-Identifier: Apache-2.0
// How the entries of a plan are shared out to tasks, so that every destination belongs to one task
// alone and its updates keep their order.
#ifndef STREW_PLAN_DIVISION_H_
#define STREW_PLAN_DIVISION_H_

#include <cstdint>

#include "plan/cut.h"
#include "plan/indexed.h"
#include "plan/staging.h"

namespace strew::plan {

// Lanes are cut, and runs of entries where there are not enough of them: these differ in the output
// by themselves. Where neither goes far enough each task takes a range of destinations and, of all
// entries, those that land there.
struct Division {
  bool by_destination;
  Cut cut;  // of the lanes and the inner turns; one part for one task, or if by destination
};

// The plan is arranged and `width` is that of a unit. `parts` is how many there should be for
// `tasks` tasks.
Division Divide(const IndexedPlan& plan, const Staging& staging, int64_t width, int64_t tasks,
                int64_t parts);

// Makes of the plan that of one part of the cut.
void RestrictToPart(const Cut& cut, int64_t part, IndexedPlan* plan);

}  // namespace strew::plan

#endif  // STREW_PLAN_DIVISION_H_
