// SPDX-License-Identifier: Apache-2.0
#include "accumulate/bucket_sort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "accumulate/entry_rows.h"
#include "base/call.h"
#include "base/compiler.h"
#include "base/element_size.h"

namespace strew::accumulate {
namespace {

// Combines value_of(c) for all c in [first, end), in any order; 0 is the identity. Each turn takes
// several columns, so that compilers use vectors.
template <class Combine, class ValueOf>
int32_t OverColumns(int64_t first, int64_t end, const Combine& combine, const ValueOf& value_of) {
  constexpr int64_t kColumns = 8;
  int32_t values[kColumns] = {};
  int64_t c = first;
  for (; c + kColumns <= end; c += kColumns) {
    for (int64_t k = 0; k < kColumns; ++k) values[k] = combine(values[k], value_of(c + k));
  }
  int32_t all = 0;
  for (const int32_t of_column : values) all = combine(all, of_column);
  for (; c < end; ++c) all = combine(all, value_of(c));
  return all;
}

// Returns the bits that bits_of(c) has for any c in [first, end).
template <class BitsOf>
int32_t AnyBits(int64_t first, int64_t end, const BitsOf& bits_of) {
  return OverColumns(first, end, std::bit_or<int32_t>(), bits_of);
}

// True if no number is negative, below the one before it or, the first one, below `last`.
bool Ascend(const int32_t* numbers, int64_t columns, int32_t last) {
  // Negative differences have the sign bit; those of dropped entries overflow, but these have it.
  const auto sign_of = [=](int64_t c) {
    const uint32_t step = static_cast<uint32_t>(numbers[c]) - static_cast<uint32_t>(numbers[c - 1]);
    return static_cast<int32_t>(step) | numbers[c];
  };
  return numbers[0] >= std::max(last, 0) && AnyBits(1, columns, sign_of) >= 0;
}

// Counts the stretches of neighbouring destinations that are touched. There are at least as many
// touched destinations. If a bit for each destination takes more scratch than every call may have,
// stretches are longer until the entries have touched enough destinations to allow it: means of
// 25 M float64, which touched too few stretches of four for buckets, took 0.15 to 0.45 times the
// time, of int64 0.15 to 0.25 (Zen 4).
class TouchedBound {
 public:
  // Tests whether `entries` entries, with numbers in [0, range), touch `least` destinations.
  TouchedBound(const Call& call, int64_t range, int64_t entries, int64_t least)
      : call_(call),
        range_(range),
        least_(least),
        ratio_(static_cast<double>(least) / static_cast<double>(entries)) {
    while ((range - 1) >> shift_ >= kMost) ++shift_;
    may_refine_ = shift_ != 0;
    if (least != 0) (void)Allocate(shift_);
  }

  // False if an allocation failed.
  bool is_possible() const { return least_ == 0 || memory_.memory() != nullptr; }
  bool is_reached() const { return count_ >= least_; }
  // True if the first entries touch so few destinations that all entries will hardly touch enough.
  bool is_hopeless() const {
    return seen_ >= kSample && static_cast<double>(count_) < ratio_ * static_cast<double>(seen_);
  }

  // Notes the destinations of some entries. Returns false if is_hopeless().
  bool Touch(const int32_t* numbers, int64_t columns) {
    if (is_reached()) return true;
    if (is_hopeless()) return false;
    if (ascends_) {
      ascends_ = Ascend(numbers, columns, last_);
      if (!ascends_) Restart();
    } else if (may_refine_ && count_ * kTouchedBytes >= BytesOf(0)) {
      may_refine_ = false;
      if (Allocate(0)) Restart();
    }
    ascends_ ? CountAscending(numbers, columns) : CountNew(numbers, columns);
    seen_ += columns;
    return true;
  }

 private:
  // Bytes of the bits of all stretches of 2^shift destinations.
  int64_t BytesOf(int shift) const {
    return (((range_ - 1) >> shift) / 64 + 1) * int64_t{sizeof(uint64_t)};
  }

  // Clears bits for stretches of 2^shift destinations. Returns false, and changes nothing, if an
  // allocation failed.
  bool Allocate(int shift) {
    Scratch bits(call_, BytesOf(shift));
    if (bits.memory() == nullptr) return false;
    std::memset(bits.memory(), 0, static_cast<size_t>(BytesOf(shift)));
    bits.Swap(&memory_);
    shift_ = shift;
    return true;
  }

