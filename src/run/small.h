// SPDX-License-Identifier: Apache-2.0
// Scatters of few updates, for which making a plan would take longer than carrying it out.
#ifndef STREW_RUN_SMALL_H_
#define STREW_RUN_SMALL_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/indexed.h"
#include "run/tile.h"

namespace strew::run {

// Whether a scatter is one of those: a plan takes as long as 20 indices do without one (16 updates of
// a line of 1000 float32 take 90 ns, with a plan 105; 32 take 153 and 112). Where updates are more
// than indices there are no lanes, and each may be a long run: 7 pages of 4 KiB take 1.0 us, with a
// plan 1.2.
inline bool IsSmall(const IndexedScatter& scatter) {
  constexpr int64_t kFewIndices = 20;
  constexpr int64_t kFewUpdates = 64;
  // No reduction of them is worth a second task.
  constexpr int64_t kMostUpdates = 16384;
  constexpr int64_t kMostBytes = 64 << 10;
  const int64_t indices = scatter.indices.size;
  const int64_t updates = scatter.updates.size;
  if (updates == 0 || indices > kFewIndices) return false;
  if (updates <= kFewUpdates) return true;
  return indices > 0 && updates <= kMostUpdates &&
         updates <= kMostBytes / scatter.updates.element_size;
}

// Does what Run() does, for a scatter that is small. The plan is not arranged yet.
Status RunSmall(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan);

}  // namespace strew::run

#endif  // STREW_RUN_SMALL_H_
