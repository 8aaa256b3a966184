// SPDX-License-Identifier: Apache-2.0
#include "run/duplicates.h"

#include <cinttypes>

#include "plan/text.h"
#include "run/index_check.h"
#include "run/place.h"
#include "run/scratch.h"
#include "run/seen.h"

namespace strew::run {
namespace {

// Operands of a nest over entries: where their indices lie, the row-major position of these, and a
// number for each place, without gaps.
enum { kIndex, kPosition, kNumber, kOperands };
using EntryNest = plan::LoopNest<kOperands>;

struct Numbering {
  explicit Numbering(const TensorView& indices, const plan::IndexedPlan& plan);

  EntryNest nest;  // in the order of the indices
  plan::IndexedPlan places;
  int64_t count = 1;    // of places
  int64_t entries = 1;  // that are compared
};

// Lanes never meet. Where the indices do not change along one the first of it stands for all.
Numbering::Numbering(const TensorView& indices, const plan::IndexedPlan& plan) {
  places.components = plan.components;
  for (int c = plan.components - 1; c >= 0; --c) {
    places.component[c] = plan.component[c];
    places.component[c].output_stride = count;
    count *= plan.component[c].axis_size;
  }
  const bool has_lanes = plan.entry_dim >= 0;
  const bool has_tuples = plan.has_tuples;
  EntryNest backwards;
  int64_t position = has_tuples ? indices.shape[indices.rank - 1] : 1;
  for (int i = indices.rank - 1 - (has_tuples ? 1 : 0); i >= 0; --i) {
    const bool is_lane = has_lanes && i != plan.entry_dim;
    const int64_t turns = indices.shape[i];
    if (!is_lane || StrideOf(indices, i) != 0) {
      backwards.Append(turns, StrideOf(indices, i), position, is_lane ? count : 0);
      entries *= turns;
      if (is_lane) count *= turns;
    }
    position *= turns;
  }
  while (backwards.rank > 0) nest.loop[nest.rank++] = backwards.PopInnermost();
}

Status Report(const Call& call, const TensorView& indices, const plan::IndexedPlan& plan,
              int64_t position) {
  if (plan.components == 0) {
    return call.Fail(STREW_DUPLICATE_INDEX,
                     "indices has several tuples of no numbers, and each names the whole of data");
  }
  const plan::CoordinatesText at(indices, position);
  return call.FailAt(position, STREW_DUPLICATE_INDEX,
                     "indices%s names an element that an earlier update names too", at.c_str());
}

}  // namespace

Status CheckIndicesDiffer(const Call& call, const IndexedScatter& scatter,
                          plan::IndexedPlan* plan) {
  const TensorView& indices = scatter.indices;
  const Numbering numbering(indices, *plan);
  Seen seen(numbering.count, numbering.entries);
  const SmallScratch scratch(call, seen.bytes());
  if (scratch.memory() == nullptr) {
    return call.Fail(STREW_OUT_OF_MEMORY,
                     "%" PRId64 " bytes to find duplicates among the indices were refused",
                     seen.bytes());
  }
  if (indices.size != 0) STREW_TRY(CheckIndices(call, indices, plan));
  seen.Begin(scratch.memory());
  int64_t found = -1;
  plan::ForEachTurn(numbering.nest, numbering.nest.rank, [&](const int64_t* entry) {
    int64_t number = entry[kNumber];
    // What is out of range here is dropped.
    if (!AddPlace(call, indices, numbering.places, entry[kIndex], &number)) return true;
    if (seen.Add(static_cast<uint64_t>(number))) return true;
    found = entry[kPosition];
    return false;
  });
  return found < 0 ? Status(STREW_OK) : Report(call, indices, *plan, found);
}

}  // namespace strew::run