  // Forgets the entries so far, because no bit tells their destinations.
  void Restart() { count_ = seen_ = 0; }

  void CountNew(const int32_t* numbers, int64_t columns) {
    uint64_t* const words = reinterpret_cast<uint64_t*>(memory_.memory());
    for (int64_t c = 0; c < columns; ++c) {
      if (numbers[c] < 0) continue;
      const int32_t stretch = numbers[c] >> shift_;
      uint64_t& word = words[stretch / 64];
      count_ += static_cast<int64_t>(~word >> (stretch % 64) & 1);
      word |= uint64_t{1} << (stretch % 64);
    }
  }

  // While all numbers ascend, a destination is new if it differs from the one before, so that no
  // word is written: with sorted entries each write would wait for the one before. Means of 2 M
  // float64, 4 for each of 0.5 M destinations, took 0.75 times the time (Emerald Rapids).
  void CountAscending(const int32_t* numbers, int64_t columns) {
    const auto is_new = [=](int64_t c) { return numbers[c] != numbers[c - 1] ? 1 : 0; };
    if (numbers[0] != last_) ++count_;
    count_ += OverColumns(1, columns, std::plus<int32_t>(), is_new);
    last_ = numbers[columns - 1];
  }

  static constexpr int64_t kMost = int64_t{1} << 23;  // stretches, in 1 MiB, of every call
  static constexpr int64_t kSample = int64_t{1} << 14;

