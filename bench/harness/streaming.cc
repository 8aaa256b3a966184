// SPDX-License-Identifier: Apache-2.0
//
// Streaming loops on several threads, the yardsticks of scaling.py, which compiles this file when
// it runs. Sizes are bytes, in whole cache lines of 64.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace {

constexpr size_t kLine = 64;

// Writes whole lines past the caches, so that no line is read only to be overwritten.
void StreamLines(char* target, const char* source, size_t bytes) {
#ifdef __AVX512F__
  for (size_t at = 0; at < bytes; at += kLine) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + at), _mm512_loadu_si512(source + at));
  }
  _mm_sfence();
#elif defined(__SSE2__)
  for (size_t at = 0; at < bytes; at += sizeof(__m128i)) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at)));
  }
  _mm_sfence();
#else
  std::memcpy(target, source, bytes);
#endif
}

uint64_t Sum(const char* source, size_t bytes) {
  const uint64_t* words = reinterpret_cast<const uint64_t*>(source);
  return std::accumulate(words, words + bytes / sizeof(uint64_t), uint64_t{0});
}

// Calls work(begin, end, i) for one piece on each thread.
template <typename Work>
void OnThreads(size_t bytes, int threads, const Work& work) {
  const auto cut = [=](int i) {
    return bytes / kLine * static_cast<size_t>(i) / static_cast<size_t>(threads) * kLine;
  };
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < threads; ++i) work(cut(i), cut(i + 1), static_cast<size_t>(i));
}

}  // namespace

// `target` is aligned to a line.
extern "C" void streaming_copy(char* target, const char* source, size_t bytes, int threads) {
  OnThreads(bytes, threads, [=](size_t begin, size_t end, size_t) {
    StreamLines(target + begin, source + begin, end - begin);
  });
}

extern "C" void streaming_memcpy(char* target, const char* source, size_t bytes, int threads) {
  OnThreads(bytes, threads, [=](size_t begin, size_t end, size_t) {
    std::memcpy(target + begin, source + begin, end - begin);
  });
}

// Returns what it read, so that it has to be read.
extern "C" uint64_t streaming_sum(const char* source, size_t bytes, int threads) {
  std::vector<uint64_t> sums(static_cast<size_t>(threads));
  OnThreads(bytes, threads, [&](size_t begin, size_t end, size_t i) {
    sums[i] = Sum(source + begin, end - begin);
  });
  return std::accumulate(sums.begin(), sums.end(), uint64_t{0});
}
