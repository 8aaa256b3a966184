// SPDX-License-Identifier: Apache-2.0
// The interface of the room: work that needs all updates of a destination. The indices are checked,
// and there are updates.
#ifndef STREW_ACCUMULATE_ACCUMULATE_H_
#define STREW_ACCUMULATE_ACCUMULATE_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// STREW_MEAN and reductions with STREW_WIDE, with or without STREW_EXCLUDE_SELF: combines an
// element's old value, unless it is excluded, and its updates in a wide accumulator, and rounds
// once. Requires that STREW_WIDE makes a difference. Copies data unless `in_place`. Allocates at
// most 40 bytes for each touched element, and 2 MiB.
Status ApplyWide(const walk::Scatter& scatter, bool in_place);

// Copies data unless `in_place`, and applies a reduction of one step to its identity or, if it has
// none, to the first update of an element. The latter allocates at most 16 bytes for each entry,
// and 2 MiB.
Status ApplyWithoutSelf(const walk::Scatter& scatter, bool in_place);

// Fails at the first update, in the order of the indices, whose element an earlier one names.
// Allocates at most 16 bytes for each entry, and 2 MiB.
Status CheckIndicesDiffer(const Call& call, const TensorView& indices,
                          const plan::IndexSpace& space);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_ACCUMULATE_H_
