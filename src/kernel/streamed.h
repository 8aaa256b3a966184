// SPDX-License-Identifier: Apache-2.0
// Rules for stores past the caches: their sizes, and the runs that are streamed to their ends.
#ifndef STREW_KERNEL_STREAMED_H_
#define STREW_KERNEL_STREAMED_H_

#include <cstdint>

namespace strew::kernel {

// True if there are stores past the caches. Highway's are ordinary stores on other CPUs, where
// streamed runs are moved as any others: strew.wasm is 10 KB smaller for it.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kHasStreams = true;
#else
inline constexpr bool kHasStreams = false;
#endif

// Sizes of stores past the caches, in bytes: the smallest vector, and a word if the CPU has such a
// store.
inline constexpr int64_t kStreamedVector = 16;
inline constexpr int64_t kStreamedWord = kHasStreams ? 4 : kStreamedVector;

// Shortest run, in bytes, whose ends are streamed in words. Such a store waits for memory if the
// next store is elsewhere: random rows of 256 B to 384 B took 1.3 to 1.7 x the time of ordinary
// stores, of 512 B 1.0 x, of 1 KiB 0.7 x (Zen 4).
inline constexpr int64_t kLeastOfWords = 512;

// A run of `bytes` bytes is streamed to its ends if its address and its size are multiples of this.
// Other ends go through the caches, because a cache line of which only some bytes are streamed is
// written twice.
inline int64_t StreamedGranule(int64_t bytes) {
  return bytes < kLeastOfWords ? kStreamedVector : kStreamedWord;
}

inline bool StreamsEnds(const unsigned char* output, int64_t bytes) {
  const auto start = static_cast<int64_t>(reinterpret_cast<uintptr_t>(output) % kStreamedVector);
  return (start | bytes) % StreamedGranule(bytes) == 0;
}

}  // namespace strew::kernel

#endif  // STREW_KERNEL_STREAMED_H_
