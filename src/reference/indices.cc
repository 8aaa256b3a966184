// SPDX-License-Identifier: Apache-2.0
#include "reference/indices.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "reference/bytes.h"

namespace strew::reference {
namespace {

// Calls function(T{}) with the type T of an index dtype.
template <class Function>
auto WithIndexType(strew_dtype dtype, Function function) {
  switch (dtype) {
    case STREW_INT8:
      return function(int8_t{});
    case STREW_INT16:
      return function(int16_t{});
    case STREW_INT32:
      return function(int32_t{});
    case STREW_INT64:
      return function(int64_t{});
    case STREW_UINT8:
      return function(uint8_t{});
    case STREW_UINT16:
      return function(uint16_t{});
    case STREW_UINT32:
      return function(uint32_t{});
    case STREW_UINT64:
      return function(uint64_t{});
    default:
      std::abort();
  }
}

int64_t ToInt64(uint64_t value) {
  constexpr uint64_t kHighest = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(value, kHighest));
}
template <class T>
int64_t ToInt64(T value) {
  return static_cast<int64_t>(value);
}

}  // namespace

int64_t ReadIndex(strew_dtype dtype, const unsigned char* bytes) {
  return WithIndexType(dtype, [=](auto zero) { return ToInt64(Load<decltype(zero)>(bytes)); });
}

void WriteIndex(strew_dtype dtype, unsigned char* bytes, int64_t value) {
  WithIndexType(dtype, [=](auto zero) { Store(bytes, static_cast<decltype(zero)>(value)); });
}

std::string IndexText(strew_dtype dtype, const unsigned char* bytes) {
  return WithIndexType(dtype,
                       [=](auto zero) { return std::to_string(Load<decltype(zero)>(bytes)); });
}

int64_t IndexModulo(strew_dtype dtype, const unsigned char* bytes, int64_t divisor) {
  return WithIndexType(dtype, [=](auto zero) {
    const auto value = static_cast<uint64_t>(Load<decltype(zero)>(bytes));
    return static_cast<int64_t>(value % static_cast<uint64_t>(divisor));
  });
}

int64_t LowestIndex(strew_dtype dtype) {
  return WithIndexType(
      dtype, [](auto zero) { return ToInt64(std::numeric_limits<decltype(zero)>::min()); });
}

int64_t HighestIndex(strew_dtype dtype) {
  return WithIndexType(
      dtype, [](auto zero) { return ToInt64(std::numeric_limits<decltype(zero)>::max()); });
}

bool IndexFits(strew_dtype dtype, int64_t value) {
  return LowestIndex(dtype) <= value && value <= HighestIndex(dtype);
}

void FillWithLargeIndices(Array& array) {
  std::fill_n(array.buffer().bytes(), array.buffer().size(), static_cast<unsigned char>(0x7f));
}

void WriteIndices(const Array& array, const Dims& values) {
  size_t position = 0;
  ForEachIndex(array.shape(), [&](const Dims& i) {
    WriteIndex(array.dtype(), array.view().At(i), values.at(position++));
  });
}

Array IndexArray(strew_dtype dtype, const Dims& shape, const Dims& values, Guard guard) {
  Array array(dtype, RowMajor(shape), guard);
  WriteIndices(array, values);
  return array;
}

Dims ReadIndices(const View& view) {
  Dims values;
  ForEachIndex(view.shape(),
               [&](const Dims& i) { values.push_back(ReadIndex(view.dtype, view.At(i))); });
  return values;
}

}  // namespace strew::reference
