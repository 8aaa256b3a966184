// SPDX-License-Identifier: Apache-2.0
// Scatters of few updates, for which making a schedule would take longer than carrying it out.
#ifndef STREW_WALK_FEW_H_
#define STREW_WALK_FEW_H_

#include <cstdint>

#include "base/call.h"
#include "plan/index_space.h"
#include "plan/tuning.h"
#include "walk/scatter.h"

namespace strew::walk {

// True for scatters of so few updates.
inline bool IsFew(const IndexedScatter& scatter) {
  const int64_t indices = scatter.indices.size;
  const int64_t updates = scatter.updates.size;
  if (updates == 0 || indices > plan::kTuning.few_indices) return false;
  if (updates <= plan::kTuning.few_updates) return true;
  return indices > 0 && updates <= plan::kTuning.most_small_updates &&
         updates <= plan::kTuning.most_small_bytes / scatter.updates.element_size;
}

// Entries in the order in which they are applied: where they land and where their updates lie, in
// units.
struct FewEntries {
  // As many as updates at most.
  static constexpr int64_t kMost = plan::kTuning.few_updates;
  static_assert(plan::kTuning.few_indices <= kMost);

  int64_t entries = 0;  // with those that are dropped
  int64_t count = 0;
  int64_t output[kMost];
  int64_t updates[kMost];
  bool updates_lie_together = true;
  bool are_near = true;  // whether 32 bits hold all that is in output
};

// False where an index is out of range.
bool LocateFew(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
               FewEntries* few);

// `inner` is that of the index space, and is left arranged.
void ApplyFew(const Call& call, const IndexedScatter& scatter, const FewEntries& few,
              plan::InnerNest* inner);

}  // namespace strew::walk

#endif  // STREW_WALK_FEW_H_
