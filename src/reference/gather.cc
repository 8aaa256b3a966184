// SPDX-License-Identifier: Apache-2.0
#include "reference/gather.h"

#include <cstring>
#include <vector>

#include "reference/arithmetic.h"
#include "reference/dtypes.h"
#include "reference/indices.h"

namespace strew::reference {
namespace {

// The numbers of axes of data that indices name, and of dims of updates that replace these axes.
// Both begin at `first`.
struct Indexed {
  size_t first;
  size_t axes;
  size_t dims;
};

Indexed IndexedOf(const Case& c) {
  const Dims& indices = c.indices->shape();
  if (c.op == Operator::kScatterNd) {
    return {0, static_cast<size_t>(indices.back()), indices.size() - 1};
  }
  const int64_t rank = static_cast<int64_t>(c.data.shape().size());
  return {static_cast<size_t>(c.axis < 0 ? c.axis + rank : c.axis), 1, indices.size()};
}

// The numbers before `first`, then `middle`, then those from `rest` on.
Dims Splice(const Dims& numbers, size_t first, const Dims& middle, size_t rest) {
  Dims spliced(numbers.begin(), numbers.begin() + static_cast<int64_t>(first));
  spliced.insert(spliced.end(), middle.begin(), middle.end());
  spliced.insert(spliced.end(), numbers.begin() + static_cast<int64_t>(rest), numbers.end());
  return spliced;
}

// The numbers from `first` on, `count` of them.
Dims Part(const Dims& numbers, size_t first, size_t count) {
  const auto begin = numbers.begin() + static_cast<int64_t>(first);
  return Dims(begin, begin + static_cast<int64_t>(count));
}

std::optional<int64_t> Resolved(const Case& c, const Dims& i, size_t axis) {
  const View& indices = c.indices->view();
  return Resolve(ReadIndex(indices.dtype, indices.At(i)), c.data.shape()[axis], c.rules());
}

}  // namespace

Dims UpdatesShapeOf(const Case& c) {
  if (c.op == Operator::kScatterElements) return c.indices->shape();
  const Indexed indexed = IndexedOf(c);
  return Splice(c.data.shape(), indexed.first, Part(c.indices->shape(), 0, indexed.dims),
                indexed.first + indexed.axes);
}

std::optional<Dims> PlaceOf(const Case& c, const Dims& i) {
  const Indexed indexed = IndexedOf(c);
  if (c.op == Operator::kScatterElements) {
    const auto index = Resolved(c, i, indexed.first);
    if (!index) return std::nullopt;
    return Splice(i, indexed.first, {*index}, indexed.first + 1);
  }
  const Dims entry = Part(i, indexed.first, indexed.dims);
  Dims named;
  for (size_t axis = 0; axis < indexed.axes; ++axis) {
    Dims at = entry;
    if (c.op == Operator::kScatterNd) at.push_back(static_cast<int64_t>(axis));
    const auto index = Resolved(c, at, indexed.first + axis);
    if (!index) return std::nullopt;
    named.push_back(*index);
  }
  return Splice(i, indexed.first, named, indexed.first + indexed.dims);
}

Outcome Gather(const Case& c, const View& source, const View& output) {
  Outcome outcome;
  ForEachIndex(UpdatesShapeOf(c), [&](const Dims& i) {
    const auto place = PlaceOf(c, i);
    if (!place) return;
    Dims to = i;
    // An output that should be of rank 0 may have any shape with one element.
    if (to.empty()) to.resize(output.shape().size());
    std::memcpy(output.At(to), source.At(*place), WidthOf(source.dtype));
    ++outcome.applied;
  });
  return outcome;
}

Outcome GatherScatter(const Case& from, const View* weights, const Case& to, const View& data,
                      const View& output) {
  const size_t width = WidthOf(output.dtype);
  const Dims shape = UpdatesShapeOf(to);
  std::vector<unsigned char> products(static_cast<size_t>(Product(shape)) * width);
  std::vector<Update> updates;
  unsigned char* product = products.data();
  const View factors = weights != nullptr ? Broadcast(*weights, shape) : View();
  ForEachIndex(shape, [&](const Dims& i) {
    const auto taken = PlaceOf(from, i);
    const auto target = PlaceOf(to, i);
    if (!taken || !target) return;
    std::memcpy(product, from.data.view().At(*taken), width);
    if (weights != nullptr) {
      Combine(output.dtype, STREW_MUL, product, factors.At(i));
    }
    updates.push_back({*target, product});
    product += width;
  });
  Outcome outcome = ApplyEach(data, updates, to.reduction, output);
  if (weights == nullptr || !outcome.reduced.empty()) return outcome;
  // Products are computed, not moved, so the payload of their NaNs is unspecified.
  outcome.reduced.resize(static_cast<size_t>(Product(data.shape())), false);
  for (const Update& update : updates) {
    outcome.reduced[RowMajorPosition(data.shape(), update.target)] = true;
  }
  return outcome;
}

}  // namespace strew::reference
