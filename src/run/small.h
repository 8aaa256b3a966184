// SPDX-License-Identifier: Apache-2.0
// Scatters of few updates, for which making a schedule would take longer than carrying it out.
#ifndef STREW_RUN_SMALL_H_
#define STREW_RUN_SMALL_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/index_space.h"
#include "plan/tuning.h"
#include "run/tile.h"

namespace strew::run {

// True for scatters of so few updates.
inline bool IsSmall(const IndexedScatter& scatter) {
  const int64_t indices = scatter.indices.size;
  const int64_t updates = scatter.updates.size;
  if (updates == 0 || indices > plan::kTuning.few_indices) return false;
  if (updates <= plan::kTuning.few_updates) return true;
  return indices > 0 && updates <= plan::kTuning.most_small_updates &&
         updates <= plan::kTuning.most_small_bytes / scatter.updates.element_size;
}

// Does what Run() does, for a scatter that is small. The index space is not arranged yet.
Status RunSmall(const Call& call, const IndexedScatter& scatter, plan::IndexSpace* space);

}  // namespace strew::run

#endif  // STREW_RUN_SMALL_H_
