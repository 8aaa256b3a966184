// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_OPERATORS_H_
#define STREW_CLI_OPERATORS_H_

#include <string>
#include <vector>

#include "cli/options.h"
#include "strew/strew.h"

namespace CLI {
class App;
}

namespace strew::cli {

struct Operands {
  const strew_tensor* data;
  const strew_tensor* indices;  // NULL for an operator that takes none
  const strew_tensor* updates;
  strew_tensor* output;
};

// An operator as a command. `declare` adds the options that no other operator has.
struct Operator {
  const char* name;
  const char* summary;
  const char* indices;  // what the command calls them; NULL for an operator that takes none
  bool reduces;
  void (*declare)(CLI::App& command, Options& options);
  strew_status (*call)(strew_context* context, const Operands& operands, const Options& options);
};

const std::vector<Operator>& Operators();

std::vector<std::string> ReductionNames();
std::vector<std::string> IndexPolicyNames();
std::vector<std::string> DuplicatePolicyNames();

// Of names that are among these.
strew_index_policy IndexPolicyCode(const std::string& name);
strew_duplicate_policy DuplicatePolicyCode(const std::string& name);

// The instruction sets that the library offers here, best first.
std::vector<std::string> SimdTargets();

}  // namespace strew::cli

#endif  // STREW_CLI_OPERATORS_H_
