// SPDX-License-Identifier: Apache-2.0
// Means of entries that are in order by destination: the updates of each are gone through together,
// so that sums stay in registers.
#include <algorithm>

#include "accumulate/mean_ways.h"
#include "base/reduction.h"
#include "plan/cut.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "share/parts.h"

namespace strew::accumulate {

using plan::kOutput;
using plan::kTuning;
using plan::kUpdates;

Status CombineGroups(const Mean& mean, const kernel::Group* groups, int64_t count,
                     const int64_t* order) {
  // Elements that lie apart share lines of cache with other groups, which follow while these are
  // near.
  constexpr int64_t kNearTurns = 256;
  // Where an entry has no runs its innermost loop stands for one.
  plan::InnerNest outside(mean.space.inner);
  const plan::InnerLoop run = mean.space.run.count > 1 ? mean.space.run : outside.PopInnermost();
  const int64_t step = run.stride[kOutput] == 1 ? run.count : kNearTurns;

  const int64_t width = mean.scatter.output.element_size;
  const double touched = static_cast<double>(count);
  const double bytes = touched * static_cast<double>(mean.space.EntryUnits() * width);
  const int64_t tasks =
      share::TasksFor(mean.call, touched * kTuning.ns_of_touched + bytes * kTuning.ns_of_byte);
  plan::Cut cut;
  cut.Append(count, 1, plan::PartsFor(tasks));
  cut.Append(run.count, plan::LineGranule(run.stride[kOutput], width), plan::PartsFor(tasks));
  return share::ForEachPart(mean.call, tasks, cut.parts(), [&](int64_t part, int64_t) {
    const plan::Turns of_groups = cut.TurnsOf(part, 0);
    const plan::Turns of_run = cut.TurnsOf(part, 1);
    const int64_t end = of_run.first + of_run.count;
    plan::ForEachTurn(outside, outside.rank, [&](const int64_t* inner) {
      for (int64_t i = of_run.first; i < end; i += step) {
        mean.sums.kernels().groups(
            {mean.OutputOf(inner[kOutput] + i * run.stride[kOutput]), run.stride[kOutput],
             mean.UpdateOf(inner[kUpdates] + i * run.stride[kUpdates]), run.stride[kUpdates],
             groups + of_groups.first, of_groups.count, order, std::min(step, end - i),
             ExcludesSelf(mean.scatter.reduction)});
      }
    });
  });
}

}  // namespace strew::accumulate
