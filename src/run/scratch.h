// SPDX-License-Identifier: Apache-2.0
// Scratch of one call, from the allocator of its context.
#ifndef STREW_RUN_SCRATCH_H_
#define STREW_RUN_SCRATCH_H_

#include <cstddef>
#include <cstdlib>

#include "base/call.h"

namespace strew::run {

class Scratch {
 public:
  // Every plan that wants scratch has one that does without, so a failure is not an error.
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

  // NULL where nothing was asked for or nothing was had.
  unsigned char* memory() const { return static_cast<unsigned char*>(memory_); }

 private:
  static constexpr size_t kAlignment = 64;

  const Allocator& allocator_;
  size_t size_;
  void* memory_ = nullptr;
};

}  // namespace strew::run

#endif  // STREW_RUN_SCRATCH_H_
