// SPDX-License-Identifier: Apache-2.0
#include "prepared/element_order.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "accumulate/accumulator.h"
#include "base/cache_size.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "prepared/operands.h"
#include "prepared/ordered.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

// Limit: groups whose positions are on the stack.
constexpr int64_t kBlock = 256;

bool Has32Bits(const Numbers& list) { return list.width() == int32_t{sizeof(uint32_t)}; }

const uint32_t* NumbersOf(const Numbers& list) {
  return reinterpret_cast<const uint32_t*>(list.data());
}

kernel::OrderedElementsKernel KernelFor(const Call& call, const TensorView& output,
                                        strew_reduction reduction) {
  if (Accumulates(reduction)) {
    return accumulate::Accumulator(call, output.dtype, reduction).kernels.ordered;
  }
  return walk::IndexedKernelsFor(call, output, ReductionKind(reduction)).ordered;
}

// A copy of data in pieces.
struct PiecedCopy {
  const unsigned char* data;
  unsigned char* output;
  int64_t bytes;
  int64_t piece;
  int64_t step;  // bytes between neighbouring destinations
};

// Writes the groups of a part.
class ElementWriter {
 public:
  ElementWriter(const Plan& plan, const kernel::OrderedElements& all,
                kernel::OrderedElementsKernel kernel)
      : plan_(plan), all_(all), kernel_(kernel) {
    std::iota(positions_, positions_ + kBlock + 1, 0);
  }

  void Write(int64_t group, int64_t end) const {
    if (plan_.firsts.exists()) {
      if (group < end) kernel_(ElementsOf(group, end - group));
      return;
    }
    for (; group < end; group += kBlock) {
      kernel_(ElementsOf(group, std::min(kBlock, end - group)));
    }
  }

  // The same, with the data from the first destination, or from the beginning, to the first one of
  // the next part, or to the end.
  void WriteCopies(const PiecedCopy& copy, const Groups& groups) const {
    if (groups.first == groups.end) return;
    int64_t byte = groups.first == 0 ? 0 : ByteOf(copy, groups.first);
    const int64_t last = groups.end == plan_.groups() ? copy.bytes : ByteOf(copy, groups.end);
    for (int64_t group = groups.first; byte < last;) {
      const int64_t end = std::min(byte + copy.piece, last);
      std::memcpy(copy.output + byte, copy.data + byte, static_cast<size_t>(end - byte));
      const int64_t next = FirstFrom((end - 1) / copy.step + 1, group, groups.end);
      Write(group, next);
      group = next;
      byte = end;
    }
  }

 private:
  int64_t ByteOf(const PiecedCopy& copy, int64_t group) const {
    return int64_t{all_.destinations[group]} * copy.step;
  }
  // The first of some groups whose destination is not before this one.
  int64_t FirstFrom(int64_t destination, int64_t first, int64_t end) const {
    const uint32_t* const destinations = all_.destinations;
    return std::lower_bound(destinations + first, destinations + end, destination) - destinations;
  }

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

  const Plan& plan_;
  const kernel::OrderedElements& all_;
  const kernel::OrderedElementsKernel kernel_;
  uint32_t positions_[kBlock + 1];  // the firsts of groups with one entry each
};

}  // namespace

bool HasElementKernel(const Call& call, const Plan& plan, const TensorView& output,
                      strew_reduction reduction) {
  if (!plan.order.exists() || !Has32Bits(plan.order) || !Has32Bits(plan.destinations)) return false;
  return KernelFor(call, output, reduction) != nullptr;
}

bool FindElementLines(const Plan& plan, const TensorView& updates, const TensorView& output,
                      int axis, ElementLines* lines) {
  const Layout layout(plan, output, axis, 1);
  const Numbering entries = UpdatesOfEntries(layout, updates, 1);
  *lines = {layout.destinations.stride(), entries.stride()};
  return layout.destinations.is_line() && entries.is_line();
}

bool CopiesInPieces(const Call& call, const Plan& plan, const TensorView& data,
                    const TensorView& output, const ElementLines& lines) {
  const plan::Machine machine(call);
  const plan::Tuning& tuning = machine.tuning;
  const int64_t bytes = output.size * output.element_size;
  const bool is_dense = output.lowest == 0 && output.highest == bytes;
  if (data.data == output.data || !is_dense || !SameStrides(data, output)) return false;
  if (lines.output_stride <= 0 || bytes < plan::StreamedBytes(machine, 1)) return false;
  const auto touched = static_cast<double>(plan.groups() * kCacheLine);
  const double lines_of_destination = static_cast<double>(bytes) / touched;
  return lines_of_destination >= tuning.least_lines_of_copied_destination &&
         lines_of_destination <= static_cast<double>(tuning.lines_of_touched_piece);
}

Status ScatterInElementOrder(const Call& call, const Plan& plan, const TensorView* data,
                             const TensorView& updates, const TensorView& output,
                             const ElementLines& lines, const PlanSchedule& schedule) {
  const kernel::OrderedElementsKernel kernel = KernelFor(call, output, schedule.reduction);
  alignas(plan::kMostWidth) unsigned char identity[plan::kMostWidth] = {};
  const bool excludes_self = ExcludesSelf(schedule.reduction);
  if (excludes_self) StoreIdentity(output.dtype, ReductionKind(schedule.reduction), identity);
  kernel::OrderedElements all = {};
  all.output = output.data;
  all.output_stride = lines.output_stride;
  all.updates = updates.data;
  all.order = NumbersOf(plan.order);
  all.destinations = NumbersOf(plan.destinations);
  all.firsts = NumbersOf(plan.firsts);
  all.updates_stride = lines.updates_stride;
  all.beginning = excludes_self ? identity : nullptr;
  all.prefetch = schedule.prefetch;
  PiecedCopy copy = {};
  if (data != nullptr) {
    const int64_t size = output.element_size;
    copy = {data->data, output.data, output.size * size, plan::TuningOf(call).overlay_piece,
            lines.output_stride * size};
  }
  const Pass& pass = schedule.pass;
  return share::ForEachPart(call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    const Groups groups = GroupsOf(plan, pass, part);
    const ElementWriter writer(plan, all, kernel);
    data == nullptr ? writer.Write(groups.first, groups.end) : writer.WriteCopies(copy, groups);
  });
}

}  // namespace strew::prepared
