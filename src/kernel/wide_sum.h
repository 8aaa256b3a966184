// SPDX-License-Identifier: Apache-2.0
// Sums of 64-bit integers that do not overflow, and their division.
#ifndef STREW_KERNEL_WIDE_SUM_H_
#define STREW_KERNEL_WIDE_SUM_H_

#include <cstdint>
#include <type_traits>

#include "kernel/kernel.h"

namespace strew::kernel {

// high * 2^64 + low. Some targets and compilers lack a 128-bit type.
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

// Divides and rounds down. Requires count > 0.
template <class Sum>
int64_t FloorDivide(Sum sum, int64_t count) {
  const int64_t quotient = sum / count;
  return sum % count < 0 ? quotient - 1 : quotient;
}

// The same modulo 2^64, which suffices for the mean of 64-bit integers.
uint64_t FloorDivide(WideSum sum, int64_t count);

// Sums of any number of integers.
template <class T>
struct WideSums {
  static void Begin(unsigned char* sums, const unsigned char* elements, int64_t stride, int64_t n);
  static void Add(unsigned char* sums, const unsigned char* updates, int64_t stride, int64_t n);
  static void Finish(const FinishArguments&);
  static constexpr SumKernels Kernels() { return {sizeof(WideSum), Begin, Add, Finish}; }
};

}  // namespace strew::kernel

#endif  // STREW_KERNEL_WIDE_SUM_H_
