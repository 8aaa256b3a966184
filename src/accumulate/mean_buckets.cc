// SPDX-License-Identifier: Apache-2.0
#include "accumulate/mean_buckets.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <limits>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "plan/unit.h"
#include "share/boxes.h"
#include "walk/entries.h"
#include "share/parts.h"
#include "base/scratch.h"
#include "walk/kernels.h"

namespace strew::accumulate {
namespace {

using plan::kMostWidth;
using plan::kOutput;
using plan::kTuning;

// What a touched element may take.
constexpr int64_t kElementBytes = 40;

// Whether every destination is an element and they lie together.
bool HasNoGaps(const plan::EntryLoops& loops) {
  int64_t places = loops.batches;
  for (int c = 0; c < loops.components; ++c) {
    if (loops.component[c].output_stride < 0) return false;
    places *= loops.component[c].axis_size;
  }
  return loops.whole_span + 1 == places;
}

}  // namespace

BucketMeans::BucketMeans(const walk::Scatter& scatter)
    : scatter_(scatter),
      kernels_(kernel::AccumulateKernelsFor(scatter.operands.output.dtype,
                                            scatter.call.settings().simd_target)),
      numbers_(scatter.loops),
      width_(scatter.operands.output.element_size),
      entries_(scatter.loops.Entries()),
      is_dense_(HasNoGaps(scatter.loops)) {
  if (scatter.loops.components == 0 || scatter.loops.EntryUnits() != 1) return;
  tasks_ = plan::TasksFor(plan::Machine(scatter.call),
                          static_cast<double>(entries_) * kTuning.ns_of_bucket_mean_entry);
  const int64_t near = std::min(kTuning.bucket_bytes, plan::MostScratch(1) / tasks_) / PlaceBytes();
  int shift = 0;
  while ((int64_t{2} << shift) <= near) ++shift;
  const int64_t buckets = ((numbers_.range() - 1) >> shift) + 1;
  if (buckets > kTuning.most_buckets || entries_ / kTuning.least_of_bucket < buckets) return;
  shift_ = shift;
  buckets_ = buckets;
}

// A sparse bucket has a number of 16 bits for each place, and for one of eight a sum.
int64_t BucketMeans::PlaceBytes() const {
  const int64_t bytes = kernels_.sums.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  static_assert(kTuning.bucket_bytes / (2 * sizeof(uint32_t)) <= size_t{1} << (8 * sizeof(Place)));
  return bytes;
}

bool BucketMeans::IsPossible(const int64_t* entries, int64_t touched) const {
  // The counts of the entries of each bucket are scratch too.
  const int64_t fixed = tasks_ * TaskBytes() + 2 * EndBytes();
  const int64_t allowed = plan::MostScratch(tasks_) * tasks_ - fixed + touched * kElementBytes;
  if (entries_ > allowed / EntryBytes()) return false;
  // Places that lie apart have no dense way.
  const int64_t most =
      is_dense_ ? kernel::kMostTerms : (int64_t{1} << shift_) / kTuning.destinations_of_entry;
  return *std::max_element(entries, entries + buckets_) < most;
}

template <class Element>
void BucketMeans::Move(const Sorted& to) const {
  struct Mover {
    Sorted to;
    const Element* updates;
    const plan::DestinationNumbers& numbers;
    int shift;
    void Fetch(int64_t) const {}
    void Take(int64_t destination, int64_t update) const {
      const int64_t number = numbers.Of(destination);
      const int64_t bucket = number >> shift;
      const int64_t at = to.end[bucket]++;
      to.places[at] = static_cast<Place>(number - (bucket << shift));
      std::memcpy(to.updates + at * static_cast<int64_t>(sizeof(Element)), updates + update,
                  sizeof(Element));
    }
  };
  const auto* const updates = reinterpret_cast<const Element*>(scatter_.operands.updates.data);
  walk::ForEachEntry(scatter_, Mover{to, updates, numbers_, shift_});
}

void BucketMeans::Sort(const Sorted& sorted) const {
  if (width_ == 1) Move<std::array<unsigned char, 1>>(sorted);
  if (width_ == 2) Move<std::array<unsigned char, 2>>(sorted);
  if (width_ == 4) Move<std::array<unsigned char, 4>>(sorted);
  if (width_ == 8) Move<std::array<unsigned char, 8>>(sorted);
  if (width_ == 16) Move<std::array<unsigned char, 16>>(sorted);
}

void BucketMeans::Add(const Sorted& sorted, const Turns& entries,
                      const kernel::CountedSums& sums) const {
  constexpr int64_t kColumns = 512;
  int32_t offsets[kColumns];
  for (int64_t i = entries.first; i < entries.end; i += kColumns) {
    const int64_t columns = std::min(kColumns, entries.end - i);
    std::copy_n(sorted.places + i, columns, offsets);
    kernels_.add_each(sums, {offsets, sorted.updates + i * width_, 1, columns});
  }
}

void BucketMeans::RunBucket(const Sorted& sorted, int64_t bucket, unsigned char* scratch) const {
  const Turns entries = {bucket == 0 ? 0 : sorted.end[bucket - 1], sorted.end[bucket]};
  if (entries.first == entries.end) return;
  const int64_t first_number = bucket << shift_;
  unsigned char* const output =
      scatter_.operands.output.data +
      (scatter_.loops.outer.base[kOutput] + numbers_.DestinationOf(first_number)) * width_;
  const int64_t places = std::min(int64_t{1} << shift_, numbers_.range() - first_number);
  if (!is_dense_ || entries.end - entries.first < places / kTuning.destinations_of_entry) {
    RunSparse(sorted, entries, output, scratch);
  } else {
    RunDense(sorted, entries, output, places, scratch);
  }
}

// Every place has a sum.
void BucketMeans::RunDense(const Sorted& sorted, const Turns& entries, unsigned char* output,
                           int64_t places, unsigned char* scratch) const {
  const kernel::CountedSums sums = {scratch + places * static_cast<int64_t>(sizeof(uint32_t)),
                                    reinterpret_cast<uint32_t*>(scratch)};
  std::memset(sums.counts, 0, static_cast<size_t>(places) * sizeof(uint32_t));
  BeginSums(sums.sums, output, places);
  Add(sorted, entries, sums);
  kernels_.finish_each(sums, ExcludesSelf(scatter_.reduction) ? 0 : 1, output, 1, places);
}

// Of `n` elements that lie together.
void BucketMeans::BeginSums(unsigned char* sums, const unsigned char* elements, int64_t n) const {
  if (!ExcludesSelf(scatter_.reduction)) return kernels_.sums.begin(sums, elements, 1, n);
  alignas(16) unsigned char identity[16];
  StoreIdentity(scatter_.operands.output.dtype, STREW_MEAN, identity);
  kernels_.sums.begin(sums, identity, 0, n);
}

// Only places that are touched have a sum, in the order of their first entries. The entries then
// name sums instead of places.
void BucketMeans::RunSparse(const Sorted& sorted, const Turns& entries, unsigned char* output,
                            unsigned char* scratch) const {
  constexpr Place kNone = std::numeric_limits<Place>::max();
  Place* const sum_of = reinterpret_cast<Place*>(scratch);
  Place* const place_of = sum_of + (int64_t{1} << shift_);
  int64_t touched = 0;
  for (int64_t i = entries.first; i < entries.end; ++i) sum_of[sorted.places[i]] = kNone;
  for (int64_t i = entries.first; i < entries.end; ++i) {
    Place& sum = sum_of[sorted.places[i]];
    if (sum == kNone) {
      place_of[touched] = sorted.places[i];
      sum = static_cast<Place>(touched++);
    }
    sorted.places[i] = sum;
  }
  unsigned char* const counts = reinterpret_cast<unsigned char*>(place_of + (touched + 3) / 4 * 4);
  const kernel::CountedSums sums = {
      counts + (touched + 1) / 2 * 2 * static_cast<int64_t>(sizeof(uint32_t)),
      reinterpret_cast<uint32_t*>(counts)};
  std::memset(sums.counts, 0, static_cast<size_t>(touched) * sizeof(uint32_t));
  ForEachBlock(place_of, touched, output, [&](int64_t first, unsigned char* elements, int64_t n) {
    BeginSums(sums.sums + first * kernels_.sums.sum_size, elements, n);
    return false;
  });
  Add(sorted, entries, sums);
  ForEachBlock(place_of, touched, output, [&](int64_t first, unsigned char* elements, int64_t n) {
    const kernel::CountedSums from = {sums.sums + first * kernels_.sums.sum_size,
                                      sums.counts + first};
    kernels_.finish_each(from, ExcludesSelf(scatter_.reduction) ? 0 : 1, elements, 1, n);
    return true;
  });
}

// Calls body(number of the first, elements, how many) for blocks of the elements at these places of
// the output, brought together. Brings them back where it answers true.
template <class Body>
void BucketMeans::ForEachBlock(const Place* places, int64_t count, unsigned char* output,
                               Body body) const {
  constexpr int64_t kBlock = 128;
  const kernel::MoveKernels& move = scatter_.move;
  const int64_t stride = numbers_.DestinationOf(1) - numbers_.DestinationOf(0);
  alignas(64) unsigned char elements[kBlock * kMostWidth];
  int32_t columns[kBlock];
  int64_t offsets[kBlock];
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t n = std::min(kBlock, count - first);
    for (int64_t i = 0; i < n; ++i) {
      columns[i] = places[first + i];
      offsets[i] = places[first + i] * stride;
    }
    move.gather(elements, output, stride, columns, n);
    if (!body(first, elements, n)) continue;
    move.combine.elements[kernel::kOffset64](kernel::RowTile(output, elements, offsets, n, 0), {});
  }
}

Status BucketMeans::Run(bool in_place, const int64_t* entries) const {
  const int64_t task_bytes = TaskBytes();
  const int64_t end_bytes = EndBytes();
  const int64_t bytes = tasks_ * task_bytes + end_bytes + entries_ * EntryBytes();
  const Scratch scratch(scatter_.call, static_cast<size_t>(bytes));
  if (scratch.memory() == nullptr) {
    return scatter_.call.Fail(STREW_OUT_OF_MEMORY,
                              "%" PRId64 " bytes to sort the updates were refused", bytes);
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
  if (!in_place)
    STREW_TRY(share::Copy(scatter_.call, scatter_.operands.data, scatter_.operands.output));
  STREW_TRY(share::ForEachPart(scatter_.call, tasks_, buckets_, [&](int64_t bucket, int64_t task) {
    RunBucket(sorted, bucket, scratch.memory() + task * task_bytes);
  }));
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += begun;
  return STREW_OK;
}

}  // namespace strew::accumulate