  const Call& call_;
  const int64_t range_;
  const int64_t least_;
  const double ratio_;
  int shift_ = 0;  // a stretch has 2^shift_ destinations
  bool may_refine_;
  Scratch memory_;
  int64_t count_ = 0;
  int64_t seen_ = 0;
  bool ascends_ = true;  // all numbers so far
  int32_t last_ = -1;    // the last of them
};

// True if all numbers of a row are in one bucket, as in most rows if indices ascend.
bool AreOfOneBucket(const int32_t* numbers, int64_t columns, int shift) {
  const int32_t first = numbers[0];
  if (first < 0 || (first ^ numbers[columns - 1]) >> shift != 0) return false;
  return AnyBits(1, columns, [=](int64_t c) { return first ^ numbers[c]; }) >> shift == 0;
}

// True if the buckets of a row of entries ascend, beginning at *last, the last bucket of the row
// before. Requires that no entry is dropped.
bool BucketsAscend(const int32_t* numbers, int64_t columns, int shift, int32_t* last) {
  const bool follows = numbers[0] >> shift >= *last;
  *last = numbers[columns - 1] >> shift;
  // Negative differences have the sign bit.
  return follows && AnyBits(1, columns, [=](int64_t c) {
                      return (numbers[c] >> shift) - (numbers[c - 1] >> shift);
                    }) >= 0;
}

// Calls take_row(position, numbers, row) for a row of one bucket, and take(position, number,
// update) for each entry of any other row; `next` has the next position of each bucket. Rows for
// which begin_row(numbers, columns) returns false are skipped.
// Arguments are copied, because the compiler must assume that moved bytes change them.
template <class BeginRow, class Take, class TakeRow>
void Distribute(const Buckets& buckets, int64_t* next, const BeginRow& begin_row, const Take& take,
                const TakeRow& take_row) {
  const walk::Scatter& scatter = buckets.scatter();
  const auto locate = scatter.index_kernels.locate[scatter.loops.WholeOffsets()];
  const auto distribute = [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
    int32_t numbers[walk::EntrySink::kMostColumns];
    locate(arguments, numbers);
    if (!begin_row(numbers, row.columns)) return;
    const Take take_entry = take;
    int64_t* const next_of = next;
    const int shift = buckets.shift();
    const int64_t columns = row.columns;
    if (AreOfOneBucket(numbers, columns, shift)) {
      int64_t& position = next_of[numbers[0] >> shift];
      take_row(position, numbers, row);
      position += columns;
      return;
    }
    const int64_t stride = row.updates_stride;
    int64_t update = row.updates;
    for (int64_t c = 0; c < columns; ++c, update += stride) {
      if (numbers[c] >= 0) take_entry(next_of[numbers[c] >> shift]++, numbers[c], update);
    }
  };
  ForEachRow(scatter, buckets.numbers(), distribute);
}

// load(u) returns the update that begins at unit u.
template <class Update, class Load>
void Move(const Buckets& buckets, int64_t* next, const MovedEntries& to, const Load& load) {
  // Prefetch distance within a bucket, in bytes: the hardware does not follow so many streams of
  // stores. Means of 2.2 M float32 in 34 buckets took 0.77 times the time without prefetch (Zen 4).
  constexpr size_t kAhead = 64;
  Update* const updates = reinterpret_cast<Update*>(to.updates);
  Remainder* const remainders = to.remainders;
  const int32_t mask = static_cast<int32_t>(buckets.size() - 1);
  const auto take = [=](int64_t at, int32_t number, int64_t update) {
    PrefetchForWrite(updates + at + kAhead / sizeof(Update));
    PrefetchForWrite(remainders + at + kAhead / sizeof(Remainder));
    remainders[at] = static_cast<Remainder>(number & mask);
    updates[at] = load(update);
  };
  const auto take_row = [=](int64_t at, const int32_t* numbers, const walk::EntryRow& row) {
    const int64_t first = row.updates, stride = row.updates_stride, n = row.columns;
    for (int64_t c = 0; c < n; ++c) remainders[at + c] = static_cast<Remainder>(numbers[c] & mask);
    for (int64_t c = 0; c < n; ++c) updates[at + c] = load(first + c * stride);
  };
  const auto take_all = [](const int32_t*, int64_t) { return true; };
  Distribute(buckets, next, take_all, take, take_row);
}

void MoveElements(const Buckets& buckets, int64_t* next, const MovedEntries& to) {
  WithElementSize(buckets.scatter().width, [&](auto width) {
    if constexpr (width != 0) {  // dtypes with sums have no rare widths
      using Element = std::array<unsigned char, width>;
      const auto* const updates = reinterpret_cast<const Element*>(buckets.scatter().UpdateAt(0));
      Move<Element>(buckets, next, to, [updates](int64_t update) { return updates[update]; });
    }
  });
}

}  // namespace

bool FindTouched(const walk::Scatter& scatter, int64_t least, bool* reached) {
  *reached = least == 0;
  if (least == 0) return true;
  const plan::DestinationNumbers numbers(scatter.loops);
  const int64_t entries = scatter.loops.Entries();
  // Numbers of more destinations do not fit the kernels that locate them.
  if (numbers.range() > std::numeric_limits<int32_t>::max()) return true;
  if (least > std::min(entries, numbers.range())) return true;
  TouchedBound touched(scatter.call, numbers.range(), entries, least);
  if (!touched.is_possible()) return false;
  const auto locate = scatter.index_kernels.locate[scatter.loops.WholeOffsets()];
  const auto touch = [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
    if (touched.is_reached() || touched.is_hopeless()) return;
    int32_t located[walk::EntrySink::kMostColumns];
    locate(arguments, located);
    (void)touched.Touch(located, row.columns);
  };
  ForEachRow(scatter, numbers, touch);
  *reached = touched.is_reached();
  return true;
}

// ---- Buckets ----

Buckets::Buckets(const walk::Scatter& scatter, const plan::DestinationNumbers& numbers, int shift,
                 int64_t least_touched)
    : scatter_(scatter),
      numbers_(numbers),
      shift_(shift),
      memory_(scatter.call, Bytes(count())),
      firsts_(reinterpret_cast<int64_t*>(memory_.memory())) {
  TouchedBound touched(scatter.call, numbers.range(), scatter.loops.Entries(), least_touched);
  if (firsts_ == nullptr || !touched.is_possible()) return;
  const int64_t end = count() + 1;
  std::fill_n(firsts_, end, 0);
  int32_t last = 0;
  bool ascend = scatter.loops.out_of_range != plan::OutOfRange::kDrop;
  Distribute(
      *this, firsts_,
      [&](const int32_t* of_row, int64_t columns) {
        ascend = ascend && BucketsAscend(of_row, columns, shift_, &last);
        return touched.Touch(of_row, columns);
      },
      [](int64_t, int32_t, int64_t) {}, [](int64_t, const int32_t*, const walk::EntryRow&) {});
  int64_t sum = 0;
  for (int64_t b = 0; b < end; ++b) sum += std::exchange(firsts_[b], sum);
  ok_ = true;
  is_reached_ = touched.is_reached();
  ascend_ = ascend;
}

// ---- Moves ----

// The memory begins with the next position of each bucket.
int64_t MovedEntries::Bytes(int64_t entries, int64_t buckets, int64_t update_bytes) {
  return Scratch::RoundUp(buckets * int64_t{sizeof(int64_t)}) +
         Scratch::RoundUp(entries * int64_t{sizeof(Remainder)}) + entries * update_bytes;
}

MovedEntries::MovedEntries(const Buckets& buckets, Moves moves, unsigned char* memory)
    : remainders(reinterpret_cast<Remainder*>(memory + Bytes(0, buckets.count(), 0))),
      updates(memory + Bytes(buckets.entries(), buckets.count(), 0)) {
  int64_t* const next = reinterpret_cast<int64_t*>(memory);
  std::copy_n(buckets.firsts(), buckets.count(), next);
  if (moves == Moves::kPositions) {
    Move<int64_t>(buckets, next, *this, [](int64_t update) { return update; });
  } else {
    MoveElements(buckets, next, *this);
  }
}

int64_t ListDistinct(Remainder* remainders, int64_t n, Remainder* position_of, Remainder* list) {
  constexpr Remainder kNone = std::numeric_limits<Remainder>::max();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) position_of[remainders[i]] = kNone;
  for (int64_t i = 0; i < n; ++i) {
    Remainder& position = position_of[remainders[i]];
    if (position == kNone) {
      list[count] = remainders[i];
      position = static_cast<Remainder>(count++);
    }
    remainders[i] = position;
  }
  return count;
}

