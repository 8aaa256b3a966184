// SPDX-License-Identifier: Apache-2.0
// Random calls of operators.
#ifndef STREW_REFERENCE_RANDOM_CASE_H_
#define STREW_REFERENCE_RANDOM_CASE_H_

#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/random.h"

namespace strew::reference {

// A valid call: of any rank, shape, strides, index dtype, reduction and values, in place or not.
Case MakeRandomCase(Random& random, Operator op, const Dtype& dtype);

// Gives a case of an operator with indices any valid ones of this shape. Its axis must be set.
void SetAnyIndices(Random& random, Case& c, Dims shape);

// Overwrites some index values with ones out of range. Returns false if the case has no index, or
// its index dtype has no such value.
bool SpoilIndices(Random& random, Case& c);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_RANDOM_CASE_H_
