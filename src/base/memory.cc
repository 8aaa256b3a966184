// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace strew {
namespace {

#if defined(__linux__)

// Bytes of a huge page on most machines, and of the least block that is put into them. The kernel's
// work at the first access to each small page was a third of the time to make a plan of 4 million
// entries.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLeastHuge = 2 * kHugePage;

size_t AlignmentFor(size_t bytes) { return bytes < kLeastHuge ? kAlignment : kHugePage; }

// Asks for whole pages only, so that the block takes no more memory than with small ones. If it
// fails, the pages stay small.
void AskForHugePages(void* memory, size_t bytes) {
  if (bytes >= kLeastHuge) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
}

#else

size_t AlignmentFor(size_t) { return kAlignment; }
void AskForHugePages(void*, size_t) {}

#endif

}  // namespace

void* Allocate(size_t bytes) {
  if (bytes > SIZE_MAX - kAlignment) return nullptr;
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory = std::aligned_alloc(AlignmentFor(bytes), rounded);
  if (memory != nullptr) AskForHugePages(memory, bytes);
  return memory;
}

void Free(void* memory) { std::free(memory); }

}  // namespace strew
