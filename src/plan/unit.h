// SPDX-License-Identifier: Apache-2.0
// Units: what kernels move at once. An element of 1, 2, 4, 8 or 16 bytes is one unit; an opaque one
// of any other size is a line of several, which is one more dim of every operand. So no kernel
// knows opaque dtypes.
#ifndef STREW_PLAN_UNIT_H_
#define STREW_PLAN_UNIT_H_

#include <algorithm>
#include <cstdint>

namespace strew::plan {

struct Units {
  int32_t width;  // bytes of one
  int64_t count;  // of one element
};

inline Units UnitsOf(int64_t element_size) {
  const int64_t largest_power_of_two = element_size & -element_size;
  const int64_t width = std::min<int64_t>(largest_power_of_two, 16);
  return {static_cast<int32_t>(width), element_size / width};
}

}  // namespace strew::plan

#endif  // STREW_PLAN_UNIT_H_
