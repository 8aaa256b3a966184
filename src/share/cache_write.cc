// SPDX-License-Identifier: Apache-2.0
// Checks and runs cache writes.
#include "share/share.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>

#include "base/index_value.h"
#include "plan/cut.h"
#include "plan/pass.h"
#include "plan/text.h"
#include "plan/explain.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::share {
namespace {

constexpr int64_t kNowhere = -1;

// Finds the position at which the update of each batch entry starts.
class Starts {
 public:
  Starts(const Call& call, const CacheWrite& write)
      : policy_(call.settings().index_policy),
        indices_(write.write_indices),
        circular_(write.circular),
        positions_(write.past.shape[write.axis]),
        last_(positions_ - write.update.shape[write.axis]) {}

  int64_t last() const { return last_; }

  IndexValue IndexOf(int64_t entry) const {
    if (indices_ == nullptr) return {0, 0};
    return ReadIndexAt(*indices_, entry * StrideOf(*indices_, 0));
  }

  bool IsInRange(IndexValue index) const {
    return index.value >= 0 && (circular_ || index.value <= last_);
  }

  // The first position of an entry, or kNowhere.
  int64_t At(int64_t entry) const {
    const IndexValue index = IndexOf(entry);
    if (!IsInRange(index)) {
      if (policy_ == STREW_INDEX_DROP) return kNowhere;
      return ClampedIndex(index.value, last_ + 1);
    }
    if (!circular_ || index.value < positions_) return index.value;
    assert(positions_ != 0);  // an empty update returns earlier
    const uint64_t whole =
        index.overflow != 0 ? index.overflow : static_cast<uint64_t>(index.value);
    return static_cast<int64_t>(whole % static_cast<uint64_t>(positions_));
  }

 private:
  const strew_index_policy policy_;
  const TensorView* const indices_;
  const bool circular_;
  const int64_t positions_;
  const int64_t last_;  // the last valid start of a linear cache
};

Status ReportIndex(const Call& call, const CacheWrite& write, const Starts& starts, int64_t entry) {
  const plan::IndexText value(starts.IndexOf(entry));
  const int64_t positions = write.past.shape[write.axis];
  if (write.circular) {
    return call.FailAt(entry, STREW_INDEX_OUT_OF_RANGE,
                       "write_indices[%" PRId64 "] = %s is negative", entry, value.c_str());
  }
  return call.FailAt(entry, STREW_INDEX_OUT_OF_RANGE,
                     "write_indices[%" PRId64 "] = %s is out of range [0, %" PRId64 "] for %" PRId64
                     " positions on axis %d of past_cache, which has %" PRId64,
                     entry, value.c_str(), starts.last(), write.update.shape[write.axis],
                     write.axis, positions);
}

// Checks the starts, and counts the entries that are written.
Status CheckStarts(const Call& call, const CacheWrite& write, const Starts& starts,
                   int64_t* written) {
  const int64_t entries = write.past.shape[0];
  *written = entries;
  if (write.write_indices == nullptr) return STREW_OK;
  const strew_index_policy policy = call.settings().index_policy;
  // With a stride of 0, all entries share one index.
  const bool same = StrideOf(*write.write_indices, 0) == 0;
  const int64_t looks = same ? std::min<int64_t>(entries, 1) : entries;
  for (int64_t b = 0; b < looks; ++b) {
    if (starts.IsInRange(starts.IndexOf(b))) continue;
    if (policy == STREW_INDEX_ERROR) return ReportIndex(call, write, starts, b);
    if (policy == STREW_INDEX_DROP) *written -= same ? entries : 1;
  }
  return STREW_OK;
}

// Returns the dim that is divided among tasks besides the batch and the positions: the one with the
// largest stride in the output, or -1 if there is none.
int OuterDim(const CacheWrite& write) {
  int outer = -1;
  uint64_t farthest = 0;
  for (int i = 1; i < write.update.rank; ++i) {
    const uint64_t distance = Magnitude(StrideOf(write.present, i));
    if (i == write.axis || write.update.shape[i] <= 1 || distance <= farthest) continue;
    outer = i;
    farthest = distance;
  }
  return outer;
}

class Writer {
 public:
  Writer(const Call& call, const CacheWrite& write, const Starts& starts,
         const plan::BoxSchedule& schedule)
      : write_(write),
        starts_(starts),
        units_(plan::UnitsOf(write.present.element_size)),
        kernels_(walk::RunKernelsFor(call, write.present, STREW_NONE, units_)),
        outer_(OuterDim(write)),
        positions_(write.past.shape[write.axis]),
        stream_(schedule.streams),
        tuning_(plan::TuningOf(call)) {
    const TensorView& update = write.update;
    const int64_t parts = schedule.parts;
    cut_.Append(update.shape[0], 1, parts);
    if (outer_ >= 0) cut_.Append(update.shape[outer_], 1, parts);
    cut_.Append(update.shape[write.axis], 1, parts);
  }

