// SPDX-License-Identifier: Apache-2.0
// Runs a scatter with an index tensor.
#ifndef STREW_RUN_INDEXED_H_
#define STREW_RUN_INDEXED_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/indexed.h"

namespace strew::run {

// What a lowered operator hands over. All arguments are checked but for the values of the indices.
struct IndexedScatter {
  const TensorView& data;
  const TensorView& indices;
  const TensorView& updates;
  const TensorView& output;
  strew_reduction reduction;
};

// Checks the indices, copies data where output is not data itself, and applies the updates.
Status Run(const Call& call, const IndexedScatter& scatter, plan::IndexedPlan* plan);

}  // namespace strew::run

#endif  // STREW_RUN_INDEXED_H_
