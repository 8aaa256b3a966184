// SPDX-License-Identifier: Apache-2.0
// Bit layouts of floats, and the bit patterns of special values.
#ifndef STREW_BASE_FLOAT_FORMAT_H_
#define STREW_BASE_FLOAT_FORMAT_H_

#include <cstdint>

namespace strew {

// Sign, exponent and fraction as in IEEE 754. A format without infinities has one NaN for each
// sign, in which all other bits are set.
struct FloatFormat {
  uint8_t exponent_bits;
  uint8_t fraction_bits;
  bool has_infinity;

  constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint64_t sign() const { return uint64_t{1} << (bits() - 1); }
  constexpr uint64_t one() const { return static_cast<uint64_t>(bias()) << fraction_bits; }

  // The bit pattern after that of the largest finite number: infinity, or NaN if the format has no
  // infinity.
  constexpr uint64_t overflow() const {
    return sign() - (has_infinity ? uint64_t{1} << fraction_bits : 1);
  }
  // The largest number: infinity, or the largest finite number if the format has no infinity.
  constexpr uint64_t largest() const { return has_infinity ? overflow() : overflow() - 1; }
};

inline constexpr FloatFormat kBinary32 = {8, 23, true};
inline constexpr FloatFormat kBinary64 = {11, 52, true};

}  // namespace strew

#endif  // STREW_BASE_FLOAT_FORMAT_H_
