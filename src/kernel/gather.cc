// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/element_size.h"
#include "kernel/kernel.h"

namespace strew::kernel {

void GatherElements(int64_t size, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered) {
  WithElementSize(size, [&](auto constant) {
    const size_t bytes = constant == 0 ? static_cast<size_t>(size) : constant;
    const int64_t step = static_cast<int64_t>(bytes);
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(gathered + i * step, elements + offsets[i] * step, bytes);
    }
  });
}

}  // namespace strew::kernel
