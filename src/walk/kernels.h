// SPDX-License-Identifier: Apache-2.0
// Selects the kernels for the dtype of a tensor, a reduction and a SIMD target.
#ifndef STREW_WALK_KERNELS_H_
#define STREW_WALK_KERNELS_H_

#include "base/call.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "plan/unit.h"

namespace strew::walk {

// Kernels for runs of updates: through the caches, and past them if there is such a kernel.
struct RunKernels {
  int64_t width;  // bytes of a unit
  kernel::RunKernel run;
  kernel::RunKernel stream;
  bool moves;                         // the kernels only replace
  kernel::TransposeKernel transpose;  // of moves; may be NULL

  kernel::RunKernel Choose(bool streams) const { return streams ? stream : run; }
};

// Kernels of a reduction for the dtype of `output` and these units. Those of STREW_MEAN compute the
// mean of the old value and one update.
RunKernels RunKernelsFor(const Call& call, const TensorView& output, strew_reduction reduction,
                         const plan::Units& units);
const kernel::MoveKernels& MoveKernelsFor(const Call& call, const plan::Units& units);

// Kernels for elements whose destinations are given by indices. Reductions of more
// than one step, which combine nothing in the output, have kernels that move.
const kernel::CombineKernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                                strew_reduction reduction);

// Clamps the indices of a tile that are out of range, and resolves all of them. Requires at most
// plan::kMostClamped entries.
void ResolveClamped(const kernel::IndexKernels& kernels, kernel::OffsetWidth width, bool wraps,
                    kernel::ResolveArguments arguments);
// Resolves the indices of a tile, after clamping where some may be out of range. Entries that will
// be dropped are clamped too, so that no offset overflows.
inline void ResolveTile(const kernel::IndexKernels& kernels, kernel::OffsetWidth width, bool wraps,
                        plan::OutOfRange out_of_range, const kernel::ResolveArguments& arguments) {
  if (out_of_range == plan::OutOfRange::kNothing) return kernels.resolve[width](arguments);
  ResolveClamped(kernels, width, wraps, arguments);
}

}  // namespace strew::walk

#endif  // STREW_WALK_KERNELS_H_
