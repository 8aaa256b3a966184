// SPDX-License-Identifier: Apache-2.0
//
// Calls of a case on every instruction set, with GoogleTest told of what is wrong.
#ifndef STREW_TEST_SUPPORT_CHECK_H_
#define STREW_TEST_SUPPORT_CHECK_H_

#include <vector>

#include <strew/strew.h>

#include "reference/case.h"
#include "support/reference.h"

namespace strew_test {

// Runs the case on every instruction set, and once without a context where that means the same.
// Answers false after a failure, which GoogleTest then knows of.
bool Check(Case& c);

// The same for a call that must be refused, whose arguments may be such that the oracle cannot
// tell.
bool CheckRefused(Case& c, strew_status status, int64_t error_position);

// On every instruction set with so many workers.
bool CheckWithWorkers(Case& c, const std::vector<int32_t>& workers);

// The same as Check() against a literal: the destination's memory must then be that of `expected`.
// The oracle has to agree too.
void ExpectOutput(Case& c, const Array& expected);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_CHECK_H_
