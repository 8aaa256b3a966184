// SPDX-License-Identifier: Apache-2.0
// Combines the updates of destinations whose entries were sorted into groups.
#include <algorithm>

#include "accumulate/mean_sums.h"
#include "base/reduction.h"
#include "plan/cut.h"
#include "plan/schedule.h"

namespace strew::accumulate {

using plan::kOutput;
using plan::kUpdates;

// Combines all updates of a destination at once, so that sums stay in registers.
Status CombineGroups(const Accumulation& work, const kernel::Group* groups, int64_t count,
                     const int64_t* order) {
  if (count == 0) return STREW_OK;
  // If an entry has no runs, its innermost loop serves as one.
  plan::InnerNest outside(work.scatter.loops.inner);
  const plan::InnerLoop run =
      work.scatter.loops.run.count > 1 ? work.scatter.loops.run : outside.PopInnermost();
  // Strided elements share cache lines with elements of other groups. With few turns at a time,
  // those groups follow while the lines are in the caches.
  const int64_t near = work.scatter.tuning.near_group_turns;
  const int64_t step = run.stride[kOutput] == 1 ? run.count : near;

  const int64_t tasks = work.TasksFor(count);
  plan::Cut cut;
  cut.Append(count, 1, work.PartsFor(tasks));
  cut.Append(run.count, plan::LineGranule(run.stride[kOutput], work.scatter.width),
             work.PartsFor(tasks));
  return share::ForEachPart(work.scatter.call, tasks, cut.parts(), [&](int64_t part, int64_t) {
    const plan::Turns of_groups = cut.TurnsOf(part, 0);
    const plan::Turns of_run = cut.TurnsOf(part, 1);
    const int64_t end = of_run.first + of_run.count;
    plan::ForEachTurn(outside, outside.rank, [&](const int64_t* inner) {
      for (int64_t i = of_run.first; i < end; i += step) {
        kernel::WalkGroups(
            work.sums.kernels().group, work.scatter.width, groups + of_groups.first,
            {work.OutputOf(inner[kOutput] + i * run.stride[kOutput]), run.stride[kOutput],
             work.scatter.UpdateAt(inner[kUpdates] + i * run.stride[kUpdates]),
             run.stride[kUpdates], order, of_groups.count, std::min(step, end - i),
             ExcludesSelf(work.scatter.reduction), work.sums.divides()});
      }
    });
  });
}

}  // namespace strew::accumulate
