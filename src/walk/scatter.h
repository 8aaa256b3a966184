// SPDX-License-Identifier: Apache-2.0
// What an operator with indices hands over once its operands are checked.
#ifndef STREW_WALK_SCATTER_H_
#define STREW_WALK_SCATTER_H_

#include <atomic>
#include <cstdint>

#include "base/tensor_view.h"
#include "strew/strew.h"

namespace strew::walk {

// All arguments are checked but for the values of the indices.
struct IndexedScatter {
  const TensorView& data;
  const TensorView& indices;
  const TensorView& updates;
  const TensorView& output;
  strew_reduction reduction;
  // Counts the units that are applied, where some entries may be dropped; else NULL.
  std::atomic<int64_t>* applied_units = nullptr;
};

}  // namespace strew::walk

#endif  // STREW_WALK_SCATTER_H_
