// SPDX-License-Identifier: Apache-2.0
// Pieces of a new output: each is copied from data just before its updates, while it is in the
// caches.
#ifndef STREW_PLAN_PIECES_H_
#define STREW_PLAN_PIECES_H_

#include <cstdint>

#include "plan/cut.h"
#include "plan/entry_loops.h"

namespace strew::plan {

// Cuts loops that lie around the indexed axes, from the largest stride in the output on, until a
// piece of the output has at most `most` units. Pieces are larger if such loops are missing: rows
// are not cut, because that took 1.1 to 1.9 x the time (Zen 4). The cut is for
// EntryLoops::Restrict().
Cut CutIntoPieces(const EntryLoops& loops, int64_t most);

// The loops over all elements of the output that the batches, the axes and the entries span, with
// their strides in output and data. `data_is_alike`: data has the strides of the output.
enum { kPieceOutput, kPieceData, kPieceOperands };
LoopNest<kPieceOperands> PieceLoops(const EntryLoops& loops, bool data_is_alike);

// The number of these elements, in units.
int64_t PieceUnits(const EntryLoops& loops);

}  // namespace strew::plan

#endif  // STREW_PLAN_PIECES_H_
