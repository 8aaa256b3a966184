// SPDX-License-Identifier: Apache-2.0
#include "walk/box.h"

#include <algorithm>
#include <utility>

#include "base/cache_size.h"
#include "base/checked.h"
#include "plan/row_loop.h"

namespace strew::walk {
namespace {

using plan::Tuning;
using BoxLoop = plan::Loop<kBoxOperands>;

// Moves the loop with the smallest stride of the updates next to the innermost one.
void PairForTranspose(BoxNest* nest) {
  int closest = nest->rank - 1;
  for (int i = 0; i < nest->rank; ++i) {
    const auto distance = [nest](int l) { return Magnitude(nest->loop[l].stride[kBoxUpdates]); };
    if (distance(i) != 0 && distance(i) < distance(closest)) closest = i;
  }
  if (closest >= nest->rank - 2) return;
  std::rotate(nest->loop + closest, nest->loop + closest + 1, nest->loop + nest->rank - 1);
}

// Returns a loop whose turns lie nearer to each other in the updates than the elements of runs; -1
// for none. Runs must be short rows of a transpose, and its columns, the innermost loop, too short
// for the kernel that transposes.
int NearLoopOf(const BoxNest& nest, const BoxLoop& run, int64_t width, const Tuning& tuning) {
  if (nest.rank < 2 || run.count <= tuning.short_run || run.count > tuning.short_row) return -1;
  const auto bytes_apart = [width](const BoxLoop& loop) {
    return static_cast<int64_t>(Magnitude(loop.stride[kBoxUpdates])) * width;
  };
  const BoxLoop& column = nest.loop[nest.rank - 1];
  const bool transposes = run.stride[kBoxOutput] == 1 && bytes_apart(run) >= kCacheLine &&
                          bytes_apart(column) == width &&
                          column.count * width < kernel::LeastTransposed(width);
  if (!transposes) return -1;
  int chosen = -1;
  int64_t turns = tuning.least_near_turns - 1;
  for (int i = 0; i < nest.rank - 1; ++i) {
    if (bytes_apart(nest.loop[i]) > kCacheLine / 2 || nest.loop[i].count <= turns) continue;
    chosen = i;
    turns = nest.loop[i].count;
  }
  return chosen;
}

void RunRows(kernel::RunKernel run, int64_t width, const kernel::BoxArguments& rows,
             const Tuning& tuning) {
  // Updates whose elements lie farther apart than their rows are read in tiles. If all rows share
  // one contiguous row of updates, that row stays in the caches without tiles.
  const uint64_t step = Magnitude(rows.updates_stride);
  const bool transposes = rows.rows > 1 && step > 1 && Magnitude(rows.updates_row_stride) < step;
  if (!transposes) return kernel::WalkBox(run, width, rows);
  const int64_t side = tuning.transposed_tile;
  kernel::BoxArguments tile = rows;
  for (int64_t r = 0; r < rows.rows; r += side) {
    tile.rows = std::min(side, rows.rows - r);
    const int64_t columns = std::max(side, tuning.transposed_tile_bytes / (tile.rows * width));
    for (int64_t c = 0; c < rows.run; c += columns) {
      tile.run = std::min(columns, rows.run - c);
      tile.output = rows.output + (r * rows.output_row_stride + c * rows.output_stride) * width;
      tile.updates = rows.updates + (r * rows.updates_row_stride + c * rows.updates_stride) * width;
      kernel::WalkBox(run, width, tile);
    }
  }
}

bool ReadsAhead(const kernel::BoxArguments& rows, int64_t width, const Tuning& tuning) {
  const int64_t bytes = rows.run * width;
  const bool lie_apart = rows.output_row_stride != rows.run || rows.updates_row_stride != rows.run;
  return !rows.moves && lie_apart && rows.output_stride == 1 && rows.updates_stride == 1 &&
         bytes >= tuning.least_row_read_ahead && bytes <= tuning.row_read_ahead / 2 &&
         rows.rows >= tuning.far_rows / bytes;
}

}  // namespace

void ArrangeBox(const plan::Units& units, BoxNest* nest) {
  nest->Append(units.count, 1, 1);
  nest->Canonicalise();
  PairForTranspose(nest);
}

Box::Box(const RunKernels& kernels, const BoxNest& nest, bool stream, const Tuning& tuning)
    : run_(kernels.Choose(stream)),
      width_(kernels.width),
      stream_(stream),
      tuning_(tuning),
      nest_(nest) {
  BoxLoop run = nest_.PopInnermost();
  const int near_loop = kernels.transpose != nullptr ? NearLoopOf(nest_, run, width_, tuning) : -1;
  const int row_loop = near_loop >= 0 ? near_loop : plan::RowLoopOf(nest_, run.count, tuning);
  BoxLoop row = nest_.PopLoop(row_loop, &between_);
  if (near_loop >= 0) std::swap(run, row);
  rows_.moves = kernels.moves;
  rows_.streams = stream;
  rows_.transpose = kernels.transpose;
  rows_.rows = row.count;
  rows_.output_row_stride = row.stride[kBoxOutput];
  rows_.updates_row_stride = row.stride[kBoxUpdates];
  rows_.run = run.count;
  // A run of one unit counts as contiguous, whatever its strides.
  rows_.output_stride = run.count == 1 ? 1 : run.stride[kBoxOutput];
  rows_.updates_stride = run.count == 1 ? 1 : run.stride[kBoxUpdates];
  if (ReadsAhead(rows_, width_, tuning)) rows_.read_ahead = tuning.row_read_ahead;
}

void Box::Run(unsigned char* output, const unsigned char* updates) const {
  kernel::BoxArguments rows = rows_;
  plan::ForEachTurn(nest_, nest_.rank, [&](const int64_t* offset) {
    rows.output = output + offset[kBoxOutput] * width_;
    rows.updates = updates + offset[kBoxUpdates] * width_;
    if (between_.rank == 0) return RunRows(run_, width_, rows, tuning_);
    RunBetween(rows);
  });
  if (stream_) kernel::FinishStreaming();
}

// Runs some rows at a time, so that they stay in the caches for all turns of the loops between.
void Box::RunBetween(const kernel::BoxArguments& rows) const {
  const int64_t step = tuning_.transposed_tile;
  kernel::BoxArguments some = rows;
  for (int64_t r = 0; r < rows.rows; r += step) {
    some.rows = std::min(step, rows.rows - r);
    plan::ForEachTurn(between_, between_.rank, [&](const int64_t* offset) {
      some.output = rows.output + (r * rows.output_row_stride + offset[kBoxOutput]) * width_;
      some.updates = rows.updates + (r * rows.updates_row_stride + offset[kBoxUpdates]) * width_;
      kernel::WalkBox(run_, width_, some);
    });
  }
}

void Box::Fetch(unsigned char* output) const {
  const int64_t bytes = rows_.run * width_;
  if (nest_.rank + between_.rank > 0 || rows_.output_stride != 1) return;
  if (rows_.rows * bytes > tuning_.most_fetched_box) return;
  kernel::PrefetchForWriting(output + nest_.base[kBoxOutput] * width_, bytes, rows_.rows,
                             rows_.output_row_stride * width_);
}

Block::Block(const RowKernel& kernel, int64_t width, const BoxNest& row, int64_t output_row_stride,
             int64_t updates_row_stride, const Tuning& tuning)
    : run_(kernel.run), width_(width), rest_(row), rows_() {
  rows_.moves = kernel.moves;
  rows_.streams = kernel.streams;
  rows_.transpose = kernel.transpose;
  rest_.Merge();
  plan::Loop<kBoxOperands> run = rest_.PopInnermost();
  if (run.count == 1) {
    run.stride[kBoxOutput] = output_row_stride;
    run.stride[kBoxUpdates] = updates_row_stride;
  }
  rows_.output_row_stride = output_row_stride;
  rows_.updates_row_stride = updates_row_stride;
  rows_.run = run.count;
  rows_.output_stride = run.stride[kBoxOutput];
  rows_.updates_stride = run.stride[kBoxUpdates];
  rows_are_runs_ = rest_.rank == 0 && output_row_stride == run.count * run.stride[kBoxOutput] &&
                   updates_row_stride == run.count * run.stride[kBoxUpdates];
  output_row_stride_ = output_row_stride;
  updates_row_stride_ = updates_row_stride;
  rows_are_inner_ = run.count <= tuning.short_run && rest_.rank > 0 &&
                    rest_.loop[rest_.rank - 1].count >= tuning.many_rows;
  if (!rows_are_inner_) return;
  const BoxLoop inner = rest_.PopInnermost();
  rows_.rows = inner.count;
  rows_.output_row_stride = inner.stride[kBoxOutput];
  rows_.updates_row_stride = inner.stride[kBoxUpdates];
}

void Block::Run(unsigned char* output, const unsigned char* updates, int64_t rows) const {
  kernel::BoxArguments box = rows_;
  if (rows_are_inner_) {
    for (int64_t r = 0; r < rows; ++r) {
      plan::ForEachTurn(rest_, rest_.rank, [&](const int64_t* offset) {
        box.output = output + (r * output_row_stride_ + offset[kBoxOutput]) * width_;
        box.updates = updates + (r * updates_row_stride_ + offset[kBoxUpdates]) * width_;
        kernel::WalkBox(run_, width_, box);
      });
    }
    return;
  }
  box.rows = rows_are_runs_ ? 1 : rows;
  if (rows_are_runs_) box.run *= rows;
  plan::ForEachTurn(rest_, rest_.rank, [&](const int64_t* offset) {
    box.output = output + offset[kBoxOutput] * width_;
    box.updates = updates + offset[kBoxUpdates] * width_;
    kernel::WalkBox(run_, width_, box);
  });
}

}  // namespace strew::walk
