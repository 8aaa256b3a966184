// SPDX-License-Identifier: Apache-2.0
// Writes few entries that are large slices. For each block of inner turns, which stays in the
// caches, all entries are written in order.
#ifndef STREW_WALK_SLICES_H_
#define STREW_WALK_SLICES_H_

#include "plan/traversal.h"
#include "walk/scatter.h"

namespace strew::walk {

// Writes all entries of loops with plan::Traversal::kSlices.
void WriteSlices(const Scatter& scatter, const plan::SliceLoops& slices, bool streams);

}  // namespace strew::walk

#endif  // STREW_WALK_SLICES_H_
