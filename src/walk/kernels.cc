// SPDX-License-Identifier: Apache-2.0
#include "walk/kernels.h"

#include "base/reduction.h"

namespace strew::walk {

const kernel::Kernels& KernelsFor(const Call& call, const TensorView& output,
                                  strew_reduction reduction, const plan::Units& units) {
  const int32_t target = call.settings().simd_target;
  switch (reduction) {
#define STREW_KERNELS_FOR(CONSTANT, FUNCTOR, NAME) \
  case STREW_##CONSTANT:                           \
    return kernel::ReductionKernels(output.dtype, KernelReduction::k##FUNCTOR, target);
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS_FOR)
#undef STREW_KERNELS_FOR
    case STREW_MEAN:
      return kernel::MeanKernelsFor(output.dtype, target).pairs;
    default:
      return kernel::MoveKernels(units.width, target);
  }
}

const kernel::Kernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                         strew_reduction reduction) {
  return KernelsFor(call, output, reduction, plan::IndexedUnitsOf(output.element_size));
}

}  // namespace strew::walk
