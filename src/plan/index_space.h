// SPDX-License-Identifier: Apache-2.0
// GLOSSARY of the rooms that build on this one.
//
//   data, indices, updates, output   the operands, as strew.h names them
//   unit          memory that a kernel moves at once: an element, or a part of an opaque one
//   axis          a dim of data that indices name; `component`: one of the axes that a tuple names
//   entry         one index value, or one tuple, with its update
//   destination   the element or slice of output that an entry names
//   offset        distance of a destination from an origin, in units
//   batch         the turns of loops that have indices of their own and never meet in the output
//   run           units of an entry at equal distances; `inner loops` go around it
//   row, column   the two innermost loops over entries, after they are arranged
//   tile          rows and columns whose offsets are in the L1 cache at the same time
//   strip         columns whose axis is in scratch at the same time
//   draft         a copy of a small output in scratch, on which updates are tried while their indices
//                 are checked; it becomes the output if all of them are valid
//   box           loops without indices: a slice, a copy, a write to a cache
//   overlay       a slice laid over a copy of data, in one pass
//   task, part    a task is a thread's share of a call; it takes one part after the other
//   range         destinations between two offsets, which belong to one task
//   filter        keeps the entries of one range, in order; partition: sorts entries by range
//   sink          receives entries that are not written at once
//   bucket        consecutive destinations whose sums are in the L2 cache at the same time
//   prefetch      the distance, in entries, at which a destination is fetched before its turn
//   streaming     writing past the caches
//
// The index space of a scatter: the meaning of a call, independent of the operator.
//
//   output[sum over c of index(c, e, b) * output_stride(c) + b * batch stride + i * inner stride]
//       (+)= updates[e, b, i]
//
// Indices alone place entries e, which are applied in order. Turns b of the batch have indices of
// their own and never meet in the output. Inner turns i share the index of their entry and never
// meet either. So batch and inner turns may run in any order.
//
//   scatter_elements  one component; the axis is the loop over entries, the other axes are batch,
//                     or inner if the indices do not change along them (stride 0)
//   scatter_nd        a component for each number of a tuple; tuples are entries, the other dims of
//                     data are inner
//   scatter_update    one component; all dims of indices are entries, the other dims of data inner
#ifndef STREW_PLAN_INDEX_SPACE_H_
#define STREW_PLAN_INDEX_SPACE_H_

#include <cstdint>

#include "base/tensor_view.h"
#include "plan/loop_nest.h"

namespace strew::plan {

// Operands of the nests. Entries have no stride in output and data, because indices place them.
// Inner turns have neither indices nor data, so their nest has the first two operands only.
enum { kOutput, kUpdates, kIndices, kData, kIndexedOperands };

using IndexedNest = LoopNest<kIndexedOperands>;
using IndexedLoop = Loop<kIndexedOperands>;
using InnerNest = LoopNest<kIndices>;
using InnerLoop = Loop<kIndices>;

struct Component {
  int64_t axis;           // of data; of a plan's creation as it was given
  int64_t axis_size;      // elements
  int64_t output_stride;  // of the axis, in units
  int64_t data_stride;    // likewise
  int64_t indices_base;   // position of its first index in indices
};

struct IndexSpace {
  int components = 0;
  Component component[kMaxRank];
  // The dim of indices that runs over entries if the others are batch, else -1.
  int entry_dim = -1;
  bool has_tuples = false;  // the last dim of indices goes over components
  IndexedNest entries;
  IndexedNest batch;
  int minor_batch_loops = 0;  // innermost loops of batch, within entries in indices
  InnerNest inner;

  void AppendComponent(int axis, const TensorView& data, const TensorView& output, int64_t units,
                       int64_t indices_base) {
    component[components++] = {axis, output.shape[axis], StrideOf(output, axis) * units,
                               StrideOf(data, axis) * units, indices_base};
  }

  // All indices name this element of the axis, which becomes the only one. One index of 0 stands for
  // them.
  void KeepElement(int64_t element) {
    Component& axis = component[0];
    batch.base[kOutput] += element * axis.output_stride;
    batch.base[kData] += element * axis.data_stride;
    batch.base[kIndices] = axis.indices_base = 0;
    axis.axis_size = 1;
    for (int i = 0; i < entries.rank; ++i) entries.loop[i].stride[kIndices] = 0;
    for (int i = 0; i < batch.rank; ++i) batch.loop[i].stride[kIndices] = 0;
  }

  // The last entry of each batch, which replaces the others if all indices are equal.
  void KeepLastEntry() {
    while (entries.rank > 0) {
      const IndexedLoop loop = entries.PopInnermost();
      batch.base[kUpdates] += (loop.count - 1) * loop.stride[kUpdates];
    }
  }

  // Product of the counts of the minor loops of batch.
  int64_t MinorBatches() const {
    int64_t turns = 1;
    for (int i = batch.rank - minor_batch_loops; i < batch.rank; ++i) turns *= batch.loop[i].count;
    return turns;
  }
};

}  // namespace strew::plan

#endif  // STREW_PLAN_INDEX_SPACE_H_
