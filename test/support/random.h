// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on every platform for a seed, and random elements.
//
// Environment: STREW_SEED chooses another seed, STREW_CASES another number of random cases,
// STREW_CALLS another number of calls, where these are counted.
#ifndef STREW_TEST_SUPPORT_RANDOM_H_
#define STREW_TEST_SUPPORT_RANDOM_H_

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <strew/strew.h>

#include "array.h"

namespace strew_test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t Bits() { return engine_(); }

  // In [low, high]. The modulo is uneven beyond notice, and unlike the distributions of the
  // standard library the same everywhere.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Bits() % (static_cast<uint64_t>(high - low) + 1));
  }

  bool OneIn(int64_t n) { return Between(1, n) == 1; }

  template <class T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[Bits() % choices.size()];
  }

  template <class T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[Bits() % i]);
  }

 private:
  std::mt19937_64 engine_;
};

// STREW_SEED, or 1.
uint64_t Seed();

// STREW_CASES, or `otherwise`.
int64_t Cases(int64_t otherwise);

// STREW_CALLS, or `otherwise`.
int64_t Calls(int64_t otherwise);

// Fills every slot of the array, gaps included, with a mix of ordinary numbers, special values
// (signed zeros, infinities, quiet and signalling NaNs, subnormals, extreme integers, odd bools)
// and random bits.
void FillWithValues(Random& random, Array& array);
Array RandomArray(Random& random, strew_dtype dtype, const Layout& layout,
                  Guard guard = Guard::kBehind);

// Indices into an axis of `dim` elements, negative ones included where the dtype has them.
Array RandomIndices(Random& random, strew_dtype dtype, const Layout& layout, int64_t dim,
                    Guard guard = Guard::kBehind);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_RANDOM_H_
