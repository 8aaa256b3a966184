// SPDX-License-Identifier: Apache-2.0
#include "reference/array.h"

#include <algorithm>
#include <utility>

#include "reference/dtypes.h"

namespace strew::reference {
namespace {

size_t ByteExtent(strew_dtype dtype, const Layout& layout) {
  return static_cast<size_t>(Span(layout)) * WidthOf(dtype);
}

}  // namespace

Array::Array(strew_dtype dtype, Layout layout, Guard guard)
    : buffer_(ByteExtent(dtype, layout), guard), view_{dtype, std::move(layout), nullptr} {
  view_ = ViewOf(buffer_.bytes());
  tensor_ = MakeTensor(dtype, view_.layout, view_.origin);
}

View Array::ViewOf(unsigned char* bytes) const {
  const auto offset = static_cast<size_t>(Origin(view_.layout)) * WidthOf(view_.dtype);
  return {view_.dtype, view_.layout, bytes + offset};
}

std::vector<unsigned char> Array::Snapshot() const {
  return {buffer_.bytes(), buffer_.bytes() + buffer_.size()};
}

void Array::Restore(const std::vector<unsigned char>& snapshot) {
  std::copy(snapshot.begin(), snapshot.end(), buffer_.bytes());
}

}  // namespace strew::reference
