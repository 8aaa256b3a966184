// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_BASE_CACHE_SIZE_H_
#define STREW_BASE_CACHE_SIZE_H_

#include <cstdint>

namespace strew {

// Bytes. CPUs of other line sizes give the same results; their prefetches are fewer or more.
inline constexpr int64_t kCacheLine = 64;

// Size in bytes of the last cache before memory, as this CPU sees it.
int64_t LastLevelCacheBytes();

}  // namespace strew

#endif  // STREW_BASE_CACHE_SIZE_H_
