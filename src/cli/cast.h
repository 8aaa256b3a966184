// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_CAST_H_
#define STREW_CLI_CAST_H_

#include "cli/array.h"

namespace strew::cli {

// The array with its numbers in another dtype: floats rounded to nearest, ties to even; integers
// truncated towards zero; bool true where a number is not 0. Numbers are bool, integers, floats and
// complex numbers. Throws std::runtime_error if one is out of the range of an integer dtype, or has an
// imaginary part that the dtype has no place for, or if a dtype has no numbers.
Array Cast(const Array& array, const ElementType& type);

}  // namespace strew::cli

#endif  // STREW_CLI_CAST_H_
