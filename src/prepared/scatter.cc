// SPDX-License-Identifier: Apache-2.0
// output = data; output[destination of an entry] (+)= updates[entry]
#include <cassert>

#include "accumulate/accumulate.h"
#include "api/context.h"
#include "api/tensor.h"
#include "base/reduction.h"
#include "op/indexed.h"
#include "plan/check.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "prepared/ascending_sums.h"
#include "prepared/divide.h"
#include "prepared/element_order.h"
#include "prepared/identities.h"
#include "prepared/operands.h"
#include "prepared/ordered.h"
#include "prepared/plan.h"
#include "prepared/schedule.h"
#include "prepared/space.h"
#include "share/parts.h"
#include "share/share.h"

namespace strew::prepared {
namespace {

Status Validate(const Call& call, const Plan& plan, const TensorView* data,
                const TensorView* updates, strew_reduction reduction, const TensorView* output,
                int* axis) {
  STREW_TRY(plan::CheckDtypes(call, {{"data", data}, {"updates", updates}, {"output", output}}, {},
                              reduction));
  STREW_TRY(CheckRanks(call, plan, {"data", data}, {"updates", updates}));
  STREW_TRY(plan::CheckDataRank(call, *data, *output));
  STREW_TRY(CheckPlanAxis(call, plan, *data, axis));
  STREW_TRY(plan::CheckSameShape(call, {"output", output}, {"data", data}));
  STREW_TRY(CheckExtents(call, plan, {"data", data}, *axis));
  STREW_TRY(CheckUpdatesShape(call, UpdatesShapeOf(plan, *data, *axis), {"updates", updates}));
  return plan::CheckMemory(call, {"data", data}, {{"updates", updates}}, {"output", output});
}

// Locates the updates of entries by the numbers of the entries.
void LocateUpdates(const void* self, const Turns&, const EntryList& entries, int64_t* updates,
                   int64_t*) {
  entries.Resolve(*static_cast<const Numbering*>(self), updates);
}

TurnNest InnerTurnsOf(const Layout& layout, const TensorView& updates, int64_t units) {
  TurnNest inner;
  for (int i = 0; i < layout.rank; ++i) {
    const Dim& dim = layout.dims[i];
    if (dim.entry_stride != 0) continue;
    inner.Append(dim.count, dim.indexed_stride, StrideIn(updates, i, units), 0, 0);
  }
  inner.Append(units, 1, 1, 0, 0);
  inner.Canonicalise();
  return inner;
}

// A call whose operands are checked, and its schedule.
struct PlannedScatter {
  const Call& call;
  const Plan& plan;
  const walk::Operands& operands;  // the indices are the places of the plan
  int axis;
  const PlanSchedule& schedule;

