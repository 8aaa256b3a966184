// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_TERMINAL_H_
#define STREW_CLI_TERMINAL_H_

#include <cstddef>

namespace strew::cli {

// About standard error. On systems without POSIX terminals it never is one.
bool ErrorIsTerminal();

// Whether the terminal shows this process, or a shell that started it in the background.
bool InForeground();

// Columns of the terminal; 80 where it does not tell.
std::size_t Columns();

}  // namespace strew::cli

#endif  // STREW_CLI_TERMINAL_H_
