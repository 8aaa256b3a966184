// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_TERMINAL_H_
#define STREW_CLI_TERMINAL_H_

#include <cstddef>
#include <string>

namespace strew::cli {

// Columns of the terminal; 80 where it does not tell.
std::size_t Columns();

// The text as a terminal shows it in bold, or in red, where standard output, or standard error, is one
// and the user did not set NO_COLOR (https://no-color.org); else the text as it is.
std::string Bold(const std::string& text);
std::string Red(const std::string& text);

}  // namespace strew::cli

#endif  // STREW_CLI_TERMINAL_H_
