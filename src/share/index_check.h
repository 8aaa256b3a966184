// SPDX-License-Identifier: Apache-2.0
// Checks all index values before anything is written.
#ifndef STREW_SHARE_INDEX_CHECK_H_
#define STREW_SHARE_INDEX_CHECK_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"

namespace strew::share {

// INDEX_OUT_OF_RANGE with the first bad value in row-major order, if there is one. The index space
// has its components, entries and lanes, and is not arranged yet; `indices` has elements. Where
// indices turn out to be constant along the inner lanes, those are moved inside.
Status CheckIndices(const Call& call, const TensorView& indices, plan::IndexSpace* space);

}  // namespace strew::share

#endif  // STREW_SHARE_INDEX_CHECK_H_
