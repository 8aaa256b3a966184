// SPDX-License-Identifier: Apache-2.0
#include "accumulate/mean.h"

#include <cstring>

#include "accumulate/destination_set.h"
#include "walk/entries.h"
#include "accumulate/mean_buckets.h"
#include "accumulate/mean_lanes.h"
#include "accumulate/mean_table.h"
#include "base/scratch.h"

namespace strew::accumulate {
namespace {

// A lower bound of how many destinations are touched: how many stretches of 2^shift of them are.
class TouchedBound {
 public:
  static constexpr int64_t kMostBits = int64_t{1} << 22;

  // For numbers of destinations in [0, range).
  explicit TouchedBound(int64_t range) {
    while ((range - 1) >> shift_ >= kMostBits) ++shift_;
    words_ = ((range - 1) >> shift_) / 64 + 1;
  }

  int64_t bytes() const { return words_ * static_cast<int64_t>(sizeof(uint64_t)); }

  // `memory` has room for bytes().
  void Begin(unsigned char* memory) {
    word_ = reinterpret_cast<uint64_t*>(memory);
    std::memset(memory, 0, static_cast<size_t>(bytes()));
  }
  void Touch(int64_t number) {
    const int64_t bit = number >> shift_;
    word_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  int64_t Count() const {
    int64_t count = 0;
    for (int64_t i = 0; i < words_; ++i) count += CountBits(word_[i]);
    return count;
  }

 private:
  int shift_ = 0;
  int64_t words_;
  uint64_t* word_ = nullptr;
};

// Counts the entries of each bucket.
struct Survey {
  const BucketMeans& buckets;
  int64_t* entries;
  TouchedBound* touched;
  void Fetch(int64_t) const {}
  void Take(int64_t destination, int64_t) const {
    const int64_t number = buckets.numbers().Of(destination);
    ++entries[buckets.BucketOf(number)];
    touched->Touch(number);
  }
};

Status Refuse(const Call& call) {
  return call.Fail(STREW_OUT_OF_MEMORY, "memory to count the updates of means was refused");
}

// The entries of each bucket, and a lower bound of how many destinations they touch.
Status Count(const walk::Scatter& scatter, const BucketMeans& buckets, int64_t* entries,
             int64_t* touched) {
  TouchedBound bound(buckets.numbers().range());
  const Scratch scratch(scatter.call, static_cast<size_t>(bound.bytes()));
  if (scratch.memory() == nullptr) return Refuse(scatter.call);
  bound.Begin(scratch.memory());
  walk::ForEachEntry(scatter, Survey{buckets, entries, &bound});
  *touched = bound.Count();
  return STREW_OK;
}

Status ApplyAnywhere(const walk::Scatter& scatter, bool in_place) {
  const BucketMeans buckets(scatter);
  if (buckets.buckets() == 0) return MeanTable(scatter).Run(in_place);
  const int64_t bytes = buckets.buckets() * static_cast<int64_t>(sizeof(int64_t));
  const Scratch scratch(scatter.call, static_cast<size_t>(bytes));
  if (scratch.memory() == nullptr) return Refuse(scatter.call);
  int64_t* const entries = reinterpret_cast<int64_t*>(scratch.memory());
  std::memset(entries, 0, static_cast<size_t>(bytes));
  int64_t touched = 0;
  STREW_TRY(Count(scatter, buckets, entries, &touched));
  if (buckets.IsPossible(entries, touched)) return buckets.Run(in_place, entries);
  return MeanTable(scatter).Run(in_place);
}

}  // namespace

Status ApplyMean(const walk::Scatter& scatter, bool in_place) {
  const LaneMeans lanes(scatter);
  if (lanes.IsPossible()) return lanes.Run(in_place);
  return ApplyAnywhere(scatter, in_place);
}

}  // namespace strew::accumulate
