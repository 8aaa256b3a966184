// SPDX-License-Identifier: Apache-2.0
// Tables of kernels, one for each slot of the dispatch tables. The kernel files define them, and
// kernel.cc selects from them.
#ifndef STREW_KERNEL_TABLES_H_
#define STREW_KERNEL_TABLES_H_

#include <cstddef>

#include "base/dtype.h"
#include "base/reduction.h"
#include "kernel/kernel.h"
#include "strew/strew.h"

namespace strew::kernel {

// Moves of widths 1, 2, 4, 8 and 16, in this order.
const MoveKernels* MoveTable(size_t slot);

// Moves of a width from 3 to 15 that is not a power of two.
const MoveKernels& OddMove(int32_t width);

// Kernels for the reductions of a dtype and for its means. Entries are empty if a reduction is not
// defined on the dtype, or if the kernels of signed integers serve unsigned ones. `wide` has one
// table for each reduction, which is empty if STREW_WIDE does not change the result; `wide` is NULL
// if all of them are empty.
struct DtypeKernels {
  CombineKernels reduce[static_cast<int>(KernelReduction::kCount)];
  AccumulateKernels mean;
  const AccumulateKernels* wide;
};

// Defined by the kernel file of the dtype; without that file the library does not link.
template <strew_dtype kDtype>
const DtypeKernels* DtypeTable(size_t slot);
#define STREW_TABLE(CONSTANT, ...) \
  template <>                      \
  const DtypeKernels* DtypeTable<STREW_##CONSTANT>(size_t);
STREW_FOR_EACH_DTYPE(STREW_TABLE, STREW_NO_DTYPE)
#undef STREW_TABLE

// The eight index dtypes from STREW_INT8 to STREW_UINT64, in this order.
const IndexKernels* IndexTable(size_t slot);

// Calls the HERE() that is compiled for the target of the slot. Use it in the last pass of a file,
// after HWY_EXPORT(HERE). In a file that is compiled for one target, dispatch tables have one
// entry.
#define STREW_TABLE_OF(HERE, slot) \
  HWY_DISPATCH_TABLE(HERE)[(HWY_TARGETS & (HWY_TARGETS - 1)) == 0 ? 0 : (slot)]()

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TABLES_H_
