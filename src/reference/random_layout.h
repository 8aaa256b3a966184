// SPDX-License-Identifier: Apache-2.0
//
// Draws shapes and strides of tensors.
#ifndef STREW_REFERENCE_RANDOM_LAYOUT_H_
#define STREW_REFERENCE_RANDOM_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "reference/random.h"
#include "reference/view.h"

namespace strew::reference {

enum class Use { kInput, kOutput };

int64_t AnyDim(Random& random);

// A shape of rank 1 to 6, or of rank 7 to 32 with dims that are mostly 1. The number of elements is
// small enough for the oracle, whatever their width.
Dims AnyDataShape(Random& random, size_t width);

// A layout that is row-major or not, with or without gaps. Elements of an input may share memory.
Layout AnyLayout(Random& random, Dims shape, Use use);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_RANDOM_LAYOUT_H_
