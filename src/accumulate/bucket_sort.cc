// SPDX-License-Identifier: Apache-2.0
#include "accumulate/bucket_sort.h"

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "accumulate/entry_rows.h"

namespace strew::accumulate {
namespace {

// True if a row of numbers is in one bucket, as most rows are if indices ascend.
bool AreOfOneBucket(const int32_t* numbers, int64_t columns, int shift) {
  if (numbers[0] < 0 || (numbers[0] ^ numbers[columns - 1]) >> shift != 0) return false;
  int32_t differing = 0;
  for (int64_t c = 0; c < columns; ++c) differing |= numbers[0] ^ numbers[c];
  return differing >> shift == 0;
}

// A lower bound of the number of touched destinations: the number of their touched stretches.
class TouchedBound {
 public:
  // Tests whether `entries` entries, with numbers in [0, range), touch `least` destinations.
  TouchedBound(const Call& call, int64_t range, int64_t entries, int64_t least)
      : least_(least), ratio_(static_cast<double>(least) / static_cast<double>(entries)) {
    while ((range - 1) >> shift_ >= kMost) ++shift_;
    const size_t bytes = static_cast<size_t>(((range - 1) >> shift_) / 64 + 1) * sizeof(uint64_t);
    Scratch(call, least == 0 ? 0 : bytes).Swap(&memory_);
    words_ = reinterpret_cast<uint64_t*>(memory_.memory());
    if (words_ != nullptr) std::memset(words_, 0, bytes);
  }

  // False if an allocation failed.
  bool is_possible() const { return least_ == 0 || words_ != nullptr; }
  bool is_reached() const { return count_ >= least_; }

  // Returns false if the first entries touch so few that all of them will hardly touch enough.
  bool Touch(const int32_t* numbers, int64_t columns) {
    if (is_reached()) return true;
    const double wanted = ratio_ * static_cast<double>(seen_);
    if (seen_ >= kSample && static_cast<double>(count_) < wanted) return false;
    for (int64_t c = 0; c < columns; ++c) {
      if (numbers[c] < 0) continue;
      const int32_t stretch = numbers[c] >> shift_;
      uint64_t& word = words_[stretch / 64];
      count_ += static_cast<int64_t>(~word >> (stretch % 64) & 1);
      word |= uint64_t{1} << (stretch % 64);
    }
    seen_ += columns;
    return true;
  }

 private:
  static constexpr int64_t kMost = int64_t{1} << 23;  // 1 MiB
  static constexpr int64_t kSample = int64_t{1} << 14;

