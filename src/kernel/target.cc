// SPDX-License-Identifier: Apache-2.0
// Finds the SIMD targets that this build contains and this CPU can run.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/target.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

int64_t TargetHere() { return HWY_TARGET; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <hwy/targets.h>

#include <atomic>

#include "kernel/kernel.h"
#include "kernel/target.h"

namespace strew::kernel {
namespace {

HWY_EXPORT(TargetHere);

size_t DispatchSlot(int64_t target) {
  // A build for one target has dispatch tables of one entry.
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0) return 0;
  hwy::ChosenTarget chosen;
  chosen.Update(target);
  return chosen.GetIndex();
}

// Filled by the first thread that queries the CPU. Threads that do so at the same time write the
// same values. A static local would call the C++ runtime, which programs in C would have to link.
std::atomic<int32_t> known_count{0};  // 0 before they are known
std::atomic<const char*> names[kMaxTargets];

int32_t DetectTargets() {
  int64_t remaining = hwy::SupportedTargets() & HWY_TARGETS;
  int32_t count = 0;
  // Better targets have lower bits.
  for (; remaining != 0 && count < kMaxTargets; remaining &= remaining - 1) {
    const int64_t best = remaining & -remaining;
    names[count].store(hwy::TargetName(best), std::memory_order_relaxed);
    known_slots[count].store(DispatchSlot(best) + 1, std::memory_order_relaxed);
    ++count;
  }
  known_count.store(count, std::memory_order_release);
  return count;
}

}  // namespace

std::atomic<size_t> known_slots[kMaxTargets];

int32_t TargetCount() {
  const int32_t known = known_count.load(std::memory_order_acquire);
  return known != 0 ? known : DetectTargets();
}

size_t DetectSlot(int32_t target) {
  DetectTargets();
  return known_slots[target].load(std::memory_order_relaxed) - 1;
}

const char* CompiledTarget(size_t slot) {
  return hwy::TargetName(HWY_DISPATCH_TABLE(TargetHere)[slot]());
}

const char* TargetName(int32_t i) {
  return i >= 0 && i < TargetCount() ? names[i].load(std::memory_order_relaxed) : nullptr;
}

}  // namespace strew::kernel

#endif  // HWY_ONCE
