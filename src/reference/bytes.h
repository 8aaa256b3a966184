// SPDX-License-Identifier: Apache-2.0
//
// Values in memory of any alignment.
#ifndef STREW_REFERENCE_BYTES_H_
#define STREW_REFERENCE_BYTES_H_

#include <cstring>

namespace strew::reference {

template <class T>
T Load(const unsigned char* bytes) {
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
