// SPDX-License-Identifier: Apache-2.0
#include "run/indexed.h"

#include <algorithm>
#include <cassert>

#include "plan/division.h"
#include "plan/flat.h"
#include "plan/staging.h"
#include "plan/unit.h"
#include "run/box.h"
#include "run/cache.h"
#include "run/exchange.h"
#include "run/index_check.h"
#include "run/parallel.h"
#include "run/ranges.h"
#include "run/sample.h"
#include "run/scratch.h"
#include "run/sieve.h"
#include "run/small.h"

namespace strew::run {
namespace {

using plan::kData;
using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

// Lanes of a strip without scratch: enough for the streams of indices and updates, few enough for
// the lines of a short axis to stay near.
constexpr int64_t kStrip = 128;
// Lines of the axis that are copied at once, with their updates behind.
constexpr int64_t kStagedBytes = 32 << 10;

class SheetRunner {
 public:
  SheetRunner(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
              const plan::Staging& staging, unsigned char* scratch, Sieve* sieve)
      : scatter_(scatter),
        plan_(plan),
        staging_(staging),
        scratch_(scratch),
        applier_(call, scatter, plan, sieve),
        move_(IndexedKernelsFor(call, scatter.output, STREW_NONE)),
        width_(move_.element_size) {}

  void RunAll() const {
    RunSheets();
    applier_.Finish();
  }

 private:
  void RunSheets() const {
    plan::FlatPlan flat;
    const bool staged = staging_.copies_data || staging_.strip != 0;
    if (!staged && plan::Flatten(plan_, applier_.block(), &flat)) return RunFlat(flat);
    plan::ForEachTurn(plan_.outer, plan_.outer.rank, [this](const int64_t* offset) {
      if (staging_.strip != 0) return RunStrips(offset);
      if (plan_.columns_are_lanes) return RunLaneColumns(offset);
      if (plan_.column.count <= applier_.block()) return RunShortRows(offset);
      RunLongRows(offset);
    });
  }
  void RunFlat(const plan::FlatPlan& flat) const;
  void RunStrips(const int64_t* offset) const;
  void RunLaneColumns(const int64_t* offset) const;
  void RunShortRows(const int64_t* offset) const;
  void RunLongRows(const int64_t* offset) const;
  void RunColumns(const int64_t* offset, int64_t column, int64_t columns, Landing landing) const;
  void StageLines(const int64_t* offset, int64_t row, int64_t rows) const;
  Landing InOutput(const int64_t* offset, int64_t row, int64_t column) const;

  const IndexedScatter& scatter_;
  const plan::IndexedPlan& plan_;
  const plan::Staging& staging_;
  unsigned char* const scratch_;
  const TileApplier applier_;
  const kernel::Kernels& move_;
  const int64_t width_;
};

Landing SheetRunner::InOutput(const int64_t* offset, int64_t row, int64_t column) const {
  const int64_t row_stride = plan_.row.stride[kOutput];
  const int64_t column_stride = plan_.column.stride[kOutput];
  const int64_t lane = offset[kOutput] + row * row_stride + column * column_stride;
  return {scatter_.output.data + lane * width_, row_stride, column_stride, false, 0};
}

// ---- Small sheets ----

// Where the lanes of `slabs` periods land.
template <class Offset>
void FillPattern(const plan::FlatPlan& flat, int64_t slabs, void* pattern) {
  Offset* next = static_cast<Offset*>(pattern);
  for (int64_t s = 0; s < slabs; ++s) {
    const int64_t first = s * flat.slab.stride[kOutput];
    plan::ForEachTurn(flat.period, flat.period.rank, [&](const int64_t* offset) {
      *next++ = static_cast<Offset>(first + offset[kOutput]);
    });
  }
}

void SheetRunner::RunFlat(const plan::FlatPlan& flat) const {
  alignas(64) unsigned char pattern[kBlockBytes];
  const int64_t step = std::min(applier_.block() / flat.period_turns, flat.slab.count);
  const auto fill =
      applier_.offset_width() == kernel::kOffset32 ? FillPattern<int32_t> : FillPattern<int64_t>;
  fill(flat, step, pattern);
  plan::ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* offset) {
    for (int64_t s = 0; s < flat.slab.count; s += step) {
      const int64_t left = flat.slab.count - s;
      const int64_t before = s * flat.period_turns;
      const FlatTile tile = {offset[kIndices] + before, offset[kUpdates] + before,
                             std::min(left, step) * flat.period_turns, pattern, left >= 2 * step};
      const int64_t lane = offset[kOutput] + s * flat.slab.stride[kOutput];
      applier_.ApplyFlat(tile, scatter_.output.data + lane * width_);
    }
  });
}

