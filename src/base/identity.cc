// SPDX-License-Identifier: Apache-2.0
#include "base/identity.h"

#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"
#include "base/reduction.h"

namespace strew {
namespace {

// The zero of floats is -0, because +0 + -0 = +0 would lose the sign of an update of -0.
uint64_t FloatIdentity(FloatFormat format, Identity identity) {
  switch (identity) {
    case Identity::kOne:
      return format.one();
    case Identity::kGreatest:
      return format.largest();
    case Identity::kLeast:
      return format.sign() | format.largest();
    case Identity::kZero:
    case Identity::kNone:
      break;
  }
  return format.sign();
}

uint64_t IntegerIdentity(const DtypeInfo& info, Identity identity) {
  const uint64_t top = uint64_t{1} << (info.size * 8 - 1);
  switch (identity) {
    case Identity::kOne:
      return 1;
    case Identity::kGreatest:
      return info.is_signed ? top - 1 : top + (top - 1);
    case Identity::kLeast:
      return info.is_signed ? top : 0;
    case Identity::kZero:
    case Identity::kNone:
      break;
  }
  return 0;
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
  const bool is_complex = DescribeDtype(dtype).arithmetic == Arithmetic::kComplex;
  const Identity identity = kReductions[kind].identity;
  return identity != Identity::kNone && !(is_complex && identity == Identity::kOne);
}

void StoreIdentity(strew_dtype dtype, strew_reduction kind, unsigned char* element) {
  const DtypeInfo info = DescribeDtype(dtype);
  const Identity identity = kReductions[kind].identity;
  switch (info.arithmetic) {
    case Arithmetic::kLogical:
      *element = identity == Identity::kOne || identity == Identity::kGreatest ? 1 : 0;
      return;
    case Arithmetic::kInteger:
      return StoreBits(IntegerIdentity(info, identity), info.size, element);
    case Arithmetic::kFloating:
      return StoreBits(FloatIdentity(info.format, identity), info.size, element);
    case Arithmetic::kComplex: {
      const int part = info.size / 2;
      StoreBits(FloatIdentity(info.format, identity), part, element);
      return StoreBits(FloatIdentity(info.format, identity), part, element + part);
    }
    case Arithmetic::kNone:  // GCOVR_EXCL_LINE: no reduction is defined on these
      assert(false);
  }
}

int64_t StoreIdentities(strew_dtype dtype, strew_reduction kind, int64_t count, int64_t bytes,
                        unsigned char* elements) {
  const int64_t size = DescribeDtype(dtype).size;
  const bool fits = count <= bytes / size;
  for (int64_t i = 0; i < (fits ? count : 1); ++i) StoreIdentity(dtype, kind, elements + i * size);
  return fits ? 1 : 0;
}

}  // namespace strew
