// SPDX-License-Identifier: Apache-2.0
//
// Computes the mean of one element, term by term.
#ifndef STREW_REFERENCE_MEAN_H_
#define STREW_REFERENCE_MEAN_H_

#include <complex>
#include <cstdint>

#include <strew/strew.h>

namespace strew::reference {

class Mean {
 public:
  // Adds a term. The first one is taken as it is, so that a single -0 stays -0.
  void Add(strew_dtype dtype, const unsigned char* term);

  // Writes the sum divided by the number of terms, of which there must be at least one.
  void Write(strew_dtype dtype, unsigned char* element) const;

 private:
  int64_t terms_ = 0;
  // The exact sum of integers is high * 2^32 + low, which needs no 128-bit type below 2^31 terms.
  int64_t high_ = 0;
  uint64_t low_ = 0;
  // The sum of other dtypes, in their computing type. That of real numbers has no imaginary part.
  std::complex<float> single_;
  std::complex<double> double_;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_MEAN_H_
