// SPDX-License-Identifier: Apache-2.0
#include "run/block.h"

namespace strew::run {

Block::Block(kernel::RunKernel kernel, int64_t width, const BoxNest& row, int64_t output_row_stride,
             int64_t updates_row_stride)
    : run_(kernel), width_(width), rest_(row), rows_() {
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
}

void Block::Run(unsigned char* output, const unsigned char* updates, int64_t rows) const {
  kernel::BoxArguments box = rows_;
  box.rows = rows_are_runs_ ? 1 : rows;
  if (rows_are_runs_) box.run *= rows;
  plan::ForEachTurn(rest_, rest_.rank, [&](const int64_t* offset) {
    box.output = output + offset[kBoxOutput] * width_;
    box.updates = updates + offset[kBoxUpdates] * width_;
    kernel::WalkBox(run_, width_, box);
  });
}

}  // namespace strew::run
