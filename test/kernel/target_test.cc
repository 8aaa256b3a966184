// SPDX-License-Identifier: Apache-2.0
// Forcing a SIMD target really selects the code that was compiled for it.
#include "kernel/target.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/context.h"
#include "base/dtype.h"
#include "kernel/kernel.h"

namespace strew {
namespace {

using kernel::TargetCount;

TEST(Target, SlotsHoldTheCodeOfTheirTarget) {
  ASSERT_GT(TargetCount(), 0);
  for (int32_t i = 0; i < TargetCount(); ++i) {
    EXPECT_STREQ(kernel::CompiledTarget(kernel::TargetSlot(i)), kernel::TargetName(i));
  }
}

TEST(Target, ContextTakesTheNamedTarget) {
  strew_context* context = nullptr;
  ASSERT_EQ(strew_context_create(&context), STREW_OK);
  for (int32_t i = 0; i < TargetCount(); ++i) {
    ASSERT_EQ(strew_context_set_simd_target(context, strew_simd_target_at(i)), STREW_OK);
    const int32_t chosen = CallWith(context).settings().simd_target;
    EXPECT_STREQ(kernel::CompiledTarget(kernel::TargetSlot(chosen)), strew_simd_target_at(i));
  }
  ASSERT_EQ(strew_context_set_simd_target(context, nullptr), STREW_OK);
  EXPECT_EQ(CallWith(context).settings().simd_target, 0);
  strew_context_destroy(context);
}

#if defined(__arm__)
constexpr bool kFloatsHaveOneTarget = true;  // NEON flushes subnormal numbers there
#else
constexpr bool kFloatsHaveOneTarget = false;
#endif

// Kernels of different targets are different functions, for every cell.
TEST(Target, EveryTargetHasKernelsOfItsOwn) {
  const int32_t all = TargetCount();
  const auto expect_distinct = [all](const char* what, auto kernels_of, bool one = false) {
    const int32_t count = one ? 1 : all;
    std::set<kernel::RunKernel> runs;
    std::set<kernel::ElementsKernel> elements;
    for (int32_t i = 0; i < all; ++i) {
      const kernel::CombineKernels& kernels = kernels_of(i);
      ASSERT_NE(kernels.run, nullptr) << what;
      runs.insert(kernels.run);
      elements.insert(kernels.elements[kernel::kOffset32]);
      elements.insert(kernels.elements[kernel::kOffset64]);
    }
    EXPECT_EQ(runs.size(), static_cast<size_t>(count)) << what;
    EXPECT_EQ(elements.size(), static_cast<size_t>(2 * count)) << what;
  };
  for (const int32_t width : {1, 2, 4, 8, 16}) {
    expect_distinct("move", [width](int32_t i) -> const kernel::CombineKernels& {
      return kernel::MoveKernelsFor(width, i).combine;
    });
  }
  const auto expect_reductions = [&](strew_dtype dtype) {
    const Arithmetic arithmetic = kDtypes[dtype].arithmetic;
    const bool is_float = arithmetic == Arithmetic::kFloating || arithmetic == Arithmetic::kComplex;
    const bool one_target = kFloatsHaveOneTarget && is_float;
#define STREW_EXPECT_DISTINCT(CONSTANT, FUNCTOR, ...)                             \
  if (IsReductionDefined(STREW_##CONSTANT, arithmetic)) {                         \
    SCOPED_TRACE(ReductionName(STREW_##CONSTANT));                                \
    const auto kernels_of = [dtype](int32_t i) -> const kernel::CombineKernels& { \
      return kernel::ReduceKernelsFor(dtype, KernelReduction::k##FUNCTOR, i);     \
    };                                                                            \
    expect_distinct(kDtypes[dtype].name, kernels_of, one_target);                 \
  }
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_EXPECT_DISTINCT)
#undef STREW_EXPECT_DISTINCT
  };
  for (strew_dtype dtype = 1; dtype < kDtypesEnd; ++dtype) {
    if (kDtypes[dtype].arithmetic != Arithmetic::kNone) expect_reductions(dtype);
  }
}

#if defined(__x86_64__)
TEST(Target, X86HasVectorsAndTheScalarTarget) {
  std::set<std::string> names;
  for (int32_t i = 0; i < TargetCount(); ++i) names.insert(kernel::TargetName(i));
  EXPECT_EQ(names.size(), static_cast<size_t>(TargetCount()));
  EXPECT_EQ(names.count("SCALAR") + names.count("EMU128"), 1u);
  EXPECT_GT(names.size(), 1u);
}
#endif

}  // namespace
}  // namespace strew
