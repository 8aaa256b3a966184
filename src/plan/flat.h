// SPDX-License-Identifier: Apache-2.0
// Small sheets in one go. Where indices and updates lie together across several loops, entries can
// be taken in the order of memory, many sheets at a time; only where their lanes land has a
// pattern, and that repeats.
#ifndef STREW_PLAN_FLAT_H_
#define STREW_PLAN_FLAT_H_

#include <cstdint>

#include "plan/index_space.h"

namespace strew::plan {

// outside: loops around all; slab: a loop of periods that lie one behind the other; period: the
// loops within, of `period_turns` turns together.
struct FlatWalk {
  IndexedNest outside;
  IndexedLoop slab;
  IndexedNest period;
  int64_t period_turns;
};

// Whether the arranged index space has sheets that are worth it and lie together. `block` is how
// many entries are taken in one go; a period is at most half of them.
bool Flatten(const IndexSpace& space, int64_t block, FlatWalk* flat);

}  // namespace strew::plan

#endif  // STREW_PLAN_FLAT_H_
