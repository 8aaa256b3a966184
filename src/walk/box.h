// SPDX-License-Identifier: Apache-2.0
// Boxes, which are loops without indices: output[turn] (+)= updates[turn] for every turn of a nest.
// Copies are boxes too.
#ifndef STREW_WALK_BOX_H_
#define STREW_WALK_BOX_H_

#include "kernel/kernel.h"
#include "plan/loop_nest.h"
#include "plan/overlay.h"
#include "plan/tuning.h"
#include "plan/unit.h"
#include "walk/kernels.h"

namespace strew::walk {

// Operands of a box nest.
enum { kBoxOutput, kBoxUpdates, kBoxOperands };
using BoxNest = plan::LoopNest<kBoxOperands>;

// Appends the loop over units, and arranges the loops in the order of memory. Counts are > 0.
void ArrangeBox(const plan::Units& units, BoxNest* nest);

// Runs boxes of one shape at any address, on the calling thread. Turns must have different
// destinations.
class Box {
 public:
  // Requires an arranged nest.
  Box(const RunKernels& kernels, const BoxNest& nest, bool stream, const plan::Tuning& tuning);

  // Calls FinishStreaming() if the box streams.
  void Run(unsigned char* output, const unsigned char* updates) const;
  // Prefetches the output of a small box.
  void Fetch(unsigned char* output) const;

 private:
  void RunBetween(const kernel::BoxArguments& rows) const;

  const kernel::RunKernel run_;
  const int64_t width_;
  const bool stream_;
  const plan::Tuning& tuning_;
  BoxNest nest_;     // around the rows
  BoxNest between_;  // between them and the runs
  kernel::BoxArguments rows_;
};

struct RowKernel {
  kernel::RunKernel run;
  bool moves;                         // the kernel only replaces
  kernel::TransposeKernel transpose;  // of moves; may be NULL
  bool streams = false;               // the kernel writes past the caches
};

// Rows that share one nest, which is arranged once and run at many addresses.
class Block {
 public:
  // output[r * output_row_stride + o] (+)= updates[r * updates_row_stride + u] for the turns (o, u)
  // of `row`, whose strides must be descending.
  Block(const RowKernel& kernel, int64_t width, const BoxNest& row, int64_t output_row_stride,
        int64_t updates_row_stride, const plan::Tuning& tuning);

  void Run(unsigned char* output, const unsigned char* updates, int64_t rows) const;

 private:
  const kernel::RunKernel run_;
  const int64_t width_;
  BoxNest rest_;
  kernel::BoxArguments rows_;
  bool rows_are_runs_;   // consecutive rows form one run
  bool rows_are_inner_;  // runs are short, so a box has only rows within one row of the block
  int64_t output_row_stride_;
  int64_t updates_row_stride_;
};

// ---- Overlays: a slice laid over a copy of data, in one pass over the output ----

struct OverlayOperands {
  unsigned char* output;
  const unsigned char* data;
  const unsigned char* updates;
};

// How an output is written: through the caches, or past them in whole cache lines or in any words
// of kernel::kStreamedWord bytes.
enum class Stores { kCached, kLines, kWords };

// Requires an arranged plan. `run` is the kernel of the reduction, `move` has those that copy.
// `operands` point to the first elements of the plan; updates may be NULL.
void RunOverlay(const plan::OverlayPlan& plan, kernel::RunKernel run,
                const kernel::MoveKernels& move, const OverlayOperands& operands, Stores stores,
                const plan::Tuning& tuning);

}  // namespace strew::walk

#endif  // STREW_WALK_BOX_H_
