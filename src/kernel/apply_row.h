// SPDX-License-Identifier: Apache-2.0
// Functors that apply the update of one row. A walk over rows is compiled for each of them.
#ifndef STREW_KERNEL_APPLY_ROW_H_
#define STREW_KERNEL_APPLY_ROW_H_

#include <hwy/base.h>

#include <cstdint>
#include <cstring>

#include "kernel/kernel.h"
#include "kernel/prefetch.h"

namespace strew::kernel {

// Applies the update of a row, or of several adjacent rows, by one call of a kernel.
struct RowByKernel {
  RunKernel run;
  int64_t output_stride;
  int64_t updates_stride;
  int64_t n;

  HWY_INLINE void operator()(unsigned char* output, const unsigned char* update,
                             int64_t rows = 1) const {
    run(output, output_stride, update, updates_stride, rows * n);
  }
};

// The same for updates that are read in order, with prefetch: the jumps between rows of the output
// keep the hardware from prefetching them.
struct RowReadAhead {
  RowByKernel row;
  int64_t distance;          // bytes to the update that is prefetched
  int64_t bytes;             // of a row
  const unsigned char* end;  // of all updates

  HWY_INLINE void operator()(unsigned char* output, const unsigned char* update) const {
    if (end - update >= distance + bytes) Prefetch<false>(update + distance, bytes);
    row(output, update);
  }
};

// Replaces a contiguous row of kHalf to 2 * kHalf bytes: the first kHalf and the last kHalf, which
// may overlap. Rows of 2 to 12 B took 0.35 to 0.6 x the time of calls of memcpy, of 16 to 32 B 0.65
// to 0.9 x the time of a loop; choosing kHalf for each row 1.4 x (Zen 5).
template <int64_t kHalf>
struct RowByHalves {
  int64_t last;  // bytes before the last half

  HWY_INLINE void operator()(unsigned char* output, const unsigned char* update) const {
    unsigned char first_half[kHalf], last_half[kHalf];
    std::memcpy(first_half, update, kHalf);
    std::memcpy(last_half, update + last, kHalf);
    std::memcpy(output, first_half, kHalf);
    std::memcpy(output + last, last_half, kHalf);
  }
};

// Replaces a contiguous row of more than 32 bytes. Rows of 64 B take 1.3 ns, with a call for each
// 2.6.
struct RowByBytes {
  int64_t bytes;

  HWY_INLINE void operator()(unsigned char* output, const unsigned char* update) const {
    constexpr int64_t kBlock = 32;
    constexpr RowByHalves<kBlock / 2> move = {kBlock / 2};
    for (int64_t i = 0; i < bytes - kBlock; i += kBlock) move(output + i, update + i);
    // The last block may overlap the one before it.
    move(output + bytes - kBlock, update + bytes - kBlock);
  }
};

// Replaces the elements of a row one by one.
template <int64_t kSize>
struct RowByElements {
  int64_t run;
  int64_t output_step;  // bytes
  int64_t updates_step;

  HWY_INLINE void operator()(unsigned char* output, const unsigned char* update) const {
    for (int64_t i = 0; i < run; ++i, output += output_step, update += updates_step) {
      std::memcpy(output, update, kSize);
    }
  }
};

}  // namespace strew::kernel

#endif  // STREW_KERNEL_APPLY_ROW_H_
