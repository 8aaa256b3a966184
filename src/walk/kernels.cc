// SPDX-License-Identifier: Apache-2.0
#include "walk/kernels.h"

#include <cassert>

#include "base/reduction.h"
#include "plan/traversal.h"

namespace strew::walk {

const kernel::MoveKernels& MoveKernelsFor(const Call& call, const plan::Units& units) {
  return kernel::MoveKernelsFor(units.width, call.settings().simd_target);
}

RunKernels RunKernelsFor(const Call& call, const TensorView& output, strew_reduction reduction,
                         const plan::Units& units) {
  if (reduction == STREW_NONE) {
    const kernel::MoveKernels& move = MoveKernelsFor(call, units);
    return {units.width, move.combine.run, move.stream, true, move.transpose};
  }
  const kernel::RunKernel run =
      reduction == STREW_MEAN
          ? kernel::AccumulateKernelsFor(output.dtype, STREW_MEAN, call.settings().simd_target).run
          : IndexedKernelsFor(call, output, reduction).run;
  return {units.width, run, run, false, nullptr};
}

const kernel::CombineKernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                                strew_reduction reduction) {
  switch (reduction) {
#define STREW_KERNELS_FOR(CONSTANT, FUNCTOR, NAME)                             \
  case STREW_##CONSTANT:                                                       \
    return kernel::ReduceKernelsFor(output.dtype, KernelReduction::k##FUNCTOR, \
                                    call.settings().simd_target);
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS_FOR)
#undef STREW_KERNELS_FOR
    default:
      return MoveKernelsFor(call, plan::IndexedUnitsOf(output.element_size)).combine;
  }
}

void ResolveClamped(const kernel::IndexKernels& kernels, kernel::OffsetWidth width, bool wraps,
                    kernel::ResolveArguments arguments) {
  alignas(64) unsigned char clamped[plan::kMostClamped * sizeof(int64_t)];
  kernel::IndexTile& tile = arguments.tile;
  assert(tile.rows * tile.columns <= plan::kMostClamped);
  kernels.clamp(tile, wraps, clamped);
  tile.indices = clamped;
  tile.row_stride = tile.columns;
  tile.column_stride = 1;
  kernels.resolve[width](arguments);
}

}  // namespace strew::walk
