// SPDX-License-Identifier: Apache-2.0
// The body of a dtype's kernel file, once for every target: the table of its reductions and, in the
// last pass, the functions that kernel.cc selects by. The file defines STREW_DTYPE before, of which
// the row in base/dtype.h tells the rest; there is no include guard, because each pass wants it again.
#include <hwy/highway.h>

#include "base/dtype.h"
#include "base/reduction.h"
#include "kernel/element.h"
#include "kernel/families.h"
#include "kernel/elements-inl.h"
#include "kernel/mean-inl.h"

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
constexpr Kernels KernelsIf() {
  if constexpr (kNeeded) {
    return KernelsOf<T, Op<T>>();
  } else {
    return {};
  }
}

#define STREW_KERNELS(CONSTANT, FUNCTOR, ...) \
  KernelsIf<Element<STREW_DTYPE>, FUNCTOR,    \
            NeedsKernels(STREW_##CONSTANT, KernelReduction::k##FUNCTOR)>(),

const Kernels* ReductionTableHere() {
  static constexpr Kernels kTable[] = {STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS)};
  return kTable;
}

#undef STREW_KERNELS

const MeanKernels& MeanTableHere() {
  static constexpr MeanKernels kKernels = MeanKernelsOf<Element<STREW_DTYPE>>();
  return kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strew::kernel {
namespace {
HWY_EXPORT(ReductionTableHere);
HWY_EXPORT(MeanTableHere);

// A file that is built for one target has dispatch tables of one entry.
constexpr size_t EntryOf(size_t slot) { return (HWY_TARGETS & (HWY_TARGETS - 1)) == 0 ? 0 : slot; }

}  // namespace

template <>
const Kernels* ReductionTable<STREW_DTYPE>(size_t slot) {
  return HWY_DISPATCH_TABLE(ReductionTableHere)[EntryOf(slot)]();
}

template <>
const MeanKernels& MeanTable<STREW_DTYPE>(size_t slot) {
  return HWY_DISPATCH_TABLE(MeanTableHere)[EntryOf(slot)]();
}
}  // namespace strew::kernel
#endif
