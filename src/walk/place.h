// SPDX-License-Identifier: Apache-2.0
// Single entries, one by one: where the indices of one place it.
#ifndef STREW_WALK_PLACE_H_
#define STREW_WALK_PLACE_H_

#include <cstdint>

#include "base/call.h"
#include "base/index_value.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"

namespace strew::walk {

// Adds what the indices of one entry and lane, of which the first lies at `at`, mean for its place.
// False where one is out of range and not clamped.
inline bool AddPlace(const Call& call, const TensorView& indices, const plan::Component* components,
                     int count, int64_t at, int64_t* output) {
  const bool wrap = call.settings().wrap_negative_indices;
  const bool clamps = call.settings().index_policy == STREW_INDEX_CLAMP;
  for (int c = 0; c < count; ++c) {
    const plan::Component& component = components[c];
    const int64_t place = at + component.indices_base;
    int64_t index = ReadIndex(indices.dtype, indices.data + place * indices.element_size).value;
    if (index < 0 && wrap) index += component.axis_size;
    if (index < 0 || index >= component.axis_size) {
      if (!clamps || component.axis_size == 0) return false;
      index = index < 0 ? 0 : component.axis_size - 1;
    }
    *output += index * component.output_stride;
  }
  return true;
}

}  // namespace strew::walk

#endif  // STREW_WALK_PLACE_H_
