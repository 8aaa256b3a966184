// SPDX-License-Identifier: Apache-2.0
//
// The value of one element under STREW_WIDE, term by term.
#ifndef STREW_REFERENCE_WIDE_H_
#define STREW_REFERENCE_WIDE_H_

#include <strew/strew.h>

namespace strew::reference {

// Tells if STREW_WIDE is in the reduction and makes a difference: to sums, differences and products
// of floats of 8 and 16 bits.
bool RoundsOnce(strew_dtype dtype, strew_reduction reduction);

// Stays in float32 between its terms.
class WideValue {
 public:
  // The first term is taken as it is.
  void Combine(strew_dtype dtype, strew_reduction kind, const unsigned char* term);

  // Writes the value, rounded.
  void Write(strew_dtype dtype, unsigned char* element) const;

 private:
  bool has_terms_ = false;
  float value_ = 0;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_WIDE_H_
