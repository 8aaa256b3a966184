// SPDX-License-Identifier: Apache-2.0
//
// Arrays from literals: one list of numbers serves every dtype.
#ifndef STREW_TEST_SUPPORT_NUMBERS_H_
#define STREW_TEST_SUPPORT_NUMBERS_H_

#include <vector>

#include <strew/strew.h>

#include "reference/array.h"
#include "support/reference.h"

namespace strew_test {

// Integers truncate, floats round to nearest, complex numbers get an imaginary part of 0. Elements
// that are only moved, and bools, get bytes that differ where numbers below 20 differ by 0.1.
void WriteNumber(strew_dtype dtype, unsigned char* bytes, double value);

// A row-major array with these elements.
Array NumberArray(strew_dtype dtype, const Dims& shape, const std::vector<double>& values);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_NUMBERS_H_
