// SPDX-License-Identifier: Apache-2.0
// Element types that C++ does not have, and access to elements at any address.
#ifndef STREW_KERNEL_ELEMENT_H_
#define STREW_KERNEL_ELEMENT_H_

#include <cstdint>
#include <cstring>

namespace strew::kernel {

struct Logical {
  uint8_t bits;
};
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
template <class Part>
struct Complex {
  Part real;
  Part imaginary;
};
struct Wide {
  uint64_t parts[2];
};

// Descriptors promise less alignment than C++ asks of some of these types (complex64 at 4 bytes is
// moved as one of 8), and element memory has no type that C++ would know.
template <class T>
inline T LoadElement(const unsigned char* from) {
  T element;
  std::memcpy(&element, from, sizeof(T));
  return element;
}
template <class T>
inline void StoreElement(T element, unsigned char* to) {
  std::memcpy(to, &element, sizeof(T));
}

// Bytes from the start of an array of T to its `index`-th element.
template <class T>
constexpr int64_t At(int64_t index) {
  return index * static_cast<int64_t>(sizeof(T));
}

}  // namespace strew::kernel

#endif  // STREW_KERNEL_ELEMENT_H_
