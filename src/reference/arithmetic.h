// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of single elements, in plain C++ and one element at a time.
#ifndef STREW_REFERENCE_ARITHMETIC_H_
#define STREW_REFERENCE_ARITHMETIC_H_

#include <cstdint>

#include <strew/strew.h>

#include "reference/dtypes.h"

namespace strew::reference {

// The value of a float of 8 or 16 bits. Exact.
double Decode(FloatFormat format, uint16_t bits);

// The bits of a value, rounded to nearest, ties to even. A value that is too large becomes
// infinity, or NaN if the format has no infinity.
uint16_t Encode(FloatFormat format, double value);

// Read and write a float of at most 32 bits. Writing rounds as Encode() does.
float ReadSingle(const Dtype& dtype, const unsigned char* bytes);
void WriteSingle(const Dtype& dtype, float value, unsigned char* bytes);

// value (+) update in float32.
float CombineSingle(strew_reduction reduction, float value, float update);

// element = element (+) update. The pair of dtype and reduction must be defined.
void Combine(strew_dtype dtype, strew_reduction reduction, unsigned char* element,
             const unsigned char* update);

// Copies to `actual` the components of `expected` that are NaN in both, because the sign and the
// payload of a NaN that a reduction computes are unspecified.
void ForgiveNanPayload(strew_dtype dtype, const unsigned char* expected, unsigned char* actual);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_ARITHMETIC_H_
