// SPDX-License-Identifier: Apache-2.0
// The body of a dtype's kernel file, once for every target: its table and, in the last pass, the
// function by which kernel.cc finds that. The file defines STREW_DTYPE before, of which
// the row in base/dtype.h tells the rest; there is no include guard, because each pass wants it again.
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

// Whether the reduction is defined on the dtype, and not on signed integers in the same way.
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

const DtypeKernels* DtypeTableHere() {
  static constexpr DtypeKernels kTable = {{STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS)},
                                          AccumulateKernelsOf<Element<STREW_DTYPE>>()};
  return &kTable;
}

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
