// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_CONTEXT_H_
#define STREW_CLI_CONTEXT_H_

#include <memory>
#include <string>

#include "cli/options.h"
#include "strew/strew.h"

namespace strew::cli {

struct DestroyContext {
  void operator()(strew_context* context) const { strew_context_destroy(context); }
};
using Context = std::unique_ptr<strew_context, DestroyContext>;

// Throws a status as std::runtime_error, with its name and a sentence for the user.
[[noreturn]] void Throw(strew_status status, const std::string& sentence);
void Check(strew_status status);

// A context with the settings of the command line. Throws std::runtime_error.
Context MakeContext(const Options& options);

// The number of threads of --threads 0, or that the library was built without threads.
std::string ThreadsText();

}  // namespace strew::cli

#endif  // STREW_CLI_CONTEXT_H_
