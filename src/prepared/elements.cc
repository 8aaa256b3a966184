// SPDX-License-Identifier: Apache-2.0
#include "prepared/elements.h"

#include <cstring>

namespace strew::prepared {
namespace {

template <int64_t kWidth>
void Gather(const unsigned char* elements, const int64_t* offsets, int64_t n,
            unsigned char* gathered) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(gathered + i * kWidth, elements + offsets[i] * kWidth, kWidth);
  }
}

}  // namespace

void GatherElements(int64_t width, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered) {
  switch (width) {
    case 1:
      return Gather<1>(elements, offsets, n, gathered);
    case 2:
      return Gather<2>(elements, offsets, n, gathered);
    case 4:
      return Gather<4>(elements, offsets, n, gathered);
    case 8:
      return Gather<8>(elements, offsets, n, gathered);
    case 16:
      return Gather<16>(elements, offsets, n, gathered);
    default:
      for (int64_t i = 0; i < n; ++i) {
        std::memcpy(gathered + i * width, elements + offsets[i] * width,
                    static_cast<size_t>(width));
      }
  }
}

}  // namespace strew::prepared
