// SPDX-License-Identifier: Apache-2.0
// Applies all updates of a plan, on as many threads as pay.
#ifndef STREW_RUN_APPLY_H_
#define STREW_RUN_APPLY_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/indexed.h"
#include "run/scatter.h"

namespace strew::run {

// Copies data first, or meanwhile, unless `in_place`. The plan is arranged, the indices are checked,
// and the reduction is none or has kernels.
Status Apply(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
             bool in_place);

}  // namespace strew::run

#endif  // STREW_RUN_APPLY_H_
