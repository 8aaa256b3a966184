// SPDX-License-Identifier: Apache-2.0
// What the kernel files define for kernel.cc: tables for a slot of the dispatch tables.
#ifndef STREW_KERNEL_FAMILIES_H_
#define STREW_KERNEL_FAMILIES_H_

#include <cstddef>

#include "base/dtype.h"
#include "kernel/kernel.h"

namespace strew::kernel {

// One table of reductions, in the order of KernelReduction, for each dtype that has reductions, and
// its means.
#define STREW_FAMILY_TABLE(CONSTANT, FAMILY, NAME, BYTES, ALIGNMENT, ARITHMETIC) \
  const Kernels* FAMILY##Table(size_t slot);                                     \
  const MeanKernels& FAMILY##Mean(size_t slot);
STREW_FOR_EACH_REDUCIBLE_DTYPE(STREW_FAMILY_TABLE)
#undef STREW_FAMILY_TABLE

// Widths 1, 2, 4, 8 and 16, in this order.
const Kernels* MoveTable(size_t slot);

// Widths from 3 to 15 that are no powers of two.
const Kernels& OddMove(int32_t width);

// The eight index dtypes from STREW_INT8 to STREW_UINT64, in this order.
const IndexKernels* IndexTable(size_t slot);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_FAMILIES_H_
