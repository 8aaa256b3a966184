// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores values in memory of any alignment.
#ifndef STREW_REFERENCE_BYTES_H_
#define STREW_REFERENCE_BYTES_H_

#include <cstring>

namespace strew::reference {

// Byte is unsigned char or std::byte.
template <class T, class Byte>
T Load(const Byte* bytes) {
  static_assert(sizeof(Byte) == 1);
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
void Store(unsigned char* bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

}  // namespace strew::reference

#endif  // STREW_REFERENCE_BYTES_H_
