// SPDX-License-Identifier: Apache-2.0
// Selects the kernels of a dtype, a width or a reduction for a SIMD target.
#include "kernel/kernel.h"

#include "base/compiler.h"
#include "kernel/tables.h"
#include "kernel/target.h"

namespace strew::kernel {
namespace {

const DtypeKernels& DtypeKernelsFor(strew_dtype dtype, int32_t target) {
  static constexpr DtypeKernels kNone = {};
  switch (dtype) {
#define STREW_SELECT(CONSTANT, ...) \
  case STREW_##CONSTANT:            \
    return *DtypeTable<STREW_##CONSTANT>(TargetSlot(target));
    STREW_FOR_EACH_DTYPE(STREW_SELECT, STREW_NO_DTYPE)
#undef STREW_SELECT
    default:
      return kNone;
  }
}

}  // namespace

const MoveKernels& MoveKernelsFor(int32_t width, int32_t target) {
  if ((width & (width - 1)) != 0) return OddMove(width);
  return MoveTable(TargetSlot(target))[TrailingZeros(static_cast<uint64_t>(width))];
}

const CombineKernels& ReduceKernelsFor(strew_dtype dtype, KernelReduction reduction,
                                       int32_t target) {
  const strew_dtype provider = DependsOnSign(reduction) ? dtype : WithSign(dtype);
  return DtypeKernelsFor(provider, target).reduce[static_cast<int>(reduction)];
}

const AccumulateKernels& AccumulateKernelsFor(strew_dtype dtype, strew_reduction kind,
                                              int32_t target) {
  const DtypeKernels& kernels = DtypeKernelsFor(dtype, target);
  return kind == STREW_MEAN ? kernels.mean : kernels.wide[static_cast<int>(KernelOf(kind))];
}

const IndexKernels& IndexKernelsFor(strew_dtype dtype, int32_t target) {
  return IndexTable(TargetSlot(target))[dtype - STREW_INT8];
}

}  // namespace strew::kernel
