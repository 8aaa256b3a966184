// SPDX-License-Identifier: Apache-2.0
// Reductions in which the old value of a touched element takes no part.
#ifndef STREW_RUN_EXCLUDE_SELF_H_
#define STREW_RUN_EXCLUDE_SELF_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/index_space.h"
#include "run/apply.h"
#include "run/scatter.h"

namespace strew::run {

// Copies data unless `in_place`, and stores the identity of a reduction in every element that an
// update touches, by an application of the updates themselves. What follows goes in place.
// The index space is arranged, and is left as it was.
Status StoreIdentities(const IndexedScatter& scatter, strew_reduction kind,
                       const Application& application, bool in_place, plan::IndexSpace* space);

// For reductions that have no identity: the first update of an element replaces it, all others are
// applied. Takes 16 bytes for an entry at most, besides 2 MiB.
Status ApplyAfterFirst(const Call& call, const IndexedScatter& scatter,
                       const plan::IndexSpace& space, bool in_place);

}  // namespace strew::run

#endif  // STREW_RUN_EXCLUDE_SELF_H_
