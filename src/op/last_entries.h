// SPDX-License-Identifier: Apache-2.0
// Moves of many entries into few destinations: only the last entry of each is written.
#ifndef STREW_OP_LAST_ENTRIES_H_
#define STREW_OP_LAST_ENTRIES_H_

#include <cstdint>

#include "base/call.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"
#include "plan/tuning.h"

namespace strew {

// True if inner turns are runs of at least so many units that lie one behind the other.
bool HasRuns(const plan::InnerNest& inner, int64_t least = 1);

// True if so many entries are replaced by later ones, and are so long, that leaving them out is
// faster. `width` is the size of an indexed unit in bytes.
bool HasReplacedEntries(const plan::Tuning& tuning, const plan::IndexSpace& space, int64_t width);

// Bytes of scratch for KeepLastEntries().
int64_t LastEntriesBytes(const plan::IndexSpace& space);

// Writes a copy of the indices to `scratch`, in which those of replaced entries are out of range,
// and makes the space refer to it. Requires HasReplacedEntries(); indices are checked, and if they
// change meanwhile their entries are replaced too.
TensorView KeepLastEntries(const Call& call, const TensorView& indices, unsigned char* scratch,
                           plan::IndexSpace* space);

}  // namespace strew

#endif  // STREW_OP_LAST_ENTRIES_H_
