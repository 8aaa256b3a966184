// SPDX-License-Identifier: Apache-2.0
// output = data
// output[place of an entry in `to`] (+)= weights[entry] * source[place of the entry in `from`]
#include <algorithm>

#include "accumulate/accumulate.h"
#include "api/context.h"
#include "api/tensor.h"
#include "base/reduction.h"
#include "plan/check.h"
#include "plan/text.h"
#include "plan/unit.h"
#include "prepared/by_entries.h"
#include "prepared/divide.h"
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
  const int64_t gathered = UpdatesRankOf(*all.from, *all.source);
  const int64_t scattered = UpdatesRankOf(*all.to, *all.data);
  if (gathered != scattered) {
    return call.Fail(STREW_INVALID_SHAPE,
                     "the plan for source gathers updates of rank %d, but the plan for data "
                     "scatters updates of rank %d",
                     static_cast<int>(gathered), static_cast<int>(scattered));
  }
  // No tensor could hold such updates, and messages could not list their dims.
  if (scattered > kMaxRank) {
    return call.Fail(STREW_INVALID_SHAPE, "updates would have rank %d, but no rank is above %d",
                     static_cast<int>(scattered), kMaxRank);
  }
  if (all.weights == nullptr || all.weights->rank <= scattered) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "weights has rank %d, but updates have rank %d",
                   all.weights->rank, static_cast<int>(scattered));
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

// Updates that are gathered from the source while they are combined.
class GatheredUpdates {
 public:
  GatheredUpdates(const Operands& all, const Axes& axes, int64_t units)
      : plan_(*all.from),
        from_(*all.from, *all.source, axes.from, units),
        to_(*all.to, *all.output, axes.to, units),
        has_weights_(all.weights != nullptr) {
    bool depends = false;
    for (int i = 0; i < to_.rank; ++i) {
      const Dim& of_to = to_.dims[i];
      const Dim& of_from = from_.dims[i];
      const int64_t weight = has_weights_ ? WeightStride(*all.weights, i, to_.rank) : 0;
      if (of_to.entry_stride != 0) {
        entries_.Append(of_to.count, of_from.entry_stride);
        source_.Append(of_to.count, of_from.indexed_stride);
        weights_.Append(of_to.count, weight);
      } else {
        inner_.Append(of_to.count, of_to.indexed_stride, of_from.indexed_stride, weight,
                      of_from.entry_stride);
        depends = depends || (of_to.count > 1 && of_from.entry_stride != 0);
      }
    }
    // Weights have no units, because opaque elements, which have several, take no weights.
    inner_.Append(units, 1, 1, 0, 0);
    inner_.Canonicalise();
    entries_.Finish();
    source_.Finish();
    weights_.Finish();
    depends_on_turn_ = depends;
  }

  // Stores the places of `from` in the order of `to`, for this call and later ones, if that helps.
  void FindPartner(const Plan& to) {
    if (depends_on_turn_ || !entries_.is_identity() || !to.order.exists()) return;
    in_order_ = to.partner.PlacesOf(plan_, to);
  }

  UpdateSource SourceOf(const Operands& all) const {
    return {[](const void* self, const int64_t* turn, const EntryList& entries, int64_t* updates,
               int64_t* weights) {
              static_cast<const GatheredUpdates*>(self)->Locate(turn, entries, updates, weights);
            },
            this,
            depends_on_turn_,
            plan_.has_dropped(),
            all.source->data,
            has_weights_ ? all.weights->data : nullptr};
  }
  const Layout& of_from() const { return from_; }
  const Layout& of_to() const { return to_; }
  const TurnNest& inner() const { return inner_; }

 private:
  void Locate(const int64_t* turn, const EntryList& list, int64_t* updates,
              int64_t* weights) const {
    if (has_weights_) LocateBy(weights_, list, weights);
    if (in_order_ != nullptr) {
      in_order_->Read([&](int64_t i) { return list.first + i; }, list.count, updates);
    } else if (!depends_on_turn_ && entries_.is_identity()) {
      // One loop over the order and the places, which are read at random.
      list.Visit([&](const auto& entry_of) { plan_.places.Read(entry_of, list.count, updates); });
    } else {
      LocateBy(entries_, list, updates);
      const int64_t shift = depends_on_turn_ ? turn[kTurnEntry] : 0;
      plan_.places.Read([=](int64_t i) { return updates[i] + shift; }, list.count, updates);
    }
    from_.places.ResolveMarked(updates, list.count);
    if (source_.is_zero()) return;
    int64_t source[Piece::kMost];
    LocateBy(source_, list, source);
    for (int64_t i = 0; i < list.count; ++i) {
      if (updates[i] != kNoUpdate) updates[i] += source[i];
    }
  }

  static void LocateBy(const Numbering& numbering, const EntryList& list, int64_t* offsets) {
    list.Visit([&](const auto& entry_of) {
      for (int64_t i = 0; i < list.count; ++i) offsets[i] = entry_of(i);
    });
    numbering.Resolve(offsets, list.count);
  }

  const Plan& plan_;
  const Layout from_;
  const Layout to_;
  const bool has_weights_;
  // For each entry of `to`: the entry of `from`, and offsets in the source and in the weights.
  Numbering entries_;
  Numbering source_;
  Numbering weights_;
  TurnNest inner_;
  bool depends_on_turn_;
  const Numbers* in_order_ = nullptr;  // the places in the order of `to`
};

