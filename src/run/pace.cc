// SPDX-License-Identifier: Apache-2.0
#include "run/pace.h"

#include <algorithm>

#include "run/cache.h"

namespace strew::run {
namespace {

// Entries ahead, of single elements.
constexpr int64_t kElementPrefetch = 128;
// Shorter rows are not streamed. 32 MiB of replaced rows on a Zen 5, streaming against ordinary
// stores: rows of 256 B 0.58 to 0.63, of 384 B 0.55, of 1 KiB 0.54 to 0.83, of 4 KiB 0.67 to 0.89.
// Rows of 128 B gain there too (0.7), but elsewhere a line that is streamed in parts costs more.
constexpr int64_t kLeastStreamedRun = 256;

// Entries ahead in a strip, which is partly in the L2 cache, for reductions that take so long that
// the CPU does not look far ahead by itself: max of float32 28 against 33 ms on a Zen 5, but sums
// 24 against 22.
constexpr int64_t kStripPrefetch = 32;

}  // namespace

// Places that lie within so many bytes need no prefetch: a quarter of the last-level cache. Random
// sums into 4 MiB on a Zen 5 0.65 to 0.85 ns each, with prefetch 0.89 to 1.1; into 64 MiB 4.8 and
// 2.7.
int64_t NearBytes() { return StreamingThreshold() / 2; }

// Rows of 320 B and of 1 KiB on two threads took 0.76 and 0.98 x the time with 4 KiB ahead than with
// 8, and as long on one.
int64_t RowPrefetch(int64_t row_bytes) {
  return std::clamp<int64_t>(4096 / row_bytes, 2, kElementPrefetch / 2);
}

Pace PaceOf(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
            const kernel::Kernels& kernels) {
  const int64_t width = kernels.element_size;
  const int64_t run = plan.run.count;
  Pace pace;
  pace.prefetch = plan.reach <= NearBytes() / width ? 0
                  : run == 1                        ? kElementPrefetch
                                                    : RowPrefetch(run * width);
  pace.strip_prefetch = kernels.heavy ? kStripPrefetch : 0;
  pace.streams = run >= kLeastStreamedRun / width &&
                 scatter.updates.size >= StreamingThreshold() / scatter.updates.element_size;
  return pace;
}

}  // namespace strew::run
