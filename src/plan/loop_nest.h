// SPDX-License-Identifier: Apache-2.0
// Nests of affine loops over one or more operands. All walks use them for the arithmetic of shapes
// and strides.
#ifndef STREW_PLAN_LOOP_NEST_H_
#define STREW_PLAN_LOOP_NEST_H_

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/tensor_view.h"

namespace strew::plan {

// The dims of a tensor, and one for the units of an opaque element.
inline constexpr int kMaxLoops = kMaxRank + 1;

template <int kOperands>
struct Loop {
  int64_t count;
  int64_t stride[kOperands];  // in units; of indices in elements
};

// offsets = those of the first turn of a loop, moved to another turn
template <int kOperands>
void MoveToTurn(const int64_t* first, const Loop<kOperands>& loop, int64_t turn, int64_t* offsets) {
  for (int o = 0; o < kOperands; ++o) offsets[o] = first[o] + turn * loop.stride[o];
}

// Loops from the outermost to the innermost. `base` is the offset of the first access to each
// operand from its data, in the unit of the strides. Loops beyond `rank` are not initialised, to
// keep small calls fast.
template <int kOperands>
struct LoopNest {
  int rank = 0;
  int64_t base[kOperands] = {};
  Loop<kOperands> loop[kMaxLoops];

  LoopNest() = default;
  LoopNest(const LoopNest& other) { *this = other; }
  LoopNest& operator=(const LoopNest& other) {
    assert(this != &other);
    rank = other.rank;
    // Copies only the loops in use: copying all took half the time of a small box.
    std::memcpy(base, other.base, sizeof(base));
    std::memcpy(loop, other.loop, static_cast<size_t>(rank) * sizeof(loop[0]));
    return *this;
  }

  // Number of turns of all loops together.
  int64_t Turns() const {
    int64_t turns = 1;
    for (int i = 0; i < rank; ++i) turns *= loop[i].count;
    return turns;
  }

  // Appends an innermost loop, unless its count is at most 1.
  template <class... Strides>
  void Append(int64_t count, Strides... strides) {
    static_assert(sizeof...(Strides) == kOperands);
    if (count <= 1) return;
    assert(rank < kMaxLoops);
    loop[rank++] = {count, {strides...}};
  }

  // Prepends an outermost loop, unless its count is at most 1.
  template <class... Strides>
  void Prepend(int64_t count, Strides... strides) {
    static_assert(sizeof...(Strides) == kOperands);
    if (count <= 1) return;
    assert(rank < kMaxLoops);
    std::memmove(loop + 1, loop, static_cast<size_t>(rank++) * sizeof(loop[0]));
    loop[0] = {count, {strides...}};
  }

  // Inserts a loop so that the strides of an operand stay descending; after loops with an equal
  // stride.
  void InsertByStride(int operand, const Loop<kOperands>& inserted) {
    int i = rank++;
    for (; i > 0 && loop[i - 1].stride[operand] < inserted.stride[operand]; --i) {
      loop[i] = loop[i - 1];
    }
    loop[i] = inserted;
  }

  // Removes the innermost loop; returns a loop of one turn if there is none.
  Loop<kOperands> PopInnermost() {
    if (rank == 0) return {1, {}};
    return loop[--rank];
  }

  // Removes loop `i` and the loops inside it, which *inside receives. Returns it, or for -1 a loop
  // of one turn.
  Loop<kOperands> PopLoop(int i, LoopNest* inside) {
    inside->rank = rank - 1 - i;
    std::copy_n(loop + i + 1, inside->rank, inside->loop);
    rank = i + 1;
    return PopInnermost();
  }

  // Keeps turns [first, first + count) of a loop.
  void Restrict(int i, int64_t first, int64_t count) {
    for (int o = 0; o < kOperands; ++o) base[o] += first * loop[i].stride[o];
    loop[i].count = count;
  }

  // Merges neighbouring loops that form one loop in all operands. Keeps the order of accesses.
  void Merge();

  // Makes the strides of operand 0 positive and descending, then merges. Requires that accesses may
  // come in any order.
  void Canonicalise();

 private:
  static bool CanMerge(const Loop<kOperands>& outer, const Loop<kOperands>& inner);
  void Flip(Loop<kOperands>* flipped);
};

template <int kOperands>
bool LoopNest<kOperands>::CanMerge(const Loop<kOperands>& outer, const Loop<kOperands>& inner) {
  for (int o = 0; o < kOperands; ++o) {
    // Modulo 2^64, like the offsets of the turns.
    const uint64_t span =
        static_cast<uint64_t>(inner.count) * static_cast<uint64_t>(inner.stride[o]);
    if (span != static_cast<uint64_t>(outer.stride[o])) return false;
  }
  return true;
}

template <int kOperands>
void LoopNest<kOperands>::Merge() {
  if (rank < 2) return;
  int merged = 0;
  for (int i = 1; i < rank; ++i) {
    if (CanMerge(loop[merged], loop[i])) {
      const int64_t count = loop[merged].count * loop[i].count;
      loop[merged] = loop[i];
      loop[merged].count = count;
    } else {
      loop[++merged] = loop[i];
    }
  }
  rank = merged + 1;
}

template <int kOperands>
void LoopNest<kOperands>::Flip(Loop<kOperands>* flipped) {
  for (int o = 0; o < kOperands; ++o) {
    base[o] += (flipped->count - 1) * flipped->stride[o];
    flipped->stride[o] = -flipped->stride[o];
  }
}

template <int kOperands>
void LoopNest<kOperands>::Canonicalise() {
  const int loops = rank;
  rank = 0;
  for (int i = 0; i < loops; ++i) {
    Loop<kOperands> current = loop[i];
    if (current.stride[0] < 0) Flip(&current);
    InsertByStride(0, current);
  }
  Merge();
}

// Calls body(offset) for every turn of the first `loops` loops of the nest, in order; `offset` has
// an offset for each operand. Stops if the body returns false.
template <int kOperands, class Body>
void ForEachTurn(const LoopNest<kOperands>& nest, int loops, Body body) {
  int64_t offset[kOperands];
  for (int o = 0; o < kOperands; ++o) offset[o] = nest.base[o];
  int64_t turn[kMaxLoops];
  for (int i = 0; i < loops; ++i) turn[i] = 0;
  while (true) {
    if constexpr (std::is_same_v<decltype(body(offset)), bool>) {
      if (!body(static_cast<const int64_t*>(offset))) return;
    } else {
      body(static_cast<const int64_t*>(offset));
    }
    int i = loops - 1;
    for (; i >= 0; --i) {
      const Loop<kOperands>& loop = nest.loop[i];
      if (++turn[i] < loop.count) {
        for (int o = 0; o < kOperands; ++o) offset[o] += loop.stride[o];
        break;
      }
      for (int o = 0; o < kOperands; ++o) offset[o] -= (loop.count - 1) * loop.stride[o];
      turn[i] = 0;
    }
    if (i < 0) return;
  }
}

}  // namespace strew::plan

#endif  // STREW_PLAN_LOOP_NEST_H_
