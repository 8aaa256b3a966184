// SPDX-License-Identifier: Apache-2.0
#include "run/mean_buckets.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <limits>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/staging.h"
#include "run/box.h"
#include "run/entry_walk.h"
#include "run/parallel.h"
#include "run/scratch.h"

namespace strew::run {
namespace {

using plan::kOutput;

// Sums and counts of a bucket, which stay in the L2 cache.
constexpr int64_t kBucketBytes = int64_t{512} << 10;
// More streams than pages that the CPU finds at once are slower than a table.
constexpr int64_t kMostBuckets = 1024;
constexpr int64_t kMostPlacesOfEntry = 8;
// Of the 40 bytes that a touched element may take, less what an estimate may be wrong by.
constexpr int64_t kElementBytes = 38;
constexpr double kNanosecondsPerEntry = 3;

// Whether each unit from where the plan begins to its last one is a place; counts them.
bool HasNoGaps(const plan::IndexedPlan& plan, int64_t* places) {
  *places = plan.lanes_count;
  for (int c = 0; c < plan.components; ++c) {
    if (plan.component[c].output_stride < 0) return false;
    *places *= plan.component[c].axis_size;
  }
  return plan.whole_span + 1 == *places;
}

}  // namespace

BucketMeans::BucketMeans(const Call& call, const IndexedScatter& scatter,
                         const plan::IndexedPlan& plan, int64_t touched)
    : call_(call),
      scatter_(scatter),
      plan_(plan),
      kernels_(kernel::MeanKernelsFor(scatter.output.dtype, call.settings().simd_target)),
      width_(scatter.output.element_size),
      entries_(plan.Entries()) {
  if (plan.components == 0 || plan.EntryUnits() != 1 || !HasNoGaps(plan, &places_)) return;
  if (entries_ >= std::numeric_limits<int32_t>::max()) return;
  if (places_ / kMostPlacesOfEntry > entries_) return;
  const int64_t entry_bytes = static_cast<int64_t>(sizeof(int32_t)) + width_;
  if (entries_ > touched / entry_bytes * kElementBytes) return;
  tasks_ = TasksFor(call, static_cast<double>(entries_) * kNanosecondsPerEntry);
  const int64_t place_bytes = kernels_.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  const int64_t near = std::min(kBucketBytes, plan::MostScratch(1) / tasks_) / place_bytes;
  while ((int64_t{2} << shift_) <= near) ++shift_;
  const int64_t buckets = ((places_ - 1) >> shift_) + 1;
  if (buckets <= kMostBuckets) buckets_ = buckets;
}

template <class Element>
void BucketMeans::Move(const Sorted& to) const {
  struct Mover {
    Sorted to;
    const Element* updates;
    int shift;
    int64_t mask;
    void Fetch(int64_t) const {}
    void Take(int64_t place, int64_t update) const {
      const int64_t at = to.first[place >> shift]++;
      to.places[at] = static_cast<int32_t>(place & mask);
      std::memcpy(to.updates + at * static_cast<int64_t>(sizeof(Element)), updates + update,
                  sizeof(Element));
    }
  };
  const auto* const updates = reinterpret_cast<const Element*>(scatter_.updates.data);
  ForEachEntry(call_, scatter_, plan_, Mover{to, updates, shift_, (int64_t{1} << shift_) - 1});
}

void BucketMeans::Sort(const Sorted& sorted) const {
  struct Counter {
    int64_t* count;
    int shift;
    void Fetch(int64_t) const {}
    void Take(int64_t place, int64_t) const { ++count[place >> shift]; }
  };
  std::memset(sorted.first, 0, static_cast<size_t>(buckets_ + 1) * sizeof(int64_t));
  // Counted one bucket further on: the sums of the counts are then where the buckets begin.
  ForEachEntry(call_, scatter_, plan_, Counter{sorted.first + 1, shift_});
  for (int64_t b = 0; b < buckets_; ++b) sorted.first[b + 1] += sorted.first[b];

  if (width_ == 1) Move<std::array<unsigned char, 1>>(sorted);
  if (width_ == 2) Move<std::array<unsigned char, 2>>(sorted);
  if (width_ == 4) Move<std::array<unsigned char, 4>>(sorted);
  if (width_ == 8) Move<std::array<unsigned char, 8>>(sorted);
  if (width_ == 16) Move<std::array<unsigned char, 16>>(sorted);
  // Where each bucket began the next one does now.
  for (int64_t b = buckets_; b > 0; --b) sorted.first[b] = sorted.first[b - 1];
  sorted.first[0] = 0;
}

void BucketMeans::RunBucket(const Sorted& sorted, int64_t bucket, unsigned char* scratch) const {
  const int64_t first = sorted.first[bucket];
  const int64_t entries = sorted.first[bucket + 1] - first;
  if (entries == 0) return;
  const int64_t first_place = bucket << shift_;
  const int64_t places = std::min(int64_t{1} << shift_, places_ - first_place);
  unsigned char* const output =
      scatter_.output.data + (plan_.outer.base[kOutput] + first_place) * width_;
  const kernel::CountedSums sums = {scratch + places * static_cast<int64_t>(sizeof(uint32_t)),
                                    reinterpret_cast<uint32_t*>(scratch)};
  std::memset(sums.counts, 0, static_cast<size_t>(places) * sizeof(uint32_t));
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  if (excludes_self) {
    alignas(16) unsigned char identity[16];
    StoreIdentity(scatter_.output.dtype, STREW_MEAN, identity);
    kernels_.begin(sums.sums, identity, 0, places);
  } else {
    kernels_.begin(sums.sums, output, 1, places);
  }
  kernels_.add_each(sums, kernel::RowSheet(nullptr, sorted.updates + first * width_,
                                           sorted.places + first, entries, 0));
  kernels_.finish_each(sums, excludes_self ? 0 : 1, output, 1, places);
}

Status BucketMeans::Run(bool in_place) const {
  const int64_t place_bytes = kernels_.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  const int64_t task_bytes = place_bytes << shift_;
  const int64_t first_bytes = (buckets_ + 1) * static_cast<int64_t>(sizeof(int64_t));
  const int64_t places_bytes = entries_ * static_cast<int64_t>(sizeof(int32_t));
  const int64_t bytes = tasks_ * task_bytes + first_bytes + places_bytes + entries_ * width_;
  const Scratch scratch(call_, static_cast<size_t>(bytes));
  if (scratch.memory() == nullptr) {
    return call_.Fail(STREW_OUT_OF_MEMORY, "%" PRId64 " bytes to sort the updates were refused",
                      bytes);
  }
  unsigned char* const first = scratch.memory() + tasks_ * task_bytes;
  unsigned char* const places = first + first_bytes;
  const Sorted sorted = {reinterpret_cast<int64_t*>(first), reinterpret_cast<int32_t*>(places),
                         places + places_bytes};
  Sort(sorted);
  if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
  STREW_TRY(ForEachPart(call_, tasks_, buckets_, [&](int64_t bucket, int64_t task) {
    RunBucket(sorted, bucket, scratch.memory() + task * task_bytes);
  }));
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += sorted.first[buckets_];
  return STREW_OK;
}

}  // namespace strew::run
