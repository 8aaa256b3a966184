// SPDX-License-Identifier: Apache-2.0
// A block: rows of one inner nest, arranged once and run at many places.
#ifndef STREW_RUN_BLOCK_H_
#define STREW_RUN_BLOCK_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "run/box.h"

namespace strew::run {

class Block {
 public:
  // output[r * output_row_stride + o] (+)= updates[r * updates_row_stride + u] for the turns (o, u)
  // of `row`, whose loops go from far to near in memory.
  Block(kernel::RunKernel kernel, int64_t width, const BoxNest& row, int64_t output_row_stride,
        int64_t updates_row_stride);

  void Run(unsigned char* output, const unsigned char* updates, int64_t rows) const;

 private:
  const kernel::RunKernel run_;
  const int64_t width_;
  BoxNest rest_;
  kernel::BoxArguments rows_;
  bool rows_are_runs_;  // whether rows one behind the other are one run
};

}  // namespace strew::run

#endif  // STREW_RUN_BLOCK_H_
