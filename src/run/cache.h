// SPDX-License-Identifier: Apache-2.0
// Where streaming stores pay on this machine.
#ifndef STREW_RUN_CACHE_H_
#define STREW_RUN_CACHE_H_

#include <cstdint>

namespace strew::run {

// Of the last cache before memory, as this CPU sees it.
int64_t LastLevelCacheBytes();

// Outputs of at least so many bytes are written past the caches when they are written once, in
// order, by so many tasks.
int64_t StreamingThreshold(int64_t tasks = 1);

}  // namespace strew::run

#endif  // STREW_RUN_CACHE_H_
