// SPDX-License-Identifier: Apache-2.0
#include "reservation.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#endif

namespace strew_test {
namespace {

#ifdef _WIN32

void* Reserve(size_t size, Access access) {
  if (access == Access::kForbidden) return VirtualAlloc(nullptr, size, MEM_RESERVE, PAGE_NOACCESS);
  return VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void Release(void* memory, size_t) { VirtualFree(memory, 0, MEM_RELEASE); }

#else

void* Reserve(size_t size, Access access) {
  const int protection = access == Access::kForbidden ? PROT_NONE : PROT_READ | PROT_WRITE;
  void* const memory =
      mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, size, MADV_NOHUGEPAGE);
  return memory;
}

void Release(void* memory, size_t size) { munmap(memory, size); }

#endif

}  // namespace

Reservation::Reservation(int64_t size, Access access)
    : size_(static_cast<size_t>(size)),
      bytes_(static_cast<unsigned char*>(Reserve(size_, access))) {}

Reservation::~Reservation() {
  if (bytes_ != nullptr) Release(bytes_, size_);
}

}  // namespace strew_test