// ---- Columns that are lanes ----

void SheetRunner::RunColumns(const int64_t* offset, int64_t column, int64_t columns,
                             Landing landing) const {
  const int64_t rows = plan_.row.count;
  const int64_t height = applier_.block() / columns;
  unsigned char* const first = landing.memory;
  for (int64_t r = 0; r < rows; r += height) {
    const int64_t left = rows - r;
    landing.memory = first + r * landing.row_stride * width_;
    const int64_t next = left >= 2 * height ? height : 0;
    applier_.Apply(offset, {r, std::min(height, left), column, columns, 0, next, 0}, landing);
  }
}

void SheetRunner::RunLaneColumns(const int64_t* offset) const {
  const int64_t columns = plan_.column.count;
  for (int64_t c = 0; c < columns; c += kStrip) {
    RunColumns(offset, c, std::min(kStrip, columns - c), InOutput(offset, 0, c));
  }
}

// Each strip of columns is brought into scratch, where its axis lies close together, and back.
void SheetRunner::RunStrips(const int64_t* offset) const {
  assert(plan_.components == 1 && scratch_ != nullptr);
  const plan::Component& axis = plan_.component[0];
  const bool fresh = staging_.copies_data;
  const unsigned char* const source = fresh ? scatter_.data.data : scatter_.output.data;
  const int operand = fresh ? kData : kOutput;
  const int64_t source_axis_stride = fresh ? axis.data_stride : axis.output_stride;
  const int64_t source_stride = plan_.column.stride[operand];
  const int64_t output_stride = plan_.column.stride[kOutput];
  const int64_t columns = plan_.column.count;
  const bool large = scatter_.output.size * width_ >= StreamingThreshold();
  for (int64_t c = 0; c < columns; c += staging_.strip) {
    const int64_t strip = std::min(staging_.strip, columns - c);
    const unsigned char* const from = source + (offset[operand] + c * source_stride) * width_;
    unsigned char* const to = scatter_.output.data + (offset[kOutput] + c * output_stride) * width_;
    kernel::WalkBox(move_, {scratch_, from, axis.axis_size, strip, source_axis_stride, strip, 1,
                            source_stride, false});
    RunColumns(offset, c, strip, {scratch_, 0, 1, true, strip});
    kernel::WalkBox(move_, {to, scratch_, axis.axis_size, axis.output_stride, strip, strip,
                            output_stride, 1, large});
  }
  if (large) kernel::FinishStreaming();
}

// ---- Columns that are entries ----

// Copies the lines of the axis on which rows of a tile write.
void SheetRunner::StageLines(const int64_t* offset, int64_t row, int64_t rows) const {
  if (!staging_.copies_data) return;
  assert(plan_.components == 1);
  const plan::Component& axis = plan_.component[0];
  const int64_t row_stride = plan_.row.stride[kOutput];
  const int64_t data_row_stride = plan_.row.stride[kData];
  unsigned char* const to = scatter_.output.data + (offset[kOutput] + row * row_stride) * width_;
  const unsigned char* const from =
      scatter_.data.data + (offset[kData] + row * data_row_stride) * width_;
  kernel::WalkBox(move_, {to, from, rows, row_stride, data_row_stride, axis.axis_size,
                          axis.output_stride, axis.data_stride, false});
}

