// SPDX-License-Identifier: Apache-2.0
// The border of the kernel room: argument structs, function types and their selection. Kernels get
// pointers, strides and counts that are valid; they cannot fail, allocate or know threads.
//
// Counts are > 0. Pointers may be aligned to a byte. Strides count elements, may be negative, and
// may be 0 where something is read only. (+) is the reduction of the kernel.
#ifndef STREW_KERNEL_KERNEL_H_
#define STREW_KERNEL_KERNEL_H_

#include <cstdint>

#include "base/reduction.h"
#include "strew/strew.h"

namespace strew::kernel {

// ---- SIMD targets ----

// The i-th target that this build has and this CPU can run, best first; NULL for any other i.
const char* TargetName(int32_t i);

// ---- The walks: write output ----

// Two nested affine loops:
//   output[r * output_row_stride + c * output_stride] (+)=
//       updates[r * updates_row_stride + c * updates_stride]    r < rows, c < run
struct BoxArguments {
  unsigned char* output;
  const unsigned char* updates;
  int64_t rows;
  int64_t output_row_stride;
  int64_t updates_row_stride;
  int64_t run;
  int64_t output_stride;
  int64_t updates_stride;
  bool stream;  // whether the output is too large to be worth caching; a hint
};

// A sheet of entries whose places are given by offsets, in row-major order of (r, c):
//   output[offsets[r * columns + c] + j * output_run_stride] (+)=
//       updates[r * updates_row_stride + c * updates_column_stride + j * updates_run_stride]
//   r < rows, c < columns, j < run
// Two entries may name one place; they are applied in order.
struct ScatterArguments {
  unsigned char* output;
  const unsigned char* updates;
  const void* offsets;  // int32_t or int64_t, in elements
  int64_t rows;
  int64_t updates_row_stride;
  int64_t columns;
  int64_t updates_column_stride;
  int64_t run;  // 1 for the elements walk
  int64_t output_run_stride;
  int64_t updates_run_stride;
  // How many entries ahead to prefetch the output, 0 for not at all. Not more than `lookahead`
  // valid offsets follow those of the sheet.
  int64_t prefetch;
  int64_t lookahead;
};

using BoxKernel = void (*)(const BoxArguments&);
using ScatterKernel = void (*)(const ScatterArguments&);

enum OffsetWidth { kOffset32, kOffset64, kOffsetWidths };

// One reduction on one dtype, or the move of one width.
struct Walks {
  BoxKernel box;
  ScatterKernel rows[kOffsetWidths];      // run > 1
  ScatterKernel elements[kOffsetWidths];  // run == 1
};

// The walks that move elements of `width` bytes: 1, 2, 4, 8 or 16.
const Walks& MoveWalks(int32_t width, int32_t target);

// The walks of a reduction that is defined on the dtype.
const Walks& ReductionWalks(strew_dtype dtype, KernelReduction reduction, int32_t target);

// ---- The indices: read them, write nothing of a tensor ----

// A sheet of indices: indices[r * row_stride + c * column_stride], r < rows, c < columns.
struct IndexSheet {
  const unsigned char* indices;
  int64_t rows;
  int64_t row_stride;
  int64_t columns;
  int64_t column_stride;
  int64_t axis_size;  // n
};

// Whether every index lies in [-n, n - 1], or in [0, n - 1] without wrap.
using CheckKernel = bool (*)(const IndexSheet&, bool wrap);

// offsets[r * columns + c] (+)= place(index) * output_stride + r * lane_row_stride
//                                                            + c * lane_column_stride
// where place(i) is i + n for i < 0 and i otherwise; (+)= adds if `accumulate`, else replaces.
struct ResolveArguments {
  IndexSheet sheet;
  int64_t output_stride;
  int64_t lane_row_stride;
  int64_t lane_column_stride;
  bool accumulate;
  void* offsets;
};

// The results must fit the type of the offsets.
using ResolveKernel = void (*)(const ResolveArguments&);

struct IndexKernels {
  CheckKernel check;
  ResolveKernel resolve[kOffsetWidths];
};

// For one of the eight index dtypes.
const IndexKernels& IndexKernelsFor(strew_dtype dtype, int32_t target);

}  // namespace strew::kernel

#endif  // STREW_KERNEL_KERNEL_H_
