// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_CAST_H_
#define STREW_CLI_CAST_H_

#include "cli/array.h"

namespace strew::cli {

// Converts the numbers of an array to another dtype: to floats rounded to nearest, ties to even; to
// integers truncated towards zero; to bool true if a number is not 0. Numbers are bool, integers,
// floats and complex numbers. Throws std::runtime_error if a number is out of the range of an
// integer dtype or loses an imaginary part, or if a dtype has no numbers.
Array Cast(const Array& array, const ElementType& type);

}  // namespace strew::cli

#endif  // STREW_CLI_CAST_H_
