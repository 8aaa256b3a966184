// SPDX-License-Identifier: Apache-2.0
// The part of the tuning table for means and wide sums; plan/tuning.h tells how to read it.
#ifndef STREW_PLAN_MEAN_TUNING_H_
#define STREW_PLAN_MEAN_TUNING_H_

#include <cstdint>

namespace strew::plan {

struct MeanTuning {
  // Estimated time of one thread to begin and finish a sum in a batch; for a run of a group,
  // besides its bytes; for a strided element of one. Groups of 1, 2 and 4 bytes took 6 to 9 ns for
  // a run and 0.5 to 0.9 for an element, of int64 19 and 1.1 (Zen 4).
  double ns_of_begun_sum = 0.4;
  double ns_of_group_run = 7, ns_of_group_element = 0.65;
  // Bytes of the sums and counts of the batches that are summed together, in the L2 cache.
  int64_t near_batch_sums = int64_t{128} << 10;
  // The same for columns that are batch: more columns make longer contiguous reads. With 1 MiB,
  // float32 of [4096, 4096], [3000, 3000], [10000, 100] took 0.9, 1.1, 1.9 x the time (Zen 4).
  int64_t near_column_sums = int64_t{2} << 20;
  // If not all columns of batch have room for their sums, fewer than these go one by one, unless
  // each destination has more entries: float32 [44695, 7] to [30000, 200] with 0.5 to 2 entries for
  // each destination took 0.25 to 0.65 x the time, [25000, 30] with 2 and 4 1.03 and 1.4 x (Zen 4).
  int64_t least_sum_columns = 16;
  int64_t most_column_entries = 2;
  // Such a column, or a mean in buckets with strided destinations, has no sums of all destinations
  // if these lie in more cache lines for each entry than this: columns of random shapes with 2 to
  // 12 lines took 0.15 to 0.9 x the time, buckets of a column of matrices with 5 to 20 columns 0.3
  // to 1 x (Emerald Rapids).
  double column_lines_of_entry = 1.5;
  // On one thread, columns of at least so many destinations go to buckets if they took more passes
  // than this. With 10,000 to 240,000 destinations, float32 took 0.23 to 0.9 x the time, int64 0.25
  // to 0.9, but 6 or 7 columns of up to 100,000 float32 1.0 to 1.2 x; with 6000 and 7000
  // destinations 0.7 to 1.2, with 2000 to 5000 0.7 to 1.9; in 2 or 3 passes 0.8 to 1.4 (Zen 4).
  int64_t most_column_passes = 3;
  // If a pass would have fewer columns than these, all columns go in one, if their sums may be as
  // large as those of a single batch: [300000, 2] to [12000, 50] float32 and int16 took 0.42 to
  // 0.75 x the time, [3000, 200], [1000, 600] and [700, 1000], with 87 to 370 columns in a pass,
  // 1.07, 1.2 and 1.3 to 1.6 x (Zen 5).
  int64_t least_columns_of_pass = 64;
  int64_t least_column_destinations = 6000;
  // Least bytes of the sums and counts of the columns of a piece for each of several tasks. Sums of
  // 2 to 26 columns in pieces for two tasks took 0.9 to 5 x the time of one task, in pieces of 128
  // to 384 bytes 0.6 to 1.0 x (Zen 4).
  int64_t least_task_row = 256;
  // Most bytes of the sums and counts of a single batch that needs no buckets, if scratch may be so
  // large: 500000 float32 took 5.0 ns each, in buckets 10; sums of 4.2 to 6 MB took 0.6 to 0.95 x
  // the time of buckets, of 7 to 22 MB 0.9 to 1.4 x while other programs used the last-level cache
  // (Zen 4).
  int64_t far_batch_sums = int64_t{6} << 20;
  // The same for sums without counts of their own, so that an update touches one cache line:
  // 1 M int8 took 0.74 to 0.84 x the time of buckets, 1.04 to 1.12 x while another program used the
  // last-level cache, in which 1 M float32 took 1.9 to 2.1 x (Zen 4).
  int64_t far_compact_sums = int64_t{8} << 20;
  // They may take this part of the cache with one update for each destination, and more with each
  // further update, up to the whole: 0.6 to 2.6 M float32, float64, int32, int8 and int16 with 1 to
  // 4 updates for each took 0.57 to 0.94 x the time of buckets up to this size, 0.6 to 1.28 x while
  // another program copied memory, and 0.9 to 1.5 x beyond it (Zen 5).
  double far_sums_part = 0.5, repeated_far_sums_part = 0.125;
  // Bytes of a bucket, which stays in the L2 cache.
  int64_t bucket_bytes = int64_t{512} << 10;
  // Most destinations for each update with which every destination has a sum; if there are more,
  // only touched destinations have sums. Compared with a list of touched destinations, means with
  // one update for 10 destinations took 0.4 to 0.8 x the time for float32, 0.85 x for integers;
  // with one for 20 0.8 to 1.4 x for float32, 3 x for int64 (Zen 4).
  int64_t destinations_of_entry = 16;
  // The same for sums without counts, which begin and finish faster: 4000 to 1 M wide sums of 16
  // bits with one update for 20 destinations took 0.46 to 0.7 x the time, for 33 0.65 to 1.07 x,
  // for 50 0.85 to 1.34 x (Zen 4).
  int64_t destinations_of_uncounted_entry = 40;
  // Fewer inner turns than these become a batch each if they lie farther apart than destinations:
  // means of 4 rows of 34639 bfloat16 took 0.28 x the time, of 5 rows of 28770 int64 0.88 x, of 100
  // rows of 1000 float32 0.93 x, but of 100 rows with 300 updates each 1.37 x (Zen 4).
  int64_t least_strided_group = 64;
  // So do elements of rows of at most so many, if there are not too many sums: means and wide sums
  // of 2000 to 40,000 rows of 2 and 3 took 0.25 to 0.58 x the time, of 4 0.6 to 1.6 x, of 1 M rows
  // 1.1 to 3.7 x (Emerald Rapids); of 100,000 to 300,000 rows 0.27 to 0.83 x (Zen 4).
  int64_t longest_summed_row = 3;
  int64_t most_sums_of_short_rows = 1 << 20;
  // If there are more sums than the second constant, at most so many for each entry: with 30 means
  // took 2.8 to 4 x the time, with 7.5 1.1 x, with 5 1.0 to 1.1 x, with 3 0.75 to 0.8 x (Zen 4).
  int64_t sums_of_short_entry = 5;
  int64_t near_sums_of_short_rows = 1 << 18;
  // Turns of a strided group that are combined before those of the next group, with which they
  // share cache lines, and elements of runs that are gathered before those of the next run: means
  // of 1024 rows of 1000 float32 took 0.93 x the time with 64 and 128, 1.09 x with 512 (Zen 4).
  int64_t near_group_turns = 256;
  // Runs of fewer elements and bytes change places with a longer loop of the entry: 2 to 7 of 1, 2
  // and 4 bytes took 0.2 to 1.0 x the time, 2 and 3 of 8 bytes 0.3 to 0.87 x, int64 also beyond; 4
  // to 8 complex64 took 0.6 to 2.6 x, 8 float32 0.8 to 1.4 x (Zen 4).
  int64_t least_group_run = 8;
  int64_t least_group_run_bytes = 32;
  // Means by rank are faster than buckets if there are many more than most_buckets, for whose pages
  // the CPU has too few translations, or if buckets have fewer than least_of_bucket entries: 1000
  // float32 into 64 MiB took 26 us in buckets, 39 by rank. 362 to 5792 buckets took 0.2 to 0.26 x
  // the time of ranks (Zen 4).
  int64_t most_buckets = 4096;
  int64_t least_of_bucket = 2;
  // Ranks of at most this many destinations are found row by row; of more, one by one, in 64 bits.
  int64_t most_short_ranks = int64_t{1} << 30;
};

}  // namespace strew::plan

#endif  // STREW_PLAN_MEAN_TUNING_H_
