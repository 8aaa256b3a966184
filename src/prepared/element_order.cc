// SPDX-License-Identifier: Apache-2.0
#include "prepared/element_order.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "accumulate/accumulator.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "plan/unit.h"
#include "prepared/operands.h"
#include "prepared/ordered.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

// Limit: groups whose positions, or accumulators, are on the stack.
constexpr int64_t kBlock = 256;

bool Has32Bits(const Numbers& list) { return list.width() == int32_t{sizeof(uint32_t)}; }

const uint32_t* NumbersOf(const Numbers& list) {
  return reinterpret_cast<const uint32_t*>(list.data());
}

// How updates are combined: in accumulators if there are any, else in the output.
struct ElementKernels {
  ElementKernels(const Call& call, const TensorView& output, strew_reduction reduction)
      : move(walk::IndexedKernelsFor(call, output, STREW_NONE)),
        excludes_self(ExcludesSelf(reduction)) {
    const strew_reduction kind = ReductionKind(reduction);
    if (Accumulates(reduction)) {
      accumulator_.emplace(call, output.dtype, reduction);
    } else {
      combine = walk::IndexedKernelsFor(call, output, kind).ordered;
    }
    if (excludes_self) StoreIdentity(output.dtype, kind, identity);
  }

  bool exist() const {
    return accumulator_.has_value() ? accumulator_->kernels.ordered != nullptr : combine != nullptr;
  }

  // NULL if updates are combined in the output.
  const accumulate::Accumulator* accumulator() const {
    return accumulator_.has_value() ? &*accumulator_ : nullptr;
  }

  const kernel::CombineKernels& move;
  bool excludes_self;
  kernel::OrderedElementsKernel combine = nullptr;
  alignas(plan::kMostWidth) unsigned char identity[plan::kMostWidth] = {};

 private:
  std::optional<accumulate::Accumulator> accumulator_;
};

// Writes the groups of a part.
class ElementWriter {
 public:
  ElementWriter(const Plan& plan, const kernel::OrderedElements& all, const ElementKernels& kernels)
      : plan_(plan), all_(all), kernels_(kernels) {
    std::iota(positions_, positions_ + kBlock + 1, 0);
  }

  void Write(int64_t group, int64_t end) {
    const bool in_blocks = kernels_.accumulator() != nullptr || !plan_.firsts.exists();
    const int64_t step = in_blocks ? kBlock : plan_.groups();
    for (; group < end; group += step) {
      const int64_t groups = std::min(step, end - group);
      if (kernels_.accumulator() != nullptr) {
        Accumulate(ElementsOf(group, groups), groups);
      } else {
        kernels_.combine(ElementsOf(group, groups));
      }
    }
  }

 private:
  kernel::OrderedElements ElementsOf(int64_t group, int64_t groups) const {
    const int64_t first = plan_.FirstOf(group);
    kernel::OrderedElements block = all_;
    block.order = all_.order + first;
    block.destinations = all_.destinations + group;
    block.firsts = plan_.firsts.exists() ? all_.firsts + group : positions_;
    block.groups = plan_.firsts.exists() ? plan_.groups() - group : groups;
    block.n = plan_.FirstOf(group + groups) - first;
    block.last = std::min(block.n - 1 + block.prefetch, plan_.kept - first - 1);
    return block;
  }

  void Accumulate(const kernel::OrderedElements& block, int64_t groups) {
    const accumulate::Accumulator& accumulator = *kernels_.accumulator();
    accumulator.kernels.ordered(block, sums_);
    uint32_t counts[kBlock];
    for (int64_t g = 0; g < groups; ++g) counts[g] = block.firsts[g + 1] - block.firsts[g];
    accumulator.FinishEach({sums_, counts}, results_, groups);
    if (AreOffsets(plan_, {block.output_stride, block.updates_stride})) {
      return Store<kernel::kOffset32>(block.output, block.destinations, groups);
    }
    int64_t offsets[kBlock];
    for (int64_t g = 0; g < groups; ++g) {
      offsets[g] = block.destinations[g] * block.output_stride;
    }
    Store<kernel::kOffset64>(block.output, offsets, groups);
  }

  template <kernel::OffsetWidth kWidth>
  void Store(unsigned char* output, const void* offsets, int64_t groups) const {
    kernels_.move.elements[kWidth](kernel::RowTile(output, results_, offsets, groups, 0), {});
  }

  const Plan& plan_;
  const kernel::OrderedElements& all_;
  const ElementKernels& kernels_;
  uint32_t positions_[kBlock + 1];  // the firsts of groups with one entry each
  alignas(64) unsigned char sums_[kBlock * plan::kMostWidth];
  alignas(64) unsigned char results_[kBlock * plan::kMostWidth] = {};
};

}  // namespace

bool AreOffsets(const Plan& plan, const ElementLines& lines) {
  return lines.output_stride == 1 && plan.NumberOfPlaces() <= INT32_MAX;
}

bool HasElementKernel(const Call& call, const TensorView& output, strew_reduction reduction) {
  return ElementKernels(call, output, reduction).exist();
}

bool FindElementLines(const Plan& plan, const TensorView& updates, const TensorView& output,
                      int axis, ElementLines* lines) {
  if (!plan.order.exists() || !Has32Bits(plan.order) || !Has32Bits(plan.destinations)) return false;
  const Layout layout(plan, output, axis, 1);
  const Numbering entries = UpdatesOfEntries(layout, updates, 1);
  *lines = {layout.destinations.stride(), entries.stride()};
  return layout.destinations.is_line() && entries.is_line();
}

Status ScatterInElementOrder(const Call& call, const Plan& plan, const TensorView& updates,
                             const TensorView& output, const ElementLines& lines,
                             const PlanSchedule& schedule) {
  const ElementKernels kernels(call, output, schedule.reduction);
  kernel::OrderedElements all = {};
  all.output = output.data;
  all.output_stride = lines.output_stride;
  all.updates = updates.data;
  all.order = NumbersOf(plan.order);
  all.destinations = NumbersOf(plan.destinations);
  all.firsts = NumbersOf(plan.firsts);
  all.updates_stride = lines.updates_stride;
  all.beginning = kernels.excludes_self ? kernels.identity : nullptr;
  all.prefetch = schedule.prefetch;
  const Pass& pass = schedule.pass;
  return share::ForEachPart(call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    const Groups groups = GroupsOf(plan, pass, part);
    ElementWriter(plan, all, kernels).Write(groups.first, groups.end);
  });
}

}  // namespace strew::prepared
