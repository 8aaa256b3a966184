// SPDX-License-Identifier: Apache-2.0
// The tables of kernels that read indices, compiled once for each target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/index.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/index-inl.h"
#include "kernel/tables.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

const IndexKernels* IndexTableHere() {
  static constexpr IndexKernels kTable[] = {
      IndexKernelsOf<int8_t>(),   IndexKernelsOf<int16_t>(),  IndexKernelsOf<int32_t>(),
      IndexKernelsOf<int64_t>(),  IndexKernelsOf<uint8_t>(),  IndexKernelsOf<uint16_t>(),
      IndexKernelsOf<uint32_t>(), IndexKernelsOf<uint64_t>(),
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
HWY_EXPORT(IndexTableHere);
}  // namespace

const IndexKernels* IndexTable(size_t slot) { return STREW_TABLE_OF(IndexTableHere, slot); }

}  // namespace strew::kernel
#endif
