// SPDX-License-Identifier: Apache-2.0
// output = data
// output[place of an entry in `to`] (+)= weights[entry] * source[place of the entry in `from`]
#include <algorithm>
#include <optional>

#include "accumulate/accumulate.h"
#include "api/context.h"
#include "api/tensor.h"
#include "base/scratch.h"
#include "plan/check.h"
#include "plan/text.h"
#include "plan/unit.h"
#include "prepared/by_entries.h"
#include "prepared/divide.h"
#include "prepared/element_sums.h"
#include "prepared/operands.h"
#include "prepared/ordered.h"
#include "prepared/passage.h"
#include "prepared/piece.h"
#include "prepared/plan.h"
#include "prepared/schedule.h"
#include "share/share.h"

namespace strew::prepared {
namespace {

struct Operands {
  const Plan* from;
  const TensorView* source;
  const TensorView* weights;  // NULL for none
  const Plan* to;
  const TensorView* data;
  const TensorView* output;
};

Status CheckHandles(const Call& call, const Operands& all, strew_reduction reduction) {
  if (all.from == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "from is NULL");
  if (all.to == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "to is NULL");
  STREW_TRY(
      plan::CheckBound(call, {{"source", all.source}, {"data", all.data}}, {"output", all.output}));
  if (all.weights != nullptr) {
    STREW_TRY(plan::CheckBound(call, {{"weights", all.weights}}, {"output", all.output}));
  }
  return plan::CheckReduction(call, reduction);
}

Status CheckDtypes(const Call& call, const Operands& all, strew_reduction reduction) {
  STREW_TRY(plan::CheckDtypes(
      call, {{"source", all.source}, {"data", all.data}, {"output", all.output}}, {}, reduction));
  if (all.weights == nullptr) return STREW_OK;
  return plan::CheckDtypes(call, {{"source", all.source}, {"weights", all.weights}}, {}, STREW_MUL);
}

// Checks that both plans are for updates of one rank. Messages name a plan by its tensor, because
// `from` and `to` have other names in languages that reserve these words.
Status CheckOneRank(const Call& call, const Operands& all) {
  const int gathered = UpdatesRankOf(*all.from, *all.source);
  const int scattered = UpdatesRankOf(*all.to, *all.data);
  if (gathered != scattered) {
    return call.Fail(STREW_INVALID_SHAPE,
                     "the plan for source gathers updates of rank %d, but the plan for data "
                     "scatters updates of rank %d",
                     gathered, scattered);
  }
  // No tensor could hold such updates, and messages could not list their dims.
  if (scattered > kMaxRank) {
    return call.Fail(STREW_INVALID_SHAPE, "updates would have rank %d, but no rank is above %d",
                     scattered, kMaxRank);
  }
  if (all.weights == nullptr || all.weights->rank <= scattered) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "weights has rank %d, but updates have rank %d",
                   all.weights->rank, scattered);
}

Status CheckOneShape(const Call& call, const Operands& all, const UpdatesShape& gathered,
                     const UpdatesShape& scattered) {
  const bool same = std::equal(gathered.dims, gathered.dims + gathered.rank, scattered.dims);
  if (!same) {
    return call.Fail(STREW_INVALID_SHAPE,
                     "the plan for source gathers updates of shape %s, but the plan for data "
                     "scatters updates of shape %s",
                     plan::ListText(gathered.dims, gathered.rank).c_str(),
                     plan::ListText(scattered.dims, scattered.rank).c_str());
  }
  if (all.weights == nullptr) return STREW_OK;
  const int missing = gathered.rank - all.weights->rank;
  for (int i = 0; i < all.weights->rank; ++i) {
    const int64_t count = all.weights->shape[i];
    if (count == 1 || count == gathered.dims[missing + i]) continue;
    return call.Fail(STREW_INVALID_SHAPE, "weights has shape %s, which does not broadcast to %s",
                     plan::ShapeText(*all.weights).c_str(),
                     plan::ListText(gathered.dims, gathered.rank).c_str());
  }
  return STREW_OK;
}

Status CheckMemory(const Call& call, const Operands& all) {
  STREW_TRY(plan::CheckMemory(call, {"data", all.data}, {{"source", all.source}},
                              {"output", all.output}));
  if (all.weights == nullptr) return STREW_OK;
  return plan::CheckMemory(call, {"data", all.data}, {{"weights", all.weights}},
                           {"output", all.output});
}

bool IsEmpty(const Operands& all, const UpdatesShape& updates) {
  const int64_t* const end = updates.dims + updates.rank;
  return all.source->size == 0 || all.output->size == 0 || std::find(updates.dims, end, 0) != end;
}

struct Axes {
  int from;
  int to;
};

Status Validate(const Call& call, const Operands& all, strew_reduction reduction, Axes* axes,
                bool* is_empty) {
  STREW_TRY(CheckHandles(call, all, reduction));
  STREW_TRY(CheckDtypes(call, all, reduction));
  STREW_TRY(CheckIndexedRank(call, *all.from, {"source", all.source}));
  STREW_TRY(CheckIndexedRank(call, *all.to, {"data", all.data}));
  STREW_TRY(plan::CheckDataRank(call, *all.data, *all.output));
  STREW_TRY(CheckOneRank(call, all));
  STREW_TRY(CheckPlanAxis(call, *all.from, *all.source, &axes->from));
  STREW_TRY(CheckPlanAxis(call, *all.to, *all.data, &axes->to));
  STREW_TRY(plan::CheckSameShape(call, {"output", all.output}, {"data", all.data}));
  STREW_TRY(CheckExtents(call, *all.from, {"source", all.source}, axes->from));
  STREW_TRY(CheckExtents(call, *all.to, {"data", all.data}, axes->to));
  const UpdatesShape updates = UpdatesShapeOf(*all.to, *all.data, axes->to);
  STREW_TRY(CheckOneShape(call, all, UpdatesShapeOf(*all.from, *all.source, axes->from), updates));
  *is_empty = IsEmpty(all, updates);
  return CheckMemory(call, all);
}

// Stride of the weights in a dim of the updates; 0 if there are no weights. They are broadcast as
// NumPy does.
int64_t WeightStride(const Passage& passage, int dim) {
  if (passage.weights == nullptr) return 0;
  const int own = dim - (passage.of_to.rank - passage.weights->rank);
  return own < 0 ? 0 : StrideOf(*passage.weights, own);
}

// Updates that are gathered from the source while they are combined.
class GatheredUpdates {
 public:
  GatheredUpdates(const Passage& passage, int64_t units) : passage_(passage) {
    for (int i = 0; i < passage.of_to.rank; ++i) {
      const Dim& of_to = passage.of_to.dims[i];
      const Dim& of_from = passage.of_from.dims[i];
      const int64_t weight = WeightStride(passage, i);
      if (of_to.entry_stride != 0) {
        entries_.Append(of_to.count, of_from.entry_stride);
        source_.Append(of_to.count, of_from.indexed_stride);
        weights_.Append(of_to.count, weight);
      } else {
        inner_.Append(of_to.count, of_to.indexed_stride, of_from.indexed_stride, weight,
                      of_from.entry_stride);
        depends_on_turn_ |= of_to.count > 1 && of_from.entry_stride != 0;
      }
    }
    // Weights have no units, because opaque elements, which have several, take no weights.
    inner_.Append(units, 1, 1, 0, 0);
    inner_.Canonicalise();
    entries_.Finish();
    source_.Finish();
    weights_.Finish();
  }

