// SPDX-License-Identifier: Apache-2.0
#include "reference/guarded_buffer.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strew::reference {
namespace {

constexpr unsigned char kMargin = 0xC5;

void DieUnless(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::abort();
}

#ifdef _WIN32

size_t PageSize() {
  static const size_t size = [] {
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return static_cast<size_t>(system.dwPageSize);
  }();
  return size;
}

void* Reserve(size_t size) {
  // The pages are committed, so that later only their protection has to change.
  void* const pages = VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
  DieUnless(pages != nullptr, "VirtualAlloc");
  return pages;
}

void Release(void* pages, size_t) { VirtualFree(pages, 0, MEM_RELEASE); }

void Allow(void* pages, size_t size, bool read_only) {
  DWORD before;
  const DWORD protection = read_only ? PAGE_READONLY : PAGE_READWRITE;
  DieUnless(VirtualProtect(pages, size, protection, &before) != 0, "VirtualProtect");
}

#else

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void* Reserve(size_t size) {
  const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const pages = mmap(nullptr, size, PROT_NONE, kind, -1, 0);
  DieUnless(pages != MAP_FAILED, "mmap");
  return pages;
}

void Release(void* pages, size_t size) { munmap(pages, size); }

void Allow(void* pages, size_t size, bool read_only) {
  const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  DieUnless(mprotect(pages, size, protection) == 0, "mprotect");
}

#endif

}  // namespace

GuardedBuffer::GuardedBuffer(size_t size, Guard guard)
    : pages_size_((size + PageSize() - 1) / PageSize() * PageSize()), size_(size) {
  mapping_ = static_cast<unsigned char*>(Reserve(pages_size_ + 2 * PageSize()));
  bytes_ = guard == Guard::kBehind ? pages() + margin_size() : pages();
  SetReadOnly(false);
  if (margin_size() > 0) std::memset(margin(), kMargin, margin_size());
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) Release(mapping_, pages_size_ + 2 * PageSize());
}

void GuardedBuffer::SetReadOnly(bool read_only) {
  if (pages_size_ > 0) Allow(pages(), pages_size_, read_only);
}

bool GuardedBuffer::IsMarginIntact() const {
  // Every byte is the one before it. memcmp is faster than a loop, above all under an emulator.
  return margin_size() == 0 ||
         (*margin() == kMargin && std::memcmp(margin(), margin() + 1, margin_size() - 1) == 0);
}

unsigned char* GuardedBuffer::pages() const { return mapping_ + PageSize(); }

unsigned char* GuardedBuffer::margin() const {
  return bytes_ == pages() ? bytes_ + size_ : pages();
}

}  // namespace strew::reference
