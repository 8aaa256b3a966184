// SPDX-License-Identifier: Apache-2.0
// Scatters in the order of destinations: all updates of a destination are combined at once, so that
// threads share no destination, and sums need no memory of their own.
#ifndef STREW_PREPARED_ORDERED_H_
#define STREW_PREPARED_ORDERED_H_

#include <cstdint>

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/loop_nest.h"
#include "prepared/operands.h"
#include "prepared/plan.h"

namespace strew::prepared {

// Operands of inner turns: the output, the tensor that has the updates, the weights, and the
// entries of the plan by which updates are gathered.
enum { kTurnOutput, kTurnUpdates, kTurnWeights, kTurnEntry, kTurnOperands };
using TurnNest = plan::LoopNest<kTurnOperands>;

// Where the updates of entries lie.
struct UpdateSource {
  // Replaces each of n entries by the position of its update, in units from `updates`, or by
  // INT64_MIN if there is none. Positions of weights, if there are any, are stored beside them.
  void (*locate)(const void* self, const int64_t* turn, int64_t n, int64_t* entries,
                 int64_t* weights);
  const void* self;
  bool depends_on_turn;  // besides the strides of the turns
  const unsigned char* updates;
  const unsigned char* weights;  // NULL for none
};

struct OrderedScatter {
  const Call& call;
  const Plan& plan;
  const TensorView& output;
  strew_reduction reduction;
  const Numbering& destinations;
  TurnNest inner;
  UpdateSource source;
};

// True if a plan has what ApplyOrdered() needs.
bool CanBeOrdered(const Plan& plan, strew_reduction reduction);

// Applies the updates to an output that has data already. *applied counts the entries at all inner
// turns, in units, that had an update.
Status ApplyOrdered(const OrderedScatter& scatter, int64_t* applied);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ORDERED_H_
