// SPDX-License-Identifier: Apache-2.0
// output[entry] = source[place of the entry]
#include <algorithm>

#include "api/context.h"
#include "api/tensor.h"
#include "kernel/kernel.h"
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

// Operands of loops over entries: their numbers, and their offsets in the output and in the source,
// to which those of their places are added.
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
    column_ = entries_.PopInnermost();
    if (HasRun()) run_ = inner_.PopInnermost();
    if (run_.count == 1) run_ = {1, {1, 1}};
  }

  // How rows are moved.
  struct Hints {
    int64_t prefetch;
    bool streams;
  };
  void SetHints(const plan::Machine& machine, int64_t tasks, int64_t source_bytes,
                int64_t output_bytes) {
    const int64_t bytes = run_.count * units_.width;
    const bool is_near = source_bytes <= plan::NearBytes(machine);
    hints_.prefetch = is_near ? 0 : std::min(plan::RowPrefetch(machine.tuning, bytes), kMostAhead);
    hints_.streams = run_.stride[kInnerOutput] == 1 && bytes >= machine.tuning.least_streamed_row &&
                     output_bytes >= plan::StreamedBytes(machine, tasks);
  }

  // Estimated time of all entries on one thread.
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
    if (inner_.rank > 0) cut.Append(inner_.loop[0].count, 1, parts);
    return cut;
  }

  void Gather(const plan::Cut& cut, int64_t part) const {
    EntryNest nest = entries_;
    cut.KeepPart(part, &nest);
    const plan::Turns columns = cut.TurnsOf(part, nest.rank);
    InnerNest inner = inner_;
    if (inner.rank > 0) {
      const plan::Turns turns = cut.TurnsOf(part, nest.rank + 1);
      inner.Restrict(0, turns.first, turns.count);
    }
    if (IsLine()) {
      GatherLines(nest, columns, inner);
    } else {
      GatherNest(nest, columns, inner);
    }
    if (hints_.streams) kernel::FinishStreaming();
  }

 private:
  static constexpr int64_t kColumns = 512;
  static constexpr int64_t kMostAhead = 64;

  void GatherNest(const EntryNest& nest, const plan::Turns& columns, const InnerNest& inner) const {
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      const int64_t end = columns.first + columns.count;
      for (int64_t c = columns.first; c < end; c += kColumns) {
        const int64_t turn[] = {at[kEntry] + c * column_.stride[kEntry],
                                at[kOutput] + c * column_.stride[kOutput],
                                at[kSource] + c * column_.stride[kSource]};
        const int64_t count = std::min(kColumns, end - c);
        GatherRow(turn, count, end - c - count, inner);
      }
    });
  }

  // True if the innermost inner loop is the run of an entry: not if its turns lie farther apart
  // than entries do.
  bool HasRun() const {
    if (inner_.rank == 0) return false;
    const plan::Loop<kInnerOperands>& innermost = inner_.loop[inner_.rank - 1];
    return column_.count == 1 || static_cast<uint64_t>(innermost.stride[kInnerOutput]) <=
                                     Magnitude(column_.stride[kOutput]);
  }

  // True if places have one stride in the source, and runs are contiguous.
  bool IsLine() const {
    return layout_.places.is_line() && run_.stride[kInnerOutput] == 1 &&
           run_.stride[kInnerSource] == 1;
  }

  void GatherLines(EntryNest nest, const plan::Turns& columns, InnerNest inner) const {
    const int64_t width = units_.width;
    const plan::Loop<kOperands> row = PopRows(&nest, &inner);
    PlacedRuns runs = {plan_.places,
                       plan_.has_dropped(),
                       0,
                       columns.count,
                       column_.count - columns.first - columns.count,
                       nullptr,
                       column_.stride[kOutput] * width,
                       nullptr,
                       layout_.places.stride() * width,
                       column_.stride[kSource] * width,
                       hints_.streams ? move_.stream : move_.combine.run,
                       width,
                       run_.count,
                       hints_.prefetch,
                       row.count,
                       row.stride[kEntry],
                       row.stride[kOutput] * width,
                       row.stride[kSource] * width};
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      runs.first = at[kEntry] + columns.first * column_.stride[kEntry];
      const int64_t to = at[kOutput] + columns.first * column_.stride[kOutput];
      const int64_t from = at[kSource] + columns.first * column_.stride[kSource];
      plan::ForEachTurn(inner, inner.rank, [&](const int64_t* turn) {
        runs.output = output_ + (to + turn[kInnerOutput]) * width;
        runs.source = source_ + (from + turn[kInnerSource]) * width;
        GatherRuns(runs);
      });
    });
  }

  // Removes and returns the innermost loop around the columns.
  static plan::Loop<kOperands> PopRows(EntryNest* nest, InnerNest* inner) {
    if (inner->rank == 0) return nest->PopInnermost();
    const plan::Loop<kInnerOperands> turns = inner->PopInnermost();
    return {turns.count, {0, turns.stride[kInnerOutput], turns.stride[kInnerSource]}};
  }

  // Gathers the first `columns` entries of a row. Those after them are only prefetched.
  void GatherRow(const int64_t* turn, int64_t columns, int64_t following,
                 const InnerNest& nest) const {
    int64_t from[kColumns + kMostAhead];
    int64_t to[kColumns + kMostAhead];
    const int64_t all = columns + std::min(following, hints_.prefetch);
    int64_t kept = 0, kept_ahead = 0;
    plan_.places.Visit([&](const auto* places) {
      const auto none = static_cast<std::decay_t<decltype(places[0])>>(plan_.places.none());
      const auto* const row = places + turn[kEntry];
      for (int64_t c = 0; c < all; ++c) {
        if (row[c] == none) continue;
        to[kept + kept_ahead] = c;
        from[kept + kept_ahead] = static_cast<int64_t>(row[c]);
        ++(c < columns ? kept : kept_ahead);
      }
    });
    layout_.places.Resolve(from, kept + kept_ahead);
    for (int64_t i = 0; i < kept + kept_ahead; ++i) {
      from[i] += to[i] * column_.stride[kSource];
      to[i] *= column_.stride[kOutput];
    }
    const bool are_elements = kept == columns && AreElements(kept);
    if (are_elements) ExpandRuns(from, kept);
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* inner) {
      unsigned char* const output = output_ + (turn[kOutput] + inner[kInnerOutput]) * units_.width;
      const unsigned char* const source =
          source_ + (turn[kSource] + inner[kInnerSource]) * units_.width;
      if (are_elements) {
        return kernel::GatherElements(units_.width, source, from, kept * run_.count, output);
      }
      kernel::TileArguments tile = kernel::RowTile(output, source, to, kept, hints_.prefetch);
      tile.lookahead = kept_ahead;
      const kernel::RowsArguments rows = {
          tile, run_.count, run_.stride[kInnerOutput], run_.stride[kInnerSource], hints_.streams,
          true, from};
      kernel::WalkRows(hints_.streams ? move_.stream : move_.combine.run, units_.width,
                       kernel::kOffset64, rows);
    });
  }

  // True if the elements of this many runs are contiguous in the output, and few enough to be
  // gathered one by one. Runs of 2 to 20 elements that lie apart in the source took 0.2 to 0.7
  // times the time of a call for each run (Zen 5).
  bool AreElements(int64_t runs) const {
    return run_.stride[kInnerOutput] == 1 && column_.stride[kOutput] == run_.count &&
           runs * run_.count <= kColumns;
  }

  // Expands the offsets of the first elements of runs to those of all elements.
  void ExpandRuns(int64_t* from, int64_t runs) const {
    for (int64_t i = runs * run_.count - 1; i >= 0; --i) {
      from[i] = from[i / run_.count] + i % run_.count * run_.stride[kInnerSource];
    }
  }

  const Plan& plan_;
  const plan::Units units_;
  const Layout layout_;
  const unsigned char* const source_;
  unsigned char* const output_;
  const kernel::MoveKernels& move_;
  EntryNest entries_;
  plan::Loop<kOperands> column_;
  InnerNest inner_;
  plan::Loop<kInnerOperands> run_ = {1, {1, 1}};
  Hints hints_ = {0, false};
};

Status Gather(const Call& call, const strew_plan* handle, const TensorView* source,
              const TensorView* output) {
  if (handle == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "plan is NULL");
  const Plan& plan = handle->plan;
  STREW_TRY(plan::CheckBound(call, {{"source", source}}, {"output", output}));
  int axis;
  STREW_TRY(Validate(call, plan, source, output, &axis));
  if (output->size == 0 || source->size == 0) return call.Succeed(0);
  Gatherer gatherer(call, plan, *source, axis, *output);
  const plan::Machine machine(call);
  const int64_t tasks = plan::TasksFor(machine, gatherer.nanoseconds());
  // Dims of stride 0 have more elements than bytes.
  gatherer.SetHints(machine, tasks, source->highest - source->lowest,
                    output->size * output->element_size);
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
