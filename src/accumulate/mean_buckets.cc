// SPDX-License-Identifier: Apache-2.0
// Means of entries that may land anywhere: they are moved into buckets of neighbouring destinations
// first. Single elements then meet in slots that are near the CPU. Of runs, which may be long, only
// the places are moved, and then brought together in groups.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "accumulate/destination_set.h"
#include "accumulate/mean_ways.h"
#include "base/scratch.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::accumulate {
namespace {

using plan::kTuning;

// A number within a bucket, and then that of a slot or a group.
using Place = uint16_t;

constexpr int64_t kLine = 64;

// Whether a row of numbers lies in one bucket, as most do where indices ascend.
bool AreOfOneBucket(const int32_t* numbers, int64_t columns, int shift) {
  if (numbers[0] < 0 || (numbers[0] ^ numbers[columns - 1]) >> shift != 0) return false;
  int32_t differing = 0;
  for (int64_t c = 0; c < columns; ++c) differing |= numbers[0] ^ numbers[c];
  return differing >> shift == 0;
}

// All places of a bucket.
struct DensePlaces {
  SlotLine line;
  template <class Body>
  void ForEachLine(const Body& body) const {
    body(line);
  }
};

// Places that have slots, brought side by side for a moment.
struct ListedPlaces {
  const kernel::Kernels& move;
  unsigned char* output;  // of the bucket
  int64_t stride;
  const Place* place_of;
  int64_t count;

  template <class Body>
  void ForEachLine(const Body& body) const {
    constexpr int64_t kBlock = 128;
    alignas(64) unsigned char elements[kBlock * plan::kMostWidth];
    int32_t columns[kBlock];
    int64_t offsets[kBlock];
    for (int64_t first = 0; first < count; first += kBlock) {
      const int64_t n = std::min(kBlock, count - first);
      for (int64_t i = 0; i < n; ++i) {
        columns[i] = place_of[first + i];
        offsets[i] = place_of[first + i] * stride;
      }
      move.gather(elements, output, stride, columns, n);
      if (!body(SlotLine{first, elements, 1, n})) continue;
      move.elements[kernel::kOffset64](kernel::RowSheet(output, elements, offsets, n, 0));
    }
  }
};

class Buckets {
 public:
  explicit Buckets(const Mean& mean)
      : mean_(mean),
        numbers_(mean.space),
        width_(mean.scatter.output.element_size),
        units_(mean.space.EntryUnits()),
        entries_(mean.space.Entries()),
        has_no_gaps_(HasNoGaps(mean.space, numbers_)),
        entry_bytes_(int64_t{sizeof(Place)} +
                     (units_ == 1 ? width_ : 2 * int64_t{sizeof(int64_t)})) {
    // Slots that are listed need two numbers, and groups a count besides.
    constexpr int64_t kListed = 2 * sizeof(Place);
    place_bytes_ = units_ == 1 ? mean.sums.slot_bytes() + (has_no_gaps_ ? 0 : kListed)
                               : kListed + int64_t{sizeof(uint32_t)};
    const double ns = static_cast<double>(entries_) * kTuning.ns_of_bucket_mean_entry;
    if (units_ == 1) tasks_ = share::TasksFor(mean.call, ns);
    const int64_t near = std::min(kTuning.bucket_bytes, plan::MostScratch(1) / tasks_);
    // Where all places may be listed one number is that of none.
    const int64_t most = int64_t{1} << (units_ == 1 && has_no_gaps_ ? 16 : 15);
    while (2 * Places() <= std::min(near / place_bytes_, most)) ++shift_;
    buckets_ = ((numbers_.range() - 1) >> shift_) + 1;
  }

  bool Pay() const {
    const bool are_few = buckets_ == 1 || entries_ / kTuning.least_of_bucket >= buckets_;
    return are_few && buckets_ <= kTuning.most_buckets && !mean_.sums.are_long();
  }

