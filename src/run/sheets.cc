// SPDX-License-Identifier: Apache-2.0
#include "run/sheets.h"

#include <algorithm>
#include <cassert>

#include "plan/flat.h"
#include "plan/tuning.h"
#include "run/box.h"
#include "run/cache.h"
#include "run/tile.h"

namespace strew::run {
namespace {

using plan::kData;
using plan::kIndices;
using plan::kOutput;
using plan::kTuning;
using plan::kUpdates;

class SheetRunner {
 public:
  SheetRunner(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
              const plan::MemoryHints& hints, const plan::Staging& staging, unsigned char* scratch,
              const EntrySink* sink)
      : scatter_(scatter),
        space_(space),
        staging_(staging),
        scratch_(scratch),
        applier_(call, scatter, space, hints, sink),
        move_(IndexedMoveKernelsFor(call, scatter.output)),
        width_(move_.combine.element_size) {}

  void RunAll() const {
    RunSheets();
    applier_.Finish();
  }

 private:
  void RunSheets() const {
    plan::FlatWalk flat;
    const bool staged = staging_.copies_data || staging_.strip != 0;
    if (!staged && plan::Flatten(space_, applier_.block(), &flat)) {
      return applier_.gives() ? GiveFlat(flat) : ApplyFlat(flat);
    }
    plan::ForEachTurn(space_.outer, space_.outer.rank, [this](const int64_t* offset) {
      if (staging_.strip != 0) return RunStrips(offset);
      if (space_.columns_are_lanes) return RunLaneColumns(offset);
      if (space_.column.count <= applier_.block()) return RunShortRows(offset);
      RunLongRows(offset);
    });
  }
  void ApplyFlat(const plan::FlatWalk& flat) const;
  void GiveFlat(const plan::FlatWalk& flat) const;
  void RunFlat(const plan::FlatWalk& flat, unsigned char* pattern) const;
  void RunStrips(const int64_t* offset) const;
  void RunLaneColumns(const int64_t* offset) const;
  void RunShortRows(const int64_t* offset) const;
  void RunLongRows(const int64_t* offset) const;
  void RunColumns(const int64_t* offset, int64_t column, int64_t columns,
                  TileDestination destination) const;
  void StageLines(const int64_t* offset, int64_t row, int64_t rows) const;
  TileDestination InOutput(const int64_t* offset, int64_t row, int64_t column) const;

  const IndexedScatter& scatter_;
  const plan::IndexSpace& space_;
  const plan::Staging& staging_;
  unsigned char* const scratch_;
  const TileApplier applier_;
  const kernel::MoveKernels& move_;
  const int64_t width_;
};

TileDestination SheetRunner::InOutput(const int64_t* offset, int64_t row, int64_t column) const {
  const int64_t row_stride = space_.row.stride[kOutput];
  const int64_t column_stride = space_.column.stride[kOutput];
  const int64_t lane = offset[kOutput] + row * row_stride + column * column_stride;
  return {scatter_.output.data + lane * width_, row_stride, column_stride, false, 0};
}

// ---- Small sheets ----

// Where the lanes of `slabs` periods land.
template <class Offset>
void FillPattern(const plan::FlatWalk& flat, int64_t slabs, void* pattern) {
  Offset* next = static_cast<Offset*>(pattern);
  for (int64_t s = 0; s < slabs; ++s) {
    const int64_t first = s * flat.slab.stride[kOutput];
    plan::ForEachTurn(flat.period, flat.period.rank, [&](const int64_t* offset) {
      *next++ = static_cast<Offset>(first + offset[kOutput]);
    });
  }
}

[[gnu::noinline]] void SheetRunner::ApplyFlat(const plan::FlatWalk& flat) const {
  alignas(64) unsigned char pattern[kBlockBytes];
  RunFlat(flat, pattern);
}

// Sinks need the stack that a larger pattern takes.
[[gnu::noinline]] void SheetRunner::GiveFlat(const plan::FlatWalk& flat) const {
  alignas(64) unsigned char pattern[kGivenBytes];
  RunFlat(flat, pattern);
}

void SheetRunner::RunFlat(const plan::FlatWalk& flat, unsigned char* pattern) const {
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
      unsigned char* const output = scatter_.output.data + lane * width_;
      applier_.gives() ? applier_.GiveFlat(tile, output) : applier_.ApplyFlat(tile, output);
    }
  });
}

// ---- Columns that are lanes ----

void SheetRunner::RunColumns(const int64_t* offset, int64_t column, int64_t columns,
                             TileDestination destination) const {
  const int64_t rows = space_.row.count;
  const int64_t height = applier_.block() / columns;
  assert(height > 0);
  unsigned char* const first = destination.memory;
  for (int64_t r = 0; r < rows; r += height) {
    const int64_t left = rows - r;
    destination.memory = first + r * destination.row_stride * width_;
    const int64_t next = left >= 2 * height ? height : 0;
    applier_.Apply(offset, {r, std::min(height, left), column, columns, 0, next, 0}, destination);
  }
}

