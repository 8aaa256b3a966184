// SPDX-License-Identifier: Apache-2.0
#include "prepared/ordered.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <type_traits>

#include "accumulate/accumulate.h"
#include "plan/cut.h"
#include "plan/unit.h"
#include "prepared/group_writer.h"
#include "share/parts.h"

namespace strew::prepared {
namespace {

// The first group that begins at this position of the order or after it.
int64_t GroupAt(const Plan& plan, int64_t position) {
  if (!plan.firsts.exists()) return position;
  return plan.firsts.Visit([&](const auto* firsts) {
    using T = std::decay_t<decltype(firsts[0])>;
    const auto* const end = firsts + plan.groups();
    return static_cast<int64_t>(std::lower_bound(firsts, end, static_cast<T>(position)) - firsts);
  });
}

// The first group of a part.
int64_t BorderOf(const Plan& plan, const Pass& pass, int64_t part) {
  return part == pass.parts ? plan.groups() : GroupAt(plan, plan.kept / pass.parts * part);
}

}  // namespace

Groups GroupsOf(const Plan& plan, const Pass& pass, int64_t part) {
  return {BorderOf(plan, pass, part), BorderOf(plan, pass, part + 1)};
}

void FindOutputFacts(const Call& call, const TensorView& output, strew_reduction reduction,
                     OutputFacts* facts) {
  facts->dtype = output.dtype;
  facts->element_size = output.element_size;
  facts->elements = output.size;
  facts->units = plan::IndexedUnitsOf(output.element_size).count;
  facts->sum_bytes = Accumulates(reduction) ? accumulate::SumBytes(call, output) : 0;
  if (Accumulates(reduction) || ReductionKind(reduction) == STREW_NONE) return;
  const kernel::CombineKernels& kernels =
      walk::IndexedKernelsFor(call, output, ReductionKind(reduction));
  facts->groups_rows = kernels.rows != nullptr && !kernels.heavy;
}

void FindTurnFacts(const TurnNest& inner, const Plan& plan, const TensorView& updates,
                   bool is_random, const TensorView& output, OutputFacts* facts) {
  const int64_t width = output.element_size / facts->units;
  facts->run = 1;
  if (inner.rank == 0) return;
  const auto& run = inner.loop[inner.rank - 1];
  facts->run = run.count;
  const bool are_rows = run.stride[kTurnUpdates] == 1 && run.stride[kTurnOutput] == 1;
  facts->row_bytes = are_rows ? run.count * width : 0;
  const auto& turns = inner.loop[0];
  facts->turns = turns.count;
  facts->turn_elements = inner.Turns() / turns.count;
  const int64_t turn_bytes = static_cast<int64_t>(Magnitude(turns.stride[kTurnOutput])) * width;
  const bool are_outermost = turn_bytes >= (output.highest - output.lowest) / turns.count;
  facts->turn_bytes = are_outermost ? turn_bytes : 0;
  if (!plan::AreLinesApart(turns.stride[kTurnUpdates], width)) return;
  facts->slices = turns.count;
  if (!is_random) return;
  const auto count = static_cast<double>(turns.count);
  const double bytes = BytesOf(updates) / count;
  const double reads = static_cast<double>(plan.kept) * static_cast<double>(inner.Turns()) / count;
  facts->slice_bytes = std::min(bytes, reads * kCacheLine);
}

void EntryList::Resolve(const Numbering& numbering, int64_t* offsets) const {
  Visit([&](const auto& entry_of) {
    for (int64_t i = 0; i < count; ++i) offsets[i] = entry_of(i);
  });
  numbering.Resolve(offsets, count);
}

Status CheckTerms(const Call& call, const Plan& plan, strew_reduction reduction) {
  if (!Accumulates(reduction)) return STREW_OK;
  if (plan.kept < kernel::kMostTerms || !plan.firsts.exists()) return STREW_OK;
  for (int64_t g = 0; g < plan.groups(); ++g) {
    // The old value is one more term.
    if (plan.FirstOf(g + 1) - plan.FirstOf(g) < kernel::kMostTerms) continue;
    return call.Fail(STREW_UNSUPPORTED,
                     "a destination has %" PRId64
                     " updates, but means and wide sums by a plan "
                     "have at most %" PRId64,
                     plan.FirstOf(g + 1) - plan.FirstOf(g), kernel::kMostTerms - 1);
  }
  return STREW_OK;
}

Status ApplyOrdered(const OrderedScatter& scatter, int64_t* applied) {
  const Plan& plan = scatter.plan;
  *applied = 0;
  if (plan.kept == 0) return STREW_OK;
  GroupKernels kernels(scatter);
  const bool streams = scatter.schedule.streams;
  if (streams) kernels.run = kernels.move.stream;
  const Pass& pass = scatter.schedule.pass;
  plan::Cut cut;
  cut.Append(scatter.inner.rank == 0 ? 1 : scatter.inner.loop[0].count, 1,
             scatter.schedule.order.cuts_turns ? pass.parts : 1);
  std::atomic<int64_t> sum{0};
  STREW_TRY(share::ForEachPart(scatter.call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    const bool cuts_turns = scatter.schedule.order.cuts_turns;
    const Groups groups = cuts_turns ? Groups{0, plan.groups()} : GroupsOf(plan, pass, part);
    const plan::Turns turns = cut.TurnsOf(cuts_turns ? part : 0, 0);
    sum += GroupWriter(scatter, kernels).Write(groups.first, groups.end, turns);
    if (streams) kernel::FinishStreaming();
  }));
  *applied = sum;
  return STREW_OK;
}

}  // namespace strew::prepared