  int64_t parts() const { return cut_.parts(); }

  void WritePart(int64_t part) const {
    int next = 0;
    const plan::Turns entries = cut_.TurnsOf(part, next++);
    const plan::Turns all = {0, 1};
    const plan::Turns outer = outer_ >= 0 ? cut_.TurnsOf(part, next++) : all;
    const plan::Turns positions = cut_.TurnsOf(part, next);
    const int64_t end = entries.first + entries.count;
    const walk::Box one = BoxOf(1, outer, positions.count);
    int64_t same;
    for (int64_t b = entries.first; b < end; b += same) {
      const int64_t start = PositionOf(b, positions.first);
      // Neighbouring entries with the same start are one box.
      for (same = 1; b + same < end && PositionOf(b + same, positions.first) == start;) ++same;
      if (start == kNowhere) continue;
      const int64_t first = std::min(positions.count, positions_ - start);
      if (same == 1 && first == positions.count) {
        if (b + 1 < end) FetchBox(one, b + 1, PositionOf(b + 1, positions.first));
        WriteBox(one, b, start, positions.first);
        continue;
      }
      WriteBox(BoxOf(same, outer, first), b, start, positions.first);
      const int64_t rest = positions.count - first;
      if (rest > 0) WriteBox(BoxOf(same, outer, rest), b, 0, positions.first + first);
    }
  }

 private:
  // The position at which new position `first` of an entry is written, or kNowhere.
  int64_t PositionOf(int64_t entry, int64_t first) const {
    const int64_t start = starts_.At(entry);
    if (start == kNowhere) return kNowhere;
    return start + first >= positions_ ? start + first - positions_ : start + first;
  }

  // A box of `positions` positions of `entries` entries.
  walk::Box BoxOf(int64_t entries, const plan::Turns& outer, int64_t positions) const {
    walk::BoxNest nest;
    nest.Append(entries, StrideOf(write_.present, 0) * units_.count,
                StrideOf(write_.update, 0) * units_.count);
    for (int i = 1; i < write_.update.rank; ++i) {
      const int64_t count = i == write_.axis ? positions
                            : i == outer_    ? outer.count
                                             : write_.update.shape[i];
      nest.Append(count, StrideOf(write_.present, i) * units_.count,
                  StrideOf(write_.update, i) * units_.count);
    }
    if (outer_ >= 0) {
      nest.base[walk::kBoxOutput] = outer.first * StrideOf(write_.present, outer_) * units_.count;
      nest.base[walk::kBoxUpdates] = outer.first * StrideOf(write_.update, outer_) * units_.count;
    }
    walk::ArrangeBox(units_, &nest);
    return {kernels_, nest, stream_, tuning_};
  }

  unsigned char* OutputAt(int64_t entry, int64_t position) const {
    const TensorView& present = write_.present;
    const int64_t at = entry * StrideOf(present, 0) + position * StrideOf(present, write_.axis);
    return present.data + at * present.element_size;
  }

  void FetchBox(const walk::Box& box, int64_t entry, int64_t position) const {
    if (position != kNowhere) box.Fetch(OutputAt(entry, position));
  }

  void WriteBox(const walk::Box& box, int64_t entry, int64_t position, int64_t first) const {
    const TensorView& update = write_.update;
    const int64_t at = entry * StrideOf(update, 0) + first * StrideOf(update, write_.axis);
    box.Run(OutputAt(entry, position), update.data + at * update.element_size);
  }

  const CacheWrite& write_;
  const Starts& starts_;
  const plan::Units units_;
  const walk::RunKernels kernels_;
  const int outer_;
  const int64_t positions_;
  const bool stream_;
  const plan::Tuning& tuning_;
  plan::Cut cut_;
};

}  // namespace

Status RunCacheWrite(const Call& call, const CacheWrite& write) {
  const TensorView& update = write.update;
  const Starts starts(call, write);
  int64_t written;
  STREW_TRY(CheckStarts(call, write, starts, &written));
  STREW_TRY(Copy(call, write.past, write.present, {LinesOfElements(update)}));
  if (update.size == 0) return call.Succeed(0);
  const int64_t bytes = update.size * update.element_size;
  const plan::Machine machine(call);
  const double ns = 2 * static_cast<double>(bytes) * machine.tuning.ns_of_byte;
  const plan::BoxSchedule schedule = plan::MakeBoxSchedule(machine, bytes, ns);
  if (call.explains()) plan::Explain(call, schedule, "boxes of a cache", bytes);
  const Writer writer(call, write, starts, schedule);
  STREW_TRY(ForEachPart(call, schedule.tasks, writer.parts(),
                        [&](int64_t part, int64_t) { writer.WritePart(part); }));
  return call.Succeed(update.size / update.shape[0] * written);
}

}  // namespace strew::share
