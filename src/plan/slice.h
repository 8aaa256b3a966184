// SPDX-License-Identifier: Apache-2.0
// Slices of an axis with the rules of Python.
#ifndef STREW_PLAN_SLICE_H_
#define STREW_PLAN_SLICE_H_

#include <algorithm>
#include <cstdint>

#include "base/checked.h"

namespace strew::plan {

// `count` elements of an axis: first, first + step, ...
struct Slice {
  int64_t first;
  int64_t step;
  int64_t count;

  // The number of elements of the slice before `end`. Requires step > 0.
  int64_t StepsBefore(int64_t end) const {
    const int64_t steps = end <= first ? 0 : (end - first - 1) / step + 1;
    return std::min(steps, count);
  }
};

// The elements of `axis[start:stop:step]` on an axis of `size` elements, as in Python. Negative
// bounds count from the end; then both bounds are clamped to [0, size] if step > 0, and to [-1,
// size - 1] if step < 0. Requires step != 0.
inline Slice SliceOf(int64_t start, int64_t stop, int64_t step, int64_t size) {
  const bool ascends = step > 0;
  const int64_t lowest = ascends ? 0 : -1;
  const int64_t highest = ascends ? size : size - 1;
  const auto clamp = [=](int64_t bound) {
    if (bound < 0) bound = bound < -size ? lowest : bound + size;
    return std::clamp(bound, lowest, highest);
  };
  const int64_t first = clamp(start);
  const int64_t last = clamp(stop);
  const int64_t distance = ascends ? last - first : first - last;
  if (distance <= 0) return {first, step, 0};
  const uint64_t steps = static_cast<uint64_t>(distance - 1) / Magnitude(step);
  return {first, step, static_cast<int64_t>(steps) + 1};
}

}  // namespace strew::plan

#endif  // STREW_PLAN_SLICE_H_
