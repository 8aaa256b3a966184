// SPDX-License-Identifier: Apache-2.0
// Means of destinations whose updates were brought together.
#include <algorithm>

#include "accumulate/mean_sums.h"
#include "base/reduction.h"
#include "plan/cut.h"
#include "plan/schedule.h"

namespace strew::accumulate {

using plan::kOutput;
using plan::kUpdates;

// Combines the updates of each destination together, so that sums stay in registers.
Status CombineGroups(const Mean& mean, const kernel::Group* groups, int64_t count,
                     const int64_t* order) {
  if (count == 0) return STREW_OK;
  // Strided elements share cache lines with other groups, which follow while these are in the
  // caches.
  constexpr int64_t kNearTurns = 256;
  // If an entry has no runs, its innermost loop serves as one.
  plan::InnerNest outside(mean.scatter.loops.inner);
  const plan::InnerLoop run =
      mean.scatter.loops.run.count > 1 ? mean.scatter.loops.run : outside.PopInnermost();
  const int64_t step = run.stride[kOutput] == 1 ? run.count : kNearTurns;

  const int64_t tasks = mean.TasksFor(count);
  plan::Cut cut;
  cut.Append(count, 1, mean.PartsFor(tasks));
  cut.Append(run.count, plan::LineGranule(run.stride[kOutput], mean.scatter.width),
             mean.PartsFor(tasks));
  return share::ForEachPart(mean.scatter.call, tasks, cut.parts(), [&](int64_t part, int64_t) {
    const plan::Turns of_groups = cut.TurnsOf(part, 0);
    const plan::Turns of_run = cut.TurnsOf(part, 1);
    const int64_t end = of_run.first + of_run.count;
    plan::ForEachTurn(outside, outside.rank, [&](const int64_t* inner) {
      for (int64_t i = of_run.first; i < end; i += step) {
        kernel::WalkGroups(
            mean.sums.kernels().group, mean.scatter.width, groups + of_groups.first,
            {mean.OutputOf(inner[kOutput] + i * run.stride[kOutput]), run.stride[kOutput],
             mean.scatter.UpdateAt(inner[kUpdates] + i * run.stride[kUpdates]),
             run.stride[kUpdates], order, of_groups.count, std::min(step, end - i),
             ExcludesSelf(mean.scatter.reduction)});
      }
    });
  });
}

}  // namespace strew::accumulate
