// SPDX-License-Identifier: Apache-2.0
//
// Gigabytes of addresses that take no memory.
#ifndef STREW_TEST_SUPPORT_RESERVATION_H_
#define STREW_TEST_SUPPORT_RESERVATION_H_

#include <cstddef>
#include <cstdint>

namespace strew_test {

// kForbidden faults where it is touched; kZeros become memory page by page where they are written.
enum class Access { kForbidden, kZeros };

class Reservation {
 public:
  Reservation(int64_t size, Access access);
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // NULL where the address space has no room.
  unsigned char* bytes() const { return bytes_; }

 private:
  size_t size_;
  unsigned char* bytes_;
};

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_RESERVATION_H_
