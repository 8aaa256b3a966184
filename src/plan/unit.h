// SPDX-License-Identifier: Apache-2.0
// Units: memory that kernels move at once, 1 to 16 bytes. An opaque element that is no single unit
// is a line of several, which is one more dim of every operand. So no kernel knows opaque dtypes.
#ifndef STREW_PLAN_UNIT_H_
#define STREW_PLAN_UNIT_H_

#include <algorithm>
#include <cstdint>

namespace strew::plan {

inline constexpr int64_t kMostWidth = 16;

struct Units {
  int32_t width;  // bytes of one
  int64_t count;  // of one element
};

// Units of boxes, whose kernels move vectors: powers of two.
inline Units UnitsOf(int64_t element_size) {
  const int64_t largest_power_of_two = element_size & -element_size;
  const int64_t width = std::min<int64_t>(largest_power_of_two, kMostWidth);
  return {static_cast<int32_t>(width), element_size / width};
}

// Units of elements that an index places one by one: whole elements if there are kernels for them.
inline Units IndexedUnitsOf(int64_t element_size) {
  if (element_size > kMostWidth) return UnitsOf(element_size);
  return {static_cast<int32_t>(element_size), 1};
}

}  // namespace strew::plan

#endif  // STREW_PLAN_UNIT_H_
