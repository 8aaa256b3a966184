// SPDX-License-Identifier: Apache-2.0
//
// Values in memory of any alignment.
#ifndef STREW_TEST_SUPPORT_BYTES_H_
#define STREW_TEST_SUPPORT_BYTES_H_

#include <cstring>

namespace strew_test {

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

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_BYTES_H_
