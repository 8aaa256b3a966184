// SPDX-License-Identifier: Apache-2.0
// Shares single elements that may land anywhere, in rounds of two phases. First each task sorts
// some of the entries by the task that owns their destination. Then each task writes the entries
// that it owns, from the buffers of all tasks in order. Every index and update is read from memory
// once, and the buffers stay in the caches.
#ifndef STREW_SHARE_PARTITION_H_
#define STREW_SHARE_PARTITION_H_

#include <cstdint>

#include "base/status.h"
#include "plan/schedule.h"
#include "walk/scatter.h"

namespace strew::share {

// Scratch of each task: the maximum that strew.h promises, or less for few entries.
int64_t PartitionBytes(const plan::EntryLoops& loops, int64_t width, int64_t tasks);

// Each range belongs to one task. `scratch` has PartitionBytes() for each of them.
Status RunPartition(const walk::Scatter& scatter, const plan::MemoryHints& hints,
                    const plan::Ranges& ranges, unsigned char* scratch);

}  // namespace strew::share

#endif  // STREW_SHARE_PARTITION_H_
