// SPDX-License-Identifier: Apache-2.0
// How many destinations a call touches at least: means may have scratch for each of them.
#ifndef STREW_ACCUMULATE_TOUCHED_H_
#define STREW_ACCUMULATE_TOUCHED_H_

#include <cstdint>
#include <functional>
#include <limits>

#include "base/call.h"
#include "base/scratch.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Most scratch for each touched element, besides that of every call.
inline constexpr int64_t kTouchedBytes = 40;

// Returns how many destinations must be touched to allow `bytes` of scratch, at `of_touched` bytes
// for each.
inline int64_t TouchedFor(int64_t bytes, int64_t of_touched) {
  return bytes <= 0 ? 0 : (bytes - 1) / of_touched + 1;
}

// Stores in *reached whether the entries touch at least `least` destinations. Returns false if an
// allocation failed.
bool FindTouched(const walk::Scatter& scatter, int64_t least, bool* reached);

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

// How many destinations are touched at least, and about at most.
struct TouchedRange {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};

// Counts the stretches of neighbouring destinations that are touched. There are at least as many
// touched destinations. If a bit for each destination takes more scratch than every call may have,
// stretches are longer until the entries have touched enough destinations to allow it: means of
// 25 M float64, which touched too few stretches of four for buckets, took 0.15 to 0.45 times the
// time, of int64 0.15 to 0.25 (Zen 4).
class TouchedBound {
 public:
  // Tests whether `entries` entries, with numbers in [0, range), touch `least` destinations.
  TouchedBound(const Call& call, int64_t range, int64_t entries, int64_t least);

  // False if an allocation failed.
  bool is_possible() const { return least_ == 0 || memory_.memory() != nullptr; }
  bool is_reached() const { return count_ >= least_; }
  // The number of touched destinations, as far as the entries so far tell.
  TouchedRange OfAll() const {
    return {count_, is_hopeless() ? count_ * (entries_ / seen_ + 1) : count_};
  }
  // True if the first entries touch so few destinations that all entries will hardly touch enough.
  bool is_hopeless() const {
    return seen_ >= kSample && static_cast<double>(count_) < ratio_ * static_cast<double>(seen_);
  }

  // Notes the destinations of some entries. Returns false if is_hopeless().
  bool Touch(const int32_t* numbers, int64_t columns) {
    return is_reached() || TouchMore(numbers, columns);
  }

 private:
  bool TouchMore(const int32_t* numbers, int64_t columns);
  // Bytes of the bits of all stretches of 2^shift destinations.
  int64_t BytesOf(int shift) const {
    return (((range_ - 1) >> shift) / 64 + 1) * int64_t{sizeof(uint64_t)};
  }

  // Clears bits for stretches of 2^shift destinations. Returns false, and changes nothing, if an
  // allocation failed.
  bool Allocate(int shift);
  // Forgets the entries so far, because no bit tells their destinations.
  void Restart() { count_ = seen_ = 0; }

  void CountNew(const int32_t* numbers, int64_t columns);
  void CountAscending(const int32_t* numbers, int64_t columns);

  static constexpr int64_t kMost = int64_t{1} << 23;  // stretches, in 1 MiB, of every call
  static constexpr int64_t kSample = int64_t{1} << 14;

  const Call& call_;
  const int64_t range_;
  const int64_t least_;
  const int64_t entries_;
  const double ratio_;
  int shift_ = 0;  // a stretch has 2^shift_ destinations
  bool may_refine_;
  Scratch memory_;
  int64_t count_ = 0;
  int64_t seen_ = 0;
  bool ascends_ = true;  // all numbers so far
  int32_t last_ = -1;    // the last of them
};

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_TOUCHED_H_