  const TensorView& output() const { return operands.output; }
};

// Scatters in the order of destinations. Not inline, because the other way needs no stack space for
// its nests.
[[gnu::noinline]] Status ScatterInOrder(const PlannedScatter& all) {
  const TensorView& updates = all.operands.updates;
  const int64_t units = plan::IndexedUnitsOf(all.output().element_size).count;
  const Layout layout(all.plan, all.output(), all.axis, units);
  const Numbering numbering = UpdatesOfEntries(layout, updates, units);
  STREW_TRY(share::Copy(all.call, all.operands.data, all.output()));
  int64_t applied = 0;
  STREW_TRY(ApplyOrdered({all.call,
                          all.plan,
                          all.output(),
                          all.schedule,
                          layout.destinations,
                          InnerTurnsOf(layout, updates, units),
                          {LocateUpdates, &numbering, false, false, updates.data, nullptr}},
                         &applied));
  return all.call.Succeed(applied / units);
}

// Scatters with the loops of the operator, which takes the places of the plan as checked indices.
[[gnu::noinline]] Status ScatterByPlaces(const PlannedScatter& all,
                                         const walk::Operands& operands) {
  plan::Findings findings;
  findings.non_negative = true;
  findings.all_equal = all.plan.names_one_place;
  if (all.plan.has_dropped()) findings.out_of_range = plan::OutOfRange::kDrop;
  plan::IndexSpace space = SpaceOfCall(all.plan, operands, all.axis);
  const strew_reduction reduction =
      all.schedule.begins_anew ? ReductionKind(all.schedule.reduction) : all.schedule.reduction;
  return RunChecked(all.call, operands, reduction, findings, &space);
}

// Copies data, and stores the identity at each destination. Not inline, because most calls need no
// stack space for it.
[[gnu::noinline]] Status BeginAnew(const PlannedScatter& all) {
  const TensorView& output = all.output();
  STREW_TRY(share::Copy(all.call, all.operands.data, output));
  const Layout layout(all.plan, output, all.axis, 1);
  plan::LoopNest<1> outside = layout.InnerLoops();
  const plan::Loop<1> run = outside.PopInnermost();
  const Identities identities(all.call, all.plan, output, layout.destinations, run,
                              all.schedule.reduction);
  const Pass& pass = all.schedule.beginning;
  return share::ForEachPart(all.call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    identities.Store(GroupsOf(all.plan, pass, part), [&](const auto& store) {
      plan::ForEachTurn(outside, outside.rank, [&](const int64_t* turn) {
        store(output.data + turn[0] * output.element_size);
      });
    });
  });
}

Status Divide(const PlannedScatter& all) {
  const int64_t units = plan::IndexedUnitsOf(all.output().element_size).count;
  const Layout layout(all.plan, all.output(), all.axis, units);
  return DivideByCounts(all.call, all.plan, all.output(), layout, all.schedule);
}

// Not inline, because most calls have neither accumulators nor several loops over their axes.
[[gnu::noinline]] void FindTurns(const Plan& plan, const TensorView& updates,
                                 const TensorView& output, int axis, OutputFacts* facts) {
  const Layout layout(plan, output, axis, facts->units);
  FindTurnFacts(InnerTurnsOf(layout, updates, facts->units), plan, updates, plan.order.exists(),
                output, facts);
}

// The length of lines of destinations that are consecutive elements of the output. Not inline,
// because most calls need no layout.
[[gnu::noinline]] int64_t LineOfDestinations(const Plan& plan, const TensorView& output, int axis) {
  return Layout(plan, output, axis, 1).destinations.LineLength();
}

// True if it may pay to make the loops of rows once more, to look at inner turns that decide if
// updates go in the order of destinations: small ones stay in the caches anyway.
bool MayHaveTurns(const ScatterFacts& facts, const TensorView& updates, strew_reduction reduction) {
  constexpr int64_t kSmall = 32 << 10;
  const bool decides = Accumulates(reduction) || ExcludesSelf(reduction) || facts.groups_rows ||
                       !facts.axes_are_one_loop;
  return decides && updates.size > kSmall / updates.element_size;
}

// Finds the lines of single elements that go in the order of destinations. Returns false if they do
// not.
bool FindLines(const Call& call, const plan::Machine& machine, const Plan& plan,
               const TensorView& updates, strew_reduction reduction, const TensorView& output,
               int axis, const ScatterFacts& facts, ElementLines* lines) {
  if (facts.is_empty || !facts.axes_are_one_loop) return false;
  if (!MayGoInElementOrder(machine, plan, facts, reduction)) return false;
  return HasElementKernel(call, plan, output, reduction) &&
         FindElementLines(plan, updates, output, axis, lines);
}

// The same for accumulators of elements whose destinations ascend.
bool FindAscendingLines(const plan::Machine& machine, const Plan& plan, const TensorView& updates,
                        const TensorView& output, int axis, const ScatterFacts& facts,
                        ElementLines* lines) {
  if (facts.slot_bytes == 0 || facts.SumsAreElements() || !facts.axes_are_one_loop) return false;
  if (plan.order.exists() || !plan.IsLastAxis() || !SumsAscend(machine, plan, facts)) return false;
  return FindElementLines(plan, updates, output, axis, lines) && lines->output_stride == 1;
}

ScatterFacts FactsOf(const Call& call, const Plan& plan, const TensorView& data,
                     const TensorView& updates, strew_reduction reduction, const TensorView& output,
                     int axis) {
  ScatterFacts facts;
  FindOutputFacts(call, output, reduction, &facts);
  facts.entry_elements = plan.entries == 0 ? 0 : updates.size / plan.entries;
  facts.is_empty = updates.size == 0 || output.size == 0;
  facts.read_bytes = BytesOf(updates);
  facts.axes_are_one_loop = AxesAreOneLoop(plan, data) && AxesAreOneLoop(plan, output);
  if (!facts.is_empty && ReductionKind(reduction) == STREW_MEAN && facts.SumsAreElements() &&
      facts.EntriesAreElements() && facts.axes_are_one_loop) {
    facts.line_of_destinations = LineOfDestinations(plan, output, axis);
  }
  if (!facts.is_empty && MayHaveTurns(facts, updates, reduction)) {
    FindTurns(plan, updates, output, axis, &facts);
  }
  if (!facts.is_empty && Accumulates(reduction) && facts.EntriesAreElements() &&
      plan.kept < kernel::kMostTerms) {
    facts.slot_bytes =
        accumulate::SlotBytes(call, output, reduction, plan.kept, plan.has_dropped());
  }
  return facts;
}

Status ScatterElements(const PlannedScatter& all, const ElementLines& lines) {
  const TensorView& data = all.operands.data;
  const bool copies = CopiesInPieces(all.call, all.plan, data, all.output(), lines);
  if (!copies) {
    STREW_TRY(share::Copy(all.call, data, all.output()));
  } else if (all.call.explains()) {
    all.call.Explain("Data is copied in pieces, each just before its updates.");
  }
  STREW_TRY(ScatterInElementOrder(all.call, all.plan, copies ? &data : nullptr,
                                  all.operands.updates, all.output(), lines, all.schedule));
  return all.call.Succeed(all.plan.kept);
}

walk::Operands InPlace(const walk::Operands& operands) {
  return {operands.output, operands.indices, operands.updates, operands.output};
}

// `lines` is for kElementOrder and kAscendingSums.
Status Run(const PlannedScatter& all, const ElementLines& lines) {
  const PlanSchedule& schedule = all.schedule;
  if (all.call.explains()) Explain(all.call, schedule, all.plan);
  if (schedule.way == Way::kInOrder) return ScatterInOrder(all);
  if (schedule.way == Way::kAscendingSums) {
    const walk::Operands& operands = all.operands;
    STREW_TRY(SumAscending(all.call, all.plan, operands.data, operands.updates, all.output(), lines,
                           schedule));
    return all.call.Succeed(all.plan.kept);
  }
  if (schedule.way == Way::kElementOrder) {
    STREW_TRY(ScatterElements(all, lines));
  } else if (schedule.begins_anew) {
    STREW_TRY(BeginAnew(all));
    STREW_TRY(ScatterByPlaces(all, InPlace(all.operands)));
  } else {
    STREW_TRY(ScatterByPlaces(all, all.operands));
  }
  return schedule.divides ? Divide(all) : STREW_OK;
}

Status ScatterByPlan(const Call& call, const strew_plan* handle, const TensorView* data,
                     const TensorView* updates, strew_reduction asked, const TensorView* output) {
  if (handle == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "plan is NULL");
  const Plan& plan = handle->plan;
  STREW_TRY(plan::CheckBound(call, {{"data", data}, {"updates", updates}}, {"output", output}));
  STREW_TRY(plan::CheckReduction(call, asked));
  int axis;
  STREW_TRY(Validate(call, plan, data, updates, asked, output, &axis));
  const strew_reduction reduction = plan.Simplified(asked, output->dtype);
  const plan::Machine machine(call);
  ScatterFacts facts = FactsOf(call, plan, *data, *updates, reduction, *output, axis);
  if (!facts.is_empty) STREW_TRY(CheckTerms(call, plan, reduction));
  ElementLines lines = {};
  facts.goes_in_element_order =
      FindLines(call, machine, plan, *updates, reduction, *output, axis, facts, &lines);
  facts.ascends_on_line = FindAscendingLines(machine, plan, *updates, *output, axis, facts, &lines);
  const PlanSchedule schedule = ScheduleScatter(machine, plan, facts, reduction);
  const TensorView places = PlacesOf(plan);
  const walk::Operands operands = {schedule.copies_data ? *data : *output, places, *updates,
                                   *output};
  const Status status = Run({call, plan, operands, axis, schedule}, lines);
  if (status.code() != STREW_OUT_OF_MEMORY) return status;
  // In order of destinations accumulators need no scratch.
  assert(schedule.way == Way::kByPlaces || schedule.way == Way::kAscendingSums);
  assert(Accumulates(schedule.reduction));
  facts.has_scratch = false;
  const PlanSchedule without = ScheduleScatter(machine, plan, facts, reduction);
  return Run({call, plan, operands, axis, without}, lines);
}

}  // namespace
}  // namespace strew::prepared

extern "C" strew_status strew_plan_scatter(strew_context* context, const strew_plan* plan,
                                           const strew_tensor* data, const strew_tensor* updates,
                                           strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::prepared::ScatterByPlan(strew::CallWith(context), plan, ViewOf(data),
                                        ViewOf(updates), reduction, ViewOf(output))
      .code();
}
