// SPDX-License-Identifier: Apache-2.0
// What the kernel files define for kernel.cc: tables for a slot of the dispatch tables.
#ifndef STREW_KERNEL_FAMILIES_H_
#define STREW_KERNEL_FAMILIES_H_

#include <cstddef>

#include "base/dtype.h"
#include "kernel/kernel.h"
#include "strew/strew.h"

namespace strew::kernel {

// The reductions of a dtype in the order of KernelReduction, and its means. The kernel file of the
// dtype defines them: where it is missing, the library does not link.
template <strew_dtype kDtype>
const Kernels* ReductionTable(size_t slot);
template <strew_dtype kDtype>
const MeanKernels& MeanTable(size_t slot);
#define STREW_TABLES(CONSTANT, ...)                        \
  template <>                                              \
  const Kernels* ReductionTable<STREW_##CONSTANT>(size_t); \
  template <>                                              \
  const MeanKernels& MeanTable<STREW_##CONSTANT>(size_t);
STREW_FOR_EACH_DTYPE(STREW_TABLES, STREW_NO_DTYPE)
#undef STREW_TABLES

// Widths 1, 2, 4, 8 and 16, in this order.
const Kernels* MoveTable(size_t slot);

// Widths from 3 to 15 that are no powers of two.
const Kernels& OddMove(int32_t width);

// The eight index dtypes from STREW_INT8 to STREW_UINT64, in this order.
const IndexKernels* IndexTable(size_t slot);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_FAMILIES_H_
