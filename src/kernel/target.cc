// SPDX-License-Identifier: Apache-2.0
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

Targets DetectTargets() {
  Targets targets = {};
  int64_t remaining = hwy::SupportedTargets() & HWY_TARGETS;
  // Lower bits are better targets.
  for (; remaining != 0 && targets.count < kMaxTargets; remaining &= remaining - 1) {
    const int64_t best = remaining & -remaining;
    targets.name[targets.count] = hwy::TargetName(best);
    targets.slot[targets.count] = DispatchSlot(best);
    ++targets.count;
  }
  return targets;
}

}  // namespace

const Targets& AvailableTargets() {
  static const Targets targets = DetectTargets();
  return targets;
}

const char* CompiledTarget(size_t slot) {
  return hwy::TargetName(HWY_DISPATCH_TABLE(TargetHere)[slot]());
}

const char* TargetName(int32_t i) {
  const Targets& targets = AvailableTargets();
  return i >= 0 && i < targets.count ? targets.name[i] : nullptr;
}

}  // namespace strew::kernel

#endif  // HWY_ONCE
