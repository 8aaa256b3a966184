// SPDX-License-Identifier: Apache-2.0
//
// Calls that are good but for one or a few arguments.
#ifndef STREW_TEST_FUZZ_BEND_H_
#define STREW_TEST_FUZZ_BEND_H_

#include "reference/case.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {

// Changes an argument to anything: an axis, a code, an operand's dtype, shape, strides, memory or
// values. The call may still be a good one. Every operand keeps memory of its extent.
void Bend(Random& random, Case& c);

// Calls on every instruction set. Where the library takes the arguments for good, all must be as
// the oracle has it; otherwise it must refuse them everywhere alike, and write nothing.
bool CheckBent(Case& c);

}  // namespace strew_test

#endif  // STREW_TEST_FUZZ_BEND_H_
