// SPDX-License-Identifier: Apache-2.0
// Sums of integers of 64 bits that do not overflow, and what divides them.
#ifndef STREW_KERNEL_WIDE_SUM_H_
#define STREW_KERNEL_WIDE_SUM_H_

#include <cstdint>
#include <type_traits>

namespace strew::kernel {

// high * 2^64 + low. Not every CPU and compiler has a type of 128 bits.
struct WideSum {
  WideSum() = default;
  template <class T>
  explicit WideSum(T value)
      : low(static_cast<uint64_t>(value)),
        high(std::is_signed_v<T> && static_cast<int64_t>(value) < 0 ? -1 : 0) {}

  uint64_t low;
  int64_t high;
};

inline WideSum operator+(WideSum a, WideSum b) {
  WideSum sum;
  sum.low = a.low + b.low;
  const uint64_t carry = sum.low < b.low ? 1 : 0;
  sum.high =
      static_cast<int64_t>(static_cast<uint64_t>(a.high) + static_cast<uint64_t>(b.high) + carry);
  return sum;
}

// The integers at or below the quotients; count > 0.
inline int64_t FloorDivide(int64_t sum, int64_t count) {
  const int64_t quotient = sum / count;
  return sum % count < 0 ? quotient - 1 : quotient;
}

// Modulo 2^64, of which the mean of 64-bit integers needs no more.
inline uint64_t FloorDivide(WideSum sum, int64_t count) {
  const bool negative = sum.high < 0;
  // -1 - sum, which is the floor's mirror, or the sum.
  uint64_t rest = static_cast<uint64_t>(negative ? ~sum.high : sum.high);
  const uint64_t low = negative ? ~sum.low : sum.low;
  const uint64_t divisor = static_cast<uint64_t>(count);
  uint64_t quotient = low / divisor;
  if (rest != 0) {
    // A mean fits 64 bits, so the upper half is less than the divisor, and that less than 2^63.
    quotient = 0;
    for (int bit = 63; bit >= 0; --bit) {
      rest = (rest << 1) | ((low >> bit) & 1);
      const bool fits = rest >= divisor;
      rest -= fits ? divisor : 0;
      quotient = (quotient << 1) | (fits ? 1 : 0);
    }
  }
  return negative ? ~quotient : quotient;
}

}  // namespace strew::kernel

#endif  // STREW_KERNEL_WIDE_SUM_H_
