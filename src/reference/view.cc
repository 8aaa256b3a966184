// SPDX-License-Identifier: Apache-2.0
#include "reference/view.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "reference/dtypes.h"

namespace strew::reference {
namespace {

bool IsEmpty(const Dims& shape) { return std::count(shape.begin(), shape.end(), 0) > 0; }

// The number of elements of a line along the last axis.
int64_t LineLength(const Dims& shape) { return shape.empty() ? 1 : shape.back(); }

// True if the elements of such a line are neighbours in memory.
bool HasContiguousLines(const Layout& layout) {
  return LineLength(layout.shape) <= 1 || layout.strides.back() == 1;
}

}  // namespace

Layout RowMajor(Dims shape) {
  Dims strides(shape.size());
  // Modulo 2^64: the other dims of a tensor without elements may be too large together.
  uint64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(shape[axis], 1));
  }
  return {std::move(shape), std::move(strides)};
}

int64_t Product(const Dims& dims) {
  if (IsEmpty(dims)) return 0;
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

int64_t Span(const Layout& layout) {
  if (IsEmpty(layout.shape)) return 0;
  int64_t span = 1;
  for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] > 1) span += (layout.shape[axis] - 1) * std::abs(layout.strides[axis]);
  }
  return span;
}

int64_t Origin(const Layout& layout) {
  if (IsEmpty(layout.shape)) return 0;
  int64_t origin = 0;
  for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] > 1 && layout.strides[axis] < 0) {
      origin -= (layout.shape[axis] - 1) * layout.strides[axis];
    }
  }
  return origin;
}

size_t RowMajorPosition(const Dims& shape, const Dims& index) {
  int64_t position = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    position = position * shape[axis] + index[axis];
  }
  return static_cast<size_t>(position);
}

std::string ToString(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

unsigned char* View::At(const Dims& index) const {
  int64_t offset = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * layout.strides[axis];
  return origin + offset * static_cast<int64_t>(WidthOf(dtype));
}

View Broadcast(const View& view, const Dims& shape) {
  Dims strides(shape.size(), 0);
  const size_t added = shape.size() - view.shape().size();
  for (size_t axis = 0; axis < view.shape().size(); ++axis) {
    if (view.shape()[axis] != 1) strides[added + axis] = view.layout.strides[axis];
  }
  return {view.dtype, {shape, std::move(strides)}, view.origin};
}

void CopyElements(const View& from, const View& to) {
  const size_t width = WidthOf(from.dtype);
  if (!HasContiguousLines(from.layout) || !HasContiguousLines(to.layout)) {
    ForEachIndex(from.shape(), [&](const Dims& i) { std::memmove(to.At(i), from.At(i), width); });
    return;
  }
  const size_t bytes = static_cast<size_t>(LineLength(from.shape())) * width;
  Dims lines = from.shape();
  if (!lines.empty()) lines.back() = std::min<int64_t>(lines.back(), 1);
  ForEachIndex(lines, [&](const Dims& i) { std::memmove(to.At(i), from.At(i), bytes); });
}

}  // namespace strew::reference
