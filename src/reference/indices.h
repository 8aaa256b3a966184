// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes elements and arrays of the eight index dtypes as int64_t.
#ifndef STREW_REFERENCE_INDICES_H_
#define STREW_REFERENCE_INDICES_H_

#include <cstdint>
#include <string>

#include "reference/array.h"

namespace strew::reference {

// A uint64 above INT64_MAX reads as INT64_MAX: both are large and never a valid index.
int64_t ReadIndex(strew_dtype dtype, const unsigned char* bytes);
void WriteIndex(strew_dtype dtype, unsigned char* bytes, int64_t value);

// The exact number as text, even if it is above INT64_MAX.
std::string IndexText(strew_dtype dtype, const unsigned char* bytes);

// The remainder of a number that is not negative and may be above INT64_MAX.
int64_t IndexModulo(strew_dtype dtype, const unsigned char* bytes, int64_t divisor);

// The smallest and the largest value that ReadIndex can return.
int64_t LowestIndex(strew_dtype dtype);
int64_t HighestIndex(strew_dtype dtype);
bool IndexFits(strew_dtype dtype, int64_t value);

// Fills every slot of an index array, gaps included, with bytes 0x7f.
void FillWithLargeIndices(Array& array);

// Writes the values in row-major order.
void WriteIndices(const Array& array, const Dims& values);

// A row-major array of an index dtype.
Array IndexArray(strew_dtype dtype, const Dims& shape, const Dims& values,
                 Guard guard = Guard::kBehind);

// All values in row-major order.
Dims ReadIndices(const View& view);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_INDICES_H_