void SheetRunner::RunLaneColumns(const int64_t* offset) const {
  const int64_t columns = space_.column.count;
  for (int64_t c = 0; c < columns; c += kTuning.strip_lanes) {
    RunColumns(offset, c, std::min(kTuning.strip_lanes, columns - c), InOutput(offset, 0, c));
  }
}

// Each strip of columns is brought into scratch, where its axis lies close together, and back.
void SheetRunner::RunStrips(const int64_t* offset) const {
  assert(space_.components == 1 && scratch_ != nullptr);
  const plan::Component& axis = space_.component[0];
  const bool fresh = staging_.copies_data;
  const unsigned char* const source = fresh ? scatter_.data.data : scatter_.output.data;
  const int operand = fresh ? kData : kOutput;
  const int64_t source_axis_stride = fresh ? axis.data_stride : axis.output_stride;
  const int64_t source_stride = space_.column.stride[operand];
  const int64_t output_stride = space_.column.stride[kOutput];
  const int64_t columns = space_.column.count;
  const bool large = scatter_.output.size * width_ >= StreamingThreshold();
  // Blocks of indices that are clamped are shorter than strips of bytes.
  const int64_t step = std::min(staging_.strip, applier_.block());
  for (int64_t c = 0; c < columns; c += step) {
    const int64_t strip = std::min(step, columns - c);
    const unsigned char* const from = source + (offset[operand] + c * source_stride) * width_;
    unsigned char* const to = scatter_.output.data + (offset[kOutput] + c * output_stride) * width_;
    kernel::WalkBox(
        move_.combine.run, width_,
        {scratch_, from, axis.axis_size, strip, source_axis_stride, strip, 1, source_stride});
    RunColumns(offset, c, strip, {scratch_, 0, 1, true, strip});
    kernel::WalkBox(
        large ? move_.stream : move_.combine.run, width_,
        {to, scratch_, axis.axis_size, axis.output_stride, strip, strip, output_stride, 1});
  }
  if (large) kernel::FinishStreaming();
}

// ---- Columns that are entries ----

// Copies the lines of the axis on which rows of a tile write.
void SheetRunner::StageLines(const int64_t* offset, int64_t row, int64_t rows) const {
  if (!staging_.copies_data) return;
  assert(space_.components == 1);
  const plan::Component& axis = space_.component[0];
  const int64_t row_stride = space_.row.stride[kOutput];
  const int64_t data_row_stride = space_.row.stride[kData];
  unsigned char* const to = scatter_.output.data + (offset[kOutput] + row * row_stride) * width_;
  const unsigned char* const from =
      scatter_.data.data + (offset[kData] + row * data_row_stride) * width_;
  kernel::WalkBox(move_.combine.run, width_,
                  {to, from, rows, row_stride, data_row_stride, axis.axis_size, axis.output_stride,
                   axis.data_stride});
}

void SheetRunner::RunShortRows(const int64_t* offset) const {
  const int64_t rows = space_.row.count;
  const int64_t columns = space_.column.count;
  int64_t height = applier_.block() / columns;
  if (staging_.copies_data) {
    const int64_t staged = kTuning.staged_bytes / (space_.component[0].axis_size * width_);
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
  const int64_t columns = space_.column.count;
  const int64_t step = applier_.block() - applier_.prefetch();
  assert(columns >= step);
  for (int64_t r = 0; r < space_.row.count; ++r) {
    StageLines(offset, r, 1);
    for (int64_t c = 0; c < columns; c += step) {
      const int64_t left = columns - c;
      const int64_t lookahead = std::min(applier_.prefetch(), std::max<int64_t>(left - step, 0));
      Tile tile = {r, 1, c, std::min(left, step), lookahead, 0, 0};
      if (left >= 2 * step) {
        tile.next_columns = step;
      } else if (r + 1 < space_.row.count) {
        // Rows of one and a half tiles have no second tile of the same shape.
        tile.next_rows = 1;
        tile.next_columns = columns < 2 * step ? 0 : -c;
      }
      applier_.Apply(offset, tile, InOutput(offset, r, c));
    }
  }
}

}  // namespace

void RunSheets(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
               const plan::MemoryHints& hints, const plan::Staging& staging,
               unsigned char* scratch) {
  SheetRunner(call, scatter, space, hints, staging, scratch, nullptr).RunAll();
}

void GiveSheets(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
                const EntrySink& sink) {
  constexpr plan::MemoryHints kNone = {0, 0, false};
  SheetRunner(call, scatter, space, kNone, plan::kNoStaging, nullptr, &sink).RunAll();
}

}  // namespace strew::run
