// SPDX-License-Identifier: Apache-2.0
// The available instruction sets, for the kernel files that dispatch. Highway's own choice holds
// for the whole process and any of its users can change it. Each context of strew has its own, so a
// slot indexes the dispatch tables here.
#ifndef STREW_KERNEL_TARGET_H_
#define STREW_KERNEL_TARGET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace strew::kernel {

// How many there are. The CPU is asked once.
int32_t TargetCount();

// The instruction set for which the kernels of a slot were compiled, as they report it.
const char* CompiledTarget(size_t slot);

inline constexpr int32_t kMaxTargets = 16;
extern std::atomic<size_t>
    known_slots[kMaxTargets];  // one more than the slot; 0 before it is known
size_t DetectSlot(int32_t target);

// The index into HWY_DISPATCH_TABLE of the target at position `target`, best first. Small calls take
// 76 ns and ask three times.
inline size_t TargetSlot(int32_t target) {
  const size_t known = known_slots[target].load(std::memory_order_relaxed);
  return known != 0 ? known - 1 : DetectSlot(target);
}

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TARGET_H_
