// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_OPERATORS_H_
#define STREW_CLI_OPERATORS_H_

#include <string>
#include <vector>

#include "reference/operator.h"
#include "cli/options.h"
#include "reference/call.h"
#include "strew/strew.h"

namespace CLI {
class App;
}

namespace strew::cli {

// The operators that are commands, in the order of their list: all but slice_scatter_int64.
std::vector<Operator> CommandOperators();

// True for the operators that have plans.
bool HasPlans(Operator op);

// "scatter-nd" of scatter_nd.
std::string CommandName(Operator op);

// Formula, shapes and an example.
std::string HelpOf(Operator op);

// Adds the options for what the operator takes besides arrays.
void DeclareAttributes(CLI::App& command, Operator op, Options& options);

// All arguments of a call except the tensors. The options must outlive them.
reference::Arguments AttributesOf(const Options& options);

// The operator that is called: slice_scatter_int64 for slices, whose bounds are numbers.
Operator Called(Operator op);

std::vector<std::string> ReductionNames();
std::vector<std::string> IndexPolicyNames();
std::vector<std::string> DuplicatePolicyNames();

// The codes of names that are among these.
strew_index_policy IndexPolicyCode(const std::string& name);
strew_duplicate_policy DuplicatePolicyCode(const std::string& name);

// The instruction sets that the library offers here, best first.
std::vector<std::string> SimdTargets();

}  // namespace strew::cli

#endif  // STREW_CLI_OPERATORS_H_
