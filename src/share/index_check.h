// SPDX-License-Identifier: Apache-2.0
// Checks all index values before anything is written.
#ifndef STREW_SHARE_INDEX_CHECK_H_
#define STREW_SHARE_INDEX_CHECK_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/entry_loops.h"

namespace strew::share {

// INDEX_OUT_OF_RANGE with the first bad value in row-major order, if the call fails because of one.
// `indices` has elements.
Status CheckIndices(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                    plan::Findings* findings);

}  // namespace strew::share

#endif  // STREW_SHARE_INDEX_CHECK_H_
