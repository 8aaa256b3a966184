// SPDX-License-Identifier: Apache-2.0
// Gathers of single elements.
#ifndef STREW_PREPARED_ELEMENTS_H_
#define STREW_PREPARED_ELEMENTS_H_

#include <cstdint>

#include "prepared/numbers.h"

namespace strew::prepared {

// gathered[i] = elements[offsets[i]] for i < n, elements having `width` bytes, 1 to 16.
void GatherElements(int64_t width, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered);

// A row of entries that are gathered: `width` bytes at source + place(c) * place_step +
// c * source_step go to output + c * output_step, for c < n. Where the place is none() nothing does.
struct PlacedRow {
  const Numbers& places;
  int64_t first;  // among the places
  int64_t n;
  unsigned char* output;
  int64_t output_step;  // in bytes, like all steps
  const unsigned char* source;
  int64_t place_step;
  int64_t source_step;
};
void GatherPlaces(int64_t width, const PlacedRow& row);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ELEMENTS_H_
