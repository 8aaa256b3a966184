// SPDX-License-Identifier: Apache-2.0
#include "plan/spaces.h"

#include <algorithm>
#include <numeric>

namespace strew_test {
namespace {

using strew::plan::EntryLoops;
using strew::plan::IndexSpace;
using strew::plan::kIndices;
using strew::plan::kOutput;
using strew::plan::kUpdates;

Dims StridesOf(const Dims& shape) { return RowMajor(shape).strides; }

void AppendComponent(int axis, const Dims& data, const Dims& strides, int64_t indices_base,
                     IndexSpace* space) {
  const auto a = static_cast<size_t>(axis);
  space->component[space->components++] = {axis, data[a], strides[a], StridesOf(data)[a],
                                           indices_base};
}

IndexSpace Elements(const Dims& data, const Dims& strides, const Dims& indices, int axis) {
  IndexSpace space;
  AppendComponent(axis, data, strides, 0, &space);
  space.entry_dim = axis;
  const Dims places = StridesOf(indices);
  for (size_t i = 0; i < data.size(); ++i) {
    if (indices[i] == 1) continue;
    if (static_cast<int>(i) == axis) {
      space.entries.Append(indices[i], 0, places[i], places[i], 0);
    } else {
      space.batch.Append(indices[i], strides[i], places[i], places[i], StridesOf(data)[i]);
      if (static_cast<int>(i) > axis) ++space.minor_batch_loops;
    }
  }
  return space;
}

IndexSpace Nd(const Dims& data, const Dims& strides, int64_t entries, int k) {
  IndexSpace space;
  space.has_tuples = true;
  for (int c = 0; c < k; ++c) AppendComponent(c, data, strides, c, &space);
  const int64_t slice = Product(Dims(data.begin() + k, data.end()));
  space.entries.Append(entries, 0, slice, k, 0);
  for (size_t i = static_cast<size_t>(k); i < data.size(); ++i) {
    space.inner.Append(data[i], strides[i], StridesOf(data)[i]);
  }
  return space;
}

Dims AnyStrides(Random& random, const Dims& shape) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (random.OneIn(2)) random.Shuffle(order);
  Dims strides(shape.size());
  int64_t span = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t stride = span + (random.OneIn(3) ? random.Between(1, 4) : 0);
    strides[order[i]] = random.OneIn(4) ? -stride : stride;
    span += (shape[order[i]] - 1) * stride;
  }
  return strides;
}

}  // namespace

IndexSpace ElementsSpace(const Dims& data, const Dims& indices, int axis) {
  return Elements(data, StridesOf(data), indices, axis);
}

IndexSpace NdSpace(const Dims& data, int64_t entries, int k) {
  return Nd(data, StridesOf(data), entries, k);
}

// Tuples of one number that lie one behind the other.
IndexSpace UpdateSpace(const Dims& data, int64_t entries) { return NdSpace(data, entries, 1); }

namespace {

IndexSpace AnyOperator(Random& random) {
  Dims data(static_cast<size_t>(random.Between(1, 5)));
  for (int64_t& dim : data) dim = random.Between(1, 5);
  const Dims strides = AnyStrides(random, data);
  const auto rank = static_cast<int64_t>(data.size());
  if (random.OneIn(3)) {
    return Nd(data, strides, random.Between(1, 9), static_cast<int>(random.Between(0, rank)));
  }
  const auto axis = static_cast<size_t>(random.Between(0, rank - 1));
  Dims indices = data;
  for (int64_t& dim : indices) dim = random.OneIn(4) ? random.Between(1, dim) : dim;
  indices[axis] = random.Between(1, 9);
  return Elements(data, strides, indices, static_cast<int>(axis));
}

template <class Nest>
void RepeatUpdates(Nest* nest) {
  for (int i = 0; i < nest->rank; ++i) nest->loop[i].stride[kUpdates] = 0;
}

}  // namespace

IndexSpace AnySpace(Random& random) {
  IndexSpace space = AnyOperator(random);
  if (!random.OneIn(4)) return space;
  RepeatUpdates(&space.batch);
  RepeatUpdates(&space.entries);
  RepeatUpdates(&space.inner);
  return space;
}

Accesses AccessesOf(const IndexSpace& space) {
  Accesses accesses;
  ForEachTurn(space.batch, space.batch.rank, [&](const int64_t* batch) {
    ForEachTurn(space.entries, space.entries.rank, [&](const int64_t* entry) {
      ForEachTurn(space.inner, space.inner.rank, [&](const int64_t* inner) {
        accesses[batch[kOutput] + inner[kOutput]].push_back(
            {batch[kUpdates] + entry[kUpdates] + inner[kUpdates],
             batch[kIndices] + entry[kIndices]});
      });
    });
  });
  return accesses;
}

Accesses AccessesOf(const EntryLoops& loops) {
  Accesses accesses;
  ForEachTurn(loops.outer, loops.outer.rank, [&](const int64_t* outer) {
    for (int64_t turn = 0; turn < loops.row.count * loops.column.count; ++turn) {
      const int64_t r = turn / loops.column.count;
      const int64_t c = turn % loops.column.count;
      const auto place = [&](int operand) {
        return outer[operand] + r * loops.row.stride[operand] + c * loops.column.stride[operand];
      };
      ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
        for (int64_t i = 0; i < loops.run.count; ++i) {
          accesses[place(kOutput) + inner[kOutput] + i * loops.run.stride[kOutput]].push_back(
              {place(kUpdates) + inner[kUpdates] + i * loops.run.stride[kUpdates],
               place(kIndices)});
        }
      });
    }
  });
  return accesses;
}

}  // namespace strew_test
