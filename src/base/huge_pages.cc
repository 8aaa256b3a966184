// SPDX-License-Identifier: Apache-2.0
#include "base/huge_pages.h"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace strew {

#if defined(__linux__)

void AskForHugePages(void* memory, size_t bytes) {
  // The size of a huge page on most machines.
  constexpr size_t kPage = size_t{2} << 20;
  if (memory == nullptr || bytes < 2 * kPage) return;
  // Only whole pages inside the block, so that it takes no more memory than with small pages.
  unsigned char* const begin = static_cast<unsigned char*>(memory);
  const size_t before = (kPage - reinterpret_cast<uintptr_t>(begin) % kPage) % kPage;
  // If it fails, the pages stay small.
  madvise(begin + before, (bytes - before) / kPage * kPage, MADV_HUGEPAGE);
}

#else

void AskForHugePages(void*, size_t) {}

#endif

}  // namespace strew
