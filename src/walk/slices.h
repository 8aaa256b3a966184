// SPDX-License-Identifier: Apache-2.0
// The walk through few entries of which each is a large slice: one entry after the other, in blocks
// of the inner turns that stay near the CPU.
#ifndef STREW_WALK_SLICES_H_
#define STREW_WALK_SLICES_H_

#include "plan/traversal.h"
#include "walk/scatter.h"

namespace strew::walk {

// Writes all entries of loops for which plan::Traversal::kSlices was chosen.
void WriteSlices(const Scatter& scatter, const plan::SliceLoops& slices, bool streams);

}  // namespace strew::walk

#endif  // STREW_WALK_SLICES_H_