  // Stores the places of `from` in the order of `to`, for this call and later ones, if that helps.
  void FindPartner() {
    const Plan& to = passage_.to;
    if (depends_on_turn_ || !entries_.is_identity() || !to.order.exists()) return;
    in_order_ = to.partner.PlacesOf(passage_.from, to);
  }

  const TurnNest& inner() const { return inner_; }
  UpdateSource source() const {
    return {[](const void* self, const Turns& turns, const EntryList& entries, int64_t* updates,
               int64_t* weights) {
              static_cast<const GatheredUpdates*>(self)->Locate(turns, entries, updates, weights);
            },
            this,
            depends_on_turn_,
            passage_.from.has_dropped(),
            passage_.source.data,
            passage_.weights != nullptr ? passage_.weights->data : nullptr};
  }

 private:
  void Locate(const Turns& turns, const EntryList& list, int64_t* updates, int64_t* weights) const {
    const Numbers& places = passage_.from.places;
    const int64_t n = turns.count * list.count;
    if (passage_.weights != nullptr) Resolve(weights_, turns, kTurnWeights, list, weights);
    const Numbering& source_places = passage_.of_from.places;
    if (in_order_ != nullptr) {
      if (passage_.from.has_dropped()) {
        source_places.LocateMarked(*in_order_, list.first, n, updates);
      } else {
        source_places.Locate(*in_order_, list.first, n, updates);
      }
    } else if (!depends_on_turn_ && entries_.is_identity()) {
      // One loop over the order and the places, which are read at random.
      list.Visit([&](const auto& entry_of) { places.Read(entry_of, n, updates); });
      source_places.ResolveMarked(updates, n);
    } else {
      Resolve(entries_, turns, kTurnEntry, list, updates);
      const int64_t shift = turns.first[kTurnEntry];
      places.Read([=](int64_t i) { return updates[i] + shift; }, n, updates);
      source_places.ResolveMarked(updates, n);
    }
    if (source_.is_zero() && turns.count == 1) return;
    int64_t source[Piece::kMostLocated];
    Resolve(source_, turns, kTurnUpdates, list, source);
    for (int64_t i = 0; i < n; ++i) {
      if (updates[i] != kNoUpdate) updates[i] += source[i];
    }
  }

