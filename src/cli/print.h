// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_PRINT_H_
#define STREW_CLI_PRINT_H_

#include <string>

#include "cli/array.h"

namespace strew::cli {

// The elements in nested brackets, laid out as numpy.array2string() does: lines of 75 columns, and
// of more than 1000 elements those at the edges. Every number has the fewest digits that identify
// it. The array is in C order.
std::string FormatArray(const Array& array);

}  // namespace strew::cli

#endif  // STREW_CLI_PRINT_H_
