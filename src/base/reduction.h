// SPDX-License-Identifier: Apache-2.0
// THE list of reductions. One row states everything about a reduction; the dtypes on which it is
// defined, its identities and its place in the kernel tables are derived from it.
//
// A new reduction is a constant in strew.h, a row here, and a functor in kernel/ops-inl.h. A
// constant without a row, a row without a constant and a row without a functor do not compile.
#ifndef STREW_BASE_REDUCTION_H_
#define STREW_BASE_REDUCTION_H_

#include <cstdint>

#include "base/dtype.h"
#include "strew/strew.h"

namespace strew {

// The arithmetic of a reduction, which decides on which dtypes it is defined.
enum class ReductionClass : uint8_t {
  kMove,      // replaces; on all dtypes
  kModular,   // sums, differences, products; signed and unsigned integers give the same bits
  kOrdering,  // minima, maxima; not on complex numbers; signed and unsigned integers differ
  kAverage    // means; not on logical values
};

// The element that leaves every update unchanged, except for the payload of a NaN.
enum class Identity : uint8_t { kNone, kZero, kOne, kGreatest, kLeast };

struct ReductionInfo {
  const char* name;
  ReductionClass what;
  Identity identity;

  // ---- The rows ----

  static constexpr ReductionInfo Move(const char* name) {
    return {name, ReductionClass::kMove, Identity::kNone};
  }
  static constexpr ReductionInfo Modular(const char* name, Identity identity) {
    return {name, ReductionClass::kModular, identity};
  }
  static constexpr ReductionInfo Ordering(const char* name, Identity identity) {
    return {name, ReductionClass::kOrdering, identity};
  }
  static constexpr ReductionInfo Average(const char* name) {
    return {name, ReductionClass::kAverage, Identity::kZero};
  }
};

// X(constant after STREW_, functor in kernel/ops-inl.h, traits). Each has kernels, in this order,
// for every dtype on which it is defined. The kernels of STREW_NONE depend only on the width of an
// element.
#define STREW_FOR_EACH_KERNEL_REDUCTION(X)          \
  X(ADD, Add, Modular("add", Identity::kZero))      \
  X(MUL, Mul, Modular("mul", Identity::kOne))       \
  X(MIN, Min, Ordering("min", Identity::kGreatest)) \
  X(MAX, Max, Ordering("max", Identity::kLeast))    \
  X(SUB, Sub, Modular("sub", Identity::kNone))

// X(constant after STREW_, traits): reductions of several steps.
#define STREW_FOR_EACH_COMPOSED_REDUCTION(X) X(MEAN, Average("mean"))

// Indexed by kind.
#define STREW_KERNEL_ROW(CONSTANT, FUNCTOR, ...) ReductionInfo::__VA_ARGS__,
#define STREW_ROW(CONSTANT, ...) ReductionInfo::__VA_ARGS__,
inline constexpr ReductionInfo kReductions[] = {
    ReductionInfo::Move("none"),
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNEL_ROW)  //
    STREW_FOR_EACH_COMPOSED_REDUCTION(STREW_ROW)       //
};
#undef STREW_ROW
#undef STREW_KERNEL_ROW
inline constexpr strew_reduction kReductionsEnd = sizeof(kReductions) / sizeof(*kReductions);

// The names of the reductions, indexed by kind.
inline constexpr const char* kReductionNames[] = {
    kReductions[STREW_NONE].name,
#define STREW_ROW(CONSTANT, ...) kReductions[STREW_##CONSTANT].name,
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_ROW) STREW_FOR_EACH_COMPOSED_REDUCTION(STREW_ROW)
#undef STREW_ROW
};

enum class KernelReduction {
#define STREW_ROW(CONSTANT, FUNCTOR, ...) k##FUNCTOR,
  STREW_FOR_EACH_KERNEL_REDUCTION(STREW_ROW)
#undef STREW_ROW
      kCount
};

