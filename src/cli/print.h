// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_PRINT_H_
#define STREW_CLI_PRINT_H_

#include <string>

#include "cli/array.h"

namespace strew::cli {

// The elements in nested brackets as NumPy shows them, every number with the fewest digits that
// identify it; one line about an array that is too large for that. The array is in C order.
std::string FormatArray(const Array& array);

}  // namespace strew::cli

#endif  // STREW_CLI_PRINT_H_
