// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_TEST_SUPPORT_RANDOM_CASE_H_
#define STREW_TEST_SUPPORT_RANDOM_CASE_H_

#include "case.h"
#include "dtypes.h"
#include "random.h"

namespace strew_test {

// A legal call: any rank, shape, strides, index dtype, reduction and values, in place or not.
Case MakeRandomCase(Random& random, Operator op, const Dtype& dtype);

// Overwrites some index values with ones that are out of range. Answers false where the case has no
// index, or its index dtype no such value.
bool SpoilIndices(Random& random, Case& c);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_RANDOM_CASE_H_
