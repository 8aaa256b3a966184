// SPDX-License-Identifier: Apache-2.0
#include "base/cache_size.h"

#include <atomic>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define STREW_HAVE_CPUID 1
#elif defined(__linux__)
#include <unistd.h>
#endif

namespace strew {
namespace {

constexpr int64_t kCommonCache = int64_t{32} << 20;

#if defined(STREW_HAVE_CPUID)

// GCOVR_EXCL_START: one machine has one kind of CPU.
// The size in bytes of the largest cache that cpuid reports: leaf 4 on Intel, leaf 0x8000001D on
// AMD. sysconf() is no substitute: it reported the caches of the whole machine, 384 MiB, where one
// CPU has 32 MiB.
int64_t LargestCache(unsigned leaf) {
  int64_t largest = 0;
  for (unsigned i = 0; i < 8; ++i) {
    unsigned type_and_level, geometry, sets, features;
    if (__get_cpuid_count(leaf, i, &type_and_level, &geometry, &sets, &features) == 0) break;
    if ((type_and_level & 31) == 0) break;
    const int64_t ways = (geometry >> 22) + 1;
    const int64_t partitions = ((geometry >> 12) & 1023) + 1;
    const int64_t line = (geometry & 4095) + 1;
    const int64_t bytes = ways * partitions * line * (int64_t{sets} + 1);
    if (bytes > largest) largest = bytes;
  }
  return largest;
}

int64_t DetectCache() {
  const int64_t intel = LargestCache(4);
  if (intel > 0) return intel;
  const int64_t amd = LargestCache(0x8000001D);
  return amd > 0 ? amd : kCommonCache;
}

bool AsksForIntel() {
  unsigned last_leaf, ebx, ecx, edx;
  return __get_cpuid(0, &last_leaf, &ebx, &ecx, &edx) != 0 && ebx == signature_INTEL_ebx &&
         ecx == signature_INTEL_ecx && edx == signature_INTEL_edx;
}
// GCOVR_EXCL_STOP

#else

bool AsksForIntel() { return false; }

int64_t DetectCache() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return bytes;
#endif
  return kCommonCache;
}

#endif

// Asks the CPU once.
bool IsOfIntel() {
  enum { kUnknown, kFalse, kTrue };  // in this order
  static std::atomic<int> known{kUnknown};
  int is_of_intel = known.load(std::memory_order_relaxed);
  if (is_of_intel == kUnknown) {
    is_of_intel = kFalse + static_cast<int>(AsksForIntel());
    known.store(is_of_intel, std::memory_order_relaxed);
  }
  return is_of_intel == kTrue;
}

}  // namespace

int64_t LastLevelCacheBytes() {
  // Threads that query the CPU at the same time write the same value. A static local would call the
  // C++ runtime, which programs in C would have to link.
  static std::atomic<int64_t> known{0};
  int64_t cache = known.load(std::memory_order_relaxed);
  if (cache == 0) {
    cache = DetectCache();
    known.store(cache, std::memory_order_relaxed);
  }
  return cache;
}

bool StreamsPartsOfLines() { return !IsOfIntel(); }

bool WaitsForStores() { return IsOfIntel(); }

}  // namespace strew
