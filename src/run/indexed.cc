// SPDX-License-Identifier: Apache-2.0
#include "run/indexed.h"

#include <cinttypes>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/unit.h"
#include "run/apply.h"
#include "run/box.h"
#include "run/duplicates.h"
#include "run/exclude_self.h"
#include "run/index_check.h"
#include "run/mean.h"
#include "run/scratch.h"
#include "run/small.h"

namespace strew::run {
namespace {

// The bytes without which the reduction cannot be, as far as they are known before the indices.
int64_t LeastScratch(const IndexedScatter& scatter, const plan::IndexedPlan& plan) {
  const strew_reduction kind = ReductionKind(scatter.reduction);
  if (kind == STREW_MEAN) return kLeastMeanScratch;
  const bool needs_none =
      !ExcludesSelf(scatter.reduction) || HasIdentity(scatter.output.dtype, kind);
  return needs_none ? 0 : ScratchAfterFirst(plan);
}

// Where scratch is refused as well as indices, that is told: see lines 9 to 11 of the list in
// strew.h.
Status RefuseIndices(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan,
                     Status status) {
  const bool is_judgement =
      status.code() == STREW_INDEX_OUT_OF_RANGE || status.code() == STREW_DUPLICATE_INDEX;
  if (!is_judgement || scatter.updates.size == 0 || scatter.output.size == 0) return status;
  plan->Arrange();
  const int64_t bytes = LeastScratch(scatter, *plan);
  const Scratch scratch(call, static_cast<size_t>(bytes));
  if (bytes == 0 || scratch.memory() != nullptr) return status;
  return call.Fail(STREW_OUT_OF_MEMORY, "%" PRId64 " bytes of scratch for %s were refused", bytes,
                   ReductionName(ReductionKind(scatter.reduction)));
}

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
  // In an output without elements no index is in range, so that all were dropped.
  if (scatter.updates.size == 0 || output.size == 0) {
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
  const bool may_meet = scatter.updates.size != 0 && scatter.output.size != 0;
  Status status = STREW_OK;
  if (call.settings().duplicate_policy == STREW_DUPLICATE_ERROR && may_meet) {
    status = CheckIndicesDiffer(call, scatter, plan);
  } else {
    if (IsOneStep(scatter.reduction) && IsSmall(scatter)) return RunSmall(call, scatter, plan);
    if (scatter.indices.size != 0) status = CheckIndices(call, scatter.indices, plan);
  }
  if (!status.ok()) return RefuseIndices(call, scatter, plan, status);
  return RunChecked(call, scatter, plan);
}

}  // namespace strew::run