  const int64_t least_;
  const double ratio_;
  int shift_ = 0;
  Scratch memory_;
  uint64_t* words_ = nullptr;
  int64_t count_ = 0;
  int64_t seen_ = 0;
};

}  // namespace

BucketSort::BucketSort(const walk::Scatter& scatter, Moves moves)
    : scatter_(scatter),
      moves_(moves),
      numbers_(scatter.loops),
      width_(scatter.width),
      all_(scatter.loops.Entries()) {
  const plan::EntryLoops& loops = scatter.loops;
  int64_t elements = loops.batches;
  for (int c = 0; c < loops.components; ++c) elements *= loops.component[c].axis_size;
  has_no_gaps_ = elements == numbers_.range();
}

// ---- Buckets ----

// Calls take(position, number, update) for each entry of the rows for which begin_row(numbers,
// columns) returns true.
template <class BeginRow, class Take>
void BucketSort::Distribute(const BeginRow& begin_row, const Take& take) const {
  const auto locate = scatter_.index_kernels.locate[scatter_.loops.WholeOffsets()];
  const auto distribute = [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
    int32_t numbers[walk::EntrySink::kMostColumns];
    locate(arguments, numbers);
    if (!begin_row(numbers, row.columns)) return;
    const auto update = [&](int64_t c) { return row.updates + c * row.updates_stride; };
    if (AreOfOneBucket(numbers, row.columns, shift_)) {
      const int64_t end = end_[numbers[0] >> shift_];
      for (int64_t c = 0; c < row.columns; ++c) take(end + c, numbers[c], update(c));
      end_[numbers[0] >> shift_] = end + row.columns;
      return;
    }
    for (int64_t c = 0; c < row.columns; ++c) {
      if (numbers[c] >= 0) take(end_[numbers[c] >> shift_]++, numbers[c], update(c));
    }
  };
  ForEachRow(scatter_, numbers_, distribute);
}

bool BucketSort::Count(int64_t least_touched, bool* reached) {
  Scratch(scatter_.call, static_cast<size_t>(count_bytes())).Swap(&end_memory_);
  end_ = reinterpret_cast<int64_t*>(end_memory_.memory());
  TouchedBound touched(scatter_.call, numbers_.range(), all_, least_touched);
  if (end_ == nullptr || !touched.is_possible()) return false;
  std::memset(end_, 0, static_cast<size_t>(count_bytes()));
  Distribute(
      [&](const int32_t* numbers, int64_t columns) { return touched.Touch(numbers, columns); },
      [](int64_t, int32_t, int64_t) {});
  entries_ = 0;
  for (int64_t b = 0; b < buckets(); ++b) entries_ += std::exchange(end_[b], entries_);
  *reached = touched.is_reached();
  return true;
}

// `load` returns the update that begins at a unit.
template <class Update, class Load>
void BucketSort::MoveEach(const Load& load) const {
  Update* const updates = reinterpret_cast<Update*>(updates_);
  const int32_t mask = static_cast<int32_t>(places() - 1);
  Distribute([](const int32_t*, int64_t) { return true; },
             [&](int64_t at, int32_t number, int64_t update) {
               places_[at] = static_cast<Place>(number & mask);
               updates[at] = load(update);
             });
}

template <int kWidth>
void BucketSort::MoveElements() const {
  using Element = std::array<unsigned char, kWidth>;
  const auto* const updates = reinterpret_cast<const Element*>(scatter_.UpdateAt(0));
  MoveEach<Element>([updates](int64_t update) { return updates[update]; });
}

void BucketSort::Move(unsigned char* memory) {
  places_ = reinterpret_cast<Place*>(memory);
  updates_ = memory + RoundUp(all_ * kPlaceBytes);
  if (moves_ == Moves::kPositions) return MoveEach<int64_t>([](int64_t update) { return update; });
  if (width_ == 1) return MoveElements<1>();
  if (width_ == 2) return MoveElements<2>();
  if (width_ == 4) return MoveElements<4>();
  if (width_ == 8) return MoveElements<8>();
  MoveElements<16>();
}

int64_t BucketSort::List(int64_t bucket, Place* position_of, Place* list) const {
  constexpr Place kNone = std::numeric_limits<Place>::max();
  const int64_t last = end(bucket);
  int64_t count = 0;
  for (int64_t i = first(bucket); i < last; ++i) position_of[places_[i]] = kNone;
  for (int64_t i = first(bucket); i < last; ++i) {
    Place& position = position_of[places_[i]];
    if (position == kNone) {
      list[count] = places_[i];
      position = static_cast<Place>(count++);
    }
    places_[i] = position;
  }
  return count;
}

// ---- Groups ----

// The order of a bucket's updates overwrites the list of its places.
kernel::Group* BucketSort::OrderBucket(int64_t bucket, unsigned char* scratch,
                                       kernel::Group* groups) const {
  const int64_t begin = first(bucket), last = end(bucket);
  const size_t most = static_cast<size_t>(std::min(last - begin, places()));
  int64_t* const order = positions() + all_;
  uint32_t* const next = reinterpret_cast<uint32_t*>(scratch);
  Place* const list = reinterpret_cast<Place*>(next + places());
  std::memcpy(list, order + begin, most * sizeof(Place));
  std::memset(next, 0, most * sizeof(*next));
  for (int64_t i = begin; i < last; ++i) ++next[places_[i]];
  int64_t done = begin;
  for (int64_t g = 0; done < last; ++g) {
    *groups++ = {numbers_.DestinationOf((bucket << shift_) + list[g]), done};
    done += std::exchange(next[g], static_cast<uint32_t>(done - begin));
  }
  for (int64_t i = begin; i < last; ++i) order[begin + next[places_[i]]++] = positions()[i];
  return groups;
}

bool BucketSort::Order(unsigned char* scratch, Scratch* groups, int64_t* count) const {
  int64_t* const order = positions() + all_;
  *count = 0;
  for (int64_t b = 0; b < buckets(); ++b) {
    *count +=
        List(b, reinterpret_cast<Place*>(scratch), reinterpret_cast<Place*>(order + first(b)));
  }
  Scratch(scatter_.call, static_cast<size_t>(*count + 1) * sizeof(kernel::Group)).Swap(groups);
  kernel::Group* next = reinterpret_cast<kernel::Group*>(groups->memory());
  if (next == nullptr) return false;
  for (int64_t b = 0; b < buckets(); ++b) next = OrderBucket(b, scratch, next);
  next->first = entries_;
  return true;
}

}  // namespace strew::accumulate
