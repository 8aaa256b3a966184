// SPDX-License-Identifier: Apache-2.0
// Builtins of GCC, clang and clang-cl for operations that C++17 lacks. A port to another compiler
// changes this file alone: compilers ignore attributes such as [[gnu::noinline]] that they do not know.
#ifndef STREW_BASE_COMPILER_H_
#define STREW_BASE_COMPILER_H_

#include <cstdint>

// The name of the formats of std::printf() in [[gnu::format]]. On Windows GCC's "printf" is that of
// the old C runtime, which has no %zu; C++ gets MinGW's there, which has it.
#if defined(_WIN32) && !defined(__clang__)
#define STREW_PRINTF gnu_printf
#else
#define STREW_PRINTF printf
#endif

// 1 if the highest bits of a number come first in memory. Compilers that do not tell are for machines
// where the lowest do.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define STREW_BIG_ENDIAN 1
#else
#define STREW_BIG_ENDIAN 0
#endif

#define STREW_UNLIKELY(condition) __builtin_expect(condition, 0)

namespace strew {

// The numbers may not be 0.
inline int TrailingZeros(uint64_t number) { return __builtin_ctzll(number); }
inline int LeadingZeros(uint64_t number) { return __builtin_clzll(number); }

inline int CountOnes(uint64_t number) { return __builtin_popcountll(number); }

// Each stores the wrapped result and returns true unless it overflowed.
template <typename T>
[[nodiscard]] bool CheckedAdd(T a, T b, T* sum) {
  return !__builtin_add_overflow(a, b, sum);
}
template <typename T>
[[nodiscard]] bool CheckedSubtract(T a, T b, T* difference) {
  return !__builtin_sub_overflow(a, b, difference);
}
template <typename T>
[[nodiscard]] bool CheckedMultiply(T a, T b, T* product) {
  return !__builtin_mul_overflow(a, b, product);
}

// Inlined at once: to GCC a function that does nothing else has no effect, and calls of it go.
[[gnu::always_inline]] inline void Prefetch(const void* address) { __builtin_prefetch(address); }
[[gnu::always_inline]] inline void PrefetchForWrite(const void* address) {
  __builtin_prefetch(address, 1);
}
// The line is read once.
[[gnu::always_inline]] inline void PrefetchReadOnce(const void* address) {
  __builtin_prefetch(address, 0, 0);
}

// In a loop that waits for another thread.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace strew

#endif  // STREW_BASE_COMPILER_H_
