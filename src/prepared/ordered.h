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

inline int64_t TurnsOf(const TurnNest& nest) {
  int64_t turns = 1;
  for (int i = 0; i < nest.rank; ++i) turns *= nest.loop[i].count;
  return turns;
}

// Consecutive entries of the order of a plan.
struct EntryList {
  const Plan& plan;
  int64_t first;
  int64_t count;

  // Calls body(entry of), where entry_of(i) is the i-th entry.
  template <class Body>
  void Visit(const Body& body) const {
    const int64_t begin = first;
    if (!plan.order.exists()) return body([=](int64_t i) { return begin + i; });
    plan.order.Visit([&](const auto* order) {
      body([=](int64_t i) { return static_cast<int64_t>(order[begin + i]); });
    });
  }
};

// The positions of the updates of entries.
struct UpdateSource {
  // Stores the positions of the updates of entries, in units from `updates`, or kNoUpdate; and
  // those of their weights, if there are any.
  void (*locate)(const void* self, const int64_t* turn, const EntryList& entries, int64_t* updates,
                 int64_t* weights);
  const void* self;
  bool depends_on_turn;     // besides the strides of the turns
  bool may_have_no_update;  // entries may be without
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

// Fails with UNSUPPORTED if a destination has more updates than sums count. Other reductions than
// means and those that are wide have no limit.
Status CheckTerms(const Call& call, const Plan& plan, strew_reduction reduction);

// Applies the updates, which CheckTerms() allows, to an output that has data already. *applied counts the entries at all inner
// turns, in units, that had an update.
Status ApplyOrdered(const OrderedScatter& scatter, int64_t* applied);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ORDERED_H_