  // Counts the entries of each bucket. Answers in *fit whether so many elements are touched that
  // all entries may be moved.
  Status Survey(bool* fit) {
    const int64_t least = LeastTouched();
    if (least > std::min(entries_, numbers_.range())) return STREW_OK;
    const size_t end_bytes = static_cast<size_t>(buckets_) * sizeof(int64_t);
    Scratch(mean_.call, end_bytes).Swap(&end_memory_);
    end_ = reinterpret_cast<int64_t*>(end_memory_.memory());
    // Stretches of destinations stand for one each. Their set is a bitmap.
    constexpr int64_t kMost = int64_t{1} << 22;
    constexpr int64_t kSample = int64_t{1} << 14;
    int shift = 0;
    while ((numbers_.range() - 1) >> shift >= kMost) ++shift;
    DestinationSet stretches(mean_.call, ((numbers_.range() - 1) >> shift) + 1, kMost, 0);
    if (end_ == nullptr || (least > 0 && !stretches.Begin())) return mean_.Refuse();
    std::memset(end_, 0, end_bytes);
    const double ratio = static_cast<double>(least) / static_cast<double>(entries_);
    int64_t touched = 0;
    int64_t seen = 0;
    const auto begin_row = [&](const int32_t* numbers, int64_t columns) {
      if (touched >= least) return true;
      // All will hardly touch enough where the first ones touch too few.
      if (seen >= kSample && static_cast<double>(touched) < ratio * static_cast<double>(seen)) {
        return false;
      }
      for (int64_t c = 0; c < columns; ++c) {
        if (numbers[c] >= 0 && stretches.Insert(numbers[c] >> shift)) ++touched;
      }
      seen += columns;
      return true;
    };
    Distribute(begin_row, [](int64_t, int32_t, int64_t) {});
    for (int64_t b = 0; b < buckets_; ++b) applied_ += std::exchange(end_[b], applied_);
    *fit = touched >= least;
    return STREW_OK;
  }

  Status Combine() {
    const int64_t place_bytes = RoundUp(entries_ * int64_t{sizeof(Place)});
    const int64_t bytes =
        tasks_ * TaskBytes() + place_bytes + entries_ * (entry_bytes_ - int64_t{sizeof(Place)});
    const Scratch scratch(mean_.call, static_cast<size_t>(bytes));
    if (scratch.memory() == nullptr) return mean_.Refuse();
    places_ = reinterpret_cast<Place*>(scratch.memory() + tasks_ * TaskBytes());
    updates_ = scratch.memory() + tasks_ * TaskBytes() + place_bytes;
    MoveAll();
    if (mean_.scatter.applied_units != nullptr) *mean_.scatter.applied_units += applied_ * units_;
    if (units_ > 1) return CombineInOrder(scratch.memory());
    STREW_TRY(mean_.CopyData());
    return share::ForEachPart(mean_.call, tasks_, buckets_, [&](int64_t bucket, int64_t task) {
      CombineSlots(bucket, scratch.memory() + task * TaskBytes());
    });
  }

