// SPDX-License-Identifier: Apache-2.0
#include "walk/box.h"

#include <algorithm>

#include "base/checked.h"
#include "plan/tuning.h"

namespace strew::walk {
namespace {

using plan::kTuning;
using BoxLoop = plan::Loop<kBoxOperands>;

// Moves the loop in which the updates lie closest next to the innermost one.
void PairForTranspose(BoxNest* nest) {
  int closest = nest->rank - 1;
  for (int i = 0; i < nest->rank; ++i) {
    const auto distance = [nest](int l) { return Magnitude(nest->loop[l].stride[kBoxUpdates]); };
    if (distance(i) != 0 && distance(i) < distance(closest)) closest = i;
  }
  if (closest >= nest->rank - 2) return;
  std::rotate(nest->loop + closest, nest->loop + closest + 1, nest->loop + nest->rank - 1);
}

void RunSheet(const kernel::Kernels& kernels, kernel::BoxArguments sheet) {
  // One row of updates for all rows is read from the caches anyway, unless it is scattered itself.
  const uint64_t step = Magnitude(sheet.updates_stride);
  const bool transposes = sheet.rows > 1 && step > 1 && Magnitude(sheet.updates_row_stride) < step;
  if (!transposes) return kernel::WalkBox(kernels, sheet);
  const int64_t width = kernels.element_size;
  kernel::BoxArguments tile = sheet;
  for (int64_t r = 0; r < sheet.rows; r += kTuning.transposed_tile) {
    tile.rows = std::min(kTuning.transposed_tile, sheet.rows - r);
    for (int64_t c = 0; c < sheet.run; c += kTuning.transposed_tile) {
      tile.run = std::min(kTuning.transposed_tile, sheet.run - c);
      tile.output = sheet.output + (r * sheet.output_row_stride + c * sheet.output_stride) * width;
      tile.updates =
          sheet.updates + (r * sheet.updates_row_stride + c * sheet.updates_stride) * width;
      kernel::WalkBox(kernels, tile);
    }
  }
}

}  // namespace

void ArrangeBox(const plan::Units& units, BoxNest* nest) {
  nest->Append(units.count, 1, 1);
  nest->Canonicalise();
  PairForTranspose(nest);
}

Box::Box(const kernel::Kernels& kernels, const BoxNest& nest, bool stream)
    : kernels_(kernels), nest_(nest) {
  const BoxLoop run = nest_.PopInnermost();
  const BoxLoop row = nest_.PopInnermost();
  sheet_.stream = stream;
  sheet_.rows = row.count;
  sheet_.output_row_stride = row.stride[kBoxOutput];
  sheet_.updates_row_stride = row.stride[kBoxUpdates];
  sheet_.run = run.count;
  // A run of one unit lies together however it is strided.
  sheet_.output_stride = run.count == 1 ? 1 : run.stride[kBoxOutput];
  sheet_.updates_stride = run.count == 1 ? 1 : run.stride[kBoxUpdates];
}

void Box::Run(unsigned char* output, const unsigned char* updates) const {
  const int64_t width = kernels_.element_size;
  kernel::BoxArguments sheet = sheet_;
  plan::ForEachTurn(nest_, nest_.rank, [&](const int64_t* offset) {
    sheet.output = output + offset[kBoxOutput] * width;
    sheet.updates = updates + offset[kBoxUpdates] * width;
    RunSheet(kernels_, sheet);
  });
  if (sheet.stream) kernel::FinishStreaming();
}

void Box::Fetch(unsigned char* output) const {
  constexpr int64_t kMost = 16 << 10;
  constexpr int64_t kLine = 64;
  const int64_t width = kernels_.element_size;
  const int64_t bytes = sheet_.run * width;
  if (nest_.rank > 0 || sheet_.output_stride != 1 || sheet_.rows * bytes > kMost) return;
  output += nest_.base[kBoxOutput] * width;
  for (int64_t r = 0; r < sheet_.rows; ++r, output += sheet_.output_row_stride * width) {
    for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(output + i, 1);
  }
}

Block::Block(const kernel::Kernels& kernels, const BoxNest& row, int64_t output_row_stride,
             int64_t updates_row_stride, bool stream)
    : kernels_(kernels), rest_(row), sheet_() {
  rest_.Merge();
  plan::Loop<kBoxOperands> run = rest_.PopInnermost();
  if (run.count == 1) {
    run.stride[kBoxOutput] = output_row_stride;
    run.stride[kBoxUpdates] = updates_row_stride;
  }
  sheet_.output_row_stride = output_row_stride;
  sheet_.updates_row_stride = updates_row_stride;
  sheet_.run = run.count;
  sheet_.output_stride = run.stride[kBoxOutput];
  sheet_.updates_stride = run.stride[kBoxUpdates];
  sheet_.stream = stream;
  rows_are_runs_ = rest_.rank == 0 && output_row_stride == run.count * run.stride[kBoxOutput] &&
                   updates_row_stride == run.count * run.stride[kBoxUpdates];
}

void Block::Run(unsigned char* output, const unsigned char* updates, int64_t rows) const {
  kernel::BoxArguments sheet = sheet_;
  sheet.rows = rows_are_runs_ ? 1 : rows;
  if (rows_are_runs_) sheet.run *= rows;
  const int64_t width = kernels_.element_size;
  plan::ForEachTurn(rest_, rest_.rank, [&](const int64_t* offset) {
    sheet.output = output + offset[kBoxOutput] * width;
    sheet.updates = updates + offset[kBoxUpdates] * width;
    kernel::WalkBox(kernels_, sheet);
  });
}

}  // namespace strew::walk
