// SPDX-License-Identifier: Apache-2.0
#include "numbers.h"

#include <algorithm>
#include <cmath>

#include "reference/arithmetic.h"
#include "reference/bytes.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "support/reference.h"

namespace strew_test {

void WriteNumber(strew_dtype dtype, unsigned char* bytes, double value) {
  switch (dtype) {
    case STREW_FLOAT16:
      return Store(bytes, Encode(kFloat16, value));
    case STREW_BFLOAT16:
      return Store(bytes, Encode(kBfloat16, value));
    case STREW_FLOAT8_E4M3FN:
      return Store(bytes, static_cast<uint8_t>(Encode(kFloat8E4m3fn, value)));
    case STREW_FLOAT8_E5M2:
      return Store(bytes, static_cast<uint8_t>(Encode(kFloat8E5m2, value)));
    case STREW_FLOAT32:
      return Store(bytes, static_cast<float>(value));
    case STREW_FLOAT64:
      return Store(bytes, value);
    case STREW_COMPLEX64:
      Store(bytes, static_cast<float>(value));
      return Store(bytes + sizeof(float), 0.0f);
    case STREW_COMPLEX128:
      Store(bytes, value);
      return Store(bytes + sizeof(double), 0.0);
    default:
      break;
  }
  const Kind kind = Find(dtype).kind;
  if (kind == Kind::kSigned || kind == Kind::kUnsigned) {
    return WriteIndex(dtype, bytes, static_cast<int64_t>(value));
  }
  std::fill_n(bytes, WidthOf(dtype), static_cast<unsigned char>(std::lround(10 * value)));
}

Array NumberArray(strew_dtype dtype, const Dims& shape, const std::vector<double>& values) {
  Array array(dtype, RowMajor(shape));
  size_t position = 0;
  ForEachIndex(
      shape, [&](const Dims& i) { WriteNumber(dtype, array.view().At(i), values.at(position++)); });
  return array;
}

}  // namespace strew_test
