// SPDX-License-Identifier: Apache-2.0
#include "reference/random_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace strew::reference {

// ---- Shapes ----------------------------------------------------------------------------------

int64_t AnyDim(Random& random) {
  if (random.OneIn(30)) return 0;
  if (random.OneIn(8)) return 1;
  if (random.OneIn(8)) return random.Between(8, 70);
  return random.Between(2, 6);
}

namespace {

// Draws a shape whose number of elements is small enough for the oracle, whatever the dtype.
Dims AnyShape(Random& random, size_t rank, size_t width) {
  const bool large = width <= 64 && random.OneIn(8);
  const int64_t limit = large ? 20000 : width > 64 ? 60 : 1500;
  Dims shape(rank);
  int64_t elements = 1;
  for (int64_t& dim : shape) {
    const int64_t any = large ? random.Between(2, 100) : AnyDim(random);
    dim = std::min(any, std::max<int64_t>(limit / std::max<int64_t>(elements, 1), 1));
    elements *= dim;
  }
  random.Shuffle(shape);
  return shape;
}

}  // namespace

Dims AnyDataShape(Random& random, size_t width) {
  Dims shape = AnyShape(random, static_cast<size_t>(random.Between(1, 6)), width);
  if (!random.OneIn(12)) return shape;
  const auto rank = static_cast<size_t>(random.Between(7, 32));
  while (shape.size() < rank) {
    const int64_t place = random.Between(0, static_cast<int64_t>(shape.size()));
    shape.insert(shape.begin() + place, 1);
  }
  return shape;
}

// ---- Strides ---------------------------------------------------------------------------------

namespace {

// Draws the order of the dims, gaps and signs. Each stride exceeds the extent of the dims with
// smaller strides, so that no two elements share memory, but need not be a multiple of it.
Dims AnyInjectiveStrides(Random& random, const Dims& shape) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random.Shuffle(order);
  const bool gaps = random.OneIn(2);
  Dims strides(shape.size());
  int64_t span = 1;
  for (const size_t axis : order) {
    const int64_t stride = span + (gaps ? random.Between(0, 3) : 0);
    span += std::max<int64_t>(shape[axis] - 1, 0) * stride;
    strides[axis] = random.OneIn(3) ? -stride : stride;
  }
  return strides;
}

Dims ColumnMajorStrides(const Dims& shape) {
  Dims strides = RowMajor(Dims(shape.rbegin(), shape.rend())).strides;
  std::reverse(strides.begin(), strides.end());
  return strides;
}

// Row-major strides, with rows longer than the tensor needs.
Dims PaddedStrides(Random& random, const Dims& shape) {
  if (shape.empty()) return {};
  Dims padded = shape;
  padded.back() += random.Between(1, 5);
  return RowMajor(padded).strides;
}

void ForgetStridesOfSmallDims(Random& random, Layout& layout) {
  for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] <= 1) layout.strides[axis] = static_cast<int64_t>(random.Bits());
  }
}

}  // namespace

Layout AnyLayout(Random& random, Dims shape, Use use) {
  Layout layout = RowMajor(std::move(shape));
  const int64_t choice = random.Between(0, 7);
  if (choice == 0) layout.strides = ColumnMajorStrides(layout.shape);
  if (choice == 1) layout.strides = PaddedStrides(random, layout.shape);
  if (choice == 2 || choice == 3) layout.strides = AnyInjectiveStrides(random, layout.shape);
  if (use == Use::kInput && random.OneIn(6)) {
    for (int64_t& stride : layout.strides) stride *= random.Between(0, 1);
  }
  if (use == Use::kInput && random.OneIn(12)) {
    layout.strides.assign(layout.strides.size(), random.OneIn(2) ? 1 : -1);  // a sliding window
  }
  if (random.OneIn(6)) ForgetStridesOfSmallDims(random, layout);
  return layout;
}

}  // namespace strew::reference
