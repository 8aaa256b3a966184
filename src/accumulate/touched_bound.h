// SPDX-License-Identifier: Apache-2.0
// A lower bound on the number of touched destinations, which limits the scratch of a call.
#ifndef STREW_ACCUMULATE_TOUCHED_BOUND_H_
#define STREW_ACCUMULATE_TOUCHED_BOUND_H_

#include <cstdint>
#include <cstring>

#include "base/call.h"
#include "base/scratch.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Returns how many destinations must be touched to allow `bytes` of scratch, at `of_touched` bytes
// for each.
inline int64_t TouchedFor(int64_t bytes, int64_t of_touched) {
  return bytes <= 0 ? 0 : (bytes - 1) / of_touched + 1;
}

// Counts the stretches of neighbouring destinations that are touched. There are at least as many
// touched destinations.
class TouchedBound {
 public:
  // Tests whether `entries` entries, with numbers in [0, range), touch `least` destinations.
  TouchedBound(const Call& call, int64_t range, int64_t entries, int64_t least)
      : least_(least), ratio_(static_cast<double>(least) / static_cast<double>(entries)) {
    while ((range - 1) >> shift_ >= kMost) ++shift_;
    const int64_t bytes = (((range - 1) >> shift_) / 64 + 1) * int64_t{sizeof(uint64_t)};
    Scratch(call, least == 0 ? 0 : bytes).Swap(&memory_);
    words_ = reinterpret_cast<uint64_t*>(memory_.memory());
    if (words_ != nullptr) std::memset(words_, 0, static_cast<size_t>(bytes));
  }

  // False if an allocation failed.
  bool is_possible() const { return least_ == 0 || words_ != nullptr; }
  bool is_reached() const { return count_ >= least_; }

  // True if the first entries touch so few destinations that all entries will hardly touch enough.
  bool is_hopeless() const {
    return seen_ >= kSample && static_cast<double>(count_) < ratio_ * static_cast<double>(seen_);
  }
  bool is_decided() const { return is_reached() || is_hopeless(); }

  // Notes the destinations of some entries. Returns false if is_hopeless().
  bool Touch(const int32_t* numbers, int64_t columns) {
    if (is_reached()) return true;
    if (is_hopeless()) return false;
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
  static constexpr int64_t kMost = int64_t{1} << 23;  // stretches, in 1 MiB
  static constexpr int64_t kSample = int64_t{1} << 14;

  const int64_t least_;
  const double ratio_;
  int shift_ = 0;
  Scratch memory_;
  uint64_t* words_ = nullptr;
  int64_t count_ = 0;
  int64_t seen_ = 0;
};

// Stores in *reached whether the entries touch at least `least` destinations. Returns false if an
// allocation failed.
bool FindTouched(const walk::Scatter& scatter, int64_t least, bool* reached);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_TOUCHED_BOUND_H_
