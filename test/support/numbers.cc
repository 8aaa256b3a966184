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

namespace {

void WriteFloat(size_t width, FloatFormat format, unsigned char* bytes, double value) {
  if (width == 1) return Store(bytes, static_cast<uint8_t>(Encode(format, value)));
  if (width == 2) return Store(bytes, Encode(format, value));
  if (width == 4) return Store(bytes, static_cast<float>(value));
  Store(bytes, value);
}

}  // namespace

void WriteNumber(strew_dtype dtype, unsigned char* bytes, double value) {
  const Dtype line = Find(dtype);
  const size_t width = line.component_width();
  switch (line.kind) {
    case Kind::kComplex:
      WriteFloat(width, line.format, bytes + width, 0);
      [[fallthrough]];
    case Kind::kFloat:
      return WriteFloat(width, line.format, bytes, value);
    case Kind::kSigned:
    case Kind::kUnsigned:
      return WriteIndex(dtype, bytes, static_cast<int64_t>(value));
    default:
      std::fill_n(bytes, width, static_cast<unsigned char>(std::lround(10 * value)));
  }
}

Array NumberArray(strew_dtype dtype, const Dims& shape, const std::vector<double>& values) {
  Array array(dtype, RowMajor(shape));
  size_t position = 0;
  ForEachIndex(
      shape, [&](const Dims& i) { WriteNumber(dtype, array.view().At(i), values.at(position++)); });
  return array;
}

}  // namespace strew_test
