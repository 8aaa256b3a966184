// SPDX-License-Identifier: Apache-2.0
// output[entry] = source[place of the entry]
#include <algorithm>

#include "api/context.h"
#include "api/tensor.h"
#include "kernel/kernel.h"
#include "plan/check.h"
#include "plan/pattern.h"
#include "prepared/gather_loops.h"
#include "prepared/operands.h"
#include "prepared/placed_runs.h"
#include "prepared/plan.h"
#include "prepared/schedule.h"
#include "prepared/short_gather.h"
#include "share/parts.h"
#include "share/share.h"
#include "walk/box.h"
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

using InnerNest = plan::LoopNest<kInnerOperands>;

class Gatherer {
 public:
  Gatherer(const Call& call, const Plan& plan, const GatherLoops& loops,
           const PlanSchedule& schedule, const TensorView& source, const TensorView& output)
      : call_(call),
        plan_(plan),
        loops_(loops),
        schedule_(schedule),
        source_(source.data),
        output_(output.data),
        move_(walk::MoveKernelsFor(call, loops.units)),
        kernels_(walk::RunKernelsFor(call, output, STREW_NONE, loops.units)),
        shuffle_(schedule.way == Way::kShuffles
                     ? kernel::ShuffleKernelFor(call.settings().simd_target)
                     : nullptr),
        tuning_(plan::TuningOf(call)) {}

  void GatherAll() const {
    Gather(loops_.entries, {0, loops_.column.count}, loops_.inner, loops_.run.count);
  }

  void GatherPart(const plan::Cut& cut, int64_t part) const {
    EntryNest nest = loops_.entries;
    cut.KeepPart(part, &nest);
    InnerNest inner = loops_.inner;
    int next = nest.rank + 1;
    if (inner.rank > 0) {
      const plan::Turns turns = cut.TurnsOf(part, next++);
      inner.Restrict(0, turns.first, turns.count);
    }
    const plan::Turns run = cut.TurnsOf(part, next);
    SkipElements(run.first, &nest);
    Gather(nest, cut.TurnsOf(part, nest.rank), inner, run.count);
  }

 private:
  static constexpr int64_t kColumns = kGatherColumns;

  // Skips the first `n` elements of each run.
  void SkipElements(int64_t n, EntryNest* nest) const {
    nest->base[kGatheredOutput] += n * loops_.run.stride[kInnerOutput];
    nest->base[kGatheredSource] += n * loops_.run.stride[kInnerSource];
  }

  // Gathers the first `run` elements of runs.
  void Gather(const EntryNest& nest, const plan::Turns& columns, const InnerNest& inner,
              int64_t run) const {
    if (schedule_.way == Way::kShortLoops && GatherShortLoops(nest, columns)) return;
    if (schedule_.way == Way::kRuns || schedule_.way == Way::kShuffles ||
        schedule_.way == Way::kShortLoops) {
      GatherLines(nest, columns, inner, run);
    } else if (schedule_.way == Way::kBoxes) {
      GatherBoxes(nest, columns, inner, run);
    } else {
      GatherPieces(nest, columns, inner, run);
    }
    if (schedule_.streams) kernel::FinishStreaming();
  }

  // Does nothing and returns false if the loops of a part do not lie together.
  bool GatherShortLoops(EntryNest nest, const plan::Turns& columns) const {
    nest.loop[nest.rank++] = loops_.column;
    nest.Restrict(nest.rank - 1, columns.first, columns.count);
    FlatEntries flat;
    if (!FlattenEntries(tuning_, nest, &flat)) return false;
    GatherFlat(call_, plan_, loops_, flat, source_, output_);
    return true;
  }

  // Gathers one piece of the runs of all entries after another.
  void GatherPieces(EntryNest nest, const plan::Turns& columns, const InnerNest& inner,
                    int64_t run) const {
    for (int64_t i = 0; i < run; i += schedule_.rows.piece) {
      GatherNest(nest, columns, inner, std::min(schedule_.rows.piece, run - i));
      SkipElements(schedule_.rows.piece, &nest);
    }
  }

