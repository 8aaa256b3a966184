// SPDX-License-Identifier: Apache-2.0
// Means whose sums have the type of the elements: a plan knows how many updates each destination
// gets, so that they are sums, and one pass over the destinations divides them.
#ifndef STREW_PREPARED_DIVIDE_H_
#define STREW_PREPARED_DIVIDE_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/operands.h"
#include "prepared/plan.h"

namespace strew::prepared {

// The size of the sum that a mean of the output's dtype accumulates.
int64_t SumBytes(const Call& call, const TensorView& output);

// True if sums of the dtype are accumulated in it.
bool SumsAreElements(const Call& call, const TensorView& output);

// Divides each element of a destination by the number of its updates, and by one more if the old
// value counts. Fails only if the runner does.
Status DivideByCounts(const Call& call, const Plan& plan, const TensorView& output,
                      const Layout& layout, bool counts_old);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_DIVIDE_H_
