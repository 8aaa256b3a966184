// SPDX-License-Identifier: Apache-2.0
#include "random_case.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "support/indices.h"

namespace strew_test {
namespace {

enum class Use { kInput, kOutput };

Guard AnyGuard(Random& random) { return random.OneIn(2) ? Guard::kBefore : Guard::kBehind; }

// ---- Shapes ----------------------------------------------------------------------------------

int64_t AnyDim(Random& random) {
  if (random.OneIn(30)) return 0;
  if (random.OneIn(8)) return 1;
  if (random.OneIn(8)) return random.Between(8, 70);
  return random.Between(2, 6);
}

// Keeps the number of elements small enough for the oracle, whatever the dtype.
Dims AnyShape(Random& random, size_t rank, size_t width) {
  const int64_t limit = width > 64 ? 60 : 1500;
  Dims shape(rank);
  int64_t elements = 1;
  for (int64_t& dim : shape) {
    dim = std::min(AnyDim(random), std::max<int64_t>(limit / std::max<int64_t>(elements, 1), 1));
    elements *= dim;
  }
  random.Shuffle(shape);
  return shape;
}

// Of rank 1 to 6, or of up to 32 with dims that are mostly 1.
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

// Any nesting of the dims, gaps and signs. Each stride passes the extent of the smaller ones, so
// that no two elements meet, but need not be a multiple of them.
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

// Row-major, each row longer than the tensor needs.
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

// ---- Operands --------------------------------------------------------------------------------

Array AnyArray(Random& random, strew_dtype dtype, Dims shape, Use use) {
  const Layout layout = AnyLayout(random, std::move(shape), use);
  return RandomArray(random, dtype, layout, AnyGuard(random));
}

// Whether data must be injective is known only when the output is.
Case AnyCase(Random& random, Operator op, const Dtype& dtype, const Dims& shape, Dims updates) {
  const bool in_place = random.OneIn(2);
  Case c{op, AnyArray(random, dtype.code, shape, in_place ? Use::kOutput : Use::kInput),
         AnyArray(random, dtype.code, std::move(updates), Use::kInput)};
  if (!in_place) c.output = AnyArray(random, dtype.code, shape, Use::kOutput);
  c.reduction = random.Pick(ReductionsOf(dtype));
  c.wrap = !random.OneIn(4);
  return c;
}

// An index into `dim` elements, as a value of the dtype.
int64_t AnyIndex(Random& random, strew_dtype dtype, int64_t dim, bool wrap) {
  const int64_t index = random.Between(0, dim - 1);
  const bool negative = wrap && LowestIndex(dtype) < 0 && random.OneIn(3);
  return negative ? index - dim : index;
}

// An index array of any layout; axis_of(i) is the axis that the index at i is for.
template <class AxisOf>
Array AnyIndices(Random& random, const Case& c, Dims shape, AxisOf axis_of) {
  const strew_dtype dtype = random.Pick(IndexDtypes()).code;
  Array array(dtype, AnyLayout(random, std::move(shape), Use::kInput), AnyGuard(random));
  FillWithLargeIndices(array);
  ForEachIndex(array.shape(), [&](const Dims& i) {
    const int64_t dim = c.data.shape()[axis_of(i)];
    WriteIndex(dtype, array.view().At(i), AnyIndex(random, dtype, dim, c.wrap));
  });
  return array;
}

// ---- Operators -------------------------------------------------------------------------------

Case AnyScatterElements(Random& random, const Dtype& dtype) {
  const Dims shape = AnyDataShape(random, dtype.width);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto axis = static_cast<size_t>(random.Between(0, rank - 1));
  Dims updates = shape;
  for (int64_t& dim : updates) {
    if (random.OneIn(4)) dim = random.Between(0, dim);
  }
  if (random.OneIn(2)) updates[axis] = random.Between(0, 2 * shape[axis] + 1);
  if (shape[axis] == 0) updates[axis] = 0;  // no index into it is good
  Case c = AnyCase(random, Operator::kScatterElements, dtype, shape, updates);
  c.indices = AnyIndices(random, c, updates, [=](const Dims&) { return axis; });
  c.axis = static_cast<int64_t>(axis) - (random.OneIn(2) ? rank : 0);
  return c;
}

// Components of a tuple that share their memory must be good for the smallest of their axes.
void RepairSharedIndices(Random& random, Case& c) {
  const View& view = c.indices->view();
  const bool shared = view.layout.strides.back() == 0 || Span(view.layout) < Product(view.shape());
  if (!shared || Product(view.shape()) == 0) return;
  const auto axes = c.data.shape().begin();
  const int64_t dim = *std::min_element(axes, axes + view.shape().back());
  ForEachIndex(view.shape(), [&](const Dims& i) {
    WriteIndex(view.dtype, view.At(i), AnyIndex(random, view.dtype, dim, c.wrap));
  });
}

Case AnyScatterNd(Random& random, const Dtype& dtype) {
  const Dims shape = AnyDataShape(random, dtype.width);
  const int64_t k = random.Between(0, static_cast<int64_t>(shape.size()));
  const Dims slice(shape.begin() + k, shape.end());
  const bool empty_axis = std::count(shape.begin(), shape.begin() + k, 0) > 0;
  const int64_t elements = dtype.width > 64 ? 100 : 3000;
  const int64_t limit = std::max<int64_t>(elements / std::max<int64_t>(Product(slice), 1), 1);
  Dims indices;
  // The rank of updates stays within 32, with room for the dim of 0 below.
  const int64_t room = std::max<int64_t>(31 - static_cast<int64_t>(slice.size()), 0);
  for (int64_t i = random.Between(0, std::min<int64_t>(room, 3)); i > 0; --i) {
    const int64_t dim = AnyDim(random);
    indices.push_back(Product(indices) * dim <= limit ? dim : 1);
  }
  if (empty_axis) indices.insert(indices.begin(), 0);
  Dims updates = indices;
  updates.insert(updates.end(), slice.begin(), slice.end());
  if (updates.empty()) updates.resize(static_cast<size_t>(random.Between(0, 3)), 1);
  indices.push_back(k);
  Case c = AnyCase(random, Operator::kScatterNd, dtype, shape, updates);
  c.indices =
      AnyIndices(random, c, indices, [](const Dims& i) { return static_cast<size_t>(i.back()); });
  RepairSharedIndices(random, c);
  return c;
}

int64_t AnyBound(Random& random, strew_dtype dtype, int64_t dim) {
  if (random.OneIn(8)) return random.OneIn(2) ? LowestIndex(dtype) : HighestIndex(dtype);
  return std::clamp(random.Between(-2 * dim - 2, 2 * dim + 2), LowestIndex(dtype),
                    HighestIndex(dtype));
}

int64_t AnyStep(Random& random, strew_dtype dtype) {
  if (random.OneIn(16)) return HighestIndex(dtype);
  const bool negative = LowestIndex(dtype) < 0 && random.OneIn(2);
  if (negative && random.OneIn(16)) return LowestIndex(dtype);
  const int64_t step = random.OneIn(2) ? 1 : random.Between(2, 4);
  return negative ? -step : step;
}

Array AnyBox(Random& random, strew_dtype dtype, const Dims& values) {
  Layout layout = AnyLayout(random, {static_cast<int64_t>(values.size())}, Use::kOutput);
  Array array(dtype, std::move(layout), AnyGuard(random));
  FillWithLargeIndices(array);
  WriteIndices(array, values);
  return array;
}

// A shape that can be broadcast to `shape`; mostly itself.
Dims AnyBroadcastable(Random& random, Dims shape) {
  if (!random.OneIn(3)) return shape;
  for (int64_t& dim : shape) {
    if (random.OneIn(2)) dim = 1;
  }
  if (random.OneIn(2)) return shape;
  const auto rank = static_cast<int64_t>(shape.size());
  return Dims(shape.begin() + random.Between(0, rank), shape.end());
}

Case AnySliceScatter(Random& random, Operator op, const Dtype& dtype) {
  const Dims shape = AnyDataShape(random, dtype.width);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto count = static_cast<size_t>(random.Between(0, rank));
  const bool named = random.OneIn(2);
  Dims axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (named) random.Shuffle(axes);
  axes.resize(count);

  const strew_dtype start_dtype = random.Pick(IndexDtypes()).code;
  const strew_dtype stop_dtype = random.Pick(IndexDtypes()).code;
  const strew_dtype step_dtype = random.Pick(IndexDtypes()).code;
  Dims start, stop, step;
  for (const int64_t axis : axes) {
    const int64_t dim = shape[static_cast<size_t>(axis)];
    start.push_back(AnyBound(random, start_dtype, dim));
    stop.push_back(AnyBound(random, stop_dtype, dim));
    step.push_back(AnyStep(random, step_dtype));
  }
  Case c = AnyCase(random, op, dtype, shape,
                   AnyBroadcastable(random, SliceShape(shape, start, stop, step, axes)));
  c.start = AnyBox(random, start_dtype, start);
  c.stop = AnyBox(random, stop_dtype, stop);
  c.step = AnyBox(random, step_dtype, step);
  if (!named) return c;
  const strew_dtype axes_dtype = random.Pick(IndexDtypes()).code;
  for (int64_t& axis : axes) {
    if (LowestIndex(axes_dtype) < 0 && random.OneIn(2)) axis -= rank;
  }
  c.axes = AnyBox(random, axes_dtype, axes);
  return c;
}

// A value out of range for `dim` elements, or one that happens to be good where the dtype has none.
int64_t AnyBadIndex(Random& random, strew_dtype dtype, int64_t dim, bool wrap) {
  const int64_t below = wrap ? -dim - 1 : -1;
  const int64_t value =
      random.Pick(Dims{dim, dim + random.Between(0, 100), HighestIndex(dtype), below,
                       below - random.Between(0, 100), LowestIndex(dtype)});
  return std::clamp(value, LowestIndex(dtype), HighestIndex(dtype));
}

}  // namespace

Case MakeRandomCase(Random& random, Operator op, const Dtype& dtype) {
  switch (op) {
    case Operator::kScatterElements:
      return AnyScatterElements(random, dtype);
    case Operator::kScatterNd:
      return AnyScatterNd(random, dtype);
    default:
      return AnySliceScatter(random, op, dtype);
  }
}

bool SpoilIndices(Random& random, Case& c) {
  const View& view = c.indices->view();
  const int64_t size = Product(view.shape());
  if (size == 0) return false;
  const auto rank = static_cast<int64_t>(c.data.shape().size());
  const int64_t first = random.Between(0, size - 1);
  bool spoiled = false;
  int64_t position = 0;
  ForEachIndex(view.shape(), [&](const Dims& i) {
    const bool chosen = position == first || (position > first && random.OneIn(20));
    ++position;
    if (!chosen) return;
    const bool by_tuple = c.op == Operator::kScatterNd;
    const int64_t axis = by_tuple ? i.back() : c.axis < 0 ? c.axis + rank : c.axis;
    const int64_t dim = c.data.shape()[static_cast<size_t>(axis)];
    const int64_t value = AnyBadIndex(random, view.dtype, dim, c.wrap);
    WriteIndex(view.dtype, view.At(i), value);
    spoiled = spoiled || value >= dim || value < (c.wrap ? -dim : 0);
  });
  return spoiled;
}

}  // namespace strew_test
