// SPDX-License-Identifier: Apache-2.0
#include "walk/scatter.h"

#include "plan/unit.h"
#include "walk/kernels.h"

namespace strew::walk {

Scatter::Scatter(const Call& call_, const Operands& operands_, const plan::EntryLoops& loops_,
                 strew_reduction reduction_, std::atomic<int64_t>* applied_units_)
    : call(call_),
      tuning(plan::TuningOf(call_)),
      operands(operands_),
      loops(loops_),
      reduction(reduction_),
      applied_units(applied_units_),
      width(plan::IndexedUnitsOf(operands_.output.element_size).width),
      index_size(operands_.indices.element_size),
      wraps(call_.settings().wrap_negative_indices),
      index_kernels(kernel::IndexKernelsFor(operands_.indices.dtype, call_.settings().simd_target)),
      kernels(IndexedKernelsFor(call_, operands_.output, reduction_)),
      move(MoveKernelsFor(call_, plan::IndexedUnitsOf(operands_.output.element_size))) {}

Scatter::Scatter(const Scatter& like, const plan::EntryLoops& loops_of_part)
    : Scatter(like.call, like.operands, loops_of_part, like.reduction, like.applied_units) {}

Scatter::Scatter(const Scatter& like, strew_reduction other)
    : Scatter(like.call, like.operands, like.loops, other, like.applied_units) {}

Scatter::Scatter(const Scatter& like, strew_reduction other, const TensorView& updates,
                 const plan::EntryLoops& loops_of_updates)
    : Scatter(like.call, {like.operands.data, like.operands.indices, updates, like.operands.output},
              loops_of_updates, other, nullptr) {}

}  // namespace strew::walk
