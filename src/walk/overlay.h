// SPDX-License-Identifier: Apache-2.0
// Runs a slice laid over a copy of data, in one pass over the output.
#ifndef STREW_WALK_OVERLAY_H_
#define STREW_WALK_OVERLAY_H_

#include "kernel/kernel.h"
#include "plan/overlay.h"

namespace strew::walk {

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

#endif  // STREW_WALK_OVERLAY_H_
