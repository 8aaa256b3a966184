// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_TERMINAL_H_
#define STREW_CLI_TERMINAL_H_

#include <cstddef>
#include <string>

namespace strew::cli {

// Columns of the terminal; 80 if unknown.
std::size_t Columns();

// The text in bold for standard output, or in red for standard error, if that is a terminal and the
// user did not set NO_COLOR (https://no-color.org); else the plain text.
std::string Bold(const std::string& text);
std::string Red(const std::string& text);

}  // namespace strew::cli

#endif  // STREW_CLI_TERMINAL_H_
