// SPDX-License-Identifier: Apache-2.0
//
// Computes the value of one element with STREW_WIDE, term by term.
#ifndef STREW_REFERENCE_WIDE_H_
#define STREW_REFERENCE_WIDE_H_

#include <strew/strew.h>

namespace strew::reference {

// True if the reduction has STREW_WIDE and this makes a difference: for sums, differences and
// products of floats of 8 and 16 bits.
bool RoundsOnce(strew_dtype dtype, strew_reduction reduction);

// A value that stays in float32 between its terms.
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
