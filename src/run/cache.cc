// SPDX-License-Identifier: Apache-2.0
#include "run/cache.h"

#if defined(__linux__)
#include <unistd.h>
#endif

namespace strew::run {
namespace {

int64_t LastLevelCacheBytes() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return bytes;
#endif
  return int64_t{32} << 20;  // of a common server, where the system does not tell
}

}  // namespace

int64_t StreamingThreshold() {
  static const int64_t threshold = LastLevelCacheBytes();
  return threshold;
}

}  // namespace strew::run
