// SPDX-License-Identifier: Apache-2.0
// Arithmetic on 64-bit sizes that detects overflow.
#ifndef STREW_BASE_CHECKED_H_
#define STREW_BASE_CHECKED_H_

#include <cstdint>

#include "base/compiler.h"

namespace strew {

// Each stores the wrapped result and returns true unless it overflowed.
[[nodiscard]] inline bool CheckedAdd(int64_t a, int64_t b, int64_t* sum) {
  return !AddOverflows(a, b, sum);
}
[[nodiscard]] inline bool CheckedMultiply(int64_t a, int64_t b, int64_t* product) {
  return !MultiplyOverflows(a, b, product);
}

// |a|; that of INT64_MIN fits only uint64_t.
inline uint64_t Magnitude(int64_t a) {
  return a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
}

}  // namespace strew

#endif  // STREW_BASE_CHECKED_H_
