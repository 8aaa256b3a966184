// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of single elements, in plain C++ and one element at a time.
#ifndef STREW_REFERENCE_ARITHMETIC_H_
#define STREW_REFERENCE_ARITHMETIC_H_

#include <cstdint>

#include <strew/strew.h>

namespace strew::reference {

// A format of 8 or 16 bits, with subnormals, infinities and NaNs as in IEEE 754; or without
// infinities, and with the one NaN of all ones.
struct SmallFloat {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;
};
inline constexpr SmallFloat kFloat16{5, 10, true};
inline constexpr SmallFloat kBfloat16{8, 7, true};
inline constexpr SmallFloat kFloat8E4m3fn{4, 3, false};
inline constexpr SmallFloat kFloat8E5m2{5, 2, true};

// Exact.
double Decode(SmallFloat format, uint16_t bits);

// Rounds to nearest, ties to even. What is too large becomes infinity, or NaN where there is none.
uint16_t Encode(SmallFloat format, double value);

// element = element (+) update. The pair of dtype and reduction must be defined.
void Combine(strew_dtype dtype, strew_reduction reduction, unsigned char* element,
             const unsigned char* update);

// Copies to `actual` the components of `expected` that are NaN in both: the sign and the payload of
// a NaN that a reduction made are nobody's promise.
void ForgiveNanPayload(strew_dtype dtype, const unsigned char* expected, unsigned char* actual);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_ARITHMETIC_H_
