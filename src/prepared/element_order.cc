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

constexpr int32_t kNumberBytes = sizeof(uint32_t);
// Limit: entries whose numbers are widened on the stack at a time.
constexpr int64_t kBlock = 256;

bool Has32Bits(const Numbers& list) { return list.exists() && list.width() == kNumberBytes; }

// Numbers of a list as 32-bit numbers: as they are, or a block of them in a buffer.
template <int64_t kMost>
class Numbers32 {
 public:
  explicit Numbers32(const Numbers& list) : list_(list) {}

  // Numbers [first, first + count). Those of a list that does not exist are their own positions.
  const uint32_t* Get(int64_t first, int64_t count) {
    if (Has32Bits(list_)) return reinterpret_cast<const uint32_t*>(list_.data()) + first;
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
      : plan_(plan),
        all_(all),
        kernels_(kernels),
        block_(Have32Bits(plan) ? plan.kept : kBlock),
        order_(plan.order),
        destinations_(plan.destinations),
        firsts_(plan.firsts),
        positions_() {
    std::iota(positions_, positions_ + kBlock + 1, 0);
  }

  void Write(int64_t group, int64_t end) {
    if (!kernels_.excludes_self) return Combine(group, end);
    // Identities are stored for kBlock groups at a time, so that their destinations are still in the
    // cache when the updates follow.
    for (int64_t next; group < end; group = next) {
      next = std::min(group + kBlock, end);
      Begin(group, next - group);
      Combine(group, next);
    }
  }

 private:
  static bool Have32Bits(const Plan& plan) {
    return Has32Bits(plan.order) && Has32Bits(plan.destinations) && Has32Bits(plan.firsts);
  }

  void Begin(int64_t group, int64_t n) {
    kernel::OrderedElements all = all_;
    all.updates = kernels_.identity;
    all.updates_stride = 0;
    all.order = all.destinations = destinations_.Get(group, n);
    all.firsts = positions_;
    all.first = 0;
    all.n = n;
    all.last = n - 1;
    kernels_.move(all);
  }

  void Combine(int64_t group, int64_t end) {
    const int64_t last = plan_.FirstOf(end);
    for (int64_t first = plan_.FirstOf(group); first < last; first += block_) {
      group += WriteBlock(group, first, std::min(block_, last - first));
    }
  }

  // `group` is the group of the last entry before the block; for the first block of a range, its
  // first group. Returns the number of groups from there to that of the block's last entry.
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
    return kernels_.combine(block);
  }

  const Plan& plan_;
  const kernel::OrderedElements& all_;
  const ElementKernels& kernels_;
  const int64_t block_;
  Numbers32<kBlock + kMostOrderedAhead> order_;
  Numbers32<kBlock + 1> destinations_;
  Numbers32<kBlock + 2> firsts_;
  uint32_t positions_[kBlock + 1];  // the groups' firsts, if each has one entry
};

}  // namespace

bool FindElementLines(const Plan& plan, const TensorView& updates, const TensorView& output,
                      int axis, ElementLines* lines) {
  if (!plan.order.exists()) return false;
  if (std::max({plan.order.width(), plan.destinations.width(), plan.firsts.width()}) >
      kNumberBytes) {
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
  ElementKernels kernels = {walk::IndexedKernelsFor(call, output, kind).ordered,
                            walk::IndexedKernelsFor(call, output, STREW_NONE).ordered,
                            ExcludesSelf(schedule.reduction),
                            {}};
  if (kernels.excludes_self) StoreIdentity(output.dtype, kind, kernels.identity);
  kernel::OrderedElements all = {};
  all.output = output.data;
  all.output_stride = lines.output_stride;
  all.updates = updates.data;
  all.updates_stride = lines.updates_stride;
  all.prefetch = schedule.prefetch;
  const Pass& pass = schedule.pass;
  return share::ForEachPart(call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    const int64_t group = BorderOf(plan, pass, part), end = BorderOf(plan, pass, part + 1);
    ElementWriter(plan, all, kernels).Write(group, end);
  });
}

}  // namespace strew::prepared
