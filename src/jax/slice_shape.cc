// SPDX-License-Identifier: Apache-2.0
#include "jax/slice_shape.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace ffi = xla::ffi;

namespace strew::jax {
namespace {

using Shape = std::vector<std::int64_t>;

Shape ShapeOf(ffi::AnyBuffer buffer) {
  const ffi::AnyBuffer::Dimensions dims = buffer.dimensions();
  return {dims.begin(), dims.end()};
}

template <typename Number>
std::int64_t NumberAt(ffi::AnyBuffer numbers, std::size_t i) {
  return static_cast<const Number*>(numbers.untyped_data())[i];
}

// INT64_MAX for greater numbers, as in strew; nothing if strew has no such integer dtype.
std::optional<std::int64_t> IntegerAt(ffi::AnyBuffer numbers, std::size_t i) {
  switch (numbers.element_type()) {
    case ffi::S8:
      return NumberAt<std::int8_t>(numbers, i);
    case ffi::S16:
      return NumberAt<std::int16_t>(numbers, i);
    case ffi::S32:
      return NumberAt<std::int32_t>(numbers, i);
    case ffi::S64:
      return NumberAt<std::int64_t>(numbers, i);
    case ffi::U8:
      return NumberAt<std::uint8_t>(numbers, i);
    case ffi::U16:
      return NumberAt<std::uint16_t>(numbers, i);
    case ffi::U32:
      return NumberAt<std::uint32_t>(numbers, i);
    case ffi::U64: {
      constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
      const std::uint64_t number = static_cast<const std::uint64_t*>(numbers.untyped_data())[i];
      return static_cast<std::int64_t>(std::min(number, kLargest));
    }
    default:
      return std::nullopt;
  }
}

// The number of elements of axis[start:stop:step] by Python's rules, on an axis of `size` elements.
// Requires step != 0.
std::int64_t CountOf(std::int64_t start, std::int64_t stop, std::int64_t step, std::int64_t size) {
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const auto clamp = [=](std::int64_t bound) {
    return std::clamp(bound < 0 ? bound + size : bound, lowest, size + lowest);
  };
  const std::int64_t distance = step > 0 ? clamp(stop) - clamp(start) : clamp(start) - clamp(stop);
  if (distance <= 0) return 0;
  const auto number = static_cast<std::uint64_t>(step);
  const std::uint64_t stride = step > 0 ? number : 0 - number;  // -INT64_MIN is no int64
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(distance - 1) / stride) + 1;
}

// Nothing for operands that strew refuses.
std::optional<Shape> SliceShape(ffi::AnyBuffer data, ffi::AnyBuffer start, ffi::AnyBuffer stop,
                                ffi::AnyBuffer step, ffi::Span<const std::int64_t> axes) {
  const Shape expected = {static_cast<std::int64_t>(axes.size())};
  for (const ffi::AnyBuffer numbers : {start, stop, step}) {
    if (ShapeOf(numbers) != expected) return std::nullopt;
  }
  Shape shape = ShapeOf(data);
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::vector<bool> is_sliced(shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t named = axes.begin()[i];
    if (named < -rank || named >= rank) return std::nullopt;
    const auto axis = static_cast<std::size_t>(named < 0 ? named + rank : named);
    const std::optional<std::int64_t> first = IntegerAt(start, i);
    const std::optional<std::int64_t> end = IntegerAt(stop, i);
    const std::optional<std::int64_t> stride = IntegerAt(step, i);
    if (is_sliced[axis] || !first || !end || !stride || *stride == 0) return std::nullopt;
    is_sliced[axis] = true;
    shape[axis] = CountOf(*first, *end, *stride, shape[axis]);
  }
  return shape;
}

// "[2,5]", as strew's sentences write shapes.
std::string TextOf(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) {
    if (text.size() > 1) text += ',';
    text += std::to_string(extent);
  }
  return text + ']';
}

}  // namespace

std::string UpdatesShapeFault(ffi::AnyBuffer data, ffi::AnyBuffer updates, ffi::AnyBuffer start,
                              ffi::AnyBuffer stop, ffi::AnyBuffer step,
                              ffi::Span<const std::int64_t> axes) {
  const std::optional<Shape> slice = SliceShape(data, start, stop, step, axes);
  const Shape given = ShapeOf(updates);
  if (!slice || given == *slice) return "";
  return "updates has shape " + TextOf(given) + ", but the slice has " + TextOf(*slice) +
         ": updates are not broadcast where start, stop or step is an array";
}

}  // namespace strew::jax
