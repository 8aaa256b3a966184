// SPDX-License-Identifier: Apache-2.0
// GLOSSARY of this folder and of those that build on it.
//
//   data, indices, updates, output   the operands, as strew.h names them
//   unit          memory that a kernel moves at once: an element, or a part of an opaque element
//   axis          a dim of data that indices name; `component`: one of the axes that a tuple names
//   entry         one index value, or one tuple, with its update
//   destination   the element or slice of output that an entry names
//   offset        distance of a destination from an origin, in units
//   turn          one round of a loop, or of several nested ones
//   batch         turns of loops with indices of their own, which never share a destination
//   run           units of an entry at equal distances; `inner loops` are the loops around it
//   row, column   the two innermost loops over entries, once the loops are arranged
//   tile          rows and columns whose offsets are in the L1 cache at the same time
//   strip         columns whose axis is in scratch at the same time
//   piece         elements of a large new output that are copied just before their updates
//   draft         a copy of a small output in scratch, to which updates are applied while their
//                 indices are checked; it is copied back if all of them are valid
//   box           loops without indices, e.g. a slice, a copy or a write to a cache
//   overlay       a slice laid over a copy of data, in one pass
//   task, part    a task is a thread's share of a call; it works on one part after the other
//   range         the destinations between two offsets, which belong to one task
//   filter        keeps the entries of one range, in order
//   partition     sorts entries by range
//   sink          receives entries that are not written at once
//   slot          the accumulator of one destination
//   rank          of a touched destination: its number in ascending order; else a number of dims
//   bucket        consecutive destinations whose sums are in the L2 cache at the same time
//   prefetch      the distance, in entries, at which a destination is fetched before its turn
//   streaming     writing past the caches
//
// The index space of a scatter describes a call independently of the operator.
//
//   output[sum over c of index(c, e, b) * output_stride(c) + b * batch stride + i * inner stride]
//       (+)= updates[e, b, i]
//
// Entries e are placed by their indices alone and applied in order. Turns b of the batch have their
// own indices, and inner turns i share the index of their entry. Two turns of the batch, or two
// inner turns, never write to the same element of the output. So batch and inner turns may run in
// any order.
//
//   scatter_elements  one component; the axis is the loop over entries, the other axes are batch,
//                     or inner if the indices do not change along them (stride 0)
//   scatter_nd        one component for each number of a tuple; tuples are entries, the other dims
//                     of data are inner
//   scatter_update    one component; all dims of indices are entries, the other dims of data are
//                     inner
#ifndef STREW_PLAN_INDEX_SPACE_H_
#define STREW_PLAN_INDEX_SPACE_H_

#include <cstdint>
#include <utility>

#include "base/tensor_view.h"
#include "plan/loop_nest.h"

namespace strew::plan {

// Operands of the nests. Loops over entries have no strides in output and data, because indices
// place the entries. The inner nest has only the first two operands: its turns share an index, and
// their strides in data are not needed.
enum { kOutput, kUpdates, kIndices, kData, kIndexedOperands };

using IndexedNest = LoopNest<kIndexedOperands>;
using IndexedLoop = Loop<kIndexedOperands>;
using InnerNest = LoopNest<kIndices>;
using InnerLoop = Loop<kIndices>;

struct Component {
  int64_t axis;           // of data; for a new plan, the axis as the caller gave it
  int64_t axis_size;      // elements
  int64_t output_stride;  // of the axis, in units
  int64_t data_stride;    // likewise
  int64_t indices_base;   // position of its first index in indices
};

struct IndexSpace {
  int components = 0;
  Component component[kMaxRank];
  // The dim of indices that runs over entries if all others are batch, else -1.
  int entry_dim = -1;
  bool has_tuples = false;  // the last dim of indices runs over components
  IndexedNest entries;
  IndexedNest batch;
  int minor_batch_loops = 0;  // innermost loops of batch: dims after entry_dim in indices
  InnerNest inner;

  void AppendComponent(int axis, const TensorView& data, const TensorView& output, int64_t units,
                       int64_t indices_base) {
    component[components++] = {axis, output.shape[axis], StrideOf(output, axis) * units,
                               StrideOf(data, axis) * units, indices_base};
  }

  // Reduces the axis to the one element that all indices name. A single index of 0 replaces them.
  void KeepElement(int64_t element) {
    Component& axis = component[0];
    batch.base[kOutput] += element * axis.output_stride;
    batch.base[kData] += element * axis.data_stride;
    batch.base[kIndices] = axis.indices_base = 0;
    axis.axis_size = 1;
    for (int i = 0; i < entries.rank; ++i) entries.loop[i].stride[kIndices] = 0;
    for (int i = 0; i < batch.rank; ++i) batch.loop[i].stride[kIndices] = 0;
  }

  // Makes the batch loops inner loops. Requires that indices do not change along them.
  void TurnBatchIntoInner() {
    while (batch.rank > 0) {
      const IndexedLoop loop = batch.PopInnermost();
      inner.Append(loop.count, loop.stride[kOutput], loop.stride[kUpdates]);
    }
    minor_batch_loops = 0;
  }

  // Makes inner loops batch loops that read the same indices. Their strides in data are not known.
  void TurnInnerIntoBatch() {
    while (inner.rank > 0) {
      const Loop<kIndices> loop = inner.PopInnermost();
      batch.Prepend(loop.count, loop.stride[kOutput], loop.stride[kUpdates], 0, 0);
    }
    for (int o = 0; o < kIndices; ++o) batch.base[o] += std::exchange(inner.base[o], 0);
  }

  // Keeps the last entry of each batch. If all indices are equal, it replaces the others.
  void KeepLastEntry() {
    while (entries.rank > 0) {
      const IndexedLoop loop = entries.PopInnermost();
      batch.base[kUpdates] += (loop.count - 1) * loop.stride[kUpdates];
    }
  }

  // The number of turns of the minor loops of batch.
  int64_t MinorBatches() const {
    int64_t turns = 1;
    for (int i = batch.rank - minor_batch_loops; i < batch.rank; ++i) turns *= batch.loop[i].count;
    return turns;
  }
};

}  // namespace strew::plan

#endif  // STREW_PLAN_INDEX_SPACE_H_
