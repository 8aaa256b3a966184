// SPDX-License-Identifier: Apache-2.0
// Which instruction sets there are, for the files of this room that dispatch. Highway's own choice
// is one for the whole process and can be changed by any user of it; a context has its own, so the
// dispatch tables are indexed here by a slot instead.
#ifndef STREW_KERNEL_TARGET_H_
#define STREW_KERNEL_TARGET_H_

#include <cstddef>
#include <cstdint>

namespace strew::kernel {

inline constexpr int kMaxTargets = 16;

struct Targets {
  int32_t count;
  const char* name[kMaxTargets];
  size_t slot[kMaxTargets];  // index into HWY_DISPATCH_TABLE
};

// Detected once, at the first call, by whichever thread comes first.
const Targets& AvailableTargets();

// The instruction set for which the kernels of a slot were compiled, by their own word.
const char* CompiledTarget(size_t slot);

// The slot of the `target`-th one.
inline size_t TargetSlot(int32_t target) { return AvailableTargets().slot[target]; }

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TARGET_H_
