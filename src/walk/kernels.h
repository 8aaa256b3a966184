// SPDX-License-Identifier: Apache-2.0
// The kernels for a tensor.
#ifndef STREW_WALK_KERNELS_H_
#define STREW_WALK_KERNELS_H_

#include "base/call.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/unit.h"

namespace strew::walk {

// The kernels of a reduction on tensors of this dtype, of which elements are so many units. Those
// of STREW_MEAN are for one update of each element.
const kernel::Kernels& KernelsFor(const Call& call, const TensorView& output,
                                  strew_reduction reduction, const plan::Units& units);

// Those for elements that indices place one by one.
const kernel::Kernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                         strew_reduction reduction);

}  // namespace strew::walk

#endif  // STREW_WALK_KERNELS_H_
