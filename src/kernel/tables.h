// SPDX-License-Identifier: Apache-2.0
// Tables of kernels, one for each slot of the dispatch tables. Kernel files define them; kernel.cc
// selects from them.
#ifndef STREW_KERNEL_TABLES_H_
#define STREW_KERNEL_TABLES_H_

#include <cstddef>

#include "base/dtype.h"
#include "base/reduction.h"
#include "kernel/kernel.h"
#include "strew/strew.h"

namespace strew::kernel {

// Moves of the widths 1, 2, 4, 8 and 16, in this order.
const MoveKernels* MoveTable(size_t slot);

// Moves of a width from 3 to 15 that is no power of two.
const MoveKernels& OddMove(int32_t width);

// Kernels for the reductions of a dtype and its means. Entries are empty where a reduction is not
// defined on the dtype, or where kernels of signed integers serve unsigned ones. `wide` has a table
// for each reduction, empty where STREW_WIDE makes no difference; it is NULL if all would be.
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

// Calls HERE() as compiled for the target of the slot. Use it in the last pass of a file, after
// HWY_EXPORT(HERE). A file that is built for one target has dispatch tables of one entry.
#define STREW_TABLE_OF(HERE, slot) \
  HWY_DISPATCH_TABLE(HERE)[(HWY_TARGETS & (HWY_TARGETS - 1)) == 0 ? 0 : (slot)]()

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TABLES_H_
