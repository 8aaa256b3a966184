// SPDX-License-Identifier: Apache-2.0
#include "python/shape.h"

#include <algorithm>

namespace strew::python {
namespace {

bool HasTuples(const NamedAxes& named) { return named.op == Operator::kScatterNd; }

bool CannotIndex(const NamedAxes& named, const Dims& indices, const Dims& data) {
  return data.rank < named.components || (HasTuples(named) && indices.rank == 0);
}

}  // namespace

std::size_t UpdatesRank(const NamedAxes& named, const Dims& indices, const Dims& data) {
  if (named.op == Operator::kScatterElements) return indices.rank;
  if (CannotIndex(named, indices, data)) return 0;
  return data.rank - named.components + indices.rank - (HasTuples(named) ? 1 : 0);
}

Shape UpdatesShape(const NamedAxes& named, const Dims& indices, const Dims& data) {
  if (named.op == Operator::kScatterElements) return ShapeOf(indices);
  if (CannotIndex(named, indices, data)) return {};
  const auto rank = static_cast<std::int64_t>(data.rank);
  const std::int64_t given = named.axis + (named.axis < 0 ? rank : 0);
  const std::int64_t axis = given >= 0 && given < rank ? given : 0;
  Shape shape(data.begin(), data.begin() + axis);
  shape.insert(shape.end(), indices.begin(), indices.end() - (HasTuples(named) ? 1 : 0));
  shape.insert(shape.end(), data.begin() + axis + static_cast<std::int64_t>(named.components),
               data.end());
  return shape;
}

bool MayRepeat(const Dims& tensor, std::size_t rank) {
  return tensor.rank < rank || std::find(tensor.begin(), tensor.end(), 1) != tensor.end();
}

}  // namespace strew::python
