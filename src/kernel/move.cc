// SPDX-License-Identifier: Apache-2.0
// STREW_NONE: only the width of an element matters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/move.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/families.h"
#include "kernel/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

const Kernels* MoveTableHere() {
  static constexpr Kernels kTable[] = {
      KernelsOf<uint8_t, Move<uint8_t>>(),   KernelsOf<uint16_t, Move<uint16_t>>(),
      KernelsOf<uint32_t, Move<uint32_t>>(), KernelsOf<uint64_t, Move<uint64_t>>(),
      KernelsOf<Wide, Move<Wide>>(),
  };
  return kTable;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strew::kernel {
namespace {
HWY_EXPORT(MoveTableHere);
}  // namespace

const Kernels* MoveTable(size_t slot) { return HWY_DISPATCH_TABLE(MoveTableHere)[slot](); }

}  // namespace strew::kernel
#endif
