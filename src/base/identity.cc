// SPDX-License-Identifier: Apache-2.0
#include "base/identity.h"

#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"

namespace strew {
namespace {

uint64_t FloatIdentity(FloatFormat format, strew_reduction kind) {
  switch (kind) {
    case STREW_MUL:
      return format.one();
    case STREW_MIN:
      return format.largest();
    case STREW_MAX:
      return format.sign() | format.largest();
    default:
      return format.sign();
  }
}

uint64_t IntegerIdentity(const DtypeInfo& info, strew_reduction kind) {
  const uint64_t top = uint64_t{1} << (info.size * 8 - 1);
  switch (kind) {
    case STREW_MUL:
      return 1;
    case STREW_MIN:
      return info.is_signed ? top - 1 : top + (top - 1);
    case STREW_MAX:
      return info.is_signed ? top : 0;
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
      return StoreBits(IntegerIdentity(info, kind), info.size, element);
    case Arithmetic::kFloating:
      return StoreBits(FloatIdentity(info.format, kind), info.size, element);
    case Arithmetic::kComplex: {
      const int part = info.size / 2;
      StoreBits(FloatIdentity(info.format, kind), part, element);
      return StoreBits(FloatIdentity(info.format, kind), part, element + part);
    }
    case Arithmetic::kNone:
      assert(false);  // no reduction is defined there
  }
}

}  // namespace strew
