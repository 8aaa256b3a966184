// SPDX-License-Identifier: Apache-2.0
// Reductions in which the old value of a touched element takes no part.
#ifndef STREW_RUN_EXCLUDE_SELF_H_
#define STREW_RUN_EXCLUDE_SELF_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/indexed.h"
#include "run/scatter.h"

namespace strew::run {

// Copies data unless `in_place`, and stores the identity of a reduction in every element that an
// update touches. What follows goes in place. It takes no memory.
Status StoreIdentities(const Call& call, const IndexedScatter& scatter,
                       const plan::IndexedPlan& plan, strew_reduction kind, bool in_place);

// For reductions that have no identity: the first update of an element replaces it, all others are
// applied. Takes 16 bytes for an entry at most, which the first function tells.
int64_t ScratchAfterFirst(const plan::IndexedPlan& plan);
Status ApplyAfterFirst(const Call& call, const IndexedScatter& scatter,
                       const plan::IndexedPlan& plan, bool in_place);

}  // namespace strew::run

#endif  // STREW_RUN_EXCLUDE_SELF_H_