void SheetRunner::RunShortRows(const int64_t* offset) const {
  const int64_t rows = plan_.row.count;
  const int64_t columns = plan_.column.count;
  int64_t height = applier_.block() / columns;
  if (staging_.copies_data) {
    const int64_t staged = kStagedBytes / (plan_.component[0].axis_size * width_);
    height = std::min(height, std::max<int64_t>(staged, 1));
  }
  for (int64_t r = 0; r < rows; r += height) {
    const int64_t left = rows - r;
    const int64_t count = std::min(height, left);
    const int64_t next = left >= 2 * height ? height : 0;
    StageLines(offset, r, count);
    applier_.Apply(offset, {r, count, 0, columns, 0, next, 0}, InOutput(offset, r, 0));
  }
}

void SheetRunner::RunLongRows(const int64_t* offset) const {
  const int64_t columns = plan_.column.count;
  const int64_t step = applier_.block() - applier_.prefetch();
  for (int64_t r = 0; r < plan_.row.count; ++r) {
    StageLines(offset, r, 1);
    for (int64_t c = 0; c < columns; c += step) {
      const int64_t left = columns - c;
      const int64_t lookahead = std::min(applier_.prefetch(), std::max<int64_t>(left - step, 0));
      Tile tile = {r, 1, c, std::min(left, step), lookahead, 0, 0};
      if (left >= 2 * step) {
        tile.next_columns = step;
      } else if (r + 1 < plan_.row.count && columns >= step) {
        // Rows of one and a half tiles have no second tile of the same shape.
        tile.next_rows = 1;
        tile.next_columns = columns < 2 * step ? 0 : -c;
      }
      applier_.Apply(offset, tile, InOutput(offset, r, c));
    }
  }
}

// ---- Tasks ----

// What one thread needs for the updates, about.
double NanosecondsOf(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                     const plan::Staging& staging) {
  constexpr double kNanosecondsPerEntry = 1;
  const TensorView& updates = scatter.updates;
  const double entries = static_cast<double>(updates.size) / static_cast<double>(plan.run.count);
  const double copied = staging.copies_data ? static_cast<double>(scatter.output.size) : 0;
  const double bytes =
      (static_cast<double>(updates.size) + copied) * static_cast<double>(updates.element_size);
  return entries * kNanosecondsPerEntry + 2 * bytes * kNanosecondsPerByte;
}

// What to do about entries that may land anywhere.
enum class Method { kAlone, kSieve, kExchange };

// The fastest one by what an entry costs, in ns, on a Zen 5: random float32 into 1 to 128 MiB. A
// sieve costs each task something for every entry, an exchange more but mostly for those of its
// share; then the entries of each range are written, and those that wait for memory wait.
Method MethodFor(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                 const Sample& sample, const Ranges& ranges, bool can_exchange) {
  constexpr double kResolve = 0.25, kWrite = 0.5, kHeavy = 0.7, kWait = 1.9;
  constexpr double kSieve = 0.6, kSieveStream = 0.3, kSelect = 0.15, kSort = 1.1;
  // What does not win by so much may lose as well.
  constexpr double kWorthwhile = 0.9;
  if (plan.run.count > 1 || plan.inner.rank > 0) return Method::kSieve;
  const kernel::Kernels& kernels = IndexedKernelsFor(call, scatter.output, scatter.reduction);
  const double write = kWrite + (kernels.heavy ? kHeavy : 0);
  const double wait = PaceOf(scatter, plan, kernels).prefetch == 0 ? 0 : kWait;
  const double alone = kResolve + write + sample.FarShare(0, sample.count()) * wait;
  const double own = ranges.MostCost(write, wait);
  const int64_t entry_bytes = scatter.indices.element_size + scatter.updates.element_size;
  const bool streams = scatter.updates.size >= 2 * StreamingThreshold() / entry_bytes;
  const double sieve = kSieve + own + (streams ? kSieveStream : 0);
  const double exchange =
      can_exchange ? kSelect + kSort / static_cast<double>(ranges.count()) + own : alone;
  if (std::min(sieve, exchange) > kWorthwhile * alone) return Method::kAlone;
  return exchange < sieve ? Method::kExchange : Method::kSieve;
}

