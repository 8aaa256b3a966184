// SPDX-License-Identifier: Apache-2.0
// Boxes: output[turn] (+)= updates[turn] for every turn of a nest, copies among them.
#ifndef STREW_WALK_BOX_H_
#define STREW_WALK_BOX_H_

#include "kernel/kernel.h"
#include "plan/loop_nest.h"
#include "plan/overlay.h"
#include "plan/unit.h"
#include "walk/kernels.h"

namespace strew::walk {

// Operands of a box nest.
enum { kBoxOutput, kBoxUpdates, kBoxOperands };
using BoxNest = plan::LoopNest<kBoxOperands>;

// Adds the loop over units, and puts the loops of a nest in the order that suits memory. The counts
// are > 0.
void ArrangeBox(const plan::Units& units, BoxNest* nest);

// One box on the calling thread, and others that only lie elsewhere. Turns must not meet in the
// output.
class Box {
 public:
  // `nest` is arranged.
  Box(const RunKernels& kernels, const BoxNest& nest, bool stream);

  // FinishStreaming() has been called.
  void Run(unsigned char* output, const unsigned char* updates) const;
  // Brings the output of a small box near.
  void Fetch(unsigned char* output) const;

 private:
  void RunBetween(const kernel::BoxArguments& rows) const;

  const kernel::RunKernel run_;
  const int64_t width_;
  const bool stream_;
  BoxNest nest_;     // around the rows
  BoxNest between_;  // between them and the runs
  kernel::BoxArguments rows_;
};

struct RowKernel {
  kernel::RunKernel run;
  bool moves;  // whether it replaces
};

// Rows of one inner nest, arranged once and run at many places.
class Block {
 public:
  // output[r * output_row_stride + o] (+)= updates[r * updates_row_stride + u] for the turns (o, u)
  // of `row`, whose loops go from far to near in memory.
  Block(const RowKernel& kernel, int64_t width, const BoxNest& row, int64_t output_row_stride,
        int64_t updates_row_stride);

  void Run(unsigned char* output, const unsigned char* updates, int64_t rows) const;

 private:
  const kernel::RunKernel run_;
  const int64_t width_;
  BoxNest rest_;
  kernel::BoxArguments rows_;
  bool rows_are_runs_;  // whether rows one behind the other are one run
  // Whether those of the box lie within one row of the block, because its runs are short.
  bool rows_are_inner_;
  int64_t output_row_stride_;
  int64_t updates_row_stride_;
};

// ---- A slice laid over a copy of data, in one pass over the output ----

struct OverlayOperands {
  unsigned char* output;
  const unsigned char* data;
  const unsigned char* updates;
};

// `plan` is arranged; `run` is that of the reduction, `move` are the kernels that copy. `operands` point
// to where the plan begins; the updates may be NULL.
void RunOverlay(const plan::OverlayPlan& plan, kernel::RunKernel run,
                const kernel::MoveKernels& move, const OverlayOperands& operands, bool stream);

}  // namespace strew::walk

#endif  // STREW_WALK_BOX_H_
