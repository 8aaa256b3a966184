// SPDX-License-Identifier: Apache-2.0
// gather_scatter of single elements in the order of the entries, which costs less for each entry
// than the order of destinations.
#ifndef STREW_PREPARED_BY_ENTRIES_H_
#define STREW_PREPARED_BY_ENTRIES_H_

#include <cstdint>

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/operands.h"
#include "prepared/plan.h"

namespace strew::prepared {

// The operands of gather_scatter. Data was copied to the output.
struct Passage {
  const Call& call;
  const Plan& from;
  const TensorView& source;
  const TensorView* weights;  // NULL for none
  const Plan& to;
  const TensorView& output;
  strew_reduction reduction;
  const Layout& of_from;
  const Layout& of_to;
};

// Stride of the weights in a dim of the updates, of which there are `rank`. Weights are broadcast
// as NumPy does.
int64_t WeightStride(const TensorView& weights, int dim, int rank);

// Leaves *done false, with nothing written, if this way does not apply. *applied receives the
// number of updates.
Status PassByEntries(const Passage& passage, bool* done, int64_t* applied);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_BY_ENTRIES_H_
