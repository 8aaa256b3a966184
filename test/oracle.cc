// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cstring>

#include "support/arithmetic.h"
#include "support/dtypes.h"
#include "support/indices.h"

namespace strew_test {
namespace {

Dims Concatenate(Dims head, const Dims& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

size_t NormalizedAxis(int64_t axis, const Dims& shape) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
}

int64_t Wrapped(int64_t index, int64_t dim) { return index < 0 ? index + dim : index; }

size_t RowMajorPosition(const Dims& shape, const Dims& index) {
  int64_t position = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    position = position * shape[axis] + index[axis];
  return static_cast<size_t>(position);
}

// Where NumPy finds the element for an index of a shape that `shape` is broadcast to.
Dims Broadcast(const Dims& index, const Dims& shape) {
  Dims found(index.end() - static_cast<std::ptrdiff_t>(shape.size()), index.end());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) found[axis] = 0;
  }
  return found;
}

void Copy(const View& data, const View& output) {
  ForEachIndex(data.shape(),
               [&](const Dims& i) { std::memmove(output.At(i), data.At(i), WidthOf(data.dtype)); });
}

void Apply(strew_reduction reduction, const View& output, const Dims& target,
           const unsigned char* update, Outcome& outcome) {
  Combine(output.dtype, reduction, output.At(target), update);
  ++outcome.applied;
  if (reduction != STREW_NONE) outcome.reduced[RowMajorPosition(output.shape(), target)] = true;
}

// Looks for the first index out of range; axis_of(i) is the axis of data that index i is for.
template <class AxisOf>
Outcome CheckIndices(const View& indices, const Dims& shape, bool wrap, AxisOf axis_of) {
  Outcome outcome;
  int64_t position = 0;
  ForEachIndex(indices.shape(), [&](const Dims& i) {
    const int64_t here = position++;
    const size_t axis = axis_of(i);
    const int64_t dim = shape[axis];
    const int64_t lowest = wrap ? -dim : 0;
    const int64_t value = ReadIndex(indices.dtype, indices.At(i));
    const bool good = lowest <= value && value < dim;
    if (good || outcome.status != STREW_OK) return;
    outcome.status = STREW_INDEX_OUT_OF_RANGE;
    outcome.error_position = here;
    outcome.error = "indices" + ToString(i) + " = " + IndexText(indices.dtype, indices.At(i));
    if (dim == 0) return;  // no range is valid, and how to say so is left open
    outcome.error += " is out of range [" + std::to_string(lowest) + ", " +
                     std::to_string(dim - 1) + "] for axis " + std::to_string(axis) +
                     " of data, which has " + std::to_string(dim) + " element";
  });
  return outcome;
}

}  // namespace

Outcome ScatterElements(const View& data, const View& indices, const View& updates, int64_t axis,
                        strew_reduction reduction, bool wrap, const View& output) {
  const size_t a = NormalizedAxis(axis, data.shape());
  Outcome outcome = CheckIndices(indices, data.shape(), wrap, [=](const Dims&) { return a; });
  if (outcome.status != STREW_OK) return outcome;
  Copy(data, output);
  outcome.reduced.resize(static_cast<size_t>(Product(data.shape())));
  ForEachIndex(indices.shape(), [&](const Dims& i) {
    Dims target = i;
    target[a] = Wrapped(ReadIndex(indices.dtype, indices.At(i)), data.shape()[a]);
    Apply(reduction, output, target, updates.At(i), outcome);
  });
  return outcome;
}

Outcome ScatterNd(const View& data, const View& indices, const View& updates,
                  strew_reduction reduction, bool wrap, const View& output) {
  Outcome outcome = CheckIndices(indices, data.shape(), wrap,
                                 [](const Dims& i) { return static_cast<size_t>(i.back()); });
  if (outcome.status != STREW_OK) return outcome;
  Copy(data, output);
  outcome.reduced.resize(static_cast<size_t>(Product(data.shape())));
  const Dims tuples(indices.shape().begin(), indices.shape().end() - 1);
  const int64_t k = indices.shape().back();
  const Dims slice(data.shape().begin() + k, data.shape().end());
  ForEachIndex(tuples, [&](const Dims& t) {
    Dims named;
    for (int64_t j = 0; j < k; ++j) {
      const int64_t index = ReadIndex(indices.dtype, indices.At(Concatenate(t, {j})));
      named.push_back(Wrapped(index, data.shape()[static_cast<size_t>(j)]));
    }
    ForEachIndex(slice, [&](const Dims& rest) {
      Dims from = Concatenate(t, rest);
      // Updates that should be of rank 0 may have any shape with one element.
      if (from.empty()) from.resize(updates.shape().size());
      Apply(reduction, output, Concatenate(named, rest), updates.At(from), outcome);
    });
  });
  return outcome;
}

Outcome SliceScatter(const View& data, const View& updates, const Dims& start, const Dims& stop,
                     const Dims& step, const Dims& axes, strew_reduction reduction,
                     const View& output) {
  Dims first(data.shape().size(), 0);
  Dims stride(data.shape().size(), 1);
  for (size_t j = 0; j < start.size(); ++j) {
    const size_t axis = axes.empty() ? j : NormalizedAxis(axes[j], data.shape());
    const Range range = PythonSlice(start[j], stop[j], step[j], data.shape()[axis]);
    first[axis] = range.first;
    stride[axis] = range.step;
  }
  Outcome outcome;
  Copy(data, output);
  outcome.reduced.resize(static_cast<size_t>(Product(data.shape())));
  ForEachIndex(SliceShape(data.shape(), start, stop, step, axes), [&](const Dims& i) {
    Dims target = first;
    for (size_t axis = 0; axis < i.size(); ++axis) target[axis] += i[axis] * stride[axis];
    Apply(reduction, output, target, updates.At(Broadcast(i, updates.shape())), outcome);
  });
  outcome.applied = Product(updates.shape());
  return outcome;
}

Range PythonSlice(int64_t start, int64_t stop, int64_t step, int64_t dim) {
  // The positions before the first and behind the last element that a walk may start or stop at.
  const int64_t lowest = step > 0 ? 0 : -1;
  const int64_t highest = step > 0 ? dim : dim - 1;
  const auto clamped = [=](int64_t i) { return std::clamp(i < 0 ? i + dim : i, lowest, highest); };
  const int64_t from = clamped(start);
  const int64_t to = clamped(stop);
  const bool empty = step > 0 ? from >= to : from <= to;
  if (empty) return {from, step, 0};
  return {from, step, (to - from - (step > 0 ? 1 : -1)) / step + 1};
}

Dims SliceShape(const Dims& shape, const Dims& start, const Dims& stop, const Dims& step,
                const Dims& axes) {
  Dims sliced = shape;
  for (size_t j = 0; j < start.size(); ++j) {
    const size_t axis = axes.empty() ? j : NormalizedAxis(axes[j], shape);
    sliced[axis] = PythonSlice(start[j], stop[j], step[j], shape[axis]).count;
  }
  return sliced;
}

}  // namespace strew_test
