// SPDX-License-Identifier: Apache-2.0
// The tables that kernel files define, each for a slot of the dispatch tables; kernel.cc selects
// from them.
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

// The reductions of a dtype and its means. Those that are not defined on it are empty, and so are
// reductions of unsigned integers that the signed ones serve.
struct DtypeKernels {
  CombineKernels reduce[static_cast<int>(KernelReduction::kCount)];
  AccumulateKernels accumulate;
};

// The kernel file of the dtype defines it: where that is missing, the library does not link.
template <strew_dtype kDtype>
const DtypeKernels* DtypeTable(size_t slot);
#define STREW_TABLE(CONSTANT, ...) \
  template <>                      \
  const DtypeKernels* DtypeTable<STREW_##CONSTANT>(size_t);
STREW_FOR_EACH_DTYPE(STREW_TABLE, STREW_NO_DTYPE)
#undef STREW_TABLE

// The eight index dtypes from STREW_INT8 to STREW_UINT64, in this order.
const IndexKernels* IndexTable(size_t slot);

// What HERE() returns where it is compiled for the target of the slot; for the last pass of a file,
// after HWY_EXPORT(HERE). A file that is built for one target has dispatch tables of one entry.
#define STREW_TABLE_OF(HERE, slot) \
  HWY_DISPATCH_TABLE(HERE)[(HWY_TARGETS & (HWY_TARGETS - 1)) == 0 ? 0 : (slot)]()

}  // namespace strew::kernel

#endif  // STREW_KERNEL_TABLES_H_
