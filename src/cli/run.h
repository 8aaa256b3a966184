// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_RUN_H_
#define STREW_CLI_RUN_H_

#include "cli/operators.h"
#include "cli/options.h"

namespace strew::cli {

// Reads the operands, runs the operator, and prints or writes the result. Throws
// std::runtime_error with the sentence for the user.
void RunOperator(Operator op, const Options& options);

// Writes `text` to standard output. Throws std::runtime_error.
void Print(const std::string& text);

}  // namespace strew::cli

#endif  // STREW_CLI_RUN_H_
