// SPDX-License-Identifier: Apache-2.0
#include "op/indexed.h"

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/unit.h"
#include "share/execute.h"
#include "share/boxes.h"
#include "accumulate/duplicates.h"
#include "accumulate/exclude_self.h"
#include "share/index_check.h"
#include "accumulate/mean.h"
#include "walk/few.h"

namespace strew {
namespace {

Status RunReduction(const Call& call, walk::IndexedScatter scatter, bool in_place,
                    plan::IndexSpace* space) {
  const strew_reduction kind = ReductionKind(scatter.reduction);
  if (kind == STREW_MEAN) return accumulate::ApplyMean(call, scatter, *space, in_place);
  const bool excludes_self = ExcludesSelf(scatter.reduction) && kind != STREW_NONE;
  scatter.reduction = kind;
  if (!excludes_self) return share::Apply(call, scatter, *space, in_place);
  if (!HasIdentity(scatter.output.dtype, kind)) {
    return accumulate::ApplyAfterFirst(call, scatter, *space, in_place);
  }
  const share::Application application(call, scatter, *space, in_place,
                                       share::Application::Takes::kScratch);
  STREW_TRY(accumulate::StoreIdentities(scatter, kind, application, in_place, space));
  return application.Run(scatter, *space, true);
}

// What remains once the indices are checked.
Status RunChecked(const Call& call, const walk::IndexedScatter& scatter, plan::IndexSpace* space) {
  const TensorView& output = scatter.output;
  const bool in_place = SameElements(scatter.data, output);
  // In an output without elements no index is in range, so that all were dropped.
  if (scatter.updates.size == 0 || output.size == 0) {
    if (!in_place) STREW_TRY(share::Copy(call, scatter.data, output));
    return call.Succeed(0);
  }
  space->Arrange();
  if (space->out_of_range != plan::OutOfRange::kDrop) {
    STREW_TRY(RunReduction(call, scatter, in_place, space));
    return call.Succeed(scatter.updates.size);
  }
  std::atomic<int64_t> applied_units{0};
  walk::IndexedScatter counted = scatter;
  counted.applied_units = &applied_units;
  STREW_TRY(RunReduction(call, counted, in_place, space));
  return call.Succeed(applied_units / plan::IndexedUnitsOf(output.element_size).count);
}

Status RunFew(const Call& call, const walk::IndexedScatter& scatter, plan::IndexSpace* space) {
  walk::FewEntries few;
  if (!walk::LocateFew(call, scatter, *space, &few)) {
    return share::CheckIndices(call, scatter.indices, space);
  }
  if (!SameElements(scatter.data, scatter.output)) {
    STREW_TRY(share::Copy(call, scatter.data, scatter.output));
  }
  walk::ApplyFew(call, scatter, few, &space->inner);
  return call.Succeed(scatter.updates.size / few.entries * few.count);
}

}  // namespace

// In the order of the list in strew.h: index values, scratch, duplicates.
Status RunIndexed(const Call& call, const walk::IndexedScatter& scatter, plan::IndexSpace* space) {
  const bool compares = call.settings().duplicate_policy == STREW_DUPLICATE_ERROR;
  if (!compares && IsOneStep(scatter.reduction) && walk::IsFew(scatter)) {
    return RunFew(call, scatter, space);
  }
  if (scatter.indices.size != 0) STREW_TRY(share::CheckIndices(call, scatter.indices, space));
  if (compares && scatter.updates.size != 0 && scatter.output.size != 0) {
    STREW_TRY(accumulate::CheckIndicesDiffer(call, scatter.indices, *space));
  }
  return RunChecked(call, scatter, space);
}

}  // namespace strew
