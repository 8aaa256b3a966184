// SPDX-License-Identifier: Apache-2.0
#include "run/block.h"

namespace strew::run {

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

}  // namespace strew::run
