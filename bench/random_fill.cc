// SPDX-License-Identifier: Apache-2.0
#include "random_fill.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

namespace strew_bench {

// The bias is below 2^-32 for every axis here; std::uniform_int_distribution is not the same
// everywhere.
int64_t RandomFill::Below(int64_t limit) {
  return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
}

template <typename Bits>
void RandomFill::Floats(int mantissa_bits, Bits exponent_of_1, int64_t count, Bits* values) {
  const int sign_bit = static_cast<int>(sizeof(Bits)) * 8 - 1;
  const uint64_t mantissa_mask = (uint64_t{1} << mantissa_bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t random = random_();
    const uint64_t sign = random >> 63;
    const uint64_t exponent = exponent_of_1 - 1u - (random >> 61 & 3u);
    values[i] =
        static_cast<Bits>(sign << sign_bit | exponent << mantissa_bits | (random & mantissa_mask));
  }
}

void RandomFill::Values(strew_dtype dtype, int64_t count, void* values) {
  switch (dtype) {
    case STREW_FLOAT32:
      return Floats<uint32_t>(23, 127, count, static_cast<uint32_t*>(values));
    case STREW_FLOAT16:
      return Floats<uint16_t>(10, 15, count, static_cast<uint16_t*>(values));
    case STREW_INT8:
      std::generate_n(static_cast<uint8_t*>(values), count,
                      [this] { return static_cast<uint8_t>(random_()); });
      return;
    default:
      throw std::invalid_argument("no values for this dtype");
  }
}

void RandomFill::UniqueTuples(const Operands& operands, int64_t* indices) {
  const int64_t depth = operands.indices.back();
  const int64_t count = ElementCount(operands.indices) / depth;
  std::set<std::vector<int64_t>> seen;
  for (int64_t t = 0; t < count; ++t) {
    std::vector<int64_t> tuple(static_cast<size_t>(depth));
    do {
      for (size_t c = 0; c < tuple.size(); ++c) tuple[c] = Below(operands.data[c]);
    } while (!seen.insert(tuple).second);
    std::copy(tuple.begin(), tuple.end(), indices + t * depth);
  }
}

void RandomFill::Indices(const Operands& operands, int64_t* indices) {
  if (operands.pattern == IndexPattern::kUniqueTuples) return UniqueTuples(operands, indices);
  const int64_t limit = operands.data[static_cast<size_t>(operands.axis)];
  const int64_t count = StoredIndexCount(operands);
  if (operands.pattern != IndexPattern::kConstantRows) {
    std::generate_n(indices, count, [this, limit] { return Below(limit); });
    return;
  }
  const int64_t columns = operands.indices.back();
  for (int64_t i = 0; i < count; i += columns) std::fill_n(indices + i, columns, Below(limit));
}

}  // namespace strew_bench
