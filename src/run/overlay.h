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

// `plan` is arranged; `kernels` are those of the reduction, `move` those that copy.
Status RunOverlay(const Call& call, const plan::OverlayPlan& plan, const kernel::Kernels& kernels,
                  const kernel::Kernels& move, const OverlayOperands& operands);

}  // namespace strew::run

#endif  // STREW_RUN_OVERLAY_H_