Status RunSieves(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                 const Ranges& ranges) {
  return ForEachPart(call, ranges.count(), ranges.count(), [&](int64_t part, int64_t) {
    if (ranges.At(part).IsEmpty()) return;
    Sieve sieve(call, scatter, plan, ranges.At(part));
    SheetRunner(call, scatter, plan, plan::kNoStaging, nullptr, &sieve).RunAll();
  });
}

// Each task has a range of destinations. kAlone where one task does better, and nothing is done.
Status RunByDestination(const Call& call, const IndexedScatter& scatter,
                        const plan::IndexedPlan& plan, int64_t tasks, bool in_place,
                        Method* method) {
  const int64_t width = plan::IndexedUnitsOf(scatter.output.element_size).width;
  const Sample sample(scatter, plan, width, tasks);
  const Ranges ranges(sample, tasks);
  *method = MethodFor(call, scatter, plan, sample, ranges, CanExchange(plan, ranges.count()));
  const bool exchanges = *method == Method::kExchange;
  const int64_t bytes = exchanges ? ranges.count() * ExchangeBytes(plan, width, ranges.count()) : 0;
  const Scratch scratch(call, static_cast<size_t>(bytes));
  if (exchanges && scratch.memory() == nullptr) {
    *method = MethodFor(call, scatter, plan, sample, ranges, false);
  }
  if (*method == Method::kAlone) return STREW_OK;
  if (!in_place) STREW_TRY(Copy(call, scatter.data, scatter.output));
  if (*method == Method::kSieve) return RunSieves(call, scatter, plan, ranges);
  return RunExchange(call, scatter, plan, ranges, scratch.memory());
}

// Each task has lanes, or columns of runs, and scratch of its own.
Status RunCut(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
              const plan::Staging& staging, const plan::Cut& cut, int64_t tasks,
              unsigned char* scratch) {
  return ForEachPart(call, tasks, cut.parts(), [&](int64_t part, int64_t task) {
    plan::IndexedPlan of_part = plan;
    plan::RestrictToPart(cut, part, &of_part);
    unsigned char* const of_task =
        scratch == nullptr ? nullptr : scratch + task * staging.scratch_bytes;
    SheetRunner(call, scatter, of_part, staging, of_task, nullptr).RunAll();
  });
}

Status RunArranged(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                   bool in_place) {
  const TensorView& output = scatter.output;
  const plan::Units units = plan::IndexedUnitsOf(output.element_size);
  plan::Staging staging = plan::StagingOf(plan, units.width, output.size * units.count, in_place);
  int64_t tasks = TasksFor(call, NanosecondsOf(scatter, plan, staging));
  const plan::Division division = plan::Divide(plan, staging, units.width, tasks, PartsFor(tasks));
  if (division.by_destination) {
    Method method;
    STREW_TRY(RunByDestination(call, scatter, plan, tasks, in_place, &method));
    if (method != Method::kAlone) return STREW_OK;
    tasks = 1;
  }
  const Scratch scratch(call, static_cast<size_t>(staging.scratch_bytes * tasks));
  if (staging.strip != 0 && scratch.memory() == nullptr) staging = plan::kNoStaging;
  if (!in_place && !staging.copies_data) STREW_TRY(Copy(call, scatter.data, scatter.output));
  if (division.cut.parts() > 1) {
    return RunCut(call, scatter, plan, staging, division.cut, tasks, scratch.memory());
  }
  SheetRunner(call, scatter, plan, staging, scratch.memory(), nullptr).RunAll();
  return STREW_OK;
}

}  // namespace

Status Run(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan) {
  const TensorView& output = scatter.output;
  if (IsSmall(scatter)) return RunSmall(call, scatter, plan);
  if (scatter.indices.size != 0) STREW_TRY(CheckIndices(call, scatter.indices, plan));
  const bool in_place = SameElements(scatter.data, output);
  if (scatter.updates.size == 0) {
    if (!in_place && output.size != 0) STREW_TRY(Copy(call, scatter.data, output));
    return call.Succeed(0);
  }
  plan->Arrange();
  STREW_TRY(RunArranged(call, scatter, *plan, in_place));
  return call.Succeed(scatter.updates.size);
}

}  // namespace strew::run
