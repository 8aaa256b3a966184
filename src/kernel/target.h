// SPDX-License-Identifier: Apache-2.0
// The available SIMD targets, for the kernel files that dispatch. Highway chooses one target for
// the whole process, which any user of Highway can change. Each context of strew has its own
// target, so strew indexes the dispatch tables itself, by slots.
#ifndef STREW_KERNEL_TARGET_H_
#define STREW_KERNEL_TARGET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace strew::kernel {

// The number of available targets. The CPU is queried once.
int32_t TargetCount();

// The name of the target for which the kernels of a slot were compiled, as they report it.
const char* CompiledTarget(size_t slot);

inline constexpr int32_t kMaxTargets = 16;
extern std::atomic<size_t>
    known_slots[kMaxTargets];  // one more than the slot; 0 before it is known
size_t DetectSlot(int32_t target);

// The slot of the target at position `target`, best first: its index in HWY_DISPATCH_TABLE. Inline,
// because a small call takes 76 ns and needs three slots.
inline size_t TargetSlot(int32_t target) {
  const size_t known = known_slots[target].load(std::memory_order_relaxed);
  return known != 0 ? known - 1 : DetectSlot(target);
}

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TARGET_H_
