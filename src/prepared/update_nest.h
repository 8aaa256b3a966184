// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PREPARED_UPDATE_NEST_H_
#define STREW_PREPARED_UPDATE_NEST_H_

#include "plan/loop_nest.h"

namespace strew::prepared {

// Loops over the updates of gather_scatter: the entries of both plans, and where elements lie besides
// their places.
enum { kFromEntry, kToEntry, kSource, kOutput, kWeight, kUpdateOperands };
using UpdateNest = plan::LoopNest<kUpdateOperands>;
using UpdateLoop = plan::Loop<kUpdateOperands>;

}  // namespace strew::prepared

#endif  // STREW_PREPARED_UPDATE_NEST_H_
