// SPDX-License-Identifier: Apache-2.0
// Means: the old value and all updates of an element, divided by how many they are.
#ifndef STREW_ACCUMULATE_MEAN_H_
#define STREW_ACCUMULATE_MEAN_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/entry_loops.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// STREW_MEAN, with STREW_EXCLUDE_SELF or without. The index space is arranged and the indices are
// checked. Takes 40 bytes for a touched element at most, besides 2 MiB.
Status ApplyMean(const walk::Scatter& scatter, bool in_place);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_MEAN_H_
