// SPDX-License-Identifier: Apache-2.0
// Offsets of places, destinations and entries, which a plan knows by their numbers.
#ifndef STREW_PREPARED_NUMBERING_H_
#define STREW_PREPARED_NUMBERING_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/checked.h"
#include "plan/loop_nest.h"
#include "prepared/numbers.h"

namespace strew::prepared {

// Stands for the position of an update if an entry has none.
inline constexpr int64_t kNoUpdate = std::numeric_limits<int64_t>::min();

// Converts row-major numbers in a box of dims into offsets in units.
class Numbering {
 public:
  void Append(int64_t count, int64_t stride) { nest_.Append(count, stride); }
  // Must be called after the last Append().
  void Finish();
  bool is_line() const { return nest_.rank <= 1; }
  bool is_identity() const { return is_line() && stride() == 1; }
  // Consecutive numbers in each stretch of so many have consecutive offsets.
  int64_t LineLength() const {
    if (is_identity()) return std::numeric_limits<int64_t>::max();
    const plan::Loop<1>* const last = nest_.loop + nest_.rank - 1;
    return nest_.rank > 0 && last->stride[0] == 1 ? last->count : 1;
  }
  // True if all offsets are 0.
  bool is_zero() const { return is_line() && stride() == 0; }

  int64_t OffsetOf(int64_t number) const {
    if (nest_.rank == 0) return 0;
    int64_t offset = 0;
    for (int i = nest_.rank - 1; i > 0; --i) {
      const int64_t count = nest_.loop[i].count;
      offset += number % count * nest_.loop[i].stride[0];
      number /= count;
    }
    return offset + number * nest_.loop[0].stride[0];
  }
  // Distance between the offsets of neighbouring numbers. Requires is_line().
  int64_t stride() const { return nest_.rank == 0 ? 0 : nest_.loop[0].stride[0]; }
  // The least stride of the loops; 0 if there are none.
  uint64_t LeastStride() const {
    uint64_t least = nest_.rank == 0 ? 0 : Magnitude(nest_.loop[0].stride[0]);
    for (int i = 1; i < nest_.rank; ++i)
      least = std::min(least, Magnitude(nest_.loop[i].stride[0]));
    return least;
  }
  // Distance from the lowest to the highest offset.
  int64_t Span() const {
    int64_t span = 0;
    for (int i = 0; i < nest_.rank; ++i) {
      span += static_cast<int64_t>(Magnitude(nest_.loop[i].stride[0])) * (nest_.loop[i].count - 1);
    }
    return span;
  }
  // Replaces each of n numbers by its offset.
  void Resolve(int64_t* numbers, int64_t n) const;
  // The same, with kNoUpdate for -1.
  void ResolveMarked(int64_t* numbers, int64_t n) const;
  // Stores the offsets of numbers [first, first + n) of a list.
  void Locate(const Numbers& list, int64_t first, int64_t n, int64_t* offsets) const;
  // The same, with kNoUpdate for Numbers::kNone.
  void LocateMarked(const Numbers& list, int64_t first, int64_t n, int64_t* offsets) const;

 private:
  // True if all numbers have 32 bits.
  bool MayDivideShort() const;
  // Calls body(offset_of) with a function that is faster than OffsetOf() for many numbers.
  template <class Body>
  void WithOffsetOf(const Body& body) const;

  plan::LoopNest<1> nest_;
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_NUMBERING_H_
