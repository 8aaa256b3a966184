// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.h"

#include "kernel/families.h"
#include "kernel/target.h"

namespace strew::kernel {
namespace {

const Kernels* ReductionsOf(strew_dtype dtype, size_t slot) {
  switch (dtype) {
#define STREW_SELECT(CONSTANT, ...) \
  case STREW_##CONSTANT:            \
    return ReductionTable<STREW_##CONSTANT>(slot);
    STREW_FOR_EACH_DTYPE(STREW_SELECT, STREW_NO_DTYPE)
#undef STREW_SELECT
    default:
      return nullptr;
  }
}

}  // namespace

const Kernels& MoveKernels(int32_t width, int32_t target) {
  if ((width & (width - 1)) != 0) return OddMove(width);
  return MoveTable(TargetSlot(target))[__builtin_ctz(static_cast<unsigned>(width))];
}

const Kernels& ReductionKernels(strew_dtype dtype, KernelReduction reduction, int32_t target) {
  const strew_dtype provider = DependsOnSign(reduction) ? dtype : WithSign(dtype);
  return ReductionsOf(provider, TargetSlot(target))[static_cast<int>(reduction)];
}

const MeanKernels& MeanKernelsFor(strew_dtype dtype, int32_t target) {
  static constexpr MeanKernels kNone = {};
  switch (dtype) {
#define STREW_SELECT(CONSTANT, ...) \
  case STREW_##CONSTANT:            \
    return MeanTable<STREW_##CONSTANT>(TargetSlot(target));
    STREW_FOR_EACH_DTYPE(STREW_SELECT, STREW_NO_DTYPE)
#undef STREW_SELECT
    default:
      return kNone;
  }
}

const IndexKernels& IndexKernelsFor(strew_dtype dtype, int32_t target) {
  return IndexTable(TargetSlot(target))[dtype - STREW_INT8];
}

}  // namespace strew::kernel
