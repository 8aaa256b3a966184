// SPDX-License-Identifier: Apache-2.0
#include "prepared/element_order.h"

#include <algorithm>
#include <numeric>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/unit.h"
#include "prepared/operands.h"
#include "prepared/ordered.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

// Limit: groups whose positions are listed on the stack.
constexpr int64_t kBlock = 256;

bool Has32Bits(const Numbers& list) { return list.width() == int32_t{sizeof(uint32_t)}; }

const uint32_t* NumbersOf(const Numbers& list) {
  return reinterpret_cast<const uint32_t*>(list.data());
}

// The kernels of a reduction. If it excludes old values, destinations begin with its identity.
struct ElementKernels {
  kernel::OrderedElementsKernel combine;
  kernel::OrderedElementsKernel move;
  bool excludes_self;
  alignas(plan::kMostWidth) unsigned char identity[plan::kMostWidth];
};

// Writes the groups of a part.
class ElementWriter {
 public:
  ElementWriter(const Plan& plan, const kernel::OrderedElements& all, const ElementKernels& kernels)
      : plan_(plan), all_(all), kernels_(kernels) {
    std::iota(positions_, positions_ + kBlock + 1, 0);
  }

  // Identities are stored for a block of groups at a time, so that their destinations are still in
  // the cache when the updates follow.
  void Write(int64_t group, int64_t end) const {
    const bool in_blocks = kernels_.excludes_self || !plan_.firsts.exists();
    const int64_t step = in_blocks ? kBlock : plan_.groups();
    for (; group < end; group += step) {
      const int64_t groups = std::min(step, end - group);
      if (kernels_.excludes_self) Begin(group, groups);
      Combine(group, groups);
    }
  }

 private:
  void Begin(int64_t group, int64_t groups) const {
    kernel::OrderedElements block = all_;
    block.updates = kernels_.identity;
    block.updates_stride = 0;
    block.order = block.destinations = all_.destinations + group;
    block.firsts = positions_;
    block.n = groups;
    block.last = groups - 1;
    kernels_.move(block);
  }

  void Combine(int64_t group, int64_t groups) const {
    const int64_t first = plan_.FirstOf(group);
    kernel::OrderedElements block = all_;
    block.order = all_.order + first;
    block.destinations = all_.destinations + group;
    block.firsts = plan_.firsts.exists() ? all_.firsts + group : positions_;
    block.n = plan_.FirstOf(group + groups) - first;
    block.last = std::min(block.n - 1 + block.prefetch, plan_.kept - first - 1);
    kernels_.combine(block);
  }

  const Plan& plan_;
  const kernel::OrderedElements& all_;
  const ElementKernels& kernels_;
  uint32_t positions_[kBlock + 1];  // the firsts of groups with one entry each
};

}  // namespace

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
  const strew_reduction kind = ReductionKind(schedule.reduction);
  ElementKernels kernels = {walk::IndexedKernelsFor(call, output, kind).ordered,
                            walk::IndexedKernelsFor(call, output, STREW_NONE).ordered,
                            ExcludesSelf(schedule.reduction),
                            {}};
  if (kernels.excludes_self) StoreIdentity(output.dtype, kind, kernels.identity);
  kernel::OrderedElements all = {};
  all.output = output.data;
  all.output_stride = lines.output_stride;
  all.updates = updates.data;
  all.order = NumbersOf(plan.order);
  all.destinations = NumbersOf(plan.destinations);
  all.firsts = NumbersOf(plan.firsts);
  all.updates_stride = lines.updates_stride;
  all.prefetch = schedule.prefetch;
  const Pass& pass = schedule.pass;
  return share::ForEachPart(call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    const int64_t group = BorderOf(plan, pass, part), end = BorderOf(plan, pass, part + 1);
    ElementWriter(plan, all, kernels).Write(group, end);
  });
}

}  // namespace strew::prepared