  void GatherNest(const EntryNest& nest, const plan::Turns& columns, const InnerNest& inner,
                  int64_t run) const {
    const int64_t step = Expands(run) ? kColumns / run : kColumns;
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      const int64_t end = columns.first + columns.count;
      for (int64_t c = columns.first; c < end; c += step) {
        int64_t turn[kGatherOperands];
        plan::MoveToTurn(at, loops_.column, c, turn);
        const int64_t count = std::min(step, end - c);
        GatherRow(turn, count, end - c - count, inner, run);
      }
    });
  }

  void GatherLines(EntryNest nest, const plan::Turns& columns, InnerNest inner, int64_t run) const {
    const int64_t width = loops_.units.width;
    const EntryLoop row = PopRows(&nest, &inner);
    PlacedRuns runs = {plan_.places,
                       plan_.has_dropped(),
                       0,
                       columns.count,
                       loops_.column.count - columns.first - columns.count,
                       nullptr,
                       loops_.column.stride[kGatheredOutput] * width,
                       nullptr,
                       loops_.layout.places.stride() * width,
                       loops_.column.stride[kGatheredSource] * width,
                       schedule_.streams ? move_.stream : move_.combine.run,
                       width,
                       run,
                       schedule_.prefetch,
                       row.count,
                       row.stride[kGatheredEntry],
                       row.stride[kGatheredOutput] * width,
                       row.stride[kGatheredSource] * width,
                       shuffle_,
                       plan_.NumberOfPlaces()};
    if (loops_.run.stride[kInnerOutput] != 1 || loops_.run.stride[kInnerSource] != 1) {
      runs.run_output_step = loops_.run.stride[kInnerOutput] * width;
      runs.run_source_step = loops_.run.stride[kInnerSource] * width;
    }
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      int64_t first[kGatherOperands];
      plan::MoveToTurn(at, loops_.column, columns.first, first);
      runs.first = first[kGatheredEntry];
      plan::ForEachTurn(inner, inner.rank, [&](const int64_t* turn) {
        runs.output = output_ + (first[kGatheredOutput] + turn[kInnerOutput]) * width;
        runs.source = source_ + (first[kGatheredSource] + turn[kInnerSource]) * width;
        GatherRuns(runs);
      });
    });
  }

  void GatherBoxes(const EntryNest& nest, const plan::Turns& columns, const InnerNest& inner,
                   int64_t run) const {
    walk::BoxNest turns = inner;
    turns.Append(run, loops_.run.stride[kInnerOutput], loops_.run.stride[kInnerSource]);
    walk::ArrangeBox({loops_.units.width, 1}, &turns);
    const walk::Box box(kernels_, turns, schedule_.streams, tuning_);
    const int64_t width = loops_.units.width;
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      for (int64_t c = columns.first; c < columns.first + columns.count; ++c) {
        int64_t first[kGatherOperands];
        plan::MoveToTurn(at, loops_.column, c, first);
        int64_t place = first[kGatheredEntry];
        if (!FindPlace(&place)) continue;
        box.Run(output_ + first[kGatheredOutput] * width,
                source_ + (place + first[kGatheredSource]) * width);
      }
    });
  }

  // Replaces the number of an entry by the offset of its place. Returns false if it is dropped.
  bool FindPlace(int64_t* entry) const {
    plan_.places.Read([entry](int64_t) { return *entry; }, 1, entry);
    if (*entry < 0) return false;
    loops_.layout.places.Resolve(entry, 1);
    return true;
  }

  // Removes and returns the innermost loop around the columns.
  static EntryLoop PopRows(EntryNest* nest, InnerNest* inner) {
    if (inner->rank == 0) return nest->PopInnermost();
    const plan::Loop<kInnerOperands> turns = inner->PopInnermost();
    return {turns.count, {0, turns.stride[kInnerOutput], turns.stride[kInnerSource]}};
  }

  // True if runs are lists of elements, which fit on the stack.
  bool Expands(int64_t run) const { return schedule_.way == Way::kElements && run <= kColumns; }

  // Gathers the first `columns` entries of a row. Those after them are only prefetched.
  void GatherRow(const int64_t* turn, int64_t columns, int64_t following, const InnerNest& nest,
                 int64_t run) const {
    int64_t from[kColumns + kMostGatherAhead];
    int64_t to[kColumns + kMostGatherAhead];
    const int64_t all = columns + std::min(following, schedule_.prefetch);
    int64_t kept = 0, kept_ahead = 0;
    plan_.places.Visit([&](const auto* places) {
      const auto* const row = places + turn[kGatheredEntry];
      for (int64_t c = 0; c < all; ++c) {
        if (Numbers::IsNone(row[c])) continue;
        to[kept + kept_ahead] = c;
        from[kept + kept_ahead] = static_cast<int64_t>(row[c]);
        ++(c < columns ? kept : kept_ahead);
      }
    });
    loops_.layout.places.Resolve(from, kept + kept_ahead);
    for (int64_t i = 0; i < kept + kept_ahead; ++i) {
      from[i] += to[i] * loops_.column.stride[kGatheredSource];
      to[i] *= loops_.column.stride[kGatheredOutput];
    }
    const bool are_elements = Expands(run) && kept == columns;
    if (are_elements) plan::ExpandRows(from, kept, run, loops_.run.stride[kInnerSource], to);
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* inner) {
      unsigned char* const output =
          output_ + (turn[kGatheredOutput] + inner[kInnerOutput]) * loops_.units.width;
      const unsigned char* const source =
          source_ + (turn[kGatheredSource] + inner[kInnerSource]) * loops_.units.width;
      if (are_elements) {
        return kernel::GatherElements(loops_.units.width, source, to, kept * run, output,
                                      schedule_.prefetch != 0);
      }
      kernel::TileArguments tile = kernel::RowTile(output, source, to, kept, schedule_.prefetch);
      tile.lookahead = kept_ahead;
      const kernel::RowsArguments rows = {tile,
                                          run,
                                          loops_.run.stride[kInnerOutput],
                                          loops_.run.stride[kInnerSource],
                                          schedule_.streams,
                                          true,
                                          from};
      kernel::WalkRows(schedule_.streams ? move_.stream : move_.combine.run, loops_.units.width,
                       kernel::kOffset64, rows);
    });
  }

  const Call& call_;
  const Plan& plan_;
  const GatherLoops& loops_;
  const PlanSchedule& schedule_;
  const unsigned char* const source_;
  unsigned char* const output_;
  const kernel::MoveKernels& move_;
  const walk::RunKernels kernels_;
  const kernel::ShuffleKernel shuffle_;  // of kShuffles
  const plan::Tuning& tuning_;
};

