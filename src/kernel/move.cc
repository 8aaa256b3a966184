// SPDX-License-Identifier: Apache-2.0
// STREW_NONE: only the width of an element matters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/move.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/families.h"
#include "kernel/walks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

const Walks* MoveTable() {
  static constexpr Walks kTable[] = {
      WalksOf<uint8_t, Move<uint8_t>>(),   WalksOf<uint16_t, Move<uint16_t>>(),
      WalksOf<uint32_t, Move<uint32_t>>(), WalksOf<uint64_t, Move<uint64_t>>(),
      WalksOf<Wide, Move<Wide>>(),
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
HWY_EXPORT(MoveTable);
}  // namespace

const Walks* MoveKernels(size_t slot) { return HWY_DISPATCH_TABLE(MoveTable)[slot](); }

}  // namespace strew::kernel
#endif
