// SPDX-License-Identifier: Apache-2.0
// A gather of single elements that takes several short loops as one.
#ifndef STREW_PREPARED_SHORT_GATHER_H_
#define STREW_PREPARED_SHORT_GATHER_H_

#include "base/call.h"
#include "plan/loop_nest.h"
#include "plan/pattern.h"
#include "plan/tuning.h"
#include "prepared/gather_loops.h"
#include "prepared/plan.h"

namespace strew::prepared {

using EntryNest = plan::LoopNest<kGatherOperands>;
using EntryLoop = plan::Loop<kGatherOperands>;

// Loops whose entries are consecutive in the output.
using FlatEntries = plan::FlatNest<kGatherOperands>;

// Returns false if the innermost loop in the output is long, or if too few turns lie together.
bool FlattenEntries(const plan::Tuning& tuning, const EntryNest& nest, FlatEntries* flat);

// The numbers of entries, and their offsets in the source, form patterns that repeat, so that a
// block of entries takes only as many calls of kernels as a row. Requires that entries are single
// elements, that none is dropped, and that places are a line. `source` and `output` are the first
// elements of the tensors.
void GatherFlat(const Call& call, const Plan& plan, const GatherLoops& loops,
                const FlatEntries& flat, const unsigned char* source, unsigned char* output);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SHORT_GATHER_H_
