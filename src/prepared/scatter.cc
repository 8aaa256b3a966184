// SPDX-License-Identifier: Apache-2.0
// output = data; output[destination of an entry] (+)= updates[entry]
#include "accumulate/accumulate.h"
#include "api/context.h"
#include "api/tensor.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "op/indexed.h"
#include "plan/check.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "prepared/divide.h"
#include "prepared/operands.h"
#include "prepared/order.h"
#include "prepared/ordered.h"
#include "prepared/plan.h"
#include "prepared/space.h"
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
void LocateUpdates(const void* self, const int64_t*, const EntryList& entries, int64_t* updates,
                   int64_t*) {
  entries.Visit([&](const auto& entry_of) {
    for (int64_t i = 0; i < entries.count; ++i) updates[i] = entry_of(i);
  });
  static_cast<const Numbering*>(self)->Resolve(updates, entries.count);
}

// Scatters in the order of destinations. Not inline, because the other way needs no stack space for
// its nests.
[[gnu::noinline]] Status ScatterInOrder(const Call& call, const Plan& plan,
                                        const walk::Operands& operands, int axis,
                                        strew_reduction reduction) {
  const int64_t units = plan::IndexedUnitsOf(operands.output.element_size).count;
  const Layout layout(plan, operands.output, axis, units);
  Numbering updates;
  TurnNest inner;
  for (int i = 0; i < layout.rank; ++i) {
    const Dim& dim = layout.dims[i];
    const int64_t stride = StrideIn(operands.updates, i, units);
    if (dim.entry_stride != 0) {
      updates.Append(dim.count, stride);
    } else {
      inner.Append(dim.count, dim.indexed_stride, stride, 0, 0);
    }
  }
  updates.Finish();
  inner.Append(units, 1, 1, 0, 0);
  inner.Canonicalise();
  if (!SameElements(operands.data, operands.output)) {
    STREW_TRY(share::Copy(call, operands.data, operands.output));
  }
  int64_t applied = 0;
  STREW_TRY(ApplyOrdered({call,
                          plan,
                          operands.output,
                          reduction,
                          layout.destinations,
                          inner,
                          {LocateUpdates, &updates, false, false, operands.updates.data, nullptr}},
                         &applied));
  return call.Succeed(applied / units);
}

// Scatters with the loops of the operator, which takes the places of the plan as checked indices.
[[gnu::noinline]] Status ScatterByPlaces(const Call& call, const Plan& plan,
                                         const walk::Operands& operands, int axis,
                                         strew_reduction reduction) {
  plan::Findings findings;
  findings.non_negative = true;
  if (plan.has_dropped()) findings.out_of_range = plan::OutOfRange::kDrop;
  return RunChecked(call, operands, reduction, SpaceOfCall(plan, operands, axis), findings);
}

Status MeanBySums(const Call& call, const Plan& plan, const walk::Operands& operands, int axis,
                  bool excludes_self) {
  if (call.explains()) call.Explain("Means: sums, divided by what the plan has counted.");
  const strew_reduction sum = STREW_ADD | (excludes_self ? STREW_EXCLUDE_SELF : 0);
  STREW_TRY(ScatterByPlaces(call, plan, operands, axis, sum));
  const int64_t units = plan::IndexedUnitsOf(operands.output.element_size).count;
  return DivideByCounts(call, plan, operands.output, Layout(plan, operands.output, axis, units),
                        !excludes_self);
}

// True if each update is a single element.
bool HasElements(const Plan& plan, const TensorView& updates) {
  return updates.size == plan.entries && plan::IndexedUnitsOf(updates.element_size).count == 1;
}

