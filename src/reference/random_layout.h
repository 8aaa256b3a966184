// SPDX-License-Identifier: Apache-2.0
//
// Shapes and strides of random tensors.
#ifndef STREW_REFERENCE_RANDOM_LAYOUT_H_
#define STREW_REFERENCE_RANDOM_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "reference/random.h"
#include "reference/view.h"

namespace strew::reference {

enum class Use { kInput, kOutput };

int64_t AnyDim(Random& random);

// A shape of rank 1 to 6, or of up to 32 with dims that are mostly 1. The oracle can afford the
// number of elements, whatever their width.
Dims AnyDataShape(Random& random, size_t width);

// Row-major or not, with gaps or without; an input may also meet itself.
Layout AnyLayout(Random& random, Dims shape, Use use);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_RANDOM_LAYOUT_H_
