// SPDX-License-Identifier: Apache-2.0
#include "reference/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strew::reference {
namespace {

constexpr unsigned char kMargin = 0xC5;

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void DieUnless(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::abort();
}

}  // namespace

GuardedBuffer::GuardedBuffer(size_t size, Guard guard)
    : pages_size_((size + PageSize() - 1) / PageSize() * PageSize()), size_(size) {
  void* mapping = mmap(nullptr, pages_size_ + 2 * PageSize(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  DieUnless(mapping != MAP_FAILED, "mmap");
  mapping_ = static_cast<unsigned char*>(mapping);
  bytes_ = guard == Guard::kBehind ? pages() + margin_size() : pages();
  SetReadOnly(false);
  if (margin_size() > 0) std::memset(margin(), kMargin, margin_size());
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, pages_size_ + 2 * PageSize());
}

void GuardedBuffer::SetReadOnly(bool read_only) {
  if (pages_size_ == 0) return;
  const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  DieUnless(mprotect(pages(), pages_size_, protection) == 0, "mprotect");
}

bool GuardedBuffer::IsMarginIntact() const {
  return std::all_of(margin(), margin() + margin_size(),
                     [](unsigned char byte) { return byte == kMargin; });
}

unsigned char* GuardedBuffer::pages() const { return mapping_ + PageSize(); }

unsigned char* GuardedBuffer::margin() const {
  return bytes_ == pages() ? bytes_ + size_ : pages();
}

}  // namespace strew::reference
