// SPDX-License-Identifier: Apache-2.0
// Scratch memory for a call, from the allocator of its context.
#ifndef STREW_BASE_SCRATCH_H_
#define STREW_BASE_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/call.h"
#include "base/huge_pages.h"
#include "base/platform.h"

namespace strew {

class Scratch {
 public:
  Scratch() = default;
  // Rounds up to whole cache lines, so that parts of these sizes are aligned like the whole block
  // and share no lines.
  static constexpr int64_t RoundUp(int64_t bytes) {
    return (bytes + int64_t{kAlignment} - 1) / int64_t{kAlignment} * int64_t{kAlignment};
  }

  // On failure memory() is NULL. Most callers can do without scratch.
  Scratch(const Call& call, int64_t size) : allocator_(call.settings().allocator) {
    if (size == 0 || size > kMostBytes) return;  // GCOVR_EXCL_BR_LINE: larger with 32 bits alone
    size_ = static_cast<size_t>(size);
    if (allocator_.alloc != nullptr) {
      memory_ = allocator_.alloc(allocator_.opaque, size_, kAlignment);
    } else {
      memory_ = AllocateAligned(kAlignment, static_cast<size_t>(RoundUp(size)));
      AskForHugePages(memory_, size_);
    }
    // Memory that is not aligned as requested counts as a failure.
    if (reinterpret_cast<uintptr_t>(memory_) % kAlignment != 0) Release();
  }
  ~Scratch() {
    if (memory_ != nullptr) Release();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void Swap(Scratch* other) {
    std::swap(allocator_, other->allocator_);
    std::swap(size_, other->size_);
    std::swap(memory_, other->memory_);
  }

  // NULL if the size is 0 or the allocation failed.
  unsigned char* memory() const { return static_cast<unsigned char*>(memory_); }

 private:
  static constexpr size_t kAlignment = 64;
  // No object is larger than PTRDIFF_MAX, which is less than 2^31 on 32-bit machines.
  static constexpr int64_t kMostBytes = int64_t{PTRDIFF_MAX} - int64_t{kAlignment};

  void Release() {
    if (allocator_.release == nullptr) {
      FreeAligned(memory_);
    } else {
      allocator_.release(allocator_.opaque, memory_, size_);
    }
    memory_ = nullptr;
  }

  Allocator allocator_ = {nullptr, nullptr, nullptr};
  size_t size_ = 0;
  void* memory_ = nullptr;
};

}  // namespace strew

#endif  // STREW_BASE_SCRATCH_H_
