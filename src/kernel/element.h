// SPDX-License-Identifier: Apache-2.0
// Element types that C++ does not have, and access to elements at any address.
#ifndef STREW_KERNEL_ELEMENT_H_
#define STREW_KERNEL_ELEMENT_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace strew::kernel {

struct Logical {
  uint8_t bits;
};

// A float of a sign, kExponent and kFraction bits, as in IEEE 754; or without infinities, and with
// the one NaN of all ones. kOverflow is what follows the largest finite number: infinity, or NaN.
template <int kExponent, int kFraction, bool kHasInfinity = true>
struct ShortFloat {
  using Lane = std::conditional_t<(kExponent + kFraction < 8), uint8_t, uint16_t>;
  using Bits = std::make_signed_t<Lane>;
  static constexpr int kFractionBits = kFraction, kBias = (1 << (kExponent - 1)) - 1;
  static constexpr Bits kOnes = std::numeric_limits<Bits>::max();
  static constexpr Bits kOverflow = kHasInfinity ? kOnes - kOnes % (1 << kFraction) : kOnes;
  static constexpr Bits kNan = kOverflow | (kOverflow >> 1);
  static constexpr Bits kLargest = kHasInfinity ? kOverflow : kOnes - 1;  // that is no NaN

  Lane bits;
};
using Half = ShortFloat<5, 10>;
using Brain = ShortFloat<8, 7>;
using E4m3fn = ShortFloat<4, 3, false>;
using E5m2 = ShortFloat<5, 2>;

// What each of the bits of a float of 8 bits means.
template <class T>
struct Numbers {
  static_assert(sizeof(T) == 1);
  float number[256] = {};

  constexpr Numbers() {
    using Limits = std::numeric_limits<float>;
    constexpr int kHidden = 1 << T::kFractionBits;
    float quantum = 1;
    for (int i = T::kBias + T::kFractionBits; i > 1; --i) quantum /= 2;
    for (int bits = 0; bits <= T::kOnes; ++bits) {
      const int fraction = bits % kHidden;
      if (bits >= 2 * kHidden && fraction == 0) quantum *= 2;
      number[bits] = quantum * static_cast<float>(bits < kHidden ? fraction : fraction + kHidden);
      if (bits >= T::kOverflow) number[bits] = Limits::infinity();
      if (bits > T::kLargest) number[bits] = Limits::quiet_NaN();
      number[bits + T::kOnes + 1] = -number[bits];
    }
  }
};
template <class T>
inline constexpr Numbers<T> kNumbers;

template <class Part>
struct Complex {
  Part real;
  Part imaginary;
};
struct Wide {
  uint64_t parts[2];
};

// Descriptors promise less alignment than C++ asks of some of these types (complex64 at 4 bytes is
// moved as one of 8), and element memory has no type that C++ would know.
template <class T>
inline T LoadElement(const unsigned char* from) {
  T element;
  std::memcpy(&element, from, sizeof(T));
  return element;
}
template <class T>
inline void StoreElement(T element, unsigned char* to) {
  std::memcpy(to, &element, sizeof(T));
}

// Bytes from the start of an array of T to its `index`-th element.
template <class T>
constexpr int64_t At(int64_t index) {
  return index * static_cast<int64_t>(sizeof(T));
}

}  // namespace strew::kernel

#endif  // STREW_KERNEL_ELEMENT_H_
