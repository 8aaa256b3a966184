// SPDX-License-Identifier: Apache-2.0
#include "run/pace.h"

#include <algorithm>

#include "plan/tuning.h"
#include "run/cache.h"

namespace strew::run {
using plan::kTuning;

int64_t NearBytes() { return LastLevelCacheBytes() / kTuning.near_part; }

int64_t RowPrefetch(int64_t row_bytes) {
  return std::clamp<int64_t>(kTuning.row_prefetch_bytes / row_bytes, 2,
                             kTuning.element_prefetch / 2);
}

Pace PaceOf(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
            const kernel::Kernels& kernels) {
  const int64_t width = kernels.element_size;
  const int64_t run = plan.run.count;
  Pace pace;
  pace.prefetch = plan.reach <= NearBytes() / width ? 0
                  : run == 1                        ? kTuning.element_prefetch
                                                    : RowPrefetch(run * width);
  pace.strip_prefetch = kernels.heavy ? kTuning.strip_prefetch : 0;
  pace.streams = run >= kTuning.least_streamed_row / width &&
                 scatter.updates.size >= StreamingThreshold() / scatter.updates.element_size;
  return pace;
}

}  // namespace strew::run
