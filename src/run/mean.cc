// SPDX-License-Identifier: Apache-2.0
#include "run/mean.h"

#include <algorithm>
#include <cstring>

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

// Counts the entries of each bucket and about how many places they touch.
struct Survey {
  const BucketMeans& buckets;
  int64_t* entries;
  Distinct* distinct;  // or NULL
  void Fetch(int64_t) const {}
  void Take(int64_t place, int64_t) const {
    ++entries[buckets.BucketOf(place)];
    if (distinct != nullptr) distinct->Add(static_cast<uint64_t>(place));
  }
};

Status Refuse(const Call& call) {
  return call.Fail(STREW_OUT_OF_MEMORY,
                   "memory to estimate how many elements are touched was refused");
}

Status ApplyAnywhere(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                     bool in_place) {
  const BucketMeans buckets(call, scatter, plan);
  int64_t touched = plan.Entries();
  const bool estimates = touched > kFewEntries;
  if (!estimates && buckets.buckets() == 0) {
    return MeanTable(call, scatter, plan, touched).Run(in_place);
  }
  const size_t bytes =
      static_cast<size_t>(std::max<int64_t>(buckets.buckets(), 1)) * sizeof(int64_t);
  const Scratch scratch(call, bytes);
  if (scratch.memory() == nullptr) return Refuse(call);
  int64_t* const entries = reinterpret_cast<int64_t*>(scratch.memory());
  std::memset(entries, 0, bytes);
  if (estimates) {
    const Scratch sampled(call, Distinct::kBytes);
    if (sampled.memory() == nullptr) return Refuse(call);
    Distinct distinct(sampled.memory(), touched);
    ForEachEntry(call, scatter, plan, Survey{buckets, entries, &distinct});
    touched = std::clamp<int64_t>(distinct.Estimate(), 1, touched);
  } else {
    ForEachEntry(call, scatter, plan, Survey{buckets, entries, nullptr});
  }
  if (buckets.IsPossible(entries, touched)) return buckets.Run(in_place, entries);
  return MeanTable(call, scatter, plan, touched).Run(in_place);
}

}  // namespace

Status ApplyMean(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                 bool in_place) {
  const LaneMeans lanes(call, scatter, plan);
  if (lanes.IsPossible()) return lanes.Run(in_place);
  return ApplyAnywhere(call, scatter, plan, in_place);
}

}  // namespace strew::run
