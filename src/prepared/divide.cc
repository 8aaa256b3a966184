// SPDX-License-Identifier: Apache-2.0
#include "prepared/divide.h"

#include <algorithm>

#include "base/reduction.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/unit.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

const kernel::AccumulateKernels& KernelsFor(const Call& call, const TensorView& output) {
  return kernel::AccumulateKernelsFor(output.dtype, STREW_MEAN, call.settings().simd_target);
}

class Divider {
 public:
  Divider(const Call& call, const Plan& plan, const TensorView& output, const Layout& layout,
          bool counts_old)
      : plan_(plan),
        output_(output),
        destinations_(layout.destinations),
        more_(counts_old ? 1 : 0),
        target_(call.settings().simd_target),
        kernels_(KernelsFor(call, output)),
        move_(walk::IndexedKernelsFor(call, output, STREW_NONE)),
        inner_(layout.InnerLoops()) {}

  // Divides destinations [first, first + n), which are lines of consecutive elements, by their
  // counts.
  void DivideAll(const Numbers& counts, int64_t first, int64_t n) const {
    const int64_t end = first + n, line = destinations_.LineLength();
    const kernel::ResolveKernel widen =
        kernel::IndexKernelsFor(counts.dtype(), target_).resolve[kernel::kOffset32];
    while (first < end) {
      const int64_t block = std::min({kGroups, end - first, line - first % line});
      uint32_t wide[kGroups];
      // As if counts were indices of consecutive elements, because vectors resolve those.
      const unsigned char* const narrow = counts.data() + first * counts.width();
      widen({{narrow, 1, 0, block, 1, kernel::kMostTerms}, 1, 0, 0, /*accumulate=*/false, wide});
      unsigned char* const elements =
          output_.data + destinations_.OffsetOf(first) * output_.element_size;
      kernels_.counted.finish_each({elements, wide}, more_, elements, block);
      first += block;
    }
  }

  // Cuts groups and, where these are few, turns of the outermost inner loop.
  plan::Cut CutInto(int64_t parts) const {
    plan::Cut cut;
    cut.Append(plan_.groups(), 1, parts);
    if (inner_.rank > 0) cut.Append(inner_.loop[0].count, 1, parts);
    return cut;
  }

  void Divide(const plan::Cut& cut, int64_t part) const {
    const plan::Turns groups = cut.TurnsOf(part, 0);
    plan::LoopNest<1> outside = inner_;
    if (outside.rank > 0) {
      const plan::Turns turns = cut.TurnsOf(part, 1);
      outside.Restrict(0, turns.first, turns.count);
    }
    const plan::Loop<1> run = outside.PopInnermost();
    DivideGroups(groups.first, groups.first + groups.count, outside, run);
  }

 private:
  static constexpr int64_t kGroups = 256;

  void DivideGroups(int64_t group, int64_t end, const plan::LoopNest<1>& outside,
                    const plan::Loop<1>& run) const {
    for (; group < end; group += kGroups) {
      const int64_t groups = std::min(kGroups, end - group);
      int64_t offsets[kGroups];
      uint32_t counts[kGroups];
      destinations_.Locate(plan_.destinations, group, groups, offsets);
      plan_.CountUpdates(group, groups, counts);
      plan::ForEachTurn(outside, outside.rank, [&](const int64_t* turn) {
        unsigned char* const origin = output_.data + turn[0] * output_.element_size;
        run.count > 1 ? DivideRows(origin, run, offsets, counts, groups)
                      : DivideElements(origin, offsets, counts, groups);
      });
    }
  }

  void DivideRows(unsigned char* origin, const plan::Loop<1>& run, const int64_t* offsets,
                  const uint32_t* counts, int64_t groups) const {
    for (int64_t g = 0; g < groups; ++g) {
      unsigned char* const row = origin + offsets[g] * output_.element_size;
      const int64_t stride = run.stride[0];
      kernels_.sums.finish({row, stride, row, stride, run.count, counts[g] + more_});
    }
  }

  void DivideElements(unsigned char* origin, const int64_t* offsets, uint32_t* counts,
                      int64_t groups) const {
    alignas(64) unsigned char sums[kGroups * plan::kMostWidth];
    alignas(64) unsigned char means[kGroups * plan::kMostWidth] = {};
    kernel::GatherElements(output_.element_size, origin, offsets, groups, sums);
    kernels_.counted.finish_each({sums, counts}, more_, means, groups);
    move_.elements[kernel::kOffset64](kernel::RowTile(origin, means, offsets, groups, 0), {});
  }

  const Plan& plan_;
  const TensorView& output_;
  const Numbering& destinations_;
  const int64_t more_;
  const int32_t target_;
  const kernel::AccumulateKernels& kernels_;
  const kernel::CombineKernels& move_;
  const plan::LoopNest<1> inner_;
};

}  // namespace

Status DivideByCounts(const Call& call, const Plan& plan, const TensorView& output,
                      const Layout& layout, const PlanSchedule& schedule) {
  const Divider divider(call, plan, output, layout, !ExcludesSelf(schedule.reduction));
  const Pass& pass = schedule.division;
  const Numbers* const counts = schedule.divides_all ? plan.counts.Of(plan) : nullptr;
  if (counts != nullptr) {
    plan::Cut all;
    all.Append(counts->count(), kCacheLine, pass.parts);
    return share::ForEachPart(call, pass.tasks, all.parts(), [&](int64_t part, int64_t) {
      const plan::Turns turns = all.TurnsOf(part, 0);
      divider.DivideAll(*counts, turns.first, turns.count);
    });
  }
  const plan::Cut cut = divider.CutInto(pass.parts);
  return share::ForEachPart(call, pass.tasks, cut.parts(),
                            [&](int64_t part, int64_t) { divider.Divide(cut, part); });
}

}  // namespace strew::prepared
