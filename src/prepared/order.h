// SPDX-License-Identifier: Apache-2.0
// Fills a plan with the entries of an index tensor, and puts them in the order of their
// destinations.
#ifndef STREW_PREPARED_ORDER_H_
#define STREW_PREPARED_ORDER_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/plan.h"

namespace strew::prepared {

// Checks `indices` with the policies of the call, and stores and orders their places. The plan must
// already have their kind, shape, axis, extents and number of all entries.
Status Prepare(const Call& call, const TensorView& indices, Plan* plan);

// Computes the order and the groups from the places. Entries of one destination keep their order.
// Allocates at most 16 bytes of scratch for each entry, 32 if numbers need 64 bits, and 512 KiB; if
// destinations ascend, only some counts for each part of the entries.
Status OrderEntries(const Call& call, Plan* plan);

// The number of destinations that entries of the plan can have, or -1 if it does not fit.
int64_t DestinationsOf(const Plan& plan);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ORDER_H_
