// SPDX-License-Identifier: Apache-2.0
// GatherElements(): copies elements at given offsets into contiguous memory.
#include <algorithm>
#include <cstring>

#include "base/compiler.h"
#include "base/element_size.h"
#include "kernel/kernel.h"

namespace strew::kernel {

namespace {

// Prefetch distance: 1 M random pairs of elements of 4 and 8 bytes beyond the L2 cache took 0.8 x
// the time, with a distance of 32 0.85 x (Zen 5).
constexpr int64_t kAhead = 64;

template <bool kFetches, class Offset>
void Gather(int64_t size, const unsigned char* elements, const Offset* offsets, int64_t n,
            unsigned char* gathered) {
  WithElementSize(size, [&](auto constant) {
    const size_t bytes = constant == 0 ? static_cast<size_t>(size) : constant;
    const int64_t step = static_cast<int64_t>(bytes);
    for (int64_t i = 0; i < n; ++i) {
      if (kFetches) PrefetchReadOnce(elements + offsets[std::min(i + kAhead, n - 1)] * step);
      std::memcpy(gathered + i * step, elements + offsets[i] * step, bytes);
    }
  });
}

template <class Offset>
void Gather(int64_t size, const unsigned char* elements, const Offset* offsets, int64_t n,
            unsigned char* gathered, bool fetches) {
  if (fetches) return Gather<true>(size, elements, offsets, n, gathered);
  Gather<false>(size, elements, offsets, n, gathered);
}

}  // namespace

void GatherElements(int64_t size, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered, bool fetches) {
  Gather(size, elements, offsets, n, gathered, fetches);
}

void GatherElements(int64_t size, const unsigned char* elements, const int32_t* offsets, int64_t n,
                    unsigned char* gathered, bool fetches) {
  Gather(size, elements, offsets, n, gathered, fetches);
}

}  // namespace strew::kernel
