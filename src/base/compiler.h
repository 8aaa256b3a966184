// SPDX-License-Identifier: Apache-2.0
// Builtins of GCC, clang and clang-cl for operations that C++17 lacks. A port to another compiler
// changes only this file, because compilers ignore unknown attributes such as [[gnu::noinline]].
#ifndef STREW_BASE_COMPILER_H_
#define STREW_BASE_COMPILER_H_

#include <cstdint>

// The name of std::printf() formats in [[gnu::format]]. On Windows GCC's "printf" means the formats
// of the old C runtime, which lacks %zu, but C++ uses MinGW's printf there, which has %zu.
#if defined(_WIN32) && !defined(__clang__)
#define STREW_PRINTF gnu_printf
#else
#define STREW_PRINTF printf
#endif

// 1 if the highest byte of a number comes first in memory. Compilers that define no byte order are
// for little-endian machines.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define STREW_BIG_ENDIAN 1
#else
#define STREW_BIG_ENDIAN 0
#endif

#define STREW_UNLIKELY(condition) __builtin_expect(condition, 0)

namespace strew {

// `number` must not be 0.
inline int TrailingZeros(uint64_t number) { return __builtin_ctzll(number); }
inline int LeadingZeros(uint64_t number) { return __builtin_clzll(number); }

inline int CountOnes(uint64_t number) { return __builtin_popcountll(number); }

// Each stores the result modulo 2^n and returns true unless it overflowed.
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

// GCC takes a function that only prefetches for one without effect, and removes its calls. So these
// are always inlined, and functions that call nothing else must be, or have KeepCalls().
[[gnu::always_inline]] inline void Prefetch(const void* address) { __builtin_prefetch(address); }
[[gnu::always_inline]] inline void PrefetchForWrite(const void* address) {
  __builtin_prefetch(address, 1);
}
// Prefetches a line that is read only once, not into the nearest cache. With the hint that it will
// not be read again, copies beyond the caches took 2 x the time on Emerald Rapids.
[[gnu::always_inline]] inline void PrefetchReadOnce(const void* address) {
  __builtin_prefetch(address, 0, 1);
}

// Keeps the calls of the function in which it stands.
[[gnu::always_inline]] inline void KeepCalls() {
#if defined(__GNUC__)
  asm volatile("");
#endif
}

// Tells the CPU that the thread spins until another thread acts.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace strew

#endif  // STREW_BASE_COMPILER_H_
