// SPDX-License-Identifier: Apache-2.0
// Whether two updates name one element.
#ifndef STREW_ACCUMULATE_DUPLICATES_H_
#define STREW_ACCUMULATE_DUPLICATES_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"

namespace strew::accumulate {

// Fails at the first update, in the order of the indices, whose element an earlier one names. There
// are updates, and their indices are checked. Takes 16 bytes for an entry at most, besides 2 MiB.
Status CheckIndicesDiffer(const Call& call, const TensorView& indices,
                          const plan::IndexSpace& space);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_DUPLICATES_H_
