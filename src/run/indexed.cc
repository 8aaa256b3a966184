// SPDX-License-Identifier: Apache-2.0
#include "run/indexed.h"

#include "base/identity.h"
#include "plan/unit.h"
#include "run/apply.h"
#include "run/box.h"
#include "run/duplicates.h"
#include "run/exclude_self.h"
#include "run/index_check.h"
#include "run/mean.h"
#include "run/small.h"

namespace strew::run {
namespace {

Status RunReduction(const Call& call, IndexedScatter scatter, const plan::IndexedPlan& plan,
                    bool in_place) {
  const strew_reduction kind = ReductionKind(scatter.reduction);
  if (kind == STREW_MEAN) return ApplyMean(call, scatter, plan, in_place);
  const bool excludes_self = ExcludesSelf(scatter.reduction) && kind != STREW_NONE;
  scatter.reduction = kind;
  if (!excludes_self) return Apply(call, scatter, plan, in_place);
  if (!HasIdentity(scatter.output.dtype, kind)) {
    return ApplyAfterFirst(call, scatter, plan, in_place);
  }
  STREW_TRY(StoreIdentities(call, scatter, plan, kind, in_place));
  return Apply(call, scatter, plan, true);
}

// What remains once the indices are checked.
Status RunChecked(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan) {
  const TensorView& output = scatter.output;
  const bool in_place = SameElements(scatter.data, output);
  if (scatter.updates.size == 0) {
    if (!in_place && output.size != 0) STREW_TRY(Copy(call, scatter.data, output));
    return call.Succeed(0);
  }
  plan->Arrange();
  if (plan->out_of_range != plan::OutOfRange::kDrop) {
    STREW_TRY(RunReduction(call, scatter, *plan, in_place));
    return call.Succeed(scatter.updates.size);
  }
  std::atomic<int64_t> applied_units{0};
  IndexedScatter counted = scatter;
  counted.applied_units = &applied_units;
  STREW_TRY(RunReduction(call, counted, *plan, in_place));
  return call.Succeed(applied_units / plan::IndexedUnitsOf(output.element_size).count);
}

}  // namespace

Status Run(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan) {
  if (call.settings().duplicate_policy == STREW_DUPLICATE_ERROR && scatter.updates.size != 0) {
    STREW_TRY(CheckIndicesDiffer(call, scatter, plan));
    return RunChecked(call, scatter, plan);
  }
  if (IsOneStep(scatter.reduction) && IsSmall(scatter)) return RunSmall(call, scatter, plan);
  if (scatter.indices.size != 0) STREW_TRY(CheckIndices(call, scatter.indices, plan));
  return RunChecked(call, scatter, plan);
}

}  // namespace strew::run
