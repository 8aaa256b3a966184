// SPDX-License-Identifier: Apache-2.0
//
// Gigabytes of addresses that take no memory.
#ifndef STREW_TEST_SUPPORT_RESERVATION_H_
#define STREW_TEST_SUPPORT_RESERVATION_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace strew_test {

// kForbidden faults where it is touched; kZeros become memory page by page where they are written.
enum class Access { kForbidden, kZeros };

class Reservation {
 public:
  Reservation(int64_t size, Access access) : size_(static_cast<size_t>(size)) {
    const int protection = access == Access::kForbidden ? PROT_NONE : PROT_READ | PROT_WRITE;
    void* const memory =
        mmap(nullptr, size_, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    madvise(memory, size_, MADV_NOHUGEPAGE);
    bytes_ = static_cast<unsigned char*>(memory);
  }
  ~Reservation() {
    if (bytes_ != nullptr) munmap(bytes_, size_);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // NULL where the address space has no room.
  unsigned char* bytes() const { return bytes_; }

 private:
  size_t size_;
  unsigned char* bytes_ = nullptr;
};

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_RESERVATION_H_
