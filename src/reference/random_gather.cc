// SPDX-License-Identifier: Apache-2.0
#include "reference/random_gather.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reference/gather.h"
#include "reference/indices.h"
#include "reference/random_case.h"
#include "reference/random_layout.h"

namespace strew::reference {
namespace {

Guard AnyGuard(Random& random) { return random.OneIn(2) ? Guard::kBefore : Guard::kBehind; }

// The extent of an axis in which any index dtype reaches all elements. It may be 0 if there are no
// indices.
int64_t AnyExtent(Random& random, const Dims& indices) {
  if (Product(indices) == 0 && random.OneIn(2)) return 0;
  return random.OneIn(4) ? random.Between(1, 120) : random.Between(1, 8);
}

// The dims [first, end) of a shape.
Dims Part(const Dims& shape, int64_t first, int64_t end) {
  return Dims(shape.begin() + first, shape.begin() + end);
}

// The source of a gather, and its indices.
struct Gathered {
  Operator op;
  Dims source;
  Dims indices;
  int64_t axis = 0;
};

Gathered AnyElements(Random& random, const Dims& result) {
  const auto rank = static_cast<int64_t>(result.size());
  const int64_t axis = random.Between(0, rank - 1);
  Gathered gathered = {Operator::kScatterElements, result, result, axis};
  const int64_t extra = Product(result) < 2000 && random.OneIn(2) ? 1 : 0;
  for (int64_t& dim : gathered.source) dim += random.Between(0, extra);
  gathered.source[static_cast<size_t>(axis)] = AnyExtent(random, result);
  return gathered;
}

Gathered AnyTuples(Random& random, const Dims& result) {
  const auto rank = static_cast<int64_t>(result.size());
  const int64_t entry_dims = random.Between(0, std::min<int64_t>(rank, 31));
  Gathered gathered = {Operator::kScatterNd, Part(result, entry_dims, rank),
                       Part(result, 0, entry_dims)};
  const bool has_slice = !gathered.source.empty();
  const int64_t room = 32 - (rank - entry_dims);
  const int64_t k = random.Between(has_slice ? 0 : 1, std::min<int64_t>(room, 3));
  for (int64_t i = 0; i < k; ++i) {
    const int64_t extent = AnyExtent(random, gathered.indices);
    gathered.source.insert(gathered.source.begin(), std::min<int64_t>(extent, i == 0 ? 120 : 5));
  }
  gathered.indices.push_back(k);
  return gathered;
}

Gathered AnyRows(Random& random, const Dims& result) {
  const auto rank = static_cast<int64_t>(result.size());
  const int64_t axis = random.Between(0, rank);
  const int64_t end = random.Between(axis, rank);
  Gathered gathered = {Operator::kScatterUpdate, result, Part(result, axis, end), axis};
  gathered.source.erase(gathered.source.begin() + axis, gathered.source.begin() + end);
  gathered.source.insert(gathered.source.begin() + axis, AnyExtent(random, gathered.indices));
  if (random.OneIn(2)) gathered.axis -= static_cast<int64_t>(gathered.source.size());
  return gathered;
}

Gathered AnyGathered(Random& random, const Dims& result) {
  const int64_t choice = random.Between(result.empty() ? 1 : 0, 2);
  if (choice == 0) return AnyElements(random, result);
  const bool has_room = result.size() < 32;
  return choice == 1 || !has_room ? AnyTuples(random, result) : AnyRows(random, result);
}

// True if the source is small enough for the oracle and the memory.
bool IsSmall(const Gathered& gathered, const Dtype& dtype) {
  return Product(gathered.source) * static_cast<int64_t>(dtype.width) <= 1 << 21;
}

// A shape that NumPy broadcasts to this one.
Dims AnyBroadcastable(Random& random, const Dims& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  Dims part = Part(shape, random.OneIn(2) ? 0 : random.Between(0, rank), rank);
  if (random.OneIn(3)) return part;
  for (int64_t& dim : part) {
    if (random.OneIn(2)) dim = 1;
  }
  return part;
}

bool HasProducts(const Dtype& dtype) {
  const auto reductions = ReductionsOf(dtype);
  return std::count(reductions.begin(), reductions.end(), STREW_MUL) > 0;
}

}  // namespace

Case MakeRandomPlanned(Random& random, Operator op, const Dtype& dtype) {
  Case c = MakeRandomCase(random, op, dtype);
  c.duplicates = STREW_DUPLICATE_LAST;
  if (!random.OneIn(3)) return c;
  const bool drops = random.OneIn(2) || Product(c.data.shape()) == 0;
  c.policy = drops ? STREW_INDEX_DROP : STREW_INDEX_CLAMP;
  SpoilIndices(random, c);
  return c;
}

void SetAnyResult(Random& random, Case& c) {
  Dims shape = UpdatesShapeOf(c);
  // The result of one tuple may have any shape with one element.
  if (shape.empty() && c.op == Operator::kScatterNd)
    shape.resize(static_cast<size_t>(random.Between(0, 3)), 1);
  const Layout layout = AnyLayout(random, std::move(shape), Use::kOutput);
  c.output = RandomArray(random, c.data.dtype(), layout, AnyGuard(random));
}

Case MakeRandomGather(Random& random, const Dtype& dtype, const Dims& result) {
  Gathered gathered = AnyGathered(random, result);
  for (int i = 0; i < 20 && !IsSmall(gathered, dtype); ++i) gathered = AnyGathered(random, result);
  const Layout layout = AnyLayout(random, gathered.source, Use::kInput);
  Case c{gathered.op, RandomArray(random, dtype.code, layout, AnyGuard(random)),
         Array(dtype.code, RowMajor({0}))};
  c.axis = gathered.axis;
  c.wrap = !random.OneIn(4);
  c.policy = random.Pick(
      std::vector<strew_index_policy>{STREW_INDEX_ERROR, STREW_INDEX_DROP, STREW_INDEX_CLAMP});
  SetAnyIndices(random, c, gathered.indices);
  return c;
}

GatherScatterCase MakeRandomGatherScatter(Random& random, Operator to, const Dtype& dtype) {
  Case scatter = MakeRandomCase(random, to, dtype);
  scatter.duplicates = STREW_DUPLICATE_LAST;
  const Dims updates = UpdatesShapeOf(scatter);
  GatherScatterCase c{MakeRandomGather(random, dtype, updates), std::move(scatter)};
  for (Case* indexed : {&c.from, &c.to}) {
    if (!random.OneIn(3)) continue;
    indexed->policy = random.OneIn(2) ? STREW_INDEX_DROP : STREW_INDEX_CLAMP;
    SpoilIndices(random, *indexed);
    // Clamping fails on an axis without elements.
    const Dims& shape = indexed->data.shape();
    if (std::count(shape.begin(), shape.end(), 0) > 0) indexed->policy = STREW_INDEX_DROP;
  }
  if (HasProducts(dtype) && random.OneIn(2)) {
    const Layout layout = AnyLayout(random, AnyBroadcastable(random, updates), Use::kInput);
    c.weights = RandomArray(random, dtype.code, layout, AnyGuard(random));
  }
  return c;
}

std::string Describe(const GatherScatterCase& c) {
  std::string text = "from " + Describe(c.from) + "\nto " + Describe(c.to);
  if (c.weights) {
    text += "\nweights " + ToString(c.weights->shape()) + " strides " +
            ToString(c.weights->view().layout.strides);
  }
  return text;
}

}  // namespace strew::reference
