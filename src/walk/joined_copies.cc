// SPDX-License-Identifier: Apache-2.0
#include "walk/joined_copies.h"

#include <algorithm>
#include <cstring>

namespace strew::walk {

JoinedCopies::JoinedCopies(kernel::RunKernel copy, int64_t width, bool joins,
                           const unsigned char* output)
    : copy_(copy),
      width_(width),
      joins_(joins && kCacheLine % width == 0 && PastLine(output) % width == 0) {}

void JoinedCopies::Copy(unsigned char* output, const unsigned char* elements, int64_t n) {
  if (!kernel::kHasStreams || !joins_) return copy_(output, 1, elements, 1, n);
  if (output != end_) {
    Flush();
    begin_ = end_ = output;
  }
  int64_t bytes = n * width_;
  const int64_t taken = Complete(elements, bytes);
  elements += taken;
  bytes -= taken;
  if (bytes == 0) return;
  const int64_t rest = bytes % kCacheLine;
  const int64_t whole = bytes - rest;
  if (whole > 0) copy_(end_, 1, elements, 1, whole / width_);
  begin_ = end_ + whole;
  end_ = begin_ + rest;
  std::memcpy(line_, elements + whole, static_cast<size_t>(rest));
}

int64_t JoinedCopies::Complete(const unsigned char* elements, int64_t bytes) {
  const int64_t past = PastLine(end_);
  if (past == 0) return 0;
  const int64_t taken = std::min(bytes, kCacheLine - past);
  std::memcpy(line_ + past, elements, static_cast<size_t>(taken));
  end_ += taken;
  if (past + taken == kCacheLine) Flush();
  return taken;
}

void JoinedCopies::Flush() {
  if (!kernel::kHasStreams) return;
  const int64_t bytes = end_ - begin_;
  if (bytes == kCacheLine) {
    copy_(begin_, 1, line_, 1, kCacheLine / width_);
  } else if (bytes > 0) {
    std::memcpy(begin_, line_ + PastLine(begin_), static_cast<size_t>(bytes));
  }
  begin_ = end_;
}

}  // namespace strew::walk
