// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

namespace strew {
namespace {

constexpr int32_t kOpaqueBase = STREW_OPAQUE(0);
constexpr int32_t kLargestOpaque = 4096;

}  // namespace

DtypeInfo DescribeDtype(strew_dtype dtype) {
  switch (dtype) {
#define STREW_REDUCIBLE(CONSTANT, FAMILY, NAME, BYTES, ALIGNMENT, ARITHMETIC) \
  case STREW_##CONSTANT:                                                      \
    return {NAME, BYTES, ALIGNMENT, Arithmetic::ARITHMETIC};
    STREW_FOR_EACH_REDUCIBLE_DTYPE(STREW_REDUCIBLE)
#undef STREW_REDUCIBLE
#define STREW_MOVED(CONSTANT, NAME, BYTES, ALIGNMENT) \
  case STREW_##CONSTANT:                              \
    return {NAME, BYTES, ALIGNMENT, Arithmetic::kNone};
    STREW_FOR_EACH_MOVED_DTYPE(STREW_MOVED)
#undef STREW_MOVED
    default:
      break;
  }
  if (dtype > kOpaqueBase && dtype <= kOpaqueBase + kLargestOpaque) {
    return {"opaque", dtype - kOpaqueBase, 1, Arithmetic::kNone};
  }
  return {"unknown", 0, 1, Arithmetic::kNone};
}

}  // namespace strew
