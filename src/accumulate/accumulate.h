// SPDX-License-Identifier: Apache-2.0
// The door of the room: what must know all updates of a destination. The indices are checked, and
// there are updates.
#ifndef STREW_ACCUMULATE_ACCUMULATE_H_
#define STREW_ACCUMULATE_ACCUMULATE_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// STREW_MEAN, with STREW_EXCLUDE_SELF or without: the old value and all updates of an element,
// divided by how many they are. Copies data unless `in_place`. Takes 40 bytes for a touched element
// at most, besides 2 MiB.
Status ApplyMean(const walk::Scatter& scatter, bool in_place);

// Copies data unless `in_place`, and applies a reduction of one step: to its identity, or where it
// has none to the first update of an element. The latter takes 16 bytes for an entry at most, besides
// 2 MiB.
Status ApplyWithoutSelf(const walk::Scatter& scatter, bool in_place);

// Fails at the first update, in the order of the indices, whose element an earlier one names. Takes
// 16 bytes for an entry at most, besides 2 MiB.
Status CheckIndicesDiffer(const Call& call, const TensorView& indices,
                          const plan::IndexSpace& space);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_ACCUMULATE_H_
