// SPDX-License-Identifier: Apache-2.0
// Applies few updates without a schedule, because making one would take longer than the updates.
#ifndef STREW_WALK_FEW_H_
#define STREW_WALK_FEW_H_

#include <cstdint>

#include "base/call.h"
#include "kernel/kernel.h"
#include "plan/index_space.h"
#include "plan/schedule.h"
#include "walk/scatter.h"

namespace strew::walk {

// Entries in the order in which they are applied: their destinations and updates, in units.
struct FewEntries {
  int64_t entries = 0;  // including those that are dropped
  int64_t count = 0;
  int64_t output[plan::kMostFewUpdates];
  int64_t updates[plan::kMostFewUpdates];
  bool updates_lie_together = true;
  bool are_near = true;  // each value in `output` fits 32 bits
};

// Finds the destinations and updates. Returns false if the call fails because of an index.
bool LocateFew(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
               FewEntries* few);

// Writes the entries. Rearranges `inner`, the inner nest of the index space.
void WriteFew(const kernel::CombineKernels& kernels, const Operands& operands,
              const FewEntries& few, plan::InnerNest* inner);

}  // namespace strew::walk

#endif  // STREW_WALK_FEW_H_
