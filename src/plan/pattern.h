// SPDX-License-Identifier: Apache-2.0
// Takes several short loops as one, and writes out the offsets of their turns.
#ifndef STREW_PLAN_PATTERN_H_
#define STREW_PLAN_PATTERN_H_

#include <algorithm>
#include <cstdint>

#include "kernel/kernel.h"
#include "plan/loop_nest.h"

namespace strew::plan {

// Loops taken as one: `slab` is the loop over periods. A period has the innermost loops, with
// `period_turns` turns in all; `outside` has the loops around the slab.
template <int kOperands>
struct FlatNest {
  LoopNest<kOperands> outside;
  Loop<kOperands> slab;
  LoopNest<kOperands> period;
  int64_t period_turns;
};

// Adds loops to the period, from the innermost one on, while they lie together and it has at most
// half a block of turns. The loop around it becomes the slab if it lies together as well.
// lies_together(loop, turns) tells whether each turn of a loop continues the one before, which has
// `turns` turns of the loops inside it. Returns false if the period has no loop.
template <int kOperands, class LiesTogether>
bool Flatten(const LoopNest<kOperands>& nest, int64_t block, const LiesTogether& lies_together,
             FlatNest<kOperands>* flat) {
  LoopNest<kOperands>& outside = flat->outside;
  outside = nest;
  int64_t turns = 1;
  const auto goes_on = [&] {
    return outside.rank > 0 && lies_together(outside.loop[outside.rank - 1], turns);
  };
  while (goes_on() && outside.loop[outside.rank - 1].count <= block / 2 / turns) {
    turns *= outside.PopInnermost().count;
  }
  flat->period_turns = turns;
  flat->period.rank = nest.rank - outside.rank;
  if (flat->period.rank == 0) return false;
  std::copy_n(nest.loop + outside.rank, flat->period.rank, flat->period.loop);
  flat->slab = goes_on() ? outside.PopInnermost() : Loop<kOperands>{1, {}};
  return true;
}

// Repeats the first `filled` offsets until they are there `count` times, each time plus `stride`;
// returns the number of offsets. Doubles the number of copies in each step, so that the compiler
// can use vectors: 2048 offsets of rows of 4 took 6 us one by one.
template <class Offset>
int64_t Repeat(Offset* offsets, int64_t filled, int64_t count, int64_t stride) {
  for (int64_t done = 1; done < count;) {
    const int64_t turns = std::min(done, count - done);
    const Offset shift = static_cast<Offset>(done * stride);
    const Offset* __restrict from = offsets;
    Offset* __restrict to = offsets + done * filled;
    for (int64_t i = 0; i < turns * filled; ++i) to[i] = static_cast<Offset>(from[i] + shift);
    done += turns;
  }
  return filled * count;
}

// Writes the offsets of an operand in all turns of `period`, for the first `slabs` turns of the
// loop around it.
template <class Offset, int kOperands>
void FillPattern(const LoopNest<kOperands>& period, const Loop<kOperands>& slab, int operand,
                 int64_t slabs, Offset* offsets) {
  offsets[0] = 0;
  int64_t filled = 1;
  for (int i = period.rank - 1; i >= 0; --i) {
    filled = Repeat(offsets, filled, period.loop[i].count, period.loop[i].stride[operand]);
  }
  Repeat(offsets, filled, slabs, slab.stride[operand]);
}

// The same for offsets of 32 bits if `is_narrow`, else of 64 bits.
template <int kOperands>
void FillPattern(const LoopNest<kOperands>& period, const Loop<kOperands>& slab, int operand,
                 int64_t slabs, bool is_narrow, void* offsets) {
  if (is_narrow) return FillPattern(period, slab, operand, slabs, static_cast<int32_t*>(offsets));
  FillPattern(period, slab, operand, slabs, static_cast<int64_t*>(offsets));
}

// The positions of an operand's elements in a block of at most kMost turns.
template <int64_t kMost>
class Positions {
 public:
  template <int kOperands>
  Positions(const FlatNest<kOperands>& flat, int operand, int64_t slabs) {
    FillPattern(flat.period, flat.slab, operand, slabs, at_);
    for (int64_t i = 0; i < slabs * flat.period_turns; ++i) lie_together_ &= at_[i] == i;
  }
  const int64_t* at() const { return at_; }

  // Returns n elements in order: a copy, unless they lie together. 150,000 minima of int8 in rows
  // of 10, with gaps between their updates only, took 0.8 times the time of two copies (Zen 5).
  const unsigned char* Bring(int64_t size, const unsigned char* from, int64_t n,
                             unsigned char* copies) const {
    if (lie_together_) return from;
    kernel::GatherElements(size, from, at_, n, copies);
    return copies;
  }

 private:
  int64_t at_[kMost];
  bool lie_together_ = true;
};

// Writes the offsets of the elements of each row: that of the row, and `run` - 1 more that are
// `stride` apart. A length that is known at compile time halves the time.
template <int64_t kRun, class Offset>
void ExpandRowsOf(const Offset* rows, int64_t n, int64_t run, int64_t stride, Offset* elements) {
  const int64_t count = kRun == 0 ? run : kRun;
  for (int64_t r = 0; r < n; ++r, elements += count) {
    for (int64_t i = 0; i < count; ++i) elements[i] = static_cast<Offset>(rows[r] + i * stride);
  }
}

template <class Offset>
void ExpandRows(const Offset* rows, int64_t n, int64_t run, int64_t stride, Offset* elements) {
  if (run == 2) return ExpandRowsOf<2>(rows, n, run, stride, elements);
  if (run == 3) return ExpandRowsOf<3>(rows, n, run, stride, elements);
  if (run == 4) return ExpandRowsOf<4>(rows, n, run, stride, elements);
  ExpandRowsOf<0>(rows, n, run, stride, elements);
}

// The same for offsets of 32 bits if `is_narrow`, else of 64 bits.
inline void ExpandRows(const void* rows, int64_t n, int64_t run, int64_t stride, bool is_narrow,
                       void* elements) {
  if (is_narrow) {
    return ExpandRows(static_cast<const int32_t*>(rows), n, run, stride,
                      static_cast<int32_t*>(elements));
  }
  ExpandRows(static_cast<const int64_t*>(rows), n, run, stride, static_cast<int64_t*>(elements));
}

}  // namespace strew::plan

#endif  // STREW_PLAN_PATTERN_H_
