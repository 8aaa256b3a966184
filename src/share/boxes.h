// SPDX-License-Identifier: Apache-2.0
// Boxes on several threads: copies, slices, and slices laid over a copy of data.
#ifndef STREW_SHARE_BOXES_H_
#define STREW_SHARE_BOXES_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/overlay.h"
#include "plan/unit.h"
#include "walk/box.h"
#include "walk/overlay.h"

namespace strew::share {

// Turns must not meet in the output; `nest` is left arranged. The counts of the nest are > 0.
Status RunBox(const Call& call, const walk::RunKernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, walk::BoxNest* nest);

// `plan` is arranged; `run` is that of the reduction, `move` are the kernels that copy.
Status RunOverlay(const Call& call, const plan::OverlayPlan& plan, kernel::RunKernel run,
                  const kernel::MoveKernels& move, const walk::OverlayOperands& operands);

// output = data, for tensors of one shape.
Status Copy(const Call& call, const TensorView& data, const TensorView& output);

}  // namespace strew::share

#endif  // STREW_SHARE_BOXES_H_