Status CopyData(const Call& call, const Operands& all) {
  if (SameElements(*all.data, *all.output)) return STREW_OK;
  return share::Copy(call, *all.data, *all.output);
}

bool LieApart(int64_t stride, const TensorView& tensor) {
  return Magnitude(stride) >= static_cast<uint64_t>(kCacheLine / tensor.element_size);
}

// Finds the dims along which neither plan changes: slices outside the entries, or rows.
void FindRows(const Passage& passage, GatherScatterFacts* facts) {
  const int rank = passage.of_to.rank;
  facts->has_slices = facts->weighs_rows = false;
  facts->row_elements = 1;
  bool is_within = true;
  for (int i = rank - 1; i >= 0; --i) {
    const Dim& to = passage.of_to.dims[i];
    const Dim& from = passage.of_from.dims[i];
    if (to.count == 1) continue;
    if (to.entry_stride != 0 || from.entry_stride != 0) {
      is_within = false;
    } else if (!is_within && facts->slices != 0 && LieApart(to.indexed_stride, passage.output) &&
               LieApart(from.indexed_stride, passage.source)) {
      facts->has_slices = true;
    } else {
      facts->row_elements *= to.count;
      facts->weighs_rows = facts->weighs_rows || (passage.weights != nullptr &&
                                                  WeightStride(*passage.weights, i, rank) == 0);
    }
  }
}

GatherScatterFacts FactsOf(const Passage& passage, const TurnNest& inner, int64_t units,
                           strew_reduction reduction) {
  const TensorView& output = passage.output;
  GatherScatterFacts facts;
  facts.dtype = output.dtype;
  facts.element_size = output.element_size;
  facts.elements = output.size;
  facts.entry_elements = TurnsOf(inner) / units;
  facts.units = units;
  facts.sum_bytes = Accumulates(reduction) ? SumBytes(passage.call, output) : 0;
  const bool is_random = passage.from.order.exists() || passage.to.order.exists();
  FindTurnFacts(inner, passage.to, passage.source, is_random, output, &facts);
  facts.has_weights = passage.weights != nullptr;
  FindRows(passage, &facts);
  return facts;
}

// Tells what the schedule says, and copies the data if it says so.
Status Begin(const Call& call, const Operands& all, const PlanSchedule& schedule) {
  if (call.explains()) Explain(call, schedule, *all.to);
  return schedule.copies_data ? CopyData(call, all) : STREW_OK;
}

// Passes updates that may go by entries, unless the order of destinations is faster: *done receives
// whether they are passed, *applied their number. Not inline, because that order needs no stack
// space for the loops.
[[gnu::noinline]] Status PassEntries(const Operands& all, const Passage& passage,
                                     const GatherScatterFacts& facts, strew_reduction reduction,
                                     bool* done, int64_t* applied) {
  const Call& call = passage.call;
  SingleFacts singles;
  FindUpdateLoops(passage, &singles.nest);
  singles.places_are_lines = passage.of_from.places.is_line() && passage.of_to.places.is_line();
  singles.place_span = passage.of_to.places.Span() * passage.output.element_size;
  const PlanSchedule schedule = ScheduleGatherScatter(plan::Machine(call), passage.from, passage.to,
                                                      facts, &singles, reduction);
  *done = schedule.way == Way::kByEntries;
  if (!*done) return STREW_OK;
  STREW_TRY(Begin(call, all, schedule));
  STREW_TRY(PassByEntries(passage, singles.nest, schedule, applied));
  if (!schedule.divides) return STREW_OK;
  return DivideByCounts(call, passage.to, passage.output, passage.of_to, schedule);
}

Status GatherScatter(const Call& call, const Operands& all, strew_reduction reduction) {
  Axes axes;
  bool is_empty = false;
  STREW_TRY(Validate(call, all, reduction, &axes, &is_empty));
  const strew_reduction simplified = all.to->Simplified(reduction, all.output->dtype);
  STREW_TRY(CheckTerms(call, *all.to, simplified));
  if (is_empty) {
    STREW_TRY(CopyData(call, all));
    return call.Succeed(0);
  }
  const int64_t units = plan::IndexedUnitsOf(all.output->element_size).count;
  GatheredUpdates gathered(all, axes, units);
  const Passage passage = {call,    *all.from,   *all.source,        all.weights,
                           *all.to, *all.output, gathered.of_from(), gathered.of_to()};
  const GatherScatterFacts facts = FactsOf(passage, gathered.inner(), units, simplified);
  int64_t applied = 0;
  if (MayGoByEntries(plan::Machine(call), *all.from, *all.to, facts, simplified)) {
    bool done = false;
    STREW_TRY(PassEntries(all, passage, facts, simplified, &done, &applied));
    if (done) return call.Succeed(applied);
  }
  const PlanSchedule schedule =
      ScheduleGatherScatter(plan::Machine(call), *all.from, *all.to, facts, nullptr, simplified);
  STREW_TRY(Begin(call, all, schedule));
  gathered.FindPartner(*all.to);
  STREW_TRY(ApplyOrdered({call, *all.to, *all.output, schedule, gathered.of_to().destinations,
                          gathered.inner(), gathered.SourceOf(all)},
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
