// SPDX-License-Identifier: Apache-2.0
#include "base/identity.h"

#include <cstdint>
#include <cstring>

#include "base/dtype.h"

namespace strew {
namespace {

struct FloatFormat {
  int bytes;
  int mantissa_bits;

  int bits() const { return bytes * 8; }
  uint64_t sign() const { return uint64_t{1} << (bits() - 1); }
  uint64_t one() const {
    const int exponent_bits = bits() - 1 - mantissa_bits;
    return ((uint64_t{1} << (exponent_bits - 1)) - 1) << mantissa_bits;
  }
  uint64_t infinity() const { return sign() - (uint64_t{1} << mantissa_bits); }
};

FloatFormat FormatOf(strew_dtype dtype) {
  switch (dtype) {
    case STREW_FLOAT8_E4M3FN:
      return {1, 3};
    case STREW_FLOAT8_E5M2:
      return {1, 2};
    case STREW_FLOAT16:
      return {2, 10};
    case STREW_BFLOAT16:
      return {2, 7};
    case STREW_FLOAT64:
    case STREW_COMPLEX128:
      return {8, 52};
    default:
      return {4, 23};
  }
}

// The bits above all finite numbers and infinities, -0 apart.
uint64_t Greatest(strew_dtype dtype, FloatFormat format) {
  constexpr uint64_t kLargestE4M3FN = 0x7E;
  return dtype == STREW_FLOAT8_E4M3FN ? kLargestE4M3FN : format.infinity();
}

uint64_t FloatIdentity(strew_dtype dtype, strew_reduction kind) {
  const FloatFormat format = FormatOf(dtype);
  switch (kind) {
    case STREW_MUL:
      return format.one();
    case STREW_MIN:
      return Greatest(dtype, format);
    case STREW_MAX:
      return format.sign() | Greatest(dtype, format);
    default:
      return format.sign();
  }
}

uint64_t IntegerIdentity(strew_dtype dtype, int bytes, strew_reduction kind) {
  const bool is_signed = dtype <= STREW_INT64;
  const uint64_t top = uint64_t{1} << (bytes * 8 - 1);
  switch (kind) {
    case STREW_MUL:
      return 1;
    case STREW_MIN:
      return is_signed ? top - 1 : top + (top - 1);
    case STREW_MAX:
      return is_signed ? top : 0;
    default:
      return 0;
  }
}

template <class Bits>
void Store(uint64_t bits, unsigned char* element) {
  const Bits narrow = static_cast<Bits>(bits);
  std::memcpy(element, &narrow, sizeof(narrow));
}

void StoreBits(uint64_t bits, int bytes, unsigned char* element) {
  switch (bytes) {
    case 1:
      return Store<uint8_t>(bits, element);
    case 2:
      return Store<uint16_t>(bits, element);
    case 4:
      return Store<uint32_t>(bits, element);
    default:
      return Store<uint64_t>(bits, element);
  }
}

}  // namespace

bool HasIdentity(strew_dtype dtype, strew_reduction kind) {
  return kind != STREW_MUL || DescribeDtype(dtype).arithmetic != Arithmetic::kComplex;
}

void StoreIdentity(strew_dtype dtype, strew_reduction kind, unsigned char* element) {
  const DtypeInfo info = DescribeDtype(dtype);
  switch (info.arithmetic) {
    case Arithmetic::kLogical:
      *element = kind == STREW_MUL || kind == STREW_MIN ? 1 : 0;
      return;
    case Arithmetic::kInteger:
      return StoreBits(IntegerIdentity(dtype, info.size, kind), info.size, element);
    case Arithmetic::kComplex: {
      const int part = info.size / 2;
      StoreBits(FloatIdentity(dtype, kind), part, element);
      return StoreBits(FloatIdentity(dtype, kind), part, element + part);
    }
    default:
      return StoreBits(FloatIdentity(dtype, kind), info.size, element);
  }
}

}  // namespace strew
