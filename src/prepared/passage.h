// SPDX-License-Identifier: Apache-2.0
// The operands of gather_scatter, and the loops over its updates.
#ifndef STREW_PREPARED_PASSAGE_H_
#define STREW_PREPARED_PASSAGE_H_

#include <cstdint>

#include "base/call.h"
#include "base/tensor_view.h"
#include "plan/loop_nest.h"
#include "prepared/operands.h"
#include "prepared/plan.h"

namespace strew::prepared {

// Operands of the loops: the entries of both plans, and offsets in the source, the output and the
// weights, to which the offsets of places are added.
enum { kFromEntry, kToEntry, kSource, kOutput, kWeight, kUpdateOperands };
using UpdateNest = plan::LoopNest<kUpdateOperands>;
using UpdateLoop = plan::Loop<kUpdateOperands>;

struct Passage {
  const Call& call;
  const Plan& from;
  const TensorView& source;
  const TensorView* weights;  // NULL for none
  const Plan& to;
  const TensorView& output;
  const Layout& of_from;
  const Layout& of_to;
};

// Stride of the weights in a dim of the updates, of which there are `rank`. Weights are broadcast
// as NumPy does.
inline int64_t WeightStride(const TensorView& weights, int dim, int rank) {
  const int own = dim - (rank - weights.rank);
  return own < 0 ? 0 : StrideOf(weights, own);
}

// Finds the loops over updates that are single elements, in the order of the entries.
void FindUpdateLoops(const Passage& passage, UpdateNest* nest);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_PASSAGE_H_
