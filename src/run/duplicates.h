// SPDX-License-Identifier: Apache-2.0
// Whether two updates name one element.
#ifndef STREW_RUN_DUPLICATES_H_
#define STREW_RUN_DUPLICATES_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/indexed.h"
#include "run/scatter.h"

namespace strew::run {

// Does what CheckIndices() does, and fails at the first update, in the order of the indices, whose
// element an earlier one names. There are updates. Takes 16 bytes for an entry at most.
Status CheckIndicesDiffer(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan);

}  // namespace strew::run

#endif  // STREW_RUN_DUPLICATES_H_
