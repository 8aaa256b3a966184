// SPDX-License-Identifier: Apache-2.0
//
// Calls with plans on every instruction set, with GoogleTest told of what is wrong.
#ifndef STREW_TEST_PREPARED_CHECK_PLANS_H_
#define STREW_TEST_PREPARED_CHECK_PLANS_H_

#include <functional>
#include <string>

#include <strew/strew.h>

#include "reference/case.h"
#include "reference/handles.h"
#include "reference/random_gather.h"
#include "reference/trial.h"
#include "support/reference.h"

namespace strew_test {

// A plan with the policies of the case. They are those of another context than the calls', and its
// instruction set takes turns.
Plan PlanOf(const Case& c);

// Runs the call on every instruction set, by so many workers if there are several.
using PlanCall = std::function<strew_status(strew_context*)>;
bool CheckEverywhere(Trial& trial, const PlanCall& call, int32_t workers, const std::string& about);

// The operator of the case by a plan.
bool CheckScatter(Case& c, int32_t workers = 1);

// The case gathers from its data into its output, which must be there.
bool CheckGather(Case& c, int32_t workers = 1);

bool CheckGatherScatter(GatherScatterCase& c, int32_t workers = 1);

}  // namespace strew_test

#endif  // STREW_TEST_PREPARED_CHECK_PLANS_H_