  static void Resolve(const Numbering& numbering, const Turns& turns, int operand,
                      const EntryList& list, int64_t* offsets) {
    list.Resolve(numbering, offsets);
    turns.Repeat(operand, list.count, offsets);
  }

  const Passage& passage_;
  // For each entry of `to`: the entry of `from`, and offsets in the source and in the weights.
  Numbering entries_;
  Numbering source_;
  Numbering weights_;
  TurnNest inner_;
  bool depends_on_turn_ = false;
  const Numbers* in_order_ = nullptr;  // the places in the order of `to`
};

// Finds the dims along which neither plan changes: slices outside the entries, or rows.
void FindRows(const Passage& passage, GatherScatterFacts* facts) {
  facts->has_slices = facts->weighs_rows = false;
  facts->row_elements = 1;
  bool is_within = true;
  for (int i = passage.of_to.rank - 1; i >= 0; --i) {
    const Dim& to = passage.of_to.dims[i];
    const Dim& from = passage.of_from.dims[i];
    if (to.count == 1) continue;
    if (to.entry_stride != 0 || from.entry_stride != 0) {
      is_within = false;
    } else if (!is_within && facts->slices != 0 &&
               plan::AreLinesApart(to.indexed_stride, passage.output.element_size) &&
               plan::AreLinesApart(from.indexed_stride, passage.source.element_size)) {
      facts->has_slices = true;
    } else {
      facts->row_elements *= to.count;
      facts->weighs_rows |= passage.weights != nullptr && WeightStride(passage, i) == 0;
    }
  }
}

// Bytes of an accumulator for each element of the output, or 0 if they have none: an output with
// gaps, or with offsets of 64 bits.
int64_t SlotBytes(const Passage& passage, strew_reduction reduction,
                  const GatherScatterFacts& facts) {
  const TensorView& output = passage.output;
  if (!Accumulates(reduction) || !output.contiguous || facts.units != 1) return 0;
  if (kernel::OffsetWidthOf(output.size - 1) != kernel::kOffset32) return 0;
  const int64_t updates = passage.to.entries * facts.entry_elements;
  if (updates >= kernel::kMostTerms) return 0;
  return accumulate::SlotBytes(passage.call, output, reduction, updates, /*counts_updates=*/false);
}

GatherScatterFacts FactsOf(const Passage& passage, const TurnNest& inner,
                           strew_reduction reduction) {
  const TensorView& output = passage.output;
  GatherScatterFacts facts;
  FindOutputFacts(passage.call, output, reduction, &facts);
  facts.entry_elements = inner.Turns() / facts.units;
  const bool is_random = passage.from.order.exists() || passage.to.order.exists();
  FindTurnFacts(inner, passage.to, passage.source, is_random, output, &facts);
  facts.has_weights = passage.weights != nullptr;
  facts.read_bytes = BytesOf(passage.source);
  FindRows(passage, &facts);
  facts.slot_bytes = SlotBytes(passage, reduction, facts);
  return facts;
}

// Tells what the schedule says, and copies the data if it says so.
Status Begin(const Passage& passage, const PlanSchedule& schedule) {
  if (passage.call.explains()) Explain(passage.call, schedule, passage.to);
  return schedule.copies_data ? share::Copy(passage.call, passage.data, passage.output) : STREW_OK;
}

// The loops over updates in the order of the entries.
UpdateNest UpdateLoopsOf(const Passage& passage) {
  UpdateNest nest;
  for (int i = 0; i < passage.of_to.rank; ++i) {
    const Dim& from = passage.of_from.dims[i];
    const Dim& to = passage.of_to.dims[i];
    nest.Append(to.count, from.entry_stride, to.entry_stride, from.indexed_stride,
                to.indexed_stride, WeightStride(passage, i));
  }
  nest.Merge();
  return nest;
}

// Makes the schedule of updates that may go by entries, and passes them if they do: *applied
// receives their number. Not inline, because the order of destinations needs no stack space for the
// loops.
[[gnu::noinline]] Status PassEntries(const Passage& passage, const GatherScatterFacts& facts,
                                     strew_reduction reduction, PlanSchedule* schedule,
                                     int64_t* applied) {
  const Call& call = passage.call;
  const SingleFacts singles = {passage.of_from.places.is_line() && passage.of_to.places.is_line(),
                               passage.of_to.places.Span() * passage.output.element_size,
                               passage.of_from.places.Span() * passage.output.element_size,
                               UpdateLoopsOf(passage)};
  const plan::Machine machine(call);
  *schedule = ScheduleGatherScatter(machine, passage.from, passage.to, facts, &singles, reduction);
  if (schedule->way != Way::kByEntries) return STREW_OK;
  const int64_t elements = schedule->summed_elements;
  const Scratch scratch(call, elements * facts.slot_bytes);
  std::optional<ElementSums> sums;
  if (elements != 0) {
    if (scratch.memory() == nullptr) {
      // In the order of destinations accumulators need no scratch.
      *schedule =
          ScheduleGatherScatter(machine, passage.from, passage.to, facts, nullptr, reduction);
      return STREW_OK;
    }
    sums.emplace(call, passage.output, reduction, singles.nest.Turns(), elements, scratch.memory());
  }
  STREW_TRY(Begin(passage, *schedule));
  STREW_TRY(PassByEntries(passage, singles.nest, *schedule, sums ? &*sums : nullptr, applied));
  if (!schedule->divides) return STREW_OK;
  return DivideByCounts(call, passage.to, passage.output, passage.of_to, *schedule);
}

Status GatherScatter(const Call& call, const Operands& all, strew_reduction reduction) {
  Axes axes;
  bool is_empty = false;
  STREW_TRY(Validate(call, all, reduction, &axes, &is_empty));
  const Plan& from = *all.from;
  const Plan& to = *all.to;
  const strew_reduction simplified = to.Simplified(reduction, all.output->dtype);
  STREW_TRY(CheckTerms(call, to, simplified));
  if (is_empty) {
    STREW_TRY(share::Copy(call, *all.data, *all.output));
    return call.Succeed(0);
  }
  const int64_t units = plan::IndexedUnitsOf(all.output->element_size).count;
  const Layout of_from(from, *all.source, axes.from, units);
  const Layout of_to(to, *all.output, axes.to, units);
  const Passage passage = {call,      from,        *all.source, all.weights, to,
                           *all.data, *all.output, of_from,     of_to};
  GatheredUpdates gathered(passage, units);
  const GatherScatterFacts facts = FactsOf(passage, gathered.inner(), simplified);
  const plan::Machine machine(call);
  PlanSchedule schedule;
  int64_t applied = 0;
  if (MayGoByEntries(machine, from, to, facts, simplified)) {
    STREW_TRY(PassEntries(passage, facts, simplified, &schedule, &applied));
    if (schedule.way == Way::kByEntries) return call.Succeed(applied);
  } else {
    schedule = ScheduleGatherScatter(machine, from, to, facts, nullptr, simplified);
  }
  STREW_TRY(Begin(passage, schedule));
  gathered.FindPartner();
  STREW_TRY(ApplyOrdered(
      {call, to, *all.output, schedule, of_to.destinations, gathered.inner(), gathered.source()},
      &applied));
  return call.Succeed(applied / units);
}

const Plan* PlanOf(const strew_plan* handle) { return handle == nullptr ? nullptr : &handle->plan; }

}  // namespace
}  // namespace strew::prepared

extern "C" strew_status strew_plan_gather_scatter(strew_context* context, const strew_plan* from,
                                                  const strew_tensor* source,
                                                  const strew_tensor* weights, const strew_plan* to,
                                                  const strew_tensor* data,
                                                  strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  using strew::prepared::PlanOf;
  return strew::prepared::GatherScatter(strew::CallWith(context),
                                        {PlanOf(from), ViewOf(source), ViewOf(weights), PlanOf(to),
                                         ViewOf(data), ViewOf(output)},
                                        reduction)
      .code();
}
