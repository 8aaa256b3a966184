// SPDX-License-Identifier: Apache-2.0
// The body of a dtype's kernel file, once for every target: the table of its reductions and, in the
// last pass, the function that kernel.cc selects it by. The file defines STREW_FAMILY and
// STREW_ELEMENT before; there is no include guard, because each pass wants it again.
#include <hwy/highway.h>

#include <type_traits>

#include "base/reduction.h"
#include "kernel/families.h"
#include "kernel/elements-inl.h"
#include "kernel/mean-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Of all that have kernels, complex alone lacks some.
template <class T>
constexpr Arithmetic kArithmetic = Arithmetic::kInteger;
template <class Part>
constexpr Arithmetic kArithmetic<Complex<Part>> = Arithmetic::kComplex;

// Whether the reduction is defined on T, and not on signed integers in the same way.
template <class T>
constexpr bool NeedsKernels(strew_reduction kind, KernelReduction reduction) {
  return IsReductionDefined(kind, kArithmetic<T>) &&
         (DependsOnSign(reduction) || !std::is_unsigned_v<T>);
}

template <class T, template <class> class Op, bool kNeeded>
constexpr Kernels KernelsIf() {
  if constexpr (kNeeded) {
    return KernelsOf<T, Op<T>>();
  } else {
    return {};
  }
}

#define STREW_KERNELS(CONSTANT, FUNCTOR, NAME) \
  KernelsIf<STREW_ELEMENT, FUNCTOR,            \
            NeedsKernels<STREW_ELEMENT>(STREW_##CONSTANT, KernelReduction::k##FUNCTOR)>(),

const Kernels* HWY_CONCAT(STREW_FAMILY, TableHere)() {
  static constexpr Kernels kTable[] = {STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS)};
  return kTable;
}

#undef STREW_KERNELS

const MeanKernels& HWY_CONCAT(STREW_FAMILY, MeanHere)() {
  static constexpr MeanKernels kKernels = MeanKernelsOf<STREW_ELEMENT>();
  return kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strew::kernel {
namespace {
HWY_EXPORT(HWY_CONCAT(STREW_FAMILY, TableHere));
HWY_EXPORT(HWY_CONCAT(STREW_FAMILY, MeanHere));

// A file that is built for one target has dispatch tables of one entry.
constexpr size_t EntryOf(size_t slot) { return (HWY_TARGETS & (HWY_TARGETS - 1)) == 0 ? 0 : slot; }

}  // namespace

const Kernels* HWY_CONCAT(STREW_FAMILY, Table)(size_t slot) {
  return HWY_DISPATCH_TABLE(HWY_CONCAT(STREW_FAMILY, TableHere))[EntryOf(slot)]();
}

const MeanKernels& HWY_CONCAT(STREW_FAMILY, Mean)(size_t slot) {
  return HWY_DISPATCH_TABLE(HWY_CONCAT(STREW_FAMILY, MeanHere))[EntryOf(slot)]();
}
}  // namespace strew::kernel
#endif
