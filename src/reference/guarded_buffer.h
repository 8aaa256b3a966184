// SPDX-License-Identifier: Apache-2.0
//
// Memory with guard pages: access just past its end, or just before its beginning, faults.
#ifndef STREW_REFERENCE_GUARDED_BUFFER_H_
#define STREW_REFERENCE_GUARDED_BUFFER_H_

#include <cstddef>
#include <utility>

namespace strew::reference {

// The side on which the bytes directly adjoin a page that can be neither read nor written. On the
// other side there is a margin between the bytes and such a page, whose contents are checked.
enum class Guard { kBefore, kBehind };

class GuardedBuffer {
 public:
  GuardedBuffer(size_t size, Guard guard);
  GuardedBuffer(GuardedBuffer&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)),
        pages_size_(other.pages_size_),
        bytes_(other.bytes_),
        size_(other.size_) {}
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(pages_size_, other.pages_size_);
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~GuardedBuffer();

  // With Guard::kBefore the first byte is aligned to a page. With Guard::kBehind the end is, so
  // that the first byte is aligned to every power of two, up to a page, of which `size` is a
  // multiple.
  unsigned char* bytes() const { return bytes_; }
  size_t size() const { return size_; }

  // A write to read-only bytes faults.
  void SetReadOnly(bool read_only);

  bool IsMarginIntact() const;

 private:
  unsigned char* pages() const;
  unsigned char* margin() const;
  size_t margin_size() const { return pages_size_ - size_; }

  unsigned char* mapping_;
  size_t pages_size_;
  unsigned char* bytes_;
  size_t size_;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_GUARDED_BUFFER_H_
