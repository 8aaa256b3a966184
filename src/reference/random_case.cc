// SPDX-License-Identifier: Apache-2.0
#include "reference/random_case.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "reference/indices.h"
#include "reference/random_layout.h"

namespace strew::reference {
namespace {

Guard AnyGuard(Random& random) { return random.OneIn(2) ? Guard::kBefore : Guard::kBehind; }

// ---- Operands --------------------------------------------------------------------------------

Array AnyArray(Random& random, strew_dtype dtype, Dims shape, Use use) {
  const Layout layout = AnyLayout(random, std::move(shape), use);
  return RandomArray(random, dtype, layout, AnyGuard(random));
}

// Elements of data may share memory, unless data is the output.
Case AnyCase(Random& random, Operator op, const Dtype& dtype, const Dims& shape, Dims updates) {
  const bool in_place = random.OneIn(2);
  Case c{op, AnyArray(random, dtype.code, shape, in_place ? Use::kOutput : Use::kInput),
         AnyArray(random, dtype.code, std::move(updates), Use::kInput)};
  if (!in_place) c.output = AnyArray(random, dtype.code, shape, Use::kOutput);
  c.reduction = random.Pick(AllReductionsOf(dtype));
  c.wrap = !random.OneIn(4);
  c.policy = random.Pick(std::vector<strew_index_policy>{STREW_INDEX_ERROR, STREW_INDEX_ERROR,
                                                         STREW_INDEX_DROP, STREW_INDEX_CLAMP});
  if (random.OneIn(6)) c.duplicates = STREW_DUPLICATE_ERROR;
  return c;
}

// An index into `dim` elements, as a value of the dtype.
int64_t AnyIndex(Random& random, strew_dtype dtype, int64_t dim, bool wrap) {
  const int64_t index = random.Between(0, dim - 1);
  const bool negative = wrap && LowestIndex(dtype) < 0 && random.OneIn(3);
  return negative ? index - dim : index;
}

// An index array of any dtype and layout, whose values are still to be written.
Array AnyIndexArray(Random& random, Dims shape) {
  const strew_dtype dtype = random.Pick(IndexDtypes()).code;
  Layout layout = AnyLayout(random, std::move(shape), Use::kInput);
  Array array(dtype, std::move(layout), AnyGuard(random));
  FillWithLargeIndices(array);
  return array;
}

// Any valid indices; axis_of(i) is the axis that the index at i is for. In one of four arrays, most
// indices repeat the one before on their axis, as sorted indices do.
template <class AxisOf>
Array AnyIndices(Random& random, const Case& c, Dims shape, AxisOf axis_of) {
  Array array = AnyIndexArray(random, std::move(shape));
  const bool repeat = random.OneIn(4);
  std::vector<std::optional<int64_t>> last(c.data.shape().size());
  ForEachIndex(array.shape(), [&](const Dims& i) {
    const size_t axis = axis_of(i);
    if (!repeat || !last[axis] || random.OneIn(20)) {
      last[axis] = AnyIndex(random, array.dtype(), c.data.shape()[axis], c.wrap);
    }
    WriteIndex(array.dtype(), array.view().At(i), *last[axis]);
  });
  return array;
}

// A shape of at most `limit` entries and at most `room` dims.
Dims AnyEntries(Random& random, int64_t room, int64_t limit) {
  Dims shape;
  for (int64_t i = random.Between(0, std::clamp<int64_t>(room, 0, 3)); i > 0; --i) {
    const int64_t dim = AnyDim(random);
    shape.push_back(Product(shape) * dim <= limit ? dim : 1);
  }
  return shape;
}

int64_t MostEntries(const Dtype& dtype, const Dims& slice) {
  const int64_t elements = dtype.width > 64 ? 100 : 3000;
  return std::max<int64_t>(elements / std::max<int64_t>(Product(slice), 1), 1);
}

// Gives each entry another position in `places`, until there are no more positions. Components of a
// tuple fit every index dtype. entry_of(i) is the number of the entry of the index at i.
template <class EntryOf>
void Separate(Random& random, Case& c, const Dims& places, EntryOf entry_of) {
  const View& view = c.indices->view();
  const int64_t size = Product(places);
  if (size == 0) return;
  const int64_t first = random.Between(0, size - 1);
  ForEachIndex(view.shape(), [&](const Dims& i) {
    int64_t place = (first + entry_of(i)) % size;
    const auto component = c.op == Operator::kScatterNd ? static_cast<size_t>(i.back()) : 0;
    for (size_t axis = places.size() - 1; axis > component; --axis) place /= places[axis];
    WriteIndex(view.dtype, view.At(i), place % places[component]);
  });
}

int64_t PositionIn(const Dims& shape, const Dims& i) {
  return static_cast<int64_t>(RowMajorPosition(shape, i));
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
  if (random.OneIn(4)) Separate(random, c, {shape[axis]}, [=](const Dims& i) { return i[axis]; });
  return c;
}

// Components of a tuple that share memory must be valid for the smallest of their axes.
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
  // Keeps the rank of updates within 32, with room for the dim of 0 that may be inserted below.
  const int64_t room = 31 - static_cast<int64_t>(slice.size());
  Dims indices = AnyEntries(random, room, MostEntries(dtype, slice));
  if (empty_axis) indices.insert(indices.begin(), 0);
  Dims updates = indices;
  updates.insert(updates.end(), slice.begin(), slice.end());
  if (updates.empty()) updates.resize(static_cast<size_t>(random.Between(0, 3)), 1);
  indices.push_back(k);
  Case c = AnyCase(random, Operator::kScatterNd, dtype, shape, updates);
  c.indices =
      AnyIndices(random, c, indices, [](const Dims& i) { return static_cast<size_t>(i.back()); });
  if (k > 0 && random.OneIn(4)) {
    const Dims places(shape.begin(), shape.begin() + k);
    Separate(random, c, places, [&](const Dims& i) { return PositionIn(indices, i) / k; });
  }
  RepairSharedIndices(random, c);
  return c;
}

Case AnyScatterUpdate(Random& random, const Dtype& dtype) {
  const Dims shape = AnyDataShape(random, dtype.width);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random.Between(0, rank - 1);
  Dims slice = shape;
  slice.erase(slice.begin() + axis);
  const int64_t room = 32 - rank;
  Dims indices = AnyEntries(random, room, MostEntries(dtype, slice));
  const int64_t dim = shape[static_cast<size_t>(axis)];
  if (dim == 0) indices.push_back(0);  // no index into it is good
  Dims updates = slice;
  updates.insert(updates.begin() + axis, indices.begin(), indices.end());
  Case c = AnyCase(random, Operator::kScatterUpdate, dtype, shape, updates);
  c.indices =
      AnyIndices(random, c, indices, [=](const Dims&) { return static_cast<size_t>(axis); });
  c.axis = random.OneIn(2) ? axis - rank : axis;
  if (random.OneIn(4)) {
    Separate(random, c, {dim}, [&](const Dims& i) { return PositionIn(indices, i); });
  }
  return c;
}

// Any number that is not negative, including those above INT64_MAX.
int64_t AnyCircularIndex(Random& random, strew_dtype dtype) {
  if (dtype == STREW_UINT64 && random.OneIn(2)) return static_cast<int64_t>(random.Bits());
  return random.Between(0, random.OneIn(2) ? HighestIndex(dtype) : 100);
}

Case AnyTensorScatter(Random& random, const Dtype& dtype) {
  Dims shape = AnyDataShape(random, dtype.width);
  if (shape.size() == 1) shape.insert(shape.begin(), random.Between(0, 4));
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random.Between(1, rank - 1);
  const int64_t max = shape[static_cast<size_t>(axis)];
  Dims updates = shape;
  updates[static_cast<size_t>(axis)] = random.Between(0, max);
  Case c = AnyCase(random, Operator::kTensorScatter, dtype, shape, updates);
  c.reduction = STREW_NONE;
  c.axis = random.OneIn(2) ? axis - rank : axis;
  c.mode = random.OneIn(2) ? STREW_CACHE_CIRCULAR : STREW_CACHE_LINEAR;
  if (random.OneIn(8)) return c;
  c.indices = AnyIndexArray(random, {shape[0]});
  const strew_dtype index = c.indices->dtype();
  ForEachIndex(c.indices->shape(), [&](const Dims& b) {
    const bool linear = c.mode == STREW_CACHE_LINEAR;
    const int64_t last = max - updates[static_cast<size_t>(axis)];
    WriteIndex(index, c.indices->view().At(b),
               linear ? random.Between(0, last) : AnyCircularIndex(random, index));
  });
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

// A shape that can be broadcast to `shape`, mostly `shape` itself.
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

// The lowest and the highest valid value of an index.
struct Bounds {
  int64_t lowest, highest;
};

// The axis that the index at i is for.
size_t AxisOf(const Case& c, const Dims& i) {
  const auto rank = static_cast<int64_t>(c.data.shape().size());
  if (c.op == Operator::kScatterNd) return static_cast<size_t>(i.back());
  return static_cast<size_t>(c.axis < 0 ? c.axis + rank : c.axis);
}

Bounds BoundsOf(const Case& c, const Dims& i) {
  const int64_t dim = c.data.shape()[AxisOf(c, i)];
  if (c.op != Operator::kTensorScatter) return {c.wrap ? -dim : 0, dim - 1};
  if (c.mode == STREW_CACHE_CIRCULAR) return {0, std::numeric_limits<int64_t>::max()};
  return {0, dim - c.updates.shape()[AxisOf(c, i)]};
}

// A value out of bounds, or a valid one if the dtype has no other.
int64_t AnyBadIndex(Random& random, strew_dtype dtype, const Bounds& bounds) {
  const bool above = bounds.highest < HighestIndex(dtype) && random.OneIn(2);
  const int64_t beside = above ? bounds.highest + 1 : bounds.lowest - 1;
  const int64_t away = random.Between(0, 100);
  const int64_t value = random.Pick(Dims{beside, beside + (above ? away : -away),
                                         above ? HighestIndex(dtype) : LowestIndex(dtype)});
  return std::clamp(value, LowestIndex(dtype), HighestIndex(dtype));
}

}  // namespace

Case MakeRandomCase(Random& random, Operator op, const Dtype& dtype) {
  switch (op) {
    case Operator::kScatterElements:
      return AnyScatterElements(random, dtype);
    case Operator::kScatterNd:
      return AnyScatterNd(random, dtype);
    case Operator::kScatterUpdate:
      return AnyScatterUpdate(random, dtype);
    case Operator::kTensorScatter:
      return AnyTensorScatter(random, dtype);
    default:
      return AnySliceScatter(random, op, dtype);
  }
}

void SetAnyIndices(Random& random, Case& c, Dims shape) {
  c.indices = AnyIndices(random, c, std::move(shape), [&c](const Dims& i) { return AxisOf(c, i); });
  if (c.op == Operator::kScatterNd) RepairSharedIndices(random, c);
}

bool SpoilIndices(Random& random, Case& c) {
  if (!c.indices) return false;
  const View& view = c.indices->view();
  const int64_t size = Product(view.shape());
  if (size == 0) return false;
  const int64_t first = random.Between(0, size - 1);
  bool spoiled = false;
  int64_t position = 0;
  ForEachIndex(view.shape(), [&](const Dims& i) {
    const bool chosen = position == first || (position > first && random.OneIn(20));
    ++position;
    if (!chosen) return;
    const Bounds bounds = BoundsOf(c, i);
    const int64_t value = AnyBadIndex(random, view.dtype, bounds);
    WriteIndex(view.dtype, view.At(i), value);
    spoiled = spoiled || value > bounds.highest || value < bounds.lowest;
  });
  return spoiled;
}

}  // namespace strew::reference
