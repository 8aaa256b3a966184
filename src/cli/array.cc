// SPDX-License-Identifier: Apache-2.0
#include "cli/array.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/dtype.h"

namespace strew::cli {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::int64_t kMaxOpaque = 4096;
constexpr std::int64_t kCharacterSize = 4;  // NumPy keeps text as UTF-32.

// The number of bytes that are reversed in a file of the other byte order.
std::int64_t OrderedSize(const ElementType& type) {
  switch (type.kind) {
    case 'S':
    case 'V':
      return 1;
    case 'U':
      return kCharacterSize;
    case 'c':
      return type.size / 2;
    default:
      return type.size;
  }
}

}  // namespace

std::optional<ElementType> MakeElementType(char kind, std::int64_t number) {
  if (kind == 'S' || kind == 'U' || kind == 'V') {
    const std::int64_t unit = kind == 'U' ? kCharacterSize : 1;
    if (number < 1 || number > kMaxOpaque / unit) return std::nullopt;
    const std::int64_t size = number * unit;
    return ElementType{kind, size, STREW_OPAQUE(static_cast<strew_dtype>(size)), {}};
  }
  for (strew_dtype dtype = 1; dtype < kDtypesEnd; ++dtype) {
    const DtypeInfo& row = kDtypes[dtype];
    if (row.npy_kind == kind && row.size == number) return ElementType{kind, number, dtype, {}};
  }
  return std::nullopt;
}

std::int64_t AlignmentOf(const ElementType& type) {
  return type.dtype < kDtypesEnd ? kDtypes[type.dtype].alignment : 1;
}

std::string Descr(const ElementType& type) {
  if (!type.verbatim.empty()) return type.verbatim;
  const char native = HostIsLittleEndian() ? '<' : '>';
  const std::int64_t number = type.kind == 'U' ? type.size / kCharacterSize : type.size;
  const char order = OrderedSize(type) == 1 ? '|' : native;
  return "'" + std::string({order, type.kind}) + std::to_string(number) + "'";
}

bool HasNumbers(const ElementType& type) {
  return type.dtype < kDtypesEnd && kDtypes[type.dtype].arithmetic != Arithmetic::kNone;
}

bool AreSame(const ElementType& one, const ElementType& other) {
  return one.dtype == other.dtype && (HasNumbers(one) || Descr(one) == Descr(other));
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

Array MakeArray(const ElementType& type, std::vector<std::int64_t> shape, bool fortran_order) {
  const std::int64_t byte_count = ByteCount(type, shape);
  // An empty array also gets an address of its own.
  const auto allocated = static_cast<std::size_t>(std::max<std::int64_t>(byte_count, 1));
  Bytes bytes(static_cast<std::byte*>(::operator new(allocated, kAlignment)),
              [](std::byte* pointer) { ::operator delete(pointer, kAlignment); });
  return {type, std::move(shape), fortran_order, byte_count, std::move(bytes)};
}

std::int64_t ByteCount(const ElementType& type, const std::vector<std::int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = type.size;
  for (const std::int64_t dim : shape) {
    if (count > PTRDIFF_MAX / dim) {
      throw std::runtime_error("shape " + ShapeText(shape) + " is too large");
    }
    count *= dim;
  }
  return count;
}

bool HostIsLittleEndian() {
  const std::uint16_t one = 1;
  unsigned char first = 0;
  std::memcpy(&first, &one, 1);
  return first == 1;
}

void SwapByteOrder(Array& array) {
  const std::int64_t size = OrderedSize(array.type);
  if (size == 1) return;
  std::byte* const bytes = array.bytes.get();
  for (std::int64_t i = 0; i < array.byte_count; i += size) {
    std::reverse(bytes + i, bytes + i + size);
  }
}

}  // namespace strew::cli
