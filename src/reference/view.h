// SPDX-License-Identifier: Apache-2.0
//
// Strided views of elements, and walks over index spaces, for the oracle and the tests.
#ifndef STREW_REFERENCE_VIEW_H_
#define STREW_REFERENCE_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <strew/strew.h>

namespace strew::reference {

using Dims = std::vector<int64_t>;

// Strides count elements; those of dims <= 1 have no meaning.
struct Layout {
  Dims shape;
  Dims strides;
};

Layout RowMajor(Dims shape);

int64_t Product(const Dims& dims);

// Number of elements from the lowest to the highest address, both included; 0 for an empty tensor.
int64_t Span(const Layout& layout);

// Distance from the lowest element to the one at (0, ..., 0), in elements.
int64_t Origin(const Layout& layout);

size_t RowMajorPosition(const Dims& shape, const Dims& index);

// Formats dims as in "[2,5]".
std::string ToString(const Dims& dims);

struct View {
  strew_dtype dtype;
  Layout layout;
  unsigned char* origin;

  const Dims& shape() const { return layout.shape; }
  unsigned char* At(const Dims& index) const;
};

// A view of `shape` in which the elements of `view` repeat, by NumPy's rules for broadcasting.
View Broadcast(const View& view, const Dims& shape);

// Visits every index of `shape` in row-major order: once for rank 0, never if a dim is 0.
template <class Visit>
void ForEachIndex(const Dims& shape, Visit visit) {
  for (const int64_t dim : shape) {
    if (dim == 0) return;
  }
  Dims index(shape.size(), 0);
  for (;;) {
    visit(static_cast<const Dims&>(index));
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// Copies the elements of a view into one of the same dtype and shape, which is the same memory or
// apart from it.
void CopyElements(const View& from, const View& to);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_VIEW_H_
