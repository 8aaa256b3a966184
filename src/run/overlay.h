// SPDX-License-Identifier: Apache-2.0
// Runs a slice laid over a copy of data, in one pass over the output.
#ifndef STREW_RUN_OVERLAY_H_
#define STREW_RUN_OVERLAY_H_

#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/overlay.h"

namespace strew::run {

struct OverlayOperands {
  unsigned char* output;
  const unsigned char* data;
  const unsigned char* updates;
};

// `plan` is arranged; `run` is that of the reduction, `move` are the kernels that copy.
Status RunOverlay(const Call& call, const plan::OverlayPlan& plan, kernel::RunKernel run,
                  const kernel::MoveKernels& move, const OverlayOperands& operands);

}  // namespace strew::run

#endif  // STREW_RUN_OVERLAY_H_
