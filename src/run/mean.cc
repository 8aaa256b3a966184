// SPDX-License-Identifier: Apache-2.0
#include "run/mean.h"

#include <algorithm>
#include <cinttypes>

#include "run/distinct.h"
#include "run/entry_walk.h"
#include "run/mean_buckets.h"
#include "run/mean_lanes.h"
#include "run/mean_table.h"
#include "run/scratch.h"

namespace strew::run {
namespace {

// Tables of so many entries need no estimate of how many places they touch: they take less memory
// than that.
constexpr int64_t kFewEntries = 32768;

Status EstimateTouched(const Call& call, const IndexedScatter& scatter,
                       const plan::IndexedPlan& plan, int64_t* touched) {
  *touched = plan.Entries();
  if (*touched <= kFewEntries) return STREW_OK;
  const Scratch scratch(call, Distinct::kBytes);
  if (scratch.memory() == nullptr) {
    return call.Fail(STREW_OUT_OF_MEMORY,
                     "%" PRId64 " bytes to estimate how many elements are touched were refused",
                     Distinct::kBytes);
  }
  Distinct distinct(scratch.memory(), *touched);
  struct Body {
    Distinct* distinct;
    void Fetch(int64_t) const {}
    void Take(int64_t place, int64_t) const { distinct->Add(static_cast<uint64_t>(place)); }
  };
  ForEachEntry(call, scatter, plan, Body{&distinct});
  *touched = std::clamp<int64_t>(distinct.Estimate(), 1, *touched);
  return STREW_OK;
}

}  // namespace

Status ApplyMean(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                 bool in_place) {
  const LaneMeans lanes(call, scatter, plan);
  if (lanes.IsPossible()) return lanes.Run(in_place);
  int64_t touched;
  STREW_TRY(EstimateTouched(call, scatter, plan, &touched));
  const BucketMeans buckets(call, scatter, plan, touched);
  if (buckets.IsPossible()) return buckets.Run(in_place);
  return MeanTable(call, scatter, plan, touched).Run(in_place);
}

}  // namespace strew::run
