// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_SHAPE_H_
#define STREW_PYTHON_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/operator.h"

namespace strew::python {

using Shape = std::vector<std::int64_t>;

// The dims of a tensor or of a shape, which has them.
struct Dims {
  const std::int64_t* dims;
  std::size_t rank;

  const std::int64_t* begin() const { return dims; }
  const std::int64_t* end() const { return dims + rank; }
};

inline Dims DimsOf(const Shape& shape) { return {shape.data(), shape.size()}; }
inline Shape ShapeOf(const Dims& dims) { return {dims.begin(), dims.end()}; }

// The axes that the indices of an operator name: `components` of them, from `axis` on.
struct NamedAxes {
  Operator op;
  std::int64_t axis;
  std::size_t components;
};

// The shape of updates; if data cannot be indexed so, any shape with which the library reports why.
Shape UpdatesShape(const NamedAxes& named, const Dims& indices, const Dims& data);

// The rank of updates, without computing the shape.
std::size_t UpdatesRank(const NamedAxes& named, const Dims& indices, const Dims& data);

// True if NumPy might broadcast the tensor to this rank.
bool MayRepeat(const Dims& tensor, std::size_t rank);

}  // namespace strew::python

#endif  // STREW_PYTHON_SHAPE_H_
