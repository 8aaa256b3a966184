// SPDX-License-Identifier: Apache-2.0
// output[entry] = source[its place]
#include <algorithm>

#include "api/context.h"
#include "api/tensor.h"
#include "plan/check.h"
#include "plan/cut.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "prepared/elements.h"
#include "prepared/operands.h"
#include "prepared/plan.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

Status Validate(const Call& call, const Plan& plan, const TensorView* source,
                const TensorView* output, int* axis) {
  STREW_TRY(plan::CheckDtypes(call, {{"source", source}, {"output", output}}, {}, STREW_NONE));
  STREW_TRY(CheckRanks(call, plan, {"source", source}, {"output", output}));
  STREW_TRY(CheckPlanAxis(call, plan, *source, axis));
  STREW_TRY(CheckExtents(call, plan, {"source", source}, *axis));
  STREW_TRY(CheckUpdatesShape(call, UpdatesShapeOf(plan, *source, *axis), {"output", output}));
  return plan::CheckMemory(call, {"output", output}, {{"source", source}}, {"output", output});
}

// Loops over entries in their order: their numbers, and where they lie in the output and in the
// source besides their places.
enum { kEntry, kOutput, kSource, kOperands };
using EntryNest = plan::LoopNest<kOperands>;
enum { kInnerOutput, kInnerSource, kInnerOperands };
using InnerNest = plan::LoopNest<kInnerOperands>;

class Gatherer {
 public:
  Gatherer(const Call& call, const Plan& plan, const TensorView& source, int axis,
           const TensorView& output)
      : plan_(plan),
        units_(plan::IndexedUnitsOf(output.element_size)),
        layout_(plan, source, axis, units_.count),
        source_(source.data),
        output_(output.data),
        move_(walk::MoveKernelsFor(call, units_)) {
    for (int i = 0; i < layout_.rank; ++i) {
      const Dim& dim = layout_.dims[i];
      const int64_t stride = StrideIn(output, i, units_.count);
      if (dim.entry_stride != 0) {
        entries_.Append(dim.count, dim.entry_stride, stride, dim.indexed_stride);
      } else {
        inner_.Append(dim.count, stride, dim.indexed_stride);
      }
    }
    inner_.Append(units_.count, 1, 1);
    entries_.Merge();
    inner_.Canonicalise();
    run_ = inner_.PopInnermost();
    if (run_.count == 1) run_ = {1, {1, 1}};
    column_ = entries_.PopInnermost();
  }

  // All entries take one thread about so long.
  double nanoseconds() const {
    int64_t units = run_.count;
    for (int i = 0; i < inner_.rank; ++i) units *= inner_.loop[i].count;
    return static_cast<double>(plan_.entries) *
           (2 + 0.1 * static_cast<double>(units * units_.width));
  }

  plan::Cut CutInto(int64_t parts) const {
    plan::Cut cut;
    for (int i = 0; i < entries_.rank; ++i) cut.Append(entries_.loop[i].count, 1, parts);
    cut.Append(column_.count, plan::LineGranule(column_.stride[kOutput], units_.width), parts);
    return cut;
  }

  void Gather(const plan::Cut& cut, int64_t part) const {
    EntryNest nest = entries_;
    for (int i = 0; i < nest.rank; ++i) {
      const plan::Turns turns = cut.TurnsOf(part, i);
      nest.Restrict(i, turns.first, turns.count);
    }
    const plan::Turns columns = cut.TurnsOf(part, nest.rank);
    if (IsShort()) return GatherShort(nest, columns);
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      const int64_t end = columns.first + columns.count;
      for (int64_t c = columns.first; c < end; c += kColumns) {
        const int64_t turn[] = {at[kEntry] + c * column_.stride[kEntry],
                                at[kOutput] + c * column_.stride[kOutput],
                                at[kSource] + c * column_.stride[kSource]};
        GatherRow(turn, std::min(kColumns, end - c));
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 512;

  // Runs of so few bytes are moved without a call.
  bool IsShort() const {
    const bool lies_together = run_.stride[kInnerOutput] == 1 && run_.stride[kInnerSource] == 1;
    return layout_.places.is_line() && lies_together && run_.count * units_.width <= 16;
  }

  void GatherShort(const EntryNest& nest, const plan::Turns& columns) const {
    const int64_t width = units_.width;
    PlacedRow row = {plan_.places,
                     0,
                     columns.count,
                     nullptr,
                     column_.stride[kOutput] * width,
                     nullptr,
                     layout_.places.stride() * width,
                     column_.stride[kSource] * width};
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      row.first = at[kEntry] + columns.first * column_.stride[kEntry];
      const int64_t to = at[kOutput] + columns.first * column_.stride[kOutput];
      const int64_t from = at[kSource] + columns.first * column_.stride[kSource];
      plan::ForEachTurn(inner_, inner_.rank, [&](const int64_t* inner) {
        row.output = output_ + (to + inner[kInnerOutput]) * width;
        row.source = source_ + (from + inner[kInnerSource]) * width;
        GatherPlaces(run_.count * width, row);
      });
    });
  }

