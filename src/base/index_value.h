// SPDX-License-Identifier: Apache-2.0
// Reads single index values, and finds the elements of an axis that they name. (Kernels read whole
// tiles of indices.)
#ifndef STREW_BASE_INDEX_VALUE_H_
#define STREW_BASE_INDEX_VALUE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/tensor_view.h"
#include "strew/strew.h"

namespace strew {

struct IndexValue {
  int64_t value;      // INT64_MAX, beyond every axis, if the value does not fit
  uint64_t overflow;  // the true value if it does not fit, else 0
};

// Reads one of the eight integer dtypes.
inline IndexValue ReadIndex(strew_dtype dtype, const unsigned char* from) {
  const auto read = [from](auto number) {
    std::memcpy(&number, from, sizeof(number));
    return number;
  };
  switch (dtype) {
    case STREW_INT8:
      return {read(int8_t{}), 0};
    case STREW_INT16:
      return {read(int16_t{}), 0};
    case STREW_INT32:
      return {read(int32_t{}), 0};
    case STREW_UINT8:
      return {read(uint8_t{}), 0};
    case STREW_UINT16:
      return {read(uint16_t{}), 0};
    case STREW_UINT32:
      return {read(uint32_t{}), 0};
    case STREW_UINT64: {
      const uint64_t value = read(uint64_t{});
      if (value > uint64_t{INT64_MAX}) return {INT64_MAX, value};
      return {static_cast<int64_t>(value), 0};
    }
    default:
      return {read(int64_t{}), 0};
  }
}

// The value at an offset in elements.
inline IndexValue ReadIndexAt(const TensorView& indices, int64_t offset) {
  return ReadIndex(indices.dtype, indices.data + offset * indices.element_size);
}

// The position on an axis that an index names. It is outside [0, axis_size) if the index is out of
// range.
constexpr int64_t WrappedIndex(int64_t index, int64_t axis_size, bool wraps) {
  return index < 0 && wraps ? index + axis_size : index;
}
constexpr bool IsOnAxis(int64_t wrapped, int64_t axis_size) {
  return wrapped >= 0 && wrapped < axis_size;
}
// The nearest element; 0 for an empty axis.
constexpr int64_t ClampedIndex(int64_t wrapped, int64_t axis_size) {
  return std::max<int64_t>(std::min(wrapped, axis_size - 1), 0);
}

}  // namespace strew

#endif  // STREW_BASE_INDEX_VALUE_H_
