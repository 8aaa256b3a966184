// SPDX-License-Identifier: Apache-2.0
// Reductions in which the old value of a touched element takes no part.
#ifndef STREW_ACCUMULATE_EXCLUDE_SELF_H_
#define STREW_ACCUMULATE_EXCLUDE_SELF_H_

#include "base/status.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Copies data unless `in_place`, and applies a reduction of one step: to its identity, or where it
// has none to the first update of an element. The latter takes 16 bytes for an entry at most, besides
// 2 MiB.
Status ApplyWithoutSelf(const walk::Scatter& scatter, bool in_place);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_EXCLUDE_SELF_H_
