// SPDX-License-Identifier: Apache-2.0
// THE list of reductions: their names, and on what arithmetic they are defined.
#ifndef STREW_BASE_REDUCTION_H_
#define STREW_BASE_REDUCTION_H_

#include "base/dtype.h"
#include "strew/strew.h"

namespace strew {

// X(constant after STREW_, functor in kernel/ops-inl.h, name). All of them have kernels, in this
// order, for the dtypes on which they are defined; STREW_NONE has kernels by width instead.
#define STREW_FOR_EACH_KERNEL_REDUCTION(X) \
  X(ADD, Add, "add")                       \
  X(MUL, Mul, "mul")                       \
  X(MIN, Min, "min")                       \
  X(MAX, Max, "max")                       \
  X(SUB, Sub, "sub")

// X(constant, name): those that are made of several steps.
#define STREW_FOR_EACH_COMPOSED_REDUCTION(X) X(MEAN, "mean")

enum class KernelReduction {
#define STREW_REDUCTION(CONSTANT, FUNCTOR, NAME) k##FUNCTOR,
  STREW_FOR_EACH_KERNEL_REDUCTION(STREW_REDUCTION)
#undef STREW_REDUCTION
      kCount
};

// Whether the reduction tells integers with a sign from those without. Sums, differences and
// products modulo 2^n are the same bits, so the kernels of intN serve uintN too.
constexpr bool DependsOnSign(KernelReduction reduction) {
  switch (reduction) {
    case KernelReduction::kAdd:
    case KernelReduction::kSub:
    case KernelReduction::kMul:
      return false;
    default:
      return true;
  }
}

// The parts of a strew_reduction.
constexpr strew_reduction ReductionKind(strew_reduction reduction) {
  return reduction & ~static_cast<strew_reduction>(STREW_EXCLUDE_SELF);
}
constexpr bool ExcludesSelf(strew_reduction reduction) {
  return (reduction & STREW_EXCLUDE_SELF) != 0;
}

// Index: the kind.
inline constexpr const char* kReductionNames[] = {
    "none",
#define STREW_REDUCTION(CONSTANT, FUNCTOR, NAME) NAME,
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_REDUCTION)
#undef STREW_REDUCTION
#define STREW_REDUCTION(CONSTANT, NAME) NAME,
        STREW_FOR_EACH_COMPOSED_REDUCTION(STREW_REDUCTION)
#undef STREW_REDUCTION
};
#define STREW_REDUCTION(CONSTANT, FUNCTOR, NAME) \
  static_assert(STREW_##CONSTANT == static_cast<int>(KernelReduction::k##FUNCTOR) + 1);
STREW_FOR_EACH_KERNEL_REDUCTION(STREW_REDUCTION)
#undef STREW_REDUCTION
static_assert(STREW_MEAN == static_cast<int>(KernelReduction::kCount) + 1);

// Of a known kind.
constexpr const char* ReductionName(strew_reduction kind) { return kReductionNames[kind]; }

// Whether all bits are known.
constexpr bool IsKnownReduction(strew_reduction reduction) {
  switch (ReductionKind(reduction)) {
    case STREW_NONE:
#define STREW_REDUCTION(CONSTANT, ...) case STREW_##CONSTANT:
      STREW_FOR_EACH_KERNEL_REDUCTION(STREW_REDUCTION)
      STREW_FOR_EACH_COMPOSED_REDUCTION(STREW_REDUCTION)
#undef STREW_REDUCTION
      return true;
    default:
      return false;
  }
}

// Whether it is one step: none, or a reduction with kernels of its own.
constexpr bool IsOneStep(strew_reduction reduction) {
  switch (reduction) {
    case STREW_NONE:
#define STREW_REDUCTION(CONSTANT, FUNCTOR, NAME) case STREW_##CONSTANT:
      STREW_FOR_EACH_KERNEL_REDUCTION(STREW_REDUCTION)
#undef STREW_REDUCTION
      return true;
    default:
      return false;
  }
}

constexpr bool IsReductionDefined(strew_reduction kind, Arithmetic arithmetic) {
  switch (kind) {
    case STREW_NONE:
      return true;
    case STREW_MIN:
    case STREW_MAX:
      return arithmetic != Arithmetic::kNone && arithmetic != Arithmetic::kComplex;
    case STREW_MEAN:
      return arithmetic != Arithmetic::kNone && arithmetic != Arithmetic::kLogical;
    default:
      return arithmetic != Arithmetic::kNone;
  }
}

}  // namespace strew

#endif  // STREW_BASE_REDUCTION_H_
