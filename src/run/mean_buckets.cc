// SPDX-License-Identifier: Apache-2.0
#include "run/mean_buckets.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>

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
// What a touched element may take.
constexpr int64_t kElementBytes = 40;
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
                         const plan::IndexedPlan& plan)
    : call_(call),
      scatter_(scatter),
      plan_(plan),
      kernels_(kernel::MeanKernelsFor(scatter.output.dtype, call.settings().simd_target)),
      width_(scatter.output.element_size),
      entries_(plan.Entries()) {
  if (plan.components == 0 || plan.EntryUnits() != 1 || !HasNoGaps(plan, &places_)) return;
  if (places_ / kMostPlacesOfEntry > entries_) return;
  tasks_ = TasksFor(call, static_cast<double>(entries_) * kNanosecondsPerEntry);
  const int64_t near = std::min(kBucketBytes, plan::MostScratch(1) / tasks_) / PlaceBytes();
  int shift = 0;
  while ((int64_t{2} << shift) <= near) ++shift;
  const int64_t buckets = ((places_ - 1) >> shift) + 1;
  if (buckets > kMostBuckets) return;
  shift_ = shift;
  buckets_ = buckets;
}

int64_t BucketMeans::PlaceBytes() const {
  const int64_t bytes = kernels_.sums.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  static_assert(kBucketBytes / (2 * sizeof(uint32_t)) <= size_t{1} << (8 * sizeof(Place)));
  return bytes;
}

bool BucketMeans::IsPossible(const int64_t* entries, int64_t touched) const {
  const int64_t fixed = tasks_ * TaskBytes() + EndBytes();
  const int64_t allowed = plan::MostScratch(tasks_) * tasks_ - fixed + touched * kElementBytes;
  if (entries_ > allowed / EntryBytes()) return false;
  return *std::max_element(entries, entries + buckets_) < kernel::kMostTerms;
}

template <class Element>
void BucketMeans::Move(const Sorted& to) const {
  struct Mover {
    Sorted to;
    const Element* updates;
    int shift;
    void Fetch(int64_t) const {}
    void Take(int64_t place, int64_t update) const {
      const int64_t bucket = place >> shift;
      const int64_t at = to.end[bucket]++;
      to.places[at] = static_cast<Place>(place - (bucket << shift));
      std::memcpy(to.updates + at * static_cast<int64_t>(sizeof(Element)), updates + update,
                  sizeof(Element));
    }
  };
  const auto* const updates = reinterpret_cast<const Element*>(scatter_.updates.data);
  ForEachEntry(call_, scatter_, plan_, Mover{to, updates, shift_});
}

void BucketMeans::Sort(const Sorted& sorted) const {
  if (width_ == 1) Move<std::array<unsigned char, 1>>(sorted);
  if (width_ == 2) Move<std::array<unsigned char, 2>>(sorted);
  if (width_ == 4) Move<std::array<unsigned char, 4>>(sorted);
  if (width_ == 8) Move<std::array<unsigned char, 8>>(sorted);
  if (width_ == 16) Move<std::array<unsigned char, 16>>(sorted);
}

void BucketMeans::Add(const Sorted& sorted, int64_t first, int64_t end,
                      const kernel::CountedSums& sums) const {
  constexpr int64_t kColumns = 512;
  int32_t offsets[kColumns];
  for (int64_t i = first; i < end; i += kColumns) {
    const int64_t columns = std::min(kColumns, end - i);
    std::copy_n(sorted.places + i, columns, offsets);
    kernels_.add_each(sums,
                      kernel::RowSheet(nullptr, sorted.updates + i * width_, offsets, columns, 0));
  }
}

void BucketMeans::RunBucket(const Sorted& sorted, int64_t bucket, unsigned char* scratch) const {
  const int64_t first = bucket == 0 ? 0 : sorted.end[bucket - 1];
  const int64_t end = sorted.end[bucket];
  if (first == end) return;
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
    kernels_.sums.begin(sums.sums, identity, 0, places);
  } else {
    kernels_.sums.begin(sums.sums, output, 1, places);
  }
  Add(sorted, first, end, sums);
  kernels_.finish_each(sums, excludes_self ? 0 : 1, output, 1, places);
}

Status BucketMeans::Run(bool in_place, const int64_t* entries) const {
  const int64_t task_bytes = TaskBytes();
  const int64_t end_bytes = EndBytes();
  const int64_t bytes = tasks_ * task_bytes + end_bytes + entries_ * EntryBytes();
  const Scratch scratch(call_, static_cast<size_t>(bytes));
  if (scratch.memory() == nullptr) {
    return call_.Fail(STREW_OUT_OF_MEMORY, "%" PRId64 " bytes to sort the updates were refused",
                      bytes);
  }
  unsigned char* const end = scratch.memory() + tasks_ * task_bytes;
  Place* const places = reinterpret_cast<Place*>(end + end_bytes);
  const Sorted sorted = {reinterpret_cast<int64_t*>(end), places,
                         reinterpret_cast<unsigned char*>(places + entries_)};
  int64_t begun = 0;
  for (int64_t b = 0; b < buckets_; ++b) {
    sorted.end[b] = begun;
    begun += entries[b];
  }
  Sort(sorted);
  if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
  STREW_TRY(ForEachPart(call_, tasks_, buckets_, [&](int64_t bucket, int64_t task) {
    RunBucket(sorted, bucket, scratch.memory() + task * task_bytes);
  }));
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += begun;
  return STREW_OK;
}

}  // namespace strew::run
