// SPDX-License-Identifier: Apache-2.0
// GatherElements(): copies elements at given offsets into contiguous memory.
#include <cstring>

#include "base/element_size.h"
#include "kernel/kernel.h"

namespace strew::kernel {

namespace {

template <class Offset>
void Gather(int64_t size, const unsigned char* elements, const Offset* offsets, int64_t n,
            unsigned char* gathered) {
  WithElementSize(size, [&](auto constant) {
    const size_t bytes = constant == 0 ? static_cast<size_t>(size) : constant;
    const int64_t step = static_cast<int64_t>(bytes);
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(gathered + i * step, elements + offsets[i] * step, bytes);
    }
  });
}

}  // namespace

void GatherElements(int64_t size, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered) {
  Gather(size, elements, offsets, n, gathered);
}

void GatherElements(int64_t size, const unsigned char* elements, const int32_t* offsets, int64_t n,
                    unsigned char* gathered) {
  Gather(size, elements, offsets, n, gathered);
}

}  // namespace strew::kernel
