// SPDX-License-Identifier: Apache-2.0
// Cuts nested loops whose turns may run in any order into parts.
#ifndef STREW_PLAN_CUT_H_
#define STREW_PLAN_CUT_H_

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "base/cache_size.h"
#include "base/checked.h"
#include "plan/loop_nest.h"

namespace strew::plan {

// Turns [first, first + count) of a loop.
struct Turns {
  int64_t first;
  int64_t count;
};

class Cut {
 public:
  Cut() = default;
  // Copies only the loops in use.
  Cut(const Cut& other) { *this = other; }
  Cut& operator=(const Cut& other) {
    assert(this != &other);
    rank_ = other.rank_;
    parts_ = other.parts_;
    std::copy_n(other.loop_, rank_, loop_);
    return *this;
  }

  // Appends an inner loop and cuts it into pieces, until there are `wanted` parts in all or a piece
  // has only `granule` turns.
  void Append(int64_t count, int64_t granule, int64_t wanted) {
    assert(rank_ < kMostLoops);
    const int64_t granules = std::max<int64_t>(count / granule, 1);
    const int64_t pieces = std::clamp<int64_t>((wanted - 1) / parts_ + 1, 1, granules);
    loop_[rank_++] = {count, granule, granules, pieces};
    parts_ *= pieces;
  }

  int64_t parts() const { return parts_; }

  // Upper bound on the turns of loop `i` in any part.
  int64_t MostTurns(int i) const {
    const CutLoop& loop = loop_[i];
    const int64_t most =
        (loop.granules - 1) / loop.pieces * loop.granule + loop.granule + loop.count % loop.granule;
    return std::min(most, loop.count);
  }

  // The turns of loop `i` that belong to a part.
  Turns TurnsOf(int64_t part, int i) const {
    assert(part < parts_);
    for (int inner = rank_ - 1; inner > i; --inner) part /= loop_[inner].pieces;
    const CutLoop& loop = loop_[i];
    const int64_t piece = part % loop.pieces;
    const int64_t first = loop.FirstOf(piece);
    const int64_t end = piece + 1 == loop.pieces ? loop.count : loop.FirstOf(piece + 1);
    return {first, end - first};
  }
  // Keeps the turns of a part in a nest, whose first loop is the first one that was appended.
  template <int kOperands>
  void KeepPart(int64_t part, LoopNest<kOperands>* nest) const {
    const int loops = std::min(rank_, nest->rank);
    for (int i = 0; i < loops; ++i) {
      const Turns turns = TurnsOf(part, i);
      nest->Restrict(i, turns.first, turns.count);
    }
  }

  // The parts in an order in which those that follow one another lie far apart. Neighbouring parts
  // may share cache lines, and two tasks that write one line at the same time wait for each other:
  // minima of [602, 90, 4] int32 on two threads took 0.73 x the time (Zen 4).
  int64_t ApartOf(int64_t part, int64_t tasks) const {
    const int64_t block = part % tasks;
    return parts_ / tasks * block + std::min(block, parts_ % tasks) + part / tasks;
  }

  // The parts in reverse order. The part that is read last is then in the caches when the next
  // pass, in ascending order, begins with it.
  int64_t FromEnd(int64_t part) const { return parts_ - 1 - part; }

 private:
  // Room for outer loops, rows, columns, inner loops and the run.
  static constexpr int kMostLoops = 2 * kMaxLoops;

  struct CutLoop {
    int64_t count;
    int64_t granule;
    int64_t granules;
    int64_t pieces;

    int64_t FirstOf(int64_t piece) const {
      return (granules / pieces * piece + std::min(piece, granules % pieces)) * granule;
    }
  };

  int rank_ = 0;
  int64_t parts_ = 1;
  CutLoop loop_[kMostLoops];
};

// True if turns with this stride, or at this distance, lie at least a cache line apart.
inline bool AreLinesApart(uint64_t distance, int64_t width) {
  return distance >= static_cast<uint64_t>(kCacheLine / width);
}
inline bool AreLinesApart(int64_t stride, int64_t width) {
  return AreLinesApart(Magnitude(stride), width);
}

// Turns that fill about one cache line, so that threads rarely write to the same line.
inline int64_t LineGranule(int64_t output_stride, int64_t width) {
  const int64_t step = static_cast<int64_t>(Magnitude(output_stride));
  return step == 0 || step >= kCacheLine / width ? 1 : kCacheLine / width / step;
}

}  // namespace strew::plan

#endif  // STREW_PLAN_CUT_H_
