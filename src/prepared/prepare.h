// SPDX-License-Identifier: Apache-2.0
// Fills a plan with the entries of an index tensor.
#ifndef STREW_PREPARED_PREPARE_H_
#define STREW_PREPARED_PREPARE_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/plan.h"

namespace strew::prepared {

// Checks and sorts `indices` with the policies of the call. The plan must already have their kind,
// shape, axis, extents and number of all entries.
Status Prepare(const Call& call, const TensorView& indices, Plan* plan);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_PREPARE_H_
