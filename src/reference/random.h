// SPDX-License-Identifier: Apache-2.0
//
// Random numbers, which for a given seed are the same on every platform, and random elements.
//
// Environment: STREW_SEED sets the seed, STREW_CASES the number of random cases, and STREW_CALLS
// the number of calls in tests that count calls.
#ifndef STREW_REFERENCE_RANDOM_H_
#define STREW_REFERENCE_RANDOM_H_

#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <strew/strew.h>

#include "reference/array.h"

namespace strew::reference {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // Reads choices from the bytes, and for each choice no more bytes than it needs, so that a fuzzer
  // that changes a byte changes a choice. After the last byte, choices come from a fixed seed.
  Random(const unsigned char* bytes, size_t size) : next_(bytes), end_(bytes + size) {}

  bool ReadsBytes() const { return next_ != end_; }

  uint64_t Bits() { return BitsFor(~uint64_t{0}); }

  // A number in [low, high]. The bias of the modulo is negligible, and unlike the distributions of
  // the standard library it gives the same numbers everywhere.
  int64_t Between(int64_t low, int64_t high) {
    const uint64_t last = static_cast<uint64_t>(high - low);
    return low + static_cast<int64_t>(BitsFor(last) % (last + 1));
  }

  bool OneIn(int64_t n) { return Between(1, n) == 1; }

  template <class Choices>
  const auto& Pick(const Choices& choices) {
    return choices[BitsFor(std::size(choices) - 1) % std::size(choices)];
  }

  template <class T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[BitsFor(i - 1) % i]);
    }
  }

 private:
  // Reads as many bytes as a number up to `last` needs, or draws 64 bits.
  uint64_t BitsFor(uint64_t last) {
    if (!ReadsBytes()) return engine_();
    uint64_t bits = 0;
    for (int shift = 0; shift < 64 && last >> shift != 0 && ReadsBytes(); shift += 8) {
      bits |= static_cast<uint64_t>(*next_++) << shift;
    }
    return bits;
  }

  const unsigned char* next_ = nullptr;
  const unsigned char* end_ = nullptr;
  std::mt19937_64 engine_;
};

// The value of STREW_SEED, or 1.
uint64_t Seed();

// The value of STREW_CASES, or `otherwise`.
int64_t Cases(int64_t otherwise);

// The value of STREW_CALLS, or `otherwise`.
int64_t Calls(int64_t otherwise);

// Fills every slot of the array, gaps included, with a mix of ordinary numbers, special values
// (signed zeros, infinities, quiet and signalling NaNs, subnormals, extreme integers, odd bools)
// and random bits.
void FillWithValues(Random& random, Array& array);
Array RandomArray(Random& random, strew_dtype dtype, const Layout& layout,
                  Guard guard = Guard::kBehind);

// Indices into an axis of `dim` elements, including negative ones if the dtype is signed.
Array RandomIndices(Random& random, strew_dtype dtype, const Layout& layout, int64_t dim,
                    Guard guard = Guard::kBehind);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_RANDOM_H_
