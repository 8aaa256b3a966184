// SPDX-License-Identifier: Apache-2.0
// Single numbers of index operands, for error messages and for start, stop, step and axes.
#ifndef STREW_BASE_INDEX_VALUE_H_
#define STREW_BASE_INDEX_VALUE_H_

#include <cstdint>
#include <cstring>

#include "strew/strew.h"

namespace strew {

struct IndexValue {
  int64_t value;      // what does not fit is INT64_MAX, beyond every axis as well
  uint64_t overflow;  // the true value where it does not fit, else 0
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

}  // namespace strew

#endif  // STREW_BASE_INDEX_VALUE_H_