 private:
  static bool HasNoGaps(const plan::IndexSpace& space, const plan::DestinationNumbers& numbers) {
    int64_t elements = space.lanes_count;
    for (int c = 0; c < space.components; ++c) elements *= space.component[c].axis_size;
    return elements == numbers.range();
  }
  static int64_t RoundUp(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

  int64_t Places() const { return int64_t{1} << shift_; }
  int64_t TaskBytes() const { return RoundUp(Places() * place_bytes_) + kLine; }
  int64_t First(int64_t bucket) const { return bucket == 0 ? 0 : end_[bucket - 1]; }

  // How many destinations must be touched for what the entries take.
  int64_t LeastTouched() const {
    const int64_t fixed = tasks_ * TaskBytes() + buckets_ * int64_t{sizeof(int64_t)} + kLine;
    const int64_t more = fixed + entries_ * entry_bytes_ - tasks_ * plan::MostScratch(tasks_);
    const int64_t allowed =
        kMeanBytes * units_ - (units_ == 1 ? 0 : int64_t{sizeof(kernel::Group)});
    return more <= 0 ? 0 : (more - 1) / allowed + 1;
  }

  // ---- The partition ----

  // Calls take(where it comes, its number, the update) for each entry in a row for which
  // begin_row(numbers, columns) answers true.
  template <class BeginRow, class Take>
  void Distribute(const BeginRow& begin_row, const Take& take) const {
    const auto locate =
        kernel::IndexKernelsFor(mean_.scatter.indices.dtype, mean_.call.settings().simd_target)
            .locate[kernel::OffsetWidthOf(mean_.space.whole_span)];
    ForEachRow(
        mean_, numbers_, [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
          int32_t numbers[walk::EntrySink::kMostColumns];
          locate(arguments, numbers);
          if (!begin_row(numbers, row.columns)) return;
          const auto updates = [&](int64_t c) { return row.updates + c * row.updates_stride; };
          if (AreOfOneBucket(numbers, row.columns, shift_)) {
            const int64_t end = end_[numbers[0] >> shift_];
            for (int64_t c = 0; c < row.columns; ++c) take(end + c, numbers[c], updates(c));
            end_[numbers[0] >> shift_] = end + row.columns;
            return;
          }
          for (int64_t c = 0; c < row.columns; ++c) {
            if (numbers[c] >= 0) take(end_[numbers[c] >> shift_]++, numbers[c], updates(c));
          }
        });
  }

  // `load` answers the update that begins at a unit.
  template <class Update, class Load>
  void Move(const Load& load) const {
    Update* const updates = reinterpret_cast<Update*>(updates_);
    const int32_t mask = static_cast<int32_t>(Places() - 1);
    Distribute([](const int32_t*, int64_t) { return true; },
               [&](int64_t at, int32_t number, int64_t update) {
                 places_[at] = static_cast<Place>(number & mask);
                 updates[at] = load(update);
               });
  }

  template <int kWidth>
  void MoveElements() const {
    using Element = std::array<unsigned char, kWidth>;
    const auto* const updates = reinterpret_cast<const Element*>(mean_.scatter.updates.data);
    Move<Element>([updates](int64_t update) { return updates[update]; });
  }

  void MoveAll() const {
    if (units_ > 1) return Move<int64_t>([](int64_t update) { return update; });
    if (width_ == 1) return MoveElements<1>();
    if (width_ == 2) return MoveElements<2>();
    if (width_ == 4) return MoveElements<4>();
    if (width_ == 8) return MoveElements<8>();
    MoveElements<16>();
  }

  // Numbers the places of the entries of a bucket in the order in which they come first. The
  // entries then name these numbers instead. Returns how many there are.
  int64_t List(int64_t bucket, Place* number_of, Place* place_of) const {
    constexpr Place kNone = std::numeric_limits<Place>::max();
    const int64_t end = end_[bucket];
    int64_t count = 0;
    for (int64_t i = First(bucket); i < end; ++i) number_of[places_[i]] = kNone;
    for (int64_t i = First(bucket); i < end; ++i) {
      Place& number = number_of[places_[i]];
      if (number == kNone) {
        place_of[count] = places_[i];
        number = static_cast<Place>(count++);
      }
      places_[i] = number;
    }
    return count;
  }

  // ---- Single elements ----

  void AddBucket(int64_t bucket, const Slots& slots) const {
    constexpr int64_t kColumns = 512;
    int32_t numbers[kColumns];
    for (int64_t i = First(bucket); i < end_[bucket]; i += kColumns) {
      const int64_t columns = std::min(kColumns, end_[bucket] - i);
      std::copy_n(places_ + i, columns, numbers);
      mean_.sums.Add(slots, numbers, updates_ + i * width_, 1, columns);
    }
  }

  // Where few of the places are touched only these have slots.
  void CombineSlots(int64_t bucket, unsigned char* scratch) const {
    const int64_t entries = end_[bucket] - First(bucket);
    if (entries == 0) return;
    const int64_t first_number = bucket << shift_;
    const int64_t first = numbers_.DestinationOf(first_number);
    const int64_t stride = numbers_.DestinationOf(first_number + 1) - first;
    const int64_t places = std::min(Places(), numbers_.range() - first_number);
    if (has_no_gaps_ && entries >= places / kTuning.destinations_of_entry) {
      const Slots slots = mean_.sums.At(scratch, places);
      return mean_.sums.Combine(slots, places,
                                DensePlaces{{0, mean_.OutputOf(first), stride, places}},
                                [&] { AddBucket(bucket, slots); });
    }
    Place* const place_of = reinterpret_cast<Place*>(scratch) + Places();
    const int64_t count = List(bucket, reinterpret_cast<Place*>(scratch), place_of);
    const int64_t list_bytes = RoundUp((Places() + count) * int64_t{sizeof(Place)});
    const Slots slots = mean_.sums.At(scratch + list_bytes, count);
    const kernel::Kernels& move =
        walk::IndexedKernelsFor(mean_.call, mean_.scatter.output, STREW_NONE);
    mean_.sums.Combine(slots, count,
                       ListedPlaces{move, mean_.OutputOf(first), stride, place_of, count},
                       [&] { AddBucket(bucket, slots); });
  }

  // ---- Runs ----

  // Brings the updates of each number of a bucket together. The places of these numbers stand where
  // their order will be.
  kernel::Group* Order(int64_t bucket, unsigned char* scratch, kernel::Group* groups,
                       int64_t* order) const {
    const int64_t first = First(bucket), end = end_[bucket];
    const size_t most = static_cast<size_t>(std::min(end - first, Places()));
    const int64_t* const updates = reinterpret_cast<const int64_t*>(updates_);
    uint32_t* const next = reinterpret_cast<uint32_t*>(scratch);
    Place* const place_of = reinterpret_cast<Place*>(next + Places());
    std::memcpy(place_of, order + first, most * sizeof(Place));
    std::memset(next, 0, most * sizeof(*next));
    for (int64_t i = first; i < end; ++i) ++next[places_[i]];
    int64_t begun = first;
    for (int64_t g = 0; begun < end; ++g) {
      *groups++ = {numbers_.DestinationOf((bucket << shift_) + place_of[g]), begun};
      begun += std::exchange(next[g], static_cast<uint32_t>(begun - first));
    }
    for (int64_t i = first; i < end; ++i) order[first + next[places_[i]]++] = updates[i];
    return groups;
  }

  Status CombineInOrder(unsigned char* scratch) const {
    int64_t* const order = reinterpret_cast<int64_t*>(updates_) + entries_;
    int64_t count = 0;
    for (int64_t b = 0; b < buckets_; ++b) {
      count +=
          List(b, reinterpret_cast<Place*>(scratch), reinterpret_cast<Place*>(order + First(b)));
    }
    const Scratch memory(mean_.call, static_cast<size_t>(count + 1) * sizeof(kernel::Group));
    kernel::Group* const groups = reinterpret_cast<kernel::Group*>(memory.memory());
    if (groups == nullptr) return mean_.Refuse();
    STREW_TRY(mean_.CopyData());
    if (count == 0) return STREW_OK;
    kernel::Group* next = groups;
    for (int64_t b = 0; b < buckets_; ++b) next = Order(b, scratch, next, order);
    next->first = applied_;
    return CombineGroups(mean_, groups, count, order);
  }

  const Mean& mean_;
  const plan::DestinationNumbers numbers_;
  const int64_t width_;
  const int64_t units_;
  const int64_t entries_;
  const bool has_no_gaps_;     // whether every number has an element
  const int64_t entry_bytes_;  // scratch for each entry
  int64_t place_bytes_;        // and of a task for each place
  int64_t tasks_ = 1;
  int shift_ = 0;  // a bucket has 2^shift places
  int64_t buckets_;
  int64_t applied_ = 0;  // entries
  Scratch end_memory_;
  int64_t* end_ = nullptr;  // of each bucket; where its next entry comes as long as they are moved
  // Entries side by side, those of each bucket together and in order: their places, and elements
  // or, of runs, where their updates lie.
  Place* places_ = nullptr;
  unsigned char* updates_ = nullptr;
};

}  // namespace

Status CombineBuckets(const Mean& mean, bool* done) {
  Buckets buckets(mean);
  if (buckets.Pay()) STREW_TRY(buckets.Survey(done));
  return *done ? buckets.Combine() : Status(STREW_OK);
}

}  // namespace strew::accumulate
