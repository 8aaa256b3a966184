// SPDX-License-Identifier: Apache-2.0
// The interface of the room: operations that need all updates of a destination together. All
// require checked indices and at least one update. Data is copied unless output is data itself.
#ifndef STREW_ACCUMULATE_ACCUMULATE_H_
#define STREW_ACCUMULATE_ACCUMULATE_H_

#include <cstdint>

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// Applies STREW_MEAN, or a reduction with STREW_WIDE where that makes a difference, with or without
// STREW_EXCLUDE_SELF: combines the old value of an element, unless it is excluded, and its updates
// in a wide accumulator, and rounds once. Allocates at most 40 bytes for each touched element, and
// 2 MiB.
Status ApplyWide(const walk::Scatter& scatter);

// Bytes of the accumulator of a mean of the output's dtype, and of the number of its updates if it
// has one beside it.
int64_t SumBytes(const Call& call, const TensorView& output);
inline constexpr int64_t kCountBytes = sizeof(uint32_t);

// Bytes of the accumulator and the count of a single element that has at most so many updates.
int64_t SlotBytes(const Call& call, const TensorView& output, strew_reduction reduction,
                  int64_t most_updates, bool counts_updates);

// Applies a reduction of one step that excludes old values: updates are combined with its identity
// or, if it has none, with the first update of an element. Telling first updates apart allocates at
// most 16 bytes for each entry, and 2 MiB.
Status ApplyWithoutSelf(const walk::Scatter& scatter);

// Fails at the first update, in the order of the indices, whose element an earlier update names
// too. Allocates at most 16 bytes for each entry, and 2 MiB.
Status CheckIndicesDiffer(const Call& call, const TensorView& indices,
                          const plan::IndexSpace& space);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_ACCUMULATE_H_