GatherLoops::Cuts CutsOf(Way way) {
  if (way == Way::kShuffles) return GatherLoops::Cuts::kNoColumns;
  return way == Way::kElements ? GatherLoops::Cuts::kNoRuns : GatherLoops::Cuts::kAll;
}

// True if entries read different elements of the source, although all name one place. Boxes that
// repeat elements took 1.1 to 2.8 times the time of other ways (Emerald Rapids).
bool HaveOwnElements(const GatherLoops& loops) {
  if (loops.column.count > 1 && loops.column.stride[kGatheredSource] == 0) return false;
  for (int i = 0; i < loops.entries.rank; ++i) {
    if (loops.entries.loop[i].stride[kGatheredSource] == 0) return false;
  }
  return true;
}

// Gathers from a single place, which is a box. Not inline, because other calls need no stack space
// for its nest.
[[gnu::noinline]] Status GatherOnePlace(const Call& call, const Plan& plan,
                                        const GatherLoops& loops, const TensorView& source,
                                        const TensorView& output) {
  if (call.explains()) call.Explain("All entries name one place, so that the gather is a box.");
  walk::BoxNest nest;
  const auto append = [&](const EntryLoop& loop) {
    nest.Append(loop.count, loop.stride[kGatheredOutput], loop.stride[kGatheredSource]);
  };
  for (int i = 0; i < loops.entries.rank; ++i) append(loops.entries.loop[i]);
  append(loops.column);
  for (int i = 0; i < loops.inner.rank; ++i) {
    const plan::Loop<kInnerOperands>& loop = loops.inner.loop[i];
    nest.Append(loop.count, loop.stride[kInnerOutput], loop.stride[kInnerSource]);
  }
  nest.Append(loops.run.count, loops.run.stride[kInnerOutput], loops.run.stride[kInnerSource]);
  const int64_t width = loops.units.width;
  const int64_t to = loops.entries.base[kGatheredOutput] + loops.inner.base[kInnerOutput];
  const int64_t from = loops.entries.base[kGatheredSource] + loops.inner.base[kInnerSource] +
                       loops.layout.places.OffsetOf(plan.places.At(0));
  STREW_TRY(share::RunBox(call, walk::RunKernelsFor(call, output, STREW_NONE, loops.units),
                          {loops.units.width, 1}, output.data + to * width,
                          source.data + from * width, &nest));
  return call.Succeed(output.size);
}

Status GatherByPlan(const Call& call, const strew_plan* handle, const TensorView* source,
                    const TensorView* output) {
  if (handle == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "plan is NULL");
  const Plan& plan = handle->plan;
  STREW_TRY(plan::CheckBound(call, {{"source", source}}, {"output", output}));
  int axis;
  STREW_TRY(Validate(call, plan, source, output, &axis));
  if (output->size == 0 || source->size == 0) return call.Succeed(0);
  const GatherLoops loops(plan, *source, axis, *output);
  if (plan.names_one_place && loops.MayBeBoxes() && HaveOwnElements(loops)) {
    return GatherOnePlace(call, plan, loops, *source, *output);
  }
  const PlanSchedule schedule = ScheduleGather(plan::Machine(call), plan, loops);
  if (call.explains()) Explain(call, schedule, plan);
  const Gatherer gatherer(call, plan, loops, schedule, *source, *output);
  const Pass& pass = schedule.pass;
  if (pass.parts == 1) {
    gatherer.GatherAll();
  } else {
    const plan::Cut cut = loops.CutInto(pass.parts, CutsOf(schedule.way));
    STREW_TRY(share::ForEachPart(call, pass.tasks, cut.parts(),
                                 [&](int64_t part, int64_t) { gatherer.GatherPart(cut, part); }));
  }
  const int64_t kept = plan.all_entries - plan.dropped_entries;
  return call.Succeed(output->size / plan.all_entries * kept);
}

}  // namespace
}  // namespace strew::prepared

extern "C" strew_status strew_plan_gather(strew_context* context, const strew_plan* plan,
                                          const strew_tensor* source, strew_tensor* output) {
  using strew::ViewOf;
  return strew::prepared::GatherByPlan(strew::CallWith(context), plan, ViewOf(source),
                                       ViewOf(output))
      .code();
}
