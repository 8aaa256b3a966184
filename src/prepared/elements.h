// SPDX-License-Identifier: Apache-2.0
// Gathers of single elements.
#ifndef STREW_PREPARED_ELEMENTS_H_
#define STREW_PREPARED_ELEMENTS_H_

#include <cstdint>

namespace strew::prepared {

// gathered[i] = elements[offsets[i]] for i < n, elements having `width` bytes, 1 to 16.
void GatherElements(int64_t width, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ELEMENTS_H_
