// SPDX-License-Identifier: Apache-2.0
// Boxes: output[turn] (+)= updates[turn] for every turn of a nest, copies among them. And the
// choice of kernels for a tensor.
#ifndef STREW_RUN_BOX_H_
#define STREW_RUN_BOX_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/loop_nest.h"
#include "plan/unit.h"
#include "run/scatter.h"

namespace strew::run {

// Operands of a box nest.
enum { kBoxOutput, kBoxUpdates, kBoxOperands };
using BoxNest = plan::LoopNest<kBoxOperands>;

// What applies runs of updates: near the CPU, and past the caches where there is a kernel for that.
struct RunKernels {
  int64_t element_size;
  kernel::RunKernel run;
  kernel::RunKernel stream;
};

// Those of a reduction on tensors of this dtype, of which elements are so many units. Those of
// STREW_MEAN are for one update of each element.
RunKernels RunKernelsFor(const Call& call, const TensorView& output, strew_reduction reduction,
                         const plan::Units& units);
const kernel::MoveKernels& MoveKernelsFor(const Call& call, const plan::Units& units);

// The kernels for elements that indices place one by one; for STREW_MEAN, which places none, those
// that move.
const kernel::CombineKernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                                strew_reduction reduction);
const kernel::MoveKernels& IndexedMoveKernelsFor(const Call& call, const TensorView& output);
// The run of entries that are more than an element: past the caches, where there is a kernel for
// that.
kernel::RunKernel IndexedStreamFor(const Call& call, const IndexedScatter& scatter);

// Turns must not meet in the output; `nest` is left arranged. The counts of the nest are > 0.
Status RunBox(const Call& call, const RunKernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, BoxNest* nest);

// One box on the calling thread, and others that only lie elsewhere.
class Box {
 public:
  // `nest` has no units yet.
  Box(const RunKernels& kernels, const plan::Units& units, BoxNest nest, bool stream);

  // FinishStreaming() has been called.
  void Run(unsigned char* output, const unsigned char* updates) const;
  // Brings the output of a small box near.
  void Fetch(unsigned char* output) const;

 private:
  friend Status RunBox(const Call&, const RunKernels&, const plan::Units&, unsigned char*,
                       const unsigned char*, BoxNest*);
  // `nest` is arranged.
  Box(const RunKernels& kernels, const BoxNest& nest, bool stream);

  const kernel::RunKernel run_;
  const int64_t width_;
  const bool stream_;
  BoxNest nest_;  // around the rows
  kernel::BoxArguments rows_;
};

// output = data, for tensors of one shape.
Status Copy(const Call& call, const TensorView& data, const TensorView& output);

}  // namespace strew::run

#endif  // STREW_RUN_BOX_H_
