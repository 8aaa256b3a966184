// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_BASE_CACHE_SIZE_H_
#define STREW_BASE_CACHE_SIZE_H_

#include <cstdint>

namespace strew {

// Size in bytes of the last cache before memory, as this CPU sees it.
int64_t LastLevelCacheBytes();

}  // namespace strew

#endif  // STREW_BASE_CACHE_SIZE_H_
