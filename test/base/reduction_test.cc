// SPDX-License-Identifier: Apache-2.0
//
// What is derived from the list of reductions, against the contract.
#include "base/reduction.h"

#include <initializer_list>

#include <gtest/gtest.h>

#include "strew/strew.h"

namespace strew_test {
namespace {

using Reductions = std::initializer_list<strew_reduction>;

using strew::KernelReduction;

constexpr strew_reduction kKinds[] = {STREW_NONE, STREW_ADD, STREW_MUL, STREW_MIN,
                                      STREW_MAX,  STREW_SUB, STREW_MEAN};

TEST(Reduction, IsKnownWithEachFlag) {
  for (const strew_reduction kind : kKinds) {
    for (const strew_reduction flags :
         Reductions{0, STREW_EXCLUDE_SELF, STREW_WIDE, STREW_EXCLUDE_SELF | STREW_WIDE}) {
      EXPECT_TRUE(strew::IsKnownReduction(kind | flags));
      EXPECT_EQ(strew::ReductionKind(kind | flags), kind);
      EXPECT_EQ(strew::ExcludesSelf(kind | flags), (flags & STREW_EXCLUDE_SELF) != 0);
      EXPECT_EQ(strew::IsWide(kind | flags), (flags & STREW_WIDE) != 0);
      EXPECT_EQ(strew::WithoutWide(kind | flags), kind | (flags & STREW_EXCLUDE_SELF));
    }
  }
  EXPECT_FALSE(strew::IsKnownReduction(STREW_MEAN + 1));
  EXPECT_FALSE(strew::IsKnownReduction(-1));
}

TEST(Reduction, HasOneStepUnlessItIsAMean) {
  for (const strew_reduction kind : kKinds) {
    EXPECT_EQ(strew::IsOneStep(kind), kind != STREW_MEAN);
    EXPECT_FALSE(strew::IsOneStep(kind | STREW_EXCLUDE_SELF));
    EXPECT_FALSE(strew::IsOneStep(kind | STREW_WIDE));
  }
}

TEST(Reduction, HasKernelsInTheOrderOfTheConstants) {
  EXPECT_EQ(strew::KernelOf(STREW_ADD), KernelReduction::kAdd);
  EXPECT_EQ(strew::KernelOf(STREW_MUL), KernelReduction::kMul);
  EXPECT_EQ(strew::KernelOf(STREW_MIN), KernelReduction::kMin);
  EXPECT_EQ(strew::KernelOf(STREW_MAX), KernelReduction::kMax);
  EXPECT_EQ(strew::KernelOf(STREW_SUB), KernelReduction::kSub);
}

TEST(Reduction, DependsOnTheSignIfItCompares) {
  for (const KernelReduction kernel :
       {KernelReduction::kAdd, KernelReduction::kMul, KernelReduction::kMin, KernelReduction::kMax,
        KernelReduction::kSub}) {
    const bool compares = kernel == KernelReduction::kMin || kernel == KernelReduction::kMax;
    EXPECT_EQ(strew::DependsOnSign(kernel), compares) << static_cast<int>(kernel);
  }
}

TEST(Reduction, KeepsWideWhereItMakesADifference) {
  for (const strew_dtype dtype :
       {STREW_FLOAT16, STREW_BFLOAT16, STREW_FLOAT8_E4M3FN, STREW_FLOAT8_E5M2}) {
    for (const strew_reduction kind : Reductions{STREW_ADD, STREW_SUB, STREW_MUL}) {
      EXPECT_EQ(strew::WithNeededFlags(kind | STREW_WIDE, dtype), kind | STREW_WIDE);
      EXPECT_EQ(strew::WithNeededFlags(kind, dtype), kind);
    }
    EXPECT_EQ(strew::WithNeededFlags(STREW_MAX | STREW_WIDE, dtype), STREW_MAX);
    EXPECT_EQ(strew::WithNeededFlags(STREW_MEAN | STREW_WIDE, dtype), STREW_MEAN);
  }
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_FLOAT64, STREW_INT8, STREW_UINT16}) {
    EXPECT_EQ(strew::WithNeededFlags(STREW_ADD | STREW_WIDE, dtype), STREW_ADD);
  }
}

TEST(Reduction, HasNoFlagsIfItReplaces) {
  for (const strew_dtype dtype : {STREW_BOOL, STREW_FLOAT16, STREW_FLOAT32, STREW_COMPLEX64}) {
    for (const strew_reduction flags : Reductions{STREW_EXCLUDE_SELF, STREW_WIDE}) {
      EXPECT_EQ(strew::WithNeededFlags(STREW_NONE | flags, dtype), STREW_NONE);
      EXPECT_EQ(strew::OfSingleUpdates(STREW_NONE | flags, dtype), STREW_NONE);
    }
  }
}

TEST(Reduction, DividesTheSumOfAMean) {
  EXPECT_EQ(strew::SumOf(STREW_MEAN), STREW_ADD);
  EXPECT_EQ(strew::SumOf(STREW_MEAN | STREW_EXCLUDE_SELF), STREW_ADD | STREW_EXCLUDE_SELF);
  EXPECT_EQ(strew::SumOf(STREW_MEAN | STREW_WIDE), STREW_ADD);
}

TEST(Reduction, AccumulatesMeansAndWideSums) {
  EXPECT_TRUE(strew::Accumulates(STREW_MEAN));
  EXPECT_TRUE(strew::Accumulates(STREW_MEAN | STREW_EXCLUDE_SELF));
  EXPECT_TRUE(strew::Accumulates(STREW_ADD | STREW_WIDE));
  EXPECT_FALSE(strew::Accumulates(STREW_ADD));
  EXPECT_FALSE(strew::Accumulates(STREW_MAX | STREW_EXCLUDE_SELF));
}

}  // namespace
}  // namespace strew_test
