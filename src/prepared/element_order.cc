// SPDX-License-Identifier: Apache-2.0
#include "prepared/element_order.h"

#include <algorithm>
#include <numeric>

#include "base/reduction.h"
#include "prepared/operands.h"
#include "prepared/ordered.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

constexpr int32_t kWidth = sizeof(uint32_t);
// Limit: entries whose numbers are widened on the stack at a time.
constexpr int64_t kBlock = 256;

bool IsWide(const Numbers& list) { return list.exists() && list.width() == kWidth; }

// Numbers of a list as 32-bit numbers: as they are, or a block of them in a buffer.
template <int64_t kMost>
class WideNumbers {
 public:
  explicit WideNumbers(const Numbers& list) : list_(list) {}

  // Numbers [first, first + count). Those of a list that does not exist are their own positions.
  const uint32_t* Get(int64_t first, int64_t count) {
    if (IsWide(list_)) return reinterpret_cast<const uint32_t*>(list_.data()) + first;
    if (!list_.exists()) {
      std::iota(buffer_, buffer_ + count, static_cast<uint32_t>(first));
      return buffer_;
    }
    list_.Visit([&](const auto* numbers) {
      for (int64_t i = 0; i < count; ++i) buffer_[i] = static_cast<uint32_t>(numbers[first + i]);
    });
    return buffer_;
  }

 private:
  const Numbers& list_;
  uint32_t buffer_[kMost];
};

// Writes the groups of a part.
class ElementWriter {
 public:
  ElementWriter(const Plan& plan, const kernel::OrderedElements& all,
                kernel::OrderedElementsKernel kernel)
      : plan_(plan),
        all_(all),
        kernel_(kernel),
        block_(AreWide(plan) ? plan.kept : kBlock),
        order_(plan.order),
        destinations_(plan.destinations),
        firsts_(plan.firsts) {}

  void Write(int64_t group, int64_t end) {
    const int64_t last = plan_.FirstOf(end);
    for (int64_t first = plan_.FirstOf(group); first < last; first += block_) {
      group += WriteBlock(group, first, std::min(block_, last - first));
    }
  }

 private:
  static bool AreWide(const Plan& plan) {
    return IsWide(plan.order) && IsWide(plan.destinations) && IsWide(plan.firsts);
  }

  // `group` is that of the entry before, or of the first one. Returns how far it is to the group of
  // the entry at which the next block begins, or before it.
  int64_t WriteBlock(int64_t group, int64_t first, int64_t n) {
    const int64_t groups = std::min(n + 1, plan_.groups() - group);
    kernel::OrderedElements block = all_;
    const int64_t lookahead = std::min(block.prefetch, plan_.kept - first - n);
    block.order = order_.Get(first, n + lookahead);
    block.destinations = destinations_.Get(group, groups);
    block.firsts = firsts_.Get(group, groups + 1);
    block.first = first;
    block.n = n;
    block.last = n + lookahead - 1;
    return kernel_(block);
  }

  const Plan& plan_;
  const kernel::OrderedElements& all_;
  const kernel::OrderedElementsKernel kernel_;
  const int64_t block_;
  WideNumbers<kBlock + kMostOrderedAhead> order_;
  WideNumbers<kBlock + 1> destinations_;
  WideNumbers<kBlock + 2> firsts_;
};

}  // namespace

bool FindElementLines(const Plan& plan, const TensorView& updates, const TensorView& output,
                      int axis, ElementLines* lines) {
  if (!plan.order.exists()) return false;
  if (std::max({plan.order.width(), plan.destinations.width(), plan.firsts.width()}) > kWidth) {
    return false;
  }
  const Layout layout(plan, output, axis, 1);
  Numbering entries;
  for (int i = 0; i < layout.rank; ++i) {
    const Dim& dim = layout.dims[i];
    if (dim.entry_stride != 0) entries.Append(dim.count, StrideIn(updates, i, 1));
  }
  entries.Finish();
  *lines = {layout.destinations.stride(), entries.stride()};
  return layout.destinations.is_line() && entries.is_line();
}

Status ScatterInElementOrder(const Call& call, const Plan& plan, const TensorView& updates,
                             const TensorView& output, const ElementLines& lines,
                             const PlanSchedule& schedule) {
  const strew_reduction kind = ReductionKind(schedule.reduction);
  const auto kernel = walk::IndexedKernelsFor(call, output, kind).ordered;
  kernel::OrderedElements all = {};
  all.output = output.data;
  all.output_stride = lines.output_stride;
  all.updates = updates.data;
  all.updates_stride = lines.updates_stride;
  all.prefetch = std::min(schedule.prefetch, kMostOrderedAhead);
  const Pass& pass = schedule.pass;
  return share::ForEachPart(call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    const int64_t group = BorderOf(plan, pass, part), end = BorderOf(plan, pass, part + 1);
    ElementWriter(plan, all, kernel).Write(group, end);
  });
}

}  // namespace strew::prepared
