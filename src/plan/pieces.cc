// SPDX-License-Identifier: Apache-2.0
#include "plan/pieces.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"

namespace strew::plan {
namespace {

// Only loops of batches have strides of their own in data.
int64_t DataStride(const IndexedLoop& loop, bool data_is_alike) {
  return loop.stride[data_is_alike ? kOutput : kData];
}
int64_t DataStride(const InnerLoop& loop, bool) { return loop.stride[kOutput]; }

}  // namespace

int64_t PieceUnits(const EntryLoops& loops) {
  int64_t units = loops.DestinationsOfBatch();
  ForEachCutLoop(loops, [&](const auto& loop) { units *= loop.count; });
  return units;
}

Cut CutIntoPieces(const EntryLoops& loops, int64_t most) {
  struct OuterLoop {
    int64_t count;
    uint64_t stride;  // 0 for a loop that is not cut, or no more
    int64_t pieces;
  };
  uint64_t axis_stride = 0;
  for (int c = 0; c < loops.components; ++c) {
    axis_stride = std::max(axis_stride, Magnitude(loops.component[c].output_stride));
  }
  OuterLoop all[2 * kMaxLoops];
  int rank = 0;
  ForEachCutLoop(loops, [&](const auto& loop) {
    const uint64_t stride = Magnitude(loop.stride[kOutput]);
    all[rank++] = {loop.count, stride >= axis_stride ? stride : 0, 1};
  });
  for (int64_t left = PieceUnits(loops); left > most;) {
    OuterLoop* const outermost = std::max_element(
        all, all + rank, [](const auto& a, const auto& b) { return a.stride < b.stride; });
    if (std::exchange(outermost->stride, 0) == 0) break;
    const int64_t units = left / outermost->count;  // of a turn
    const int64_t turns = std::max<int64_t>(most / units, 1);
    outermost->pieces = (outermost->count - 1) / turns + 1;
    left = turns * units;
  }
  Cut cut;
  for (int i = 0; i < rank; ++i) cut.Append(all[i].count, 1, cut.parts() * all[i].pieces);
  return cut;
}

LoopNest<kPieceOperands> PieceLoops(const EntryLoops& loops, bool data_is_alike) {
  LoopNest<kPieceOperands> nest;
  for (int c = 0; c < loops.components; ++c) {
    const Component& axis = loops.component[c];
    nest.Append(axis.axis_size, axis.output_stride,
                data_is_alike ? axis.output_stride : axis.data_stride);
  }
  ForEachCutLoop(loops, [&](const auto& loop) {
    nest.Append(loop.count, loop.stride[kOutput], DataStride(loop, data_is_alike));
  });
  nest.base[kPieceOutput] = loops.outer.base[kOutput] + loops.inner.base[kOutput];
  nest.base[kPieceData] = data_is_alike ? nest.base[kPieceOutput] : loops.outer.base[kData];
  return nest;
}

}  // namespace strew::plan
