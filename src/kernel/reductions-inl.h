// SPDX-License-Identifier: Apache-2.0
// The body of the kernel file of a dtype, compiled once for each target: the table of kernels and,
// in the last pass, the function by which kernel.cc finds the table. The including file defines
// STREW_DTYPE; its row in base/dtype.h supplies the rest. There is no include guard, because each
// pass includes this file again.
#include <hwy/highway.h>

#include "base/dtype.h"
#include "base/reduction.h"
#include "kernel/element.h"
#include "kernel/elements-inl.h"
#include "kernel/mean-inl.h"
#include "kernel/tables.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// True if the reduction is defined on the dtype and is not served by the kernels of signed
// integers.
constexpr bool NeedsKernels(strew_reduction kind, KernelReduction reduction) {
  constexpr DtypeInfo kRow = kDtypes[STREW_DTYPE];
  return IsReductionDefined(kind, kRow.arithmetic) &&
         (DependsOnSign(reduction) || WithSign(STREW_DTYPE) == STREW_DTYPE);
}

template <class T, template <class> class Op, bool kNeeded>
constexpr CombineKernels ReduceKernelsIf() {
  if constexpr (kNeeded) {
    return CombineKernelsOf<T, Op<T>>();
  } else {
    return {};
  }
}

#define STREW_KERNELS(CONSTANT, FUNCTOR, ...)    \
  ReduceKernelsIf<Element<STREW_DTYPE>, FUNCTOR, \
                  NeedsKernels(STREW_##CONSTANT, KernelReduction::k##FUNCTOR)>(),

template <class T, template <class> class Op, bool kNeeded>
constexpr AccumulateKernels WideKernelsIf() {
  if constexpr (kNeeded) {
    return AccumulateKernelsOf<T, Op, /*kDivides=*/false>();
  } else {
    return {};
  }
}

#define STREW_WIDE_KERNELS(CONSTANT, FUNCTOR, ...) \
  WideKernelsIf<Element<STREW_DTYPE>, FUNCTOR, IsWideOn(STREW_##CONSTANT, STREW_DTYPE)>(),

constexpr AccumulateKernels kWideKernels[] = {STREW_FOR_EACH_KERNEL_REDUCTION(STREW_WIDE_KERNELS)};

const DtypeKernels* DtypeTableHere() {
  constexpr bool kHasWide = kDtypes[STREW_DTYPE].is_short_float();
  static constexpr DtypeKernels kTable = {{STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS)},
                                          MeanKernelsOf<Element<STREW_DTYPE>>(),
                                          kHasWide ? kWideKernels : nullptr};
  return &kTable;
}

#undef STREW_WIDE_KERNELS
#undef STREW_KERNELS

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strew::kernel {
namespace {
HWY_EXPORT(DtypeTableHere);
}  // namespace

template <>
const DtypeKernels* DtypeTable<STREW_DTYPE>(size_t slot) {
  return STREW_TABLE_OF(DtypeTableHere, slot);
}

}  // namespace strew::kernel
#endif