// True if signed and unsigned integers with the same bits give different results. If not, the
// kernels of intN also serve uintN.
constexpr bool DependsOnSign(KernelReduction reduction) {
  return kReductions[static_cast<int>(reduction) + 1].what == ReductionClass::kOrdering;
}

// Requires a kind that has its own kernels.
constexpr KernelReduction KernelOf(strew_reduction kind) {
  return static_cast<KernelReduction>(kind - 1);
}

// The parts of a strew_reduction.
constexpr strew_reduction ReductionKind(strew_reduction reduction) {
  return reduction & ~static_cast<strew_reduction>(STREW_EXCLUDE_SELF | STREW_WIDE);
}
constexpr bool ExcludesSelf(strew_reduction reduction) {
  return (reduction & STREW_EXCLUDE_SELF) != 0;
}
constexpr bool IsWide(strew_reduction reduction) { return (reduction & STREW_WIDE) != 0; }

// Requires a known kind.
constexpr const char* ReductionName(strew_reduction kind) { return kReductions[kind].name; }

// True if all bits are known.
constexpr bool IsKnownReduction(strew_reduction reduction) {
  const strew_reduction kind = ReductionKind(reduction);
  return kind >= 0 && kind < kReductionsEnd;
}

// True if the reduction has one step: STREW_NONE, or a kind with its own kernels and no flags.
constexpr bool IsOneStep(strew_reduction reduction) {
  return reduction <= static_cast<int>(KernelReduction::kCount);
}

// True for STREW_MEAN and for reductions with STREW_WIDE, which need all updates of an element.
constexpr bool Accumulates(strew_reduction reduction) {
  return ReductionKind(reduction) == STREW_MEAN || IsWide(reduction);
}

// True if STREW_WIDE changes the result of this kind of reduction: of sums, differences and
// products of floats of 8 and 16 bits. Requires a dtype on which the kind is defined.
constexpr bool IsWideOn(strew_reduction kind, strew_dtype dtype) {
  return kReductions[kind].what == ReductionClass::kModular && kDtypes[dtype].is_short_float();
}

// The same reduction without STREW_WIDE.
constexpr strew_reduction WithoutWide(strew_reduction reduction) {
  return reduction & ~static_cast<strew_reduction>(STREW_WIDE);
}

// The same reduction, without the flags that do not change the result.
constexpr strew_reduction WithNeededFlags(strew_reduction reduction, strew_dtype dtype) {
  const strew_reduction kind = ReductionKind(reduction);
  if (kind == STREW_NONE) return STREW_NONE;
  return IsWideOn(kind, dtype) ? reduction : WithoutWide(reduction);
}

// An equivalent reduction for elements with one update each. STREW_WIDE has no effect, because
// there is only one rounding. An excluded old value is simply replaced, except for bool, whose
// reductions give 0 or 1.
constexpr strew_reduction OfSingleUpdates(strew_reduction reduction, strew_dtype dtype) {
  if (ReductionKind(reduction) == STREW_NONE) return STREW_NONE;
  if (ExcludesSelf(reduction) && dtype != STREW_BOOL) return STREW_NONE;
  return WithoutWide(reduction);
}

// The sum that is divided to a mean.
constexpr strew_reduction SumOf(strew_reduction mean) {
  return STREW_ADD | (ExcludesSelf(mean) ? STREW_EXCLUDE_SELF : STREW_NONE);
}

// Requires a known kind.
constexpr bool IsReductionDefined(strew_reduction kind, Arithmetic arithmetic) {
  const ReductionClass what = kReductions[kind].what;
  if (what == ReductionClass::kMove) return true;
  if (what == ReductionClass::kOrdering && arithmetic == Arithmetic::kComplex) return false;
  if (what == ReductionClass::kAverage && arithmetic == Arithmetic::kLogical) return false;
  return arithmetic != Arithmetic::kNone;
}

}  // namespace strew

#endif  // STREW_BASE_REDUCTION_H_
