// SPDX-License-Identifier: Apache-2.0
// Makes the contents of a plan.
#ifndef STREW_PREPARED_PREPARE_H_
#define STREW_PREPARED_PREPARE_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/plan.h"

namespace strew::prepared {

// Checks and orders `indices`, whose kind, shape, axis, extents and number of all entries stand in
// the plan already, with the policies of the call.
Status Prepare(const Call& call, const TensorView& indices, Plan* plan);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_PREPARE_H_
