// SPDX-License-Identifier: Apache-2.0
// Finds elements that two updates name.
#include "accumulate/accumulate.h"

#include <algorithm>

#include "plan/lower.h"
#include "plan/text.h"
#include "accumulate/destination_set.h"
#include "walk/index_reader.h"

namespace strew::accumulate {
namespace {

// Operands of a nest over entries: the offset of their indices, the row-major position of these
// indices, and the number of the destination. Destinations are numbered without gaps.
enum { kIndex, kPosition, kNumber, kOperands };
using EntryNest = plan::LoopNest<kOperands>;

struct Numbering {
  Numbering(const TensorView& indices, const plan::IndexSpace& space);

  EntryNest nest;  // in the order of the indices
  plan::Component component[kMaxRank];
  int components;
  int64_t count = 1;    // of destinations
  int64_t entries = 1;  // that are compared
};

// Batches never share destinations. If the indices do not change along a batch dim, its first turn
// stands for all.
Numbering::Numbering(const TensorView& indices, const plan::IndexSpace& space)
    : components(space.components) {
  for (int c = space.components - 1; c >= 0; --c) {
    component[c] = space.component[c];
    component[c].output_stride = count;
    count *= space.component[c].axis_size;
  }
  const bool has_batch = space.entry_dim >= 0;
  const bool has_tuples = space.has_tuples;
  int64_t position = has_tuples ? plan::TupleLength(indices) : 1;
  for (int i = indices.rank - 1 - (has_tuples ? 1 : 0); i >= 0; --i) {
    const bool is_batch = has_batch && i != space.entry_dim;
    const int64_t turns = indices.shape[i];
    if (!is_batch || StrideOf(indices, i) != 0) {
      nest.Prepend(turns, StrideOf(indices, i), position, is_batch ? count : 0);
      entries *= turns;
      if (is_batch) count *= turns;
    }
    position *= turns;
  }
}

Status Report(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
              int64_t position) {
  if (space.components == 0) {
    return call.Fail(STREW_DUPLICATE_INDEX,
                     "indices has several tuples of no numbers, and each names the whole of data");
  }
  const plan::CoordinatesText at(indices, position);
  return call.FailAt(position, STREW_DUPLICATE_INDEX,
                     "indices%s names an element that an earlier update names too", at.c_str());
}

// Calls body(number of the destination, position) for each entry that is not dropped, in order,
// until it returns false.
template <class Body>
void ForEachNumber(const Call& call, const TensorView& indices, const Numbering& numbering,
                   Body body) {
  const walk::IndexReader reader(call, indices);
  plan::ForEachTurn(numbering.nest, numbering.nest.rank, [&](const int64_t* entry) {
    int64_t number = entry[kNumber];
    // Indices that are out of range here are dropped.
    const bool is_in_range =
        reader.AddOffset(numbering.component, numbering.components, entry[kIndex], &number);
    return is_in_range ? body(number, entry[kPosition]) : true;
  });
}

Status Refuse(const Call& call) {
  return call.Fail(STREW_OUT_OF_MEMORY, "memory to find duplicates among the indices was refused");
}

}  // namespace

Status CheckIndicesDiffer(const Call& call, const TensorView& indices,
                          const plan::IndexSpace& space) {
  const Numbering numbering(indices, space);
  // Among the first count + 1 entries two have the same destination: no later ones are read.
  int64_t left = std::min(numbering.entries - 1, numbering.count) + 1;
  DestinationSet set(call, numbering.count, left, left, [&](const auto& collect) {
    ForEachNumber(call, indices, numbering, [&](int64_t number, int64_t) {
      if (left-- == 0) return false;
      collect(number);
      return true;
    });
  });
  if (!set.ok()) return Refuse(call);
  int64_t found = -1;
  ForEachNumber(call, indices, numbering, [&](int64_t number, int64_t position) {
    if (set.Insert(number)) return true;
    found = position;
    return false;
  });
  return found < 0 ? Status(STREW_OK) : Report(call, indices, space, found);
}

}  // namespace strew::accumulate
