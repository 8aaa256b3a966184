// SPDX-License-Identifier: Apache-2.0
// The part of the tuning table for few entries that are large slices; plan/tuning.h tells how to
// read it.
#ifndef STREW_PLAN_SLICE_TUNING_H_
#define STREW_PLAN_SLICE_TUNING_H_

#include <cstdint>

namespace strew::plan {

struct SliceTuning {
  // Slices are cut into blocks of slice_block bytes, which stay in the L1 cache while all entries
  // write to them, one entry after the other: 6 updates of 67040 pairs of float32 each took 148 us,
  // pair by pair 801. Slices of fewer units, and strided blocks of fewer turns, cost more: without
  // slices 12 columns of [100000, 25] float32 took 1.4 x the time, of [100000, 20] float64 0.6 x,
  // two columns of [100000, 50] float32 1.3 x (Zen 4).
  int64_t few_slices = 64;
  int64_t least_slice = 16;
  int64_t slice_block = 16 << 10;
  int64_t least_slice_block = 128;
  // Rows of strided turns whose updates lie within this many bytes are written together, so that
  // lines of transposed updates are read once for each entry. With transposed data or updates,
  // 38 of 96 random calls took 0.22 to 1.07 x the time, 0.65 x in the geometric mean, the others
  // 0.98 x; with 64 bytes 0.73 x, with blocks of 256 turns 0.68 x (Zen 4).
  int64_t slice_rows = 256;
  // Slices whose elements, or runs of at most longest_far_run bytes if there are more than two of
  // them, lie in cache lines of their own are not walked as such if they touch more than this part
  // of the cache: each slice would fetch lines of its own. 2 to 5 columns of n rows of 23 float32
  // took 0.45 to 0.7 x the time for n = 240,000 and 320,000 (0.7 and 0.9 caches), but 1.2 to 1.6 x
  // for 160,000; sums 0.8 x for 320,000, and 1.26, 1.03 and 0.89 x in 0.7, 1.4 and 2.8 caches;
  // three columns of 80 int8 0.54 x; 6 runs of 2 to 6 float32 0.35 to 0.5 x, of 16 and more 0.8 to
  // 0.9 x, two runs 0.7 to 2 x (Zen 4).
  double far_slices_part = 0.75;
  int64_t longest_far_run = 32;
  // If the updates of strided turns fill cache lines of their own, and all operands have more
  // bytes than this part of the cache, blocks of them are prefetched: 16 columns of rows of 2 to 8
  // float64 took 0.5 to 0.7 x the time, of float32 and int16 0.8 x, in 0.1 to 0.35 caches 1.0 to
  // 1.2 x; updates that share lines 1.0 to 1.4 x. If elements of the output have such lines too,
  // slices are not walked as such: rows of 16 float64 took 0.35 to 0.6 x the time (Zen 4).
  double far_slice_blocks_part = 0.4;
  // Strided slices whose updates lie together along another loop are walked along that loop, in
  // blocks of crossed_block bytes of the output and at least least_crossed_turns turns. With
  // transposed updates, [3000, 3, 2] to [60000, 16, 12] took 0.27 to 0.9 x the time at 2 to 14
  // places. If output and updates have more bytes than that part of the cache, blocks are larger:
  // with at least least_crossed_streams runs of updates, more than CPUs prefetch, 0.55 to 1.1 x,
  // with fewer up to 2.5 x (Zen 4).
  double near_crossed_part = 0.6;
  int64_t crossed_block = 24 << 10, least_crossed_turns = 48;
  int64_t far_crossed_block = 256 << 10, least_far_crossed_turns = 512;
  int64_t least_crossed_streams = 40;
  // Runs to which several entries write are cut into pieces of this many bytes, which stay in the
  // L2 cache: compared with whole runs, 50 sums of runs of 3 MiB took 0.9 x the time, in pieces of
  // 256 KiB 1.0 to 1.3 x, of 16 KiB 1.1 to 2 x.
  int64_t slice_run_block = 1 << 20;
  // Most entries with contiguous runs that are walked as slices, and the longest such run in bytes;
  // others are fast without: 8 rows of 256 B took 1.13 x the time with slices, 1 of 24 B 0.28 x.
  int64_t few_slice_rows = 8;
  int64_t longest_slice_run = 1024;
};

}  // namespace strew::plan

#endif  // STREW_PLAN_SLICE_TUNING_H_
