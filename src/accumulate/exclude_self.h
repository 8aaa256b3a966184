// SPDX-License-Identifier: Apache-2.0
// Reductions in which the old value of a touched element takes no part.
#ifndef STREW_ACCUMULATE_EXCLUDE_SELF_H_
#define STREW_ACCUMULATE_EXCLUDE_SELF_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/index_space.h"
#include "share/execute.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Copies data unless `in_place`, and stores the identity of a reduction in every element that an
// update touches, by an application of the updates themselves. What follows goes in place.
// The index space is arranged, and is left as it was.
Status StoreIdentities(const walk::IndexedScatter& scatter, strew_reduction kind,
                       const share::Application& application, bool in_place,
                       plan::IndexSpace* space);

// For reductions that have no identity: the first update of an element replaces it, all others are
// applied. Takes 16 bytes for an entry at most, besides 2 MiB.
Status ApplyAfterFirst(const Call& call, const walk::IndexedScatter& scatter,
                       const plan::IndexSpace& space, bool in_place);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_EXCLUDE_SELF_H_
