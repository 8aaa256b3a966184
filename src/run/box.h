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

namespace strew::run {

// Operands of a box nest.
enum { kBoxOutput, kBoxUpdates, kBoxOperands };
using BoxNest = plan::LoopNest<kBoxOperands>;

// The kernels of a reduction on tensors of this dtype, of which elements are so many units. Those
// of STREW_MEAN are for one update of each element.
const kernel::Kernels& KernelsFor(const Call& call, const TensorView& output,
                                  strew_reduction reduction, const plan::Units& units);

// Those for elements that indices place one by one.
const kernel::Kernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                         strew_reduction reduction);

// Turns must not meet in the output; `nest` is left arranged. The counts of the nest are > 0.
Status RunBox(const Call& call, const kernel::Kernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, BoxNest* nest);

// One box on the calling thread, and others that only lie elsewhere.
class Box {
 public:
  // `nest` has no units yet.
  Box(const kernel::Kernels& kernels, const plan::Units& units, BoxNest nest, bool stream);

  // FinishStreaming() has been called.
  void Run(unsigned char* output, const unsigned char* updates) const;
  // Brings the output of a small box near.
  void Fetch(unsigned char* output) const;

 private:
  friend Status RunBox(const Call&, const kernel::Kernels&, const plan::Units&, unsigned char*,
                       const unsigned char*, BoxNest*);
  // `nest` is arranged.
  Box(const kernel::Kernels& kernels, const BoxNest& nest, bool stream);

  const kernel::Kernels& kernels_;
  BoxNest nest_;  // around the sheet
  kernel::BoxArguments sheet_;
};

// output = data, for tensors of one shape.
Status Copy(const Call& call, const TensorView& data, const TensorView& output);

}  // namespace strew::run

#endif  // STREW_RUN_BOX_H_
