// SPDX-License-Identifier: Apache-2.0
// Scatters in the order of destinations. All updates of a destination are combined at once, so that
// threads share no destination and sums need no scratch.
#ifndef STREW_PREPARED_ORDERED_H_
#define STREW_PREPARED_ORDERED_H_

#include <cstdint>

#include "base/cache_size.h"
#include "base/call.h"
#include "base/checked.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/loop_nest.h"
#include "prepared/operands.h"
#include "prepared/plan.h"
#include "prepared/schedule.h"

namespace strew::prepared {

// Operands of inner turns: the output, the tensor that has the updates, the weights, and the
// entries of the plan by which updates are gathered.
enum { kTurnOutput, kTurnUpdates, kTurnWeights, kTurnEntry, kTurnOperands };
using TurnNest = plan::LoopNest<kTurnOperands>;
using TurnLoop = plan::Loop<kTurnOperands>;

// Sets dtype, element_size, elements, units and sum_bytes.
void FindOutputFacts(const Call& call, const TensorView& output, strew_reduction reduction,
                     OutputFacts* facts);
// Sets the facts about runs, slices and turns; `units` must be set. `updates` is the source for
// gather_scatter, and `is_random` tells that entries do not read it in order.
void FindTurnFacts(const TurnNest& inner, const Plan& plan, const TensorView& updates,
                   bool is_random, const TensorView& output, OutputFacts* facts);

// Groups of a plan.
struct Groups {
  int64_t first;
  int64_t end;
};

// The groups of a part of a pass over destinations. Parts have about as many entries each.
Groups GroupsOf(const Plan& plan, const Pass& pass, int64_t part);

// Consecutive turns of a loop, with the offsets of the first one.
struct Turns {
  const int64_t* first;
  const TurnLoop& loop;
  int64_t count;

  // Appends those of the other turns to `n` offsets of the first turn.
  void Repeat(int operand, int64_t n, int64_t* offsets) const {
    for (int64_t i = n; i < count * n; ++i) offsets[i] = offsets[i - n] + loop.stride[operand];
  }
};

// Consecutive entries of the order of a plan.
struct EntryList {
  const Plan& plan;
  int64_t first;
  int64_t count;

  // Calls body(entry_of), where entry_of(i) is the i-th entry.
  template <class Body>
  void Visit(const Body& body) const {
    const int64_t begin = first;
    if (!plan.order.exists()) return body([=](int64_t i) { return begin + i; });
    plan.order.Visit([&](const auto* order) {
      body([=](int64_t i) { return static_cast<int64_t>(order[begin + i]); });
    });
  }

  // Stores the offsets of the entries.
  void Resolve(const Numbering& numbering, int64_t* offsets) const;
};

// Locates the updates of entries.
struct UpdateSource {
  // For each turn, stores the positions of the updates of entries, in units from that of the first
  // turn in `updates`, or kNoUpdate. If there are weights, stores their positions too.
  void (*locate)(const void* self, const Turns& turns, const EntryList& entries, int64_t* updates,
                 int64_t* weights);
  const void* self;
  bool depends_on_turn;     // in other ways than by the strides of the turns; else one at a time
  bool may_have_no_update;  // some entries may have no update
  const unsigned char* updates;
  const unsigned char* weights;  // NULL for none
};

struct OrderedScatter {
  const Call& call;
  const Plan& plan;
  const TensorView& output;
  const PlanSchedule& schedule;
  const Numbering& destinations;
  TurnNest inner;
  UpdateSource source;
};

// Fails with UNSUPPORTED if a destination has more updates than an accumulator can count. Only
// means and wide reductions have this limit.
Status CheckTerms(const Call& call, const Plan& plan, strew_reduction reduction);

// Applies the updates, which CheckTerms() has allowed, to an output to which data was copied.
// *applied receives the number of updates, in units.
Status ApplyOrdered(const OrderedScatter& scatter, int64_t* applied);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ORDERED_H_