  void GatherRow(const int64_t* turn, int64_t columns) const {
    int64_t from[kColumns];
    int64_t to[kColumns];
    int64_t kept = 0;
    plan_.places.Visit([&](const auto* places) {
      const auto none = static_cast<std::decay_t<decltype(places[0])>>(plan_.places.none());
      const auto* const row = places + turn[kEntry];
      for (int64_t c = 0; c < columns; ++c) {
        if (row[c] == none) continue;
        to[kept] = c;
        from[kept++] = static_cast<int64_t>(row[c]);
      }
    });
    layout_.places.Resolve(from, kept);
    for (int64_t i = 0; i < kept; ++i) {
      from[i] += to[i] * column_.stride[kSource];
      to[i] *= column_.stride[kOutput];
    }
    const bool is_dense = kept == columns && column_.stride[kOutput] == 1;
    plan::ForEachTurn(inner_, inner_.rank, [&](const int64_t* inner) {
      unsigned char* const output = output_ + (turn[kOutput] + inner[kInnerOutput]) * units_.width;
      const unsigned char* const source =
          source_ + (turn[kSource] + inner[kInnerSource]) * units_.width;
      if (run_.count == 1 && is_dense) {
        return GatherElements(units_.width, source, from, kept, output);
      }
      for (int64_t i = 0; i < kept; ++i) {
        if (i + kAhead < kept) {
          kernel::PrefetchOnce(source + from[i + kAhead] * units_.width,
                               std::min<int64_t>(run_.count * units_.width, 512));
        }
        move_.combine.run(output + to[i] * units_.width, run_.stride[kInnerOutput],
                          source + from[i] * units_.width, run_.stride[kInnerSource], run_.count);
      }
    });
  }

  static constexpr int64_t kAhead = 8;  // entries

  const Plan& plan_;
  const plan::Units units_;
  const Layout layout_;
  const unsigned char* const source_;
  unsigned char* const output_;
  const kernel::MoveKernels& move_;
  EntryNest entries_;
  plan::Loop<kOperands> column_;
  InnerNest inner_;
  plan::Loop<kInnerOperands> run_;
};

Status Gather(const Call& call, const strew_plan* handle, const TensorView* source,
              const TensorView* output) {
  if (handle == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "plan is NULL");
  const Plan& plan = handle->plan;
  STREW_TRY(plan::CheckBound(call, {{"source", source}}, {"output", output}));
  int axis;
  STREW_TRY(Validate(call, plan, source, output, &axis));
  if (output->size == 0 || source->size == 0) return call.Succeed(0);
  const Gatherer gatherer(call, plan, *source, axis, *output);
  const plan::Machine machine(call);
  const int64_t tasks = plan::TasksFor(machine, gatherer.nanoseconds());
  const plan::Cut cut = gatherer.CutInto(plan::PartsFor(machine, tasks));
  STREW_TRY(share::ForEachPart(call, tasks, cut.parts(),
                               [&](int64_t part, int64_t) { gatherer.Gather(cut, part); }));
  const int64_t kept = plan.all_entries - plan.dropped_entries;
  return call.Succeed(output->size / plan.all_entries * kept);
}

}  // namespace
}  // namespace strew::prepared

extern "C" strew_status strew_plan_gather(strew_context* context, const strew_plan* plan,
                                          const strew_tensor* source, strew_tensor* output) {
  using strew::ViewOf;
  return strew::prepared::Gather(strew::CallWith(context), plan, ViewOf(source), ViewOf(output))
      .code();
}
