// SPDX-License-Identifier: Apache-2.0
//
// The mean of one element, term by term.
#ifndef STREW_REFERENCE_MEAN_H_
#define STREW_REFERENCE_MEAN_H_

#include <complex>
#include <cstdint>

#include <strew/strew.h>

namespace strew::reference {

class Mean {
 public:
  // The first term is taken as it is, so that -0 alone stays -0.
  void Add(strew_dtype dtype, const unsigned char* term);

  // Writes the quotient of the sum and the number of terms, of which there must be one.
  void Write(strew_dtype dtype, unsigned char* element) const;

 private:
  int64_t terms_ = 0;
  // The exact sum of integers is high * 2^32 + low: no type of 128 bits is needed below 2^31 terms.
  int64_t high_ = 0;
  uint64_t low_ = 0;
  // The sum in the computing type of other dtypes; what is not complex has no imaginary part.
  std::complex<float> single_;
  std::complex<double> double_;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_MEAN_H_
