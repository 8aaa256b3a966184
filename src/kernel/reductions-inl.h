// SPDX-License-Identifier: Apache-2.0
// The body of a dtype's kernel file, once for every target: the table of its reductions and, in the
// last pass, the function that kernel.cc selects it by. The file defines STREW_FAMILY and
// STREW_ELEMENT before; there is no include guard, because each pass wants it again.
#include <hwy/highway.h>

#include "base/reduction.h"
#include "kernel/families.h"
#include "kernel/walks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr Arithmetic kArithmetic = Arithmetic::kFloating;
template <class Part>
constexpr Arithmetic kArithmetic<Complex<Part>> = Arithmetic::kComplex;

template <class T, template <class> class Op, strew_reduction kReduction>
constexpr Walks WalksIfDefined() {
  if constexpr (IsReductionDefined(kReduction, kArithmetic<T>)) {
    return WalksOf<T, Op<T>>();
  } else {
    return {};
  }
}

#define STREW_WALKS(CONSTANT, FUNCTOR, NAME) \
  WalksIfDefined<STREW_ELEMENT, FUNCTOR, STREW_##CONSTANT>(),

const Walks* HWY_CONCAT(STREW_FAMILY, Table)() {
  static constexpr Walks kTable[] = {STREW_FOR_EACH_KERNEL_REDUCTION(STREW_WALKS)};
  return kTable;
}

#undef STREW_WALKS

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strew::kernel {
namespace {
HWY_EXPORT(HWY_CONCAT(STREW_FAMILY, Table));
}  // namespace

const Walks* HWY_CONCAT(STREW_FAMILY, Kernels)(size_t slot) {
  return HWY_DISPATCH_TABLE(HWY_CONCAT(STREW_FAMILY, Table))[slot]();
}
}  // namespace strew::kernel
#endif