// ---- Groups ----

namespace {

// Orders the updates of a bucket, and overwrites the list of its destinations with this order.
kernel::Group* OrderBucket(const Buckets& buckets, const MovedEntries& moved, int64_t bucket,
                           unsigned char* scratch, int64_t* order, kernel::Group* groups) {
  const int64_t begin = buckets.first(bucket), last = buckets.end(bucket);
  const size_t most = static_cast<size_t>(std::min(last - begin, buckets.size()));
  const int64_t* const positions = reinterpret_cast<const int64_t*>(moved.updates);
  uint32_t* const next = reinterpret_cast<uint32_t*>(scratch);
  Remainder* const list = reinterpret_cast<Remainder*>(next + buckets.size());
  std::memcpy(list, order + begin, most * sizeof(*list));
  std::memset(next, 0, most * sizeof(*next));
  for (int64_t i = begin; i < last; ++i) ++next[moved.remainders[i]];
  int64_t done = begin;
  for (int64_t g = 0; done < last; ++g) {
    *groups++ = {buckets.numbers().DestinationOf((bucket << buckets.shift()) + list[g]), done};
    done += std::exchange(next[g], static_cast<uint32_t>(done - begin));
  }
  for (int64_t i = begin; i < last; ++i) {
    order[begin + next[moved.remainders[i]]++] = positions[i];
  }
  return groups;
}

}  // namespace

// The list of each bucket's destinations lies where their order will be.
EntryGroups::EntryGroups(const Buckets& buckets, const MovedEntries& moved, unsigned char* scratch)
    : order(reinterpret_cast<int64_t*>(moved.updates) + buckets.entries()) {
  for (int64_t b = 0; b < buckets.count(); ++b) {
    const int64_t first = buckets.first(b);
    count += ListDistinct(moved.remainders + first, buckets.end(b) - first,
                          reinterpret_cast<Remainder*>(scratch),
                          reinterpret_cast<Remainder*>(order + first));
  }
  Scratch(buckets.scatter().call, (count + 1) * int64_t{sizeof(kernel::Group)}).Swap(&memory);
  kernel::Group* next = reinterpret_cast<kernel::Group*>(memory.memory());
  if (next == nullptr) return;
  for (int64_t b = 0; b < buckets.count(); ++b) {
    next = OrderBucket(buckets, moved, b, scratch, order, next);
  }
  next->first = buckets.entries();
}

}  // namespace strew::accumulate
