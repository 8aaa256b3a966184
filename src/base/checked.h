// SPDX-License-Identifier: Apache-2.0
// Arithmetic on 64-bit sizes without overflow: magnitudes, and with base/compiler.h CheckedAdd(),
// CheckedSubtract() and CheckedMultiply().
#ifndef STREW_BASE_CHECKED_H_
#define STREW_BASE_CHECKED_H_

#include <cstdint>

#include "base/compiler.h"

namespace strew {

// |a|, unsigned because that of INT64_MIN does not fit int64_t.
inline uint64_t Magnitude(int64_t a) {
  return a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
}

}  // namespace strew

#endif  // STREW_BASE_CHECKED_H_
