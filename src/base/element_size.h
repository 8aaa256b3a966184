// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_BASE_ELEMENT_SIZE_H_
#define STREW_BASE_ELEMENT_SIZE_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace strew {

// Calls body(size) with the size as a compile-time constant, or with 0 if the size is rare.
template <class Body>
void WithElementSize(int64_t size, const Body& body) {
  switch (size) {
    case 1:
      return body(std::integral_constant<size_t, 1>());
    case 2:
      return body(std::integral_constant<size_t, 2>());
    case 4:
      return body(std::integral_constant<size_t, 4>());
    case 8:
      return body(std::integral_constant<size_t, 8>());
    case 12:
      return body(std::integral_constant<size_t, 12>());
    case 16:
      return body(std::integral_constant<size_t, 16>());
    default:
      return body(std::integral_constant<size_t, 0>());
  }
}

}  // namespace strew

#endif  // STREW_BASE_ELEMENT_SIZE_H_
