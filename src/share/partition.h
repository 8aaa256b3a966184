// SPDX-License-Identifier: Apache-2.0
// Single elements that may land anywhere, shared out in rounds of two phases: each task sorts some
// of the entries by the task that owns their destination, and then writes those that it owns
// itself, from all tasks in their order. So each index and update is read from memory once, and
// what is between the phases stays in the caches.
#ifndef STREW_SHARE_PARTITION_H_
#define STREW_SHARE_PARTITION_H_

#include <cstdint>

#include "base/status.h"
#include "plan/schedule.h"
#include "walk/scatter.h"

namespace strew::share {

// Scratch of each task: as much as is promised at most, less for few entries of `width` bytes.
int64_t PartitionBytes(const plan::EntryLoops& loops, int64_t width, int64_t tasks);

// Each range belongs to a task. `scratch` is that of all tasks.
Status RunPartition(const walk::Scatter& scatter, const plan::MemoryHints& hints,
                    const plan::Ranges& ranges, unsigned char* scratch);

}  // namespace strew::share

#endif  // STREW_SHARE_PARTITION_H_
