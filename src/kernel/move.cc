// SPDX-License-Identifier: Apache-2.0
// Kernels that move elements whose width is a power of two: STREW_NONE, for any dtype.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/move.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/elements-inl.h"
#include "kernel/interleave-inl.h"
#include "kernel/stream-inl.h"
#include "kernel/tables.h"
#include "kernel/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

template <class T>
constexpr MoveKernels MoveKernelsOf() {
  return {CombineKernelsOf<T, Move<T>>(), StreamRun<T>, StreamPart<T>,
          InterleaveKernelOf<T>(),        Gather<T>,    TransposeKernelOf<T>()};
}

const MoveKernels* MoveTableHere() {
  static constexpr MoveKernels kTable[] = {
      MoveKernelsOf<uint8_t>(),  MoveKernelsOf<uint16_t>(), MoveKernelsOf<uint32_t>(),
      MoveKernelsOf<uint64_t>(), MoveKernelsOf<Wide>(),
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

const MoveKernels* MoveTable(size_t slot) { return STREW_TABLE_OF(MoveTableHere, slot); }

}  // namespace strew::kernel
#endif
