// SPDX-License-Identifier: Apache-2.0
// Element types that C++ does not have, and access to elements at any address.
#ifndef STREW_KERNEL_ELEMENT_H_
#define STREW_KERNEL_ELEMENT_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/dtype.h"
#include "base/float_format.h"
#include "strew/strew.h"

// True for older CPUs, which have no loops whose only purpose is speed: these would make the
// library larger. A macro, because kernel files are compiled for one target after another.
#define STREW_OF_OLD_CPUS (HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2)

namespace strew::kernel {

struct Logical {
  uint8_t bits;
};

// A float of 8 or 16 bits. kOverflow is the bit pattern after the largest finite number: infinity,
// or NaN if the format has no infinity.
template <strew_dtype kDtype>
struct ShortFloat {
  static constexpr FloatFormat kFormat = kDtypes[kDtype].format;
  static_assert(kFormat.bits() == 8 || kFormat.bits() == 16);
  using Lane = std::conditional_t<kFormat.bits() == 8, uint8_t, uint16_t>;
  using Bits = std::make_signed_t<Lane>;
  static constexpr int kFractionBits = kFormat.fraction_bits, kBias = kFormat.bias();
  static constexpr Bits kOnes = std::numeric_limits<Bits>::max();
  static constexpr Bits kOverflow = static_cast<Bits>(kFormat.overflow());
  static constexpr Bits kNan = kOverflow | (kOverflow >> 1);
  static constexpr Bits kLargest = static_cast<Bits>(kFormat.largest());  // not a NaN

  Lane bits;
};

// The float32 value of each bit pattern of an 8-bit float.
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

  friend Complex operator+(Complex a, Complex b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  friend Complex operator-(Complex a, Complex b) {
    return {a.real - b.real, a.imaginary - b.imaginary};
  }
};
struct Wide {
  uint64_t parts[2];
};

// ---- The element type of a dtype, derived from its row in base/dtype.h ----

template <int kBytes>
constexpr auto MakeSigned() {
  if constexpr (kBytes == 1) {
    return int8_t{};
  } else if constexpr (kBytes == 2) {
    return int16_t{};
  } else if constexpr (kBytes == 4) {
    return int32_t{};
  } else {
    static_assert(kBytes == 8);
    return int64_t{};
  }
}

// The type of a float, or of each part of a complex number.
template <strew_dtype kDtype>
constexpr auto MakeFloat() {
  if constexpr (kDtypes[kDtype].format.bits() == kBinary32.bits()) {
    return float{};
  } else if constexpr (kDtypes[kDtype].format.bits() == kBinary64.bits()) {
    return double{};
  } else {
    return ShortFloat<kDtype>{};
  }
}

template <strew_dtype kDtype>
constexpr auto MakeElement() {
  constexpr DtypeInfo kRow = kDtypes[kDtype];
  if constexpr (kRow.arithmetic == Arithmetic::kLogical) {
    return Logical{};
  } else if constexpr (kRow.arithmetic == Arithmetic::kInteger) {
    using Signed = decltype(MakeSigned<kRow.size>());
    return std::conditional_t<kRow.is_signed, Signed, std::make_unsigned_t<Signed>>{};
  } else {
    static_assert(kRow.arithmetic == Arithmetic::kFloating ||
                  kRow.arithmetic == Arithmetic::kComplex);
    using Float = decltype(MakeFloat<kDtype>());
    constexpr bool kIsComplex = kRow.arithmetic == Arithmetic::kComplex;
    return std::conditional_t<kIsComplex, Complex<Float>, Float>{};
  }
}

template <strew_dtype kDtype>
using Element = decltype(MakeElement<kDtype>());

// Short floats that have special instructions or conversions.
using Half = Element<STREW_FLOAT16>;
using Brain = Element<STREW_BFLOAT16>;

// Access elements through memcpy, because their memory has no C++ type and may be less aligned than
// C++ requires (complex64, aligned to 4 bytes, is moved as one element of 8 bytes).
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

// Byte offset of element `index` in an array of T.
template <class T>
constexpr int64_t At(int64_t index) {
  return index * static_cast<int64_t>(sizeof(T));
}

}  // namespace strew::kernel

#endif  // STREW_KERNEL_ELEMENT_H_
