// SPDX-License-Identifier: Apache-2.0
// The loops over the updates of gather_scatter.
#ifndef STREW_PREPARED_UPDATE_NEST_H_
#define STREW_PREPARED_UPDATE_NEST_H_

#include "plan/loop_nest.h"

namespace strew::prepared {

// Operands: the entries of both plans, and offsets in the source, the output and the weights, to
// which the offsets of places are added.
enum { kFromEntry, kToEntry, kSource, kOutput, kWeight, kUpdateOperands };
using UpdateNest = plan::LoopNest<kUpdateOperands>;
using UpdateLoop = plan::Loop<kUpdateOperands>;

}  // namespace strew::prepared

#endif  // STREW_PREPARED_UPDATE_NEST_H_
