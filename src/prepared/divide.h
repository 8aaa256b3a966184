// SPDX-License-Identifier: Apache-2.0
// Means whose accumulators have the type of the elements. They are computed as sums in the output,
// which one pass over the destinations then divides by the numbers of updates in the plan.
#ifndef STREW_PREPARED_DIVIDE_H_
#define STREW_PREPARED_DIVIDE_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/operands.h"
#include "prepared/plan.h"
#include "prepared/schedule.h"

namespace strew::prepared {

// Divides each element of a destination by its number of updates, plus one unless the schedule's
// reduction excludes old values. Fails only if the runner does.
Status DivideByCounts(const Call& call, const Plan& plan, const TensorView& output,
                      const Layout& layout, const PlanSchedule& schedule);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_DIVIDE_H_
