// SPDX-License-Identifier: Apache-2.0
//
// Small cases from literals, and literals for what becomes of them.
#ifndef STREW_TEST_OP_LITERAL_H_
#define STREW_TEST_OP_LITERAL_H_

#include <cstdint>
#include <utility>
#include <vector>

#include <strew/strew.h>

#include "reference/indices.h"
#include "support/check.h"
#include "support/numbers.h"
#include "support/reference.h"

namespace strew_test {

using Numbers = std::vector<double>;

// scatter_elements on one axis: single elements in place.
inline Case MakeLine(Array data, const Dims& indices, Array updates) {
  Case c{Operator::kScatterElements, std::move(data), std::move(updates)};
  c.indices = IndexArray(STREW_INT64, {static_cast<int64_t>(indices.size())}, indices);
  return c;
}

inline Case MakeLine(strew_dtype dtype, const Numbers& data, const Dims& indices,
                     const Numbers& updates) {
  const auto dim = [](const Numbers& numbers) { return static_cast<int64_t>(numbers.size()); };
  return MakeLine(NumberArray(dtype, {dim(data)}, data), indices,
                  NumberArray(dtype, {dim(updates)}, updates));
}

// A row-major array of one line. Each number holds the bits of one element.
Array BitArray(strew_dtype dtype, const std::vector<uint64_t>& elements);

// The destination must then hold these numbers.
void ExpectNumbers(Case& c, const Numbers& numbers);

// The same, and so many elements of updates are applied.
void ExpectApplied(Case& c, int64_t applied, const Numbers& numbers);

// The call must answer this, and leave all bytes alone.
void ExpectRefused(Case& c, strew_status status, int64_t position);

}  // namespace strew_test

#endif  // STREW_TEST_OP_LITERAL_H_
