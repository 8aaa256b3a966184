// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_COMPLETION_H_
#define STREW_CLI_COMPLETION_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace strew::cli {

// The supported shells.
std::vector<std::string> Shells();

// A script with which a shell completes the commands, options and choices of `app`.
std::string Completion(const CLI::App& app, const std::string& shell);

}  // namespace strew::cli

#endif  // STREW_CLI_COMPLETION_H_