// True if means and wide sums of single elements need no order of destinations: scratch has room
// for an accumulator of each destination of a batch, and many of these are touched. In that order
// they took this many times the time of ScatterByPlaces() (int8, int32, float16; Zen 5):
//
//   2^20 updates into 2^22 elements 0.9 to 1.1, into 2^20 1.4 to 1.6, into 2^14 1.6 to 1.7
//   2048 updates of each row of 4096 elements 2.7 to 3.2; float32, whose sums are elements, 1.4
//   10^6 wide sums of float16 and bfloat16 into 10^5 and 10^3 elements 2.3 to 2.4
bool AccumulatorsNeedNoOrder(const Call& call, const Plan& plan, const TensorView& output) {
  constexpr int64_t kBytesOfCount = sizeof(int64_t);
  const int64_t bytes = SumBytes(call, output) + kBytesOfCount;
  if (plan.NumberOfPlaces() > plan::MostScratch(1) / bytes) return false;
  if (plan.kept < DestinationsOf(plan) / 4) return false;
  if (!SumsAreElements(call, output)) return true;
  const int64_t near = plan::Machine(call).tuning.near_batch_sums;
  return plan.IsLastAxis() && plan.NumberOfPlaces() <= near / bytes;
}

// True if scratch has room to sort the entries again, as several threads do. Offsets and places of
// 64 bits and updates of 16 bytes are 32 bytes for each entry, dropped ones included. Means, and
// reductions that exclude old values, may use 2 MiB for it.
bool HasRoomToShare(const Call& call, const Plan& plan) {
  return plan::Machine(call).workers == 1 || plan.entries <= (int64_t{2} << 20) / 32;
}

Status Scatter(const Call& call, const strew_plan* handle, const TensorView* data,
               const TensorView* updates, strew_reduction asked, const TensorView* output) {
  if (handle == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "plan is NULL");
  const Plan& plan = handle->plan;
  STREW_TRY(plan::CheckBound(call, {{"data", data}, {"updates", updates}}, {"output", output}));
  STREW_TRY(plan::CheckReduction(call, asked));
  int axis;
  STREW_TRY(Validate(call, plan, data, updates, asked, output, &axis));
  const strew_reduction reduction = plan.Simplified(asked, output->dtype);
  const TensorView places = PlacesOf(plan);
  const bool reads_data =
      plan.entries == 0 || !ReplacesAll(plan, reduction, updates->size / plan.entries, *output);
  const walk::Operands operands = {reads_data ? *data : *output, places, *updates, *output};
  const strew_reduction kind = ReductionKind(reduction);
  if (updates->size == 0 || output->size == 0) {
    return ScatterByPlaces(call, plan, operands, axis, reduction);
  }
  STREW_TRY(CheckTerms(call, plan, reduction));
  const bool is_one_loop = AxesAreOneLoop(plan, *data) && AxesAreOneLoop(plan, *output);
  const bool accumulates = kind == STREW_MEAN || IsWide(reduction);
  if (is_one_loop && accumulates && HasElements(plan, *updates) &&
      AccumulatorsNeedNoOrder(call, plan, *output)) {
    const Status status = ScatterByPlaces(call, plan, operands, axis, reduction);
    // In order of destinations accumulators need no scratch.
    if (status.code() != STREW_OUT_OF_MEMORY) return status;
  }
  const bool has_room = HasRoomToShare(call, plan);
  // Rows with few updates would be read and written twice: 1.1 to 1.3 times the time.
  const bool are_few = !HasElements(plan, *updates) && plan.kept < 2 * plan.groups();
  if (is_one_loop && has_room && !are_few && kind == STREW_MEAN && SumsAreElements(call, *output)) {
    return MeanBySums(call, plan, operands, axis, ExcludesSelf(reduction));
  }
  const bool starts_anew = ExcludesSelf(reduction) && kind != STREW_NONE;
  // By places, reductions that start from an identity take two passes over the entries.
  const bool takes_order = accumulates || (starts_anew && !HasIdentity(output->dtype, kind)) ||
                           (starts_anew && !has_room);
  if (is_one_loop && !takes_order) return ScatterByPlaces(call, plan, operands, axis, reduction);
  return ScatterInOrder(call, plan, operands, axis, reduction);
}

}  // namespace
}  // namespace strew::prepared

extern "C" strew_status strew_plan_scatter(strew_context* context, const strew_plan* plan,
                                           const strew_tensor* data, const strew_tensor* updates,
                                           strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::prepared::Scatter(strew::CallWith(context), plan, ViewOf(data), ViewOf(updates),
                                  reduction, ViewOf(output))
      .code();
}
