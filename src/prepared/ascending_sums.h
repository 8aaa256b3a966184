// SPDX-License-Identifier: Apache-2.0
// Means and wide sums of single elements that have the order of their destinations already. The
// output is taken in pieces, whose accumulators stay in a near cache, and which have their entries
// one after another.
#ifndef STREW_PREPARED_ASCENDING_SUMS_H_
#define STREW_PREPARED_ASCENDING_SUMS_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/element_order.h"
#include "prepared/plan.h"
#include "prepared/schedule.h"

namespace strew::prepared {

// Requires the last axis, and neighbouring destinations to be neighbouring elements of the output.
// Copies `data` first. Fails with OUT_OF_MEMORY before anything is written, or if the runner does.
Status SumAscending(const Call& call, const Plan& plan, const TensorView& data,
                    const TensorView& updates, const TensorView& output, const ElementLines& lines,
                    const PlanSchedule& schedule);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ASCENDING_SUMS_H_
