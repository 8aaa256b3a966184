// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_REFERENCE_RANDOM_CASE_H_
#define STREW_REFERENCE_RANDOM_CASE_H_

#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/random.h"

namespace strew::reference {

// A legal call: any rank, shape, strides, index dtype, reduction and values, in place or not.
Case MakeRandomCase(Random& random, Operator op, const Dtype& dtype);

// Gives a case of an operator with indices any good ones, of this shape. Its axis must stand.
void SetAnyIndices(Random& random, Case& c, Dims shape);

// Overwrites some index values with ones that are out of range. Answers false where the case has no
// index, or its index dtype no such value.
bool SpoilIndices(Random& random, Case& c);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_RANDOM_CASE_H_
