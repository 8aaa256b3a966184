// SPDX-License-Identifier: Apache-2.0
// Copies of runs to an output whose addresses mostly follow each other.
#ifndef STREW_WALK_JOINED_COPIES_H_
#define STREW_WALK_JOINED_COPIES_H_

#include <cstdint>

#include "base/cache_size.h"
#include "kernel/kernel.h"

namespace strew::walk {

// Past the caches, cache lines are written whole: a line of which one run fills only a part waits
// for the next run. Written in parts, a line costs several accesses to memory: 23688 rows of 1984
// bytes in three runs each took 4 to 10 x the time (Zen 5).
class JoinedCopies {
 public:
  // `copy` copies elements of `width` bytes. Unless `joins`, nothing waits. `output` is the address
  // of any element.
  JoinedCopies(kernel::RunKernel copy, int64_t width, bool joins, const unsigned char* output);

  // Copies n contiguous elements, of which some may wait.
  void Copy(unsigned char* output, const unsigned char* elements, int64_t n);
  // Writes what waits.
  void Flush();

 private:
  // Completes the line that waits, as far as `bytes` suffice. Returns the number of bytes taken.
  int64_t Complete(const unsigned char* elements, int64_t bytes);

  const kernel::RunKernel copy_;
  const int64_t width_;
  const bool joins_;
  // [begin_, end_) waits in line_, at the same place in a cache line. The next run is expected at
  // end_.
  unsigned char* begin_ = nullptr;
  unsigned char* end_ = nullptr;
  alignas(kCacheLine) unsigned char line_[kCacheLine];
};

}  // namespace strew::walk

#endif  // STREW_WALK_JOINED_COPIES_H_
