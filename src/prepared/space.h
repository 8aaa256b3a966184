// SPDX-License-Identifier: Apache-2.0
// Makes the index space of a plan's indices, with or without the operands of a call.
#ifndef STREW_PREPARED_SPACE_H_
#define STREW_PREPARED_SPACE_H_

#include "base/tensor_view.h"
#include "plan/index_space.h"
#include "prepared/plan.h"
#include "walk/scatter.h"

namespace strew::prepared {

// The space of the indices alone, for their check.
plan::IndexSpace SpaceOfIndices(const Plan& plan, const TensorView& indices);

// The plan's places as an index tensor, with one number for each tuple.
TensorView PlacesOf(const Plan& plan);

// The space of a call whose indices are PlacesOf(plan). `axis` is that of kUpdate in data. Requires
// that the indexed axes are one loop in data and output: see AxesAreOneLoop().
plan::IndexSpace SpaceOfCall(const Plan& plan, const walk::Operands& operands, int axis);
bool AxesAreOneLoop(const Plan& plan, const TensorView& tensor);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SPACE_H_
