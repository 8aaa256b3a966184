// SPDX-License-Identifier: Apache-2.0
// Scratch of one call, from the allocator of its context.
#ifndef STREW_RUN_SCRATCH_H_
#define STREW_RUN_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/call.h"

namespace strew::run {

class Scratch {
 public:
  Scratch() = default;
  // A failure shows by memory() alone: most plans that want scratch have one that does without.
  Scratch(const Call& call, size_t size) : allocator_(call.settings().allocator), size_(size) {
    if (size == 0) return;
    memory_ =
        allocator_.alloc == nullptr
            ? std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment)
            : allocator_.alloc(allocator_.opaque, size, kAlignment);
  }
  ~Scratch() {
    if (memory_ == nullptr) return;
    if (allocator_.release == nullptr) {
      std::free(memory_);
    } else {
      allocator_.release(allocator_.opaque, memory_, size_);
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void Swap(Scratch* other) {
    std::swap(allocator_, other->allocator_);
    std::swap(size_, other->size_);
    std::swap(memory_, other->memory_);
  }

  // NULL where nothing was asked for or nothing was had.
  unsigned char* memory() const { return static_cast<unsigned char*>(memory_); }

 private:
  static constexpr size_t kAlignment = 64;

  Allocator allocator_ = {nullptr, nullptr, nullptr};
  size_t size_ = 0;
  void* memory_ = nullptr;
};

// Scratch of which little lies on the stack, so that small calls allocate nothing.
class SmallScratch {
 public:
  SmallScratch(const Call& call, int64_t size)
      : scratch_(call, static_cast<size_t>(Requested(size))),
        memory_(Requested(size) == 0 ? small_ : scratch_.memory()) {}

  // What the allocator is asked for.
  static int64_t Requested(int64_t size) { return size <= kSmall ? 0 : size; }

  // NULL where it was refused.
  unsigned char* memory() const { return memory_; }

 private:
  static constexpr int64_t kSmall = 1024;

  alignas(uint64_t) unsigned char small_[kSmall];
  Scratch scratch_;
  unsigned char* const memory_;
};

}  // namespace strew::run

#endif  // STREW_RUN_SCRATCH_H_
