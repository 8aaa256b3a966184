// SPDX-License-Identifier: Apache-2.0
// Units: the memory that kernels move at once, 1 to 16 bytes. A larger opaque element is a line of
// several units, which adds one dim to every operand. So kernels know nothing of opaque dtypes.
#ifndef STREW_PLAN_UNIT_H_
#define STREW_PLAN_UNIT_H_

#include <algorithm>
#include <cstdint>

namespace strew::plan {

inline constexpr int64_t kMostWidth = 16;

struct Units {
  int32_t width;  // bytes of a unit
  int64_t count;  // units of an element
};

// Units of boxes. Their widths are powers of two, because the kernels move vectors.
inline Units UnitsOf(int64_t element_size) {
  const int64_t largest_power_of_two = element_size & -element_size;
  const int64_t width = std::min<int64_t>(largest_power_of_two, kMostWidth);
  return {static_cast<int32_t>(width), element_size / width};
}

// Units of elements that indices place one by one: whole elements of up to kMostWidth bytes.
inline Units IndexedUnitsOf(int64_t element_size) {
  if (element_size > kMostWidth) return UnitsOf(element_size);
  return {static_cast<int32_t>(element_size), 1};
}

}  // namespace strew::plan

#endif  // STREW_PLAN_UNIT_H_
