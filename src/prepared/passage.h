// SPDX-License-Identifier: Apache-2.0
// The operands of gather_scatter, and the kind of the loops over its updates.
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

// True if the loops are one over all entries of the plan of the output, whose destinations ascend.
inline bool HasAscendingEntries(const UpdateNest& nest, const Plan& to) {
  return nest.rank == 1 && nest.loop[0].stride[kToEntry] == 1 && nest.loop[0].count == to.kept &&
         !to.order.exists();
}

struct Passage {
  const Call& call;
  const Plan& from;
  const TensorView& source;
  const TensorView* weights;  // NULL for none
  const Plan& to;
  const TensorView& data;
  const TensorView& output;
  const Layout& of_from;
  const Layout& of_to;
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_PASSAGE_H_
