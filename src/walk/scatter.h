// SPDX-License-Identifier: Apache-2.0
// A scatter with indices that is ready to run: its operands, loops, kernels and widths.
#ifndef STREW_WALK_SCATTER_H_
#define STREW_WALK_SCATTER_H_

#include <atomic>
#include <cstdint>

#include "base/call.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "plan/schedule.h"
#include "strew/strew.h"

namespace strew::walk {

// Operands that are checked, except for the values of the indices.
struct Operands {
  const TensorView& data;
  const TensorView& indices;
  const TensorView& updates;
  const TensorView& output;
};

struct Scatter {
  const Call& call;
  const plan::Tuning& tuning;
  const Operands operands;
  const plan::EntryLoops& loops;
  const strew_reduction reduction;
  // Counts the applied units if entries may be dropped, else NULL.
  std::atomic<int64_t>* const applied_units;
  const int64_t width;  // bytes of a unit
  const int64_t index_size;
  const bool wraps;  // negative indices count from the end
  const kernel::IndexKernels& index_kernels;
  const kernel::CombineKernels& kernels;  // of the reduction
  const kernel::MoveKernels& move;

  Scatter(const Call& call, const Operands& operands, const plan::EntryLoops& loops,
          strew_reduction reduction, std::atomic<int64_t>* applied_units);
  // A copy with a part of the loops, or with another reduction.
  Scatter(const Scatter& like, const plan::EntryLoops& loops_of_part);
  Scatter(const Scatter& like, strew_reduction other);
  // A copy with other updates, which does not count applied units.
  Scatter(const Scatter& like, strew_reduction other, const TensorView& updates,
          const plan::EntryLoops& loops_of_updates);

  // The kernel for entries of more than one element.
  kernel::RunKernel RunFor(bool streams) const {
    return streams && reduction == STREW_NONE ? move.stream : kernels.run;
  }
  // The rows of a tile of such entries, to be written by that kernel.
  kernel::RowsArguments RowsOf(const kernel::TileArguments& tile, kernel::RunKernel run) const {
    const plan::InnerLoop& loop = loops.run;
    return {tile,
            loop.count,
            loop.stride[plan::kOutput],
            loop.stride[plan::kUpdates],
            /*streams=*/run != kernels.run,
            /*moves=*/reduction == STREW_NONE,
            /*updates_offsets=*/nullptr};
  }

  // True if a kernel combines rows of the only axis in a vector.
  bool FitsVector() const {
    return kernels.short_axis != nullptr && loops.HasOneAxis() &&
           loops.component[0].axis_size <= kernel::kShortAxisBytes / width;
  }

  // `at` counts units; in indices, elements.
  unsigned char* OutputAt(int64_t at) const { return operands.output.data + at * width; }
  const unsigned char* UpdateAt(int64_t at) const { return operands.updates.data + at * width; }
  const unsigned char* DataAt(int64_t at) const { return operands.data.data + at * width; }
  const unsigned char* IndexAt(int64_t at) const { return operands.indices.data + at * index_size; }
  // Origin of the loops in the output.
  unsigned char* origin() const { return OutputAt(loops.outer.base[plan::kOutput]); }
};

}  // namespace strew::walk

#endif  // STREW_WALK_SCATTER_H_
