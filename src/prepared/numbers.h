// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers >= 0 in the narrowest unsigned type that holds all of them.
#ifndef STREW_PREPARED_NUMBERS_H_
#define STREW_PREPARED_NUMBERS_H_

#include <cstdint>
#include <cstdlib>
#include <limits>

#include "base/compiler.h"
#include "base/huge_pages.h"
#include "strew/strew.h"

namespace strew::prepared {

class Numbers {
 public:
  Numbers() = default;
  ~Numbers() { std::free(memory_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  // Bytes of the narrowest type for numbers in [0, end). Its greatest value stays free, as a mark.
  static int32_t WidthFor(int64_t end) {
    if (end <= int64_t{UINT8_MAX}) return 1;
    if (end <= int64_t{UINT16_MAX}) return 2;
    return end <= int64_t{UINT32_MAX} ? 4 : 8;
  }

  // Makes room for `count` numbers of `width` bytes. Returns false if malloc fails.
  [[nodiscard]] bool Allocate(int64_t count, int32_t width) {
    int64_t bytes;
    if (!CheckedMultiply(count, int64_t{width}, &bytes) || bytes > int64_t{PTRDIFF_MAX})
      return false;
    std::free(memory_);
    memory_ = std::malloc(static_cast<size_t>(bytes > 0 ? bytes : 1));
    AskForHugePages(memory_, static_cast<size_t>(bytes));
    count_ = count;
    width_ = width;
    return memory_ != nullptr;
  }

  bool exists() const { return memory_ != nullptr; }
  int64_t count() const { return count_; }
  int32_t width() const { return width_; }
  int64_t bytes() const { return count_ * width_; }
  unsigned char* data() const { return static_cast<unsigned char*>(memory_); }

  // The index dtype of the elements.
  strew_dtype dtype() const {
    switch (width_) {
      case 1:
        return STREW_UINT8;
      case 2:
        return STREW_UINT16;
      case 4:
        return STREW_UINT32;
      default:
        return STREW_UINT64;
    }
  }

  // The mark that stands for no number, in the type of the numbers.
  template <class T>
  static constexpr T kNone = std::numeric_limits<T>::max();

  template <class T>
  static bool IsNone(T number) {
    return number == kNone<T>;
  }

  // Calls body(pointer to the first number).
  template <class Body>
  auto Visit(const Body& body) const {
    switch (width_) {
      case 1:
        return body(static_cast<uint8_t*>(memory_));
      case 2:
        return body(static_cast<uint16_t*>(memory_));
      case 4:
        return body(static_cast<uint32_t*>(memory_));
      default:
        return body(static_cast<uint64_t*>(memory_));
    }
  }

  // to[i] = the number at position_of(i), or -1 for kNone, i < n. position_of(i) may read to[i].
  template <class PositionOf>
  void Read(const PositionOf& position_of, int64_t n, int64_t* to) const {
    Visit([&](const auto* numbers) {
      for (int64_t i = 0; i < n; ++i) {
        const auto number = numbers[position_of(i)];
        to[i] = IsNone(number) ? -1 : static_cast<int64_t>(number);
      }
    });
  }

  int64_t At(int64_t i) const {
    return Visit([i](const auto* numbers) { return static_cast<int64_t>(numbers[i]); });
  }

 private:
  void* memory_ = nullptr;
  int64_t count_ = 0;
  int32_t width_ = 1;
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_NUMBERS_H_
