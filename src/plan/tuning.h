// SPDX-License-Identifier: Apache-2.0
// THE tuning table: every threshold that changes how a call runs, with its measurement. Unless a
// comment says otherwise, figures are from one thread of an AMD EPYC (Zen 5) with 48 KiB of L1, 1
// MiB of L2 and 32 MiB of L3, in ms, ns or multiples of the time of the whole call.
//
// Limits on memory (scratch, stack, buffers) are no tuning and stand where they are used.
#ifndef STREW_PLAN_TUNING_H_
#define STREW_PLAN_TUNING_H_

#include <cstdint>

namespace strew::plan {

struct Tuning {
  // Bytes of the last-level cache; 0: ask the CPU.
  int64_t cache_bytes = 0;

  // ---- Threads ----

  // Least work of a task, in ns: it takes 30 us until a thread that sleeps runs. After pauses calls
  // of 40 us took 1.1 to 1.2 x the time of one thread on two, of 80 us 0.8 to 1.0 x; one right after
  // another 0.63 and 0.69 x.
  double least_task_ns = 30e3;
  // Parts for each task, so that a task whose CPU is busy takes fewer of them.
  int64_t parts_of_task = 4;
  // Estimated time of one thread: for a byte that it reads or writes in order, in caches or memory,
  // and for an entry.
  double ns_of_byte = 1.0 / 32;
  double ns_of_entry = 1;
  double ns_of_batch_mean_entry = 1.5;
  double ns_of_bucket_mean_entry = 3;
  double ns_of_touched = 3;

  // Least bytes of a piece of a run that tasks share: two threads with halves of the same rows of 1
  // KiB were as slow as one; with half of the rows each they were 1.5 x as fast.
  int64_t least_run_piece = 4096;

  // Cost of an entry that may land anywhere, in ns, from random float32 into 1 to 128 MiB: to
  // resolve its index; to write it (heavy: with many instructions); to wait for its cache line.
  // Filter: for each task, and in addition if entries come from memory. Partition: for each task,
  // and once to sort it.
  double resolve_ns = 0.25, write_ns = 0.5, heavy_write_ns = 1.2, wait_ns = 1.9;
  double filter_ns = 0.6, filter_stream_ns = 0.3, select_ns = 0.15, sort_ns = 1.1;
  // The estimate for several tasks must be below this part of that for one: it is not exact.
  double worthwhile = 0.9;

  // Samples cost cache misses, but tasks wait for the one with the largest range: 2^22 random
  // updates on two threads took 8.2 ms with 1024 samples, 8.7 with 128.
  int64_t least_samples_of_range = 32;
  int64_t most_samples_of_range = 512;
  int64_t entries_of_sample = 512;
  // An entry lands near the one before if both are on one page or on neighbouring ones.
  int64_t page = 4096;

  // ---- The check of the indices ----

  // Bytes of a part. Parts are checked from the last to the first, so that the indices used first
  // are the last to enter the caches: 0.94 to 0.97 x the time of a whole call with 32 to 128 MiB of
  // indices.
  int64_t checked_part = int64_t{1} << 20;
  // Shorter rows of one index are as fast as single elements.
  int64_t least_constant_batches = 8;

  // Shortest rows of entries of which one index is read if all are equal. 8 million took 0.5 x the time
  // with maxima, means of 1 M to 30 M 0.11 to 0.2 x; shorter rows are flat with all of their indices:
  // sums of [100000, 10] 0.88 x. Moves write the last entry alone: 0.3 x (Zen 5).
  int64_t least_equal_row = 64;
  int64_t least_equal_moves = 1;

  // ---- Drafts: outputs in scratch, so that indices are read once ----

  // Least indices, as a part of the last-level cache, and the largest output, in bytes. Counts of 10
  // million int64 and int32 into 16 to 65536 float32 took 0.88 to 0.95 x the time; with 6 MiB of
  // indices, which the caches hold for the second read, 1.09 x. Outputs of 0.7 MiB took 0.83 x the
  // time if all have one update, but 1.08 x if they have one each, which leave the L2 cache no room
  // (Zen 4).
  double least_drafted = 0.5;
  int64_t most_draft = 512 << 10;
  // Bytes of indices that are checked before their updates are applied. The next ones are prefetched
  // meanwhile, and wait in the L2 cache. 32 KiB 1.04 x the time, 512 KiB 1.05 x.
  int64_t drafted_part = 128 << 10;

  // ---- Few updates ----

  // A schedule costs as much as 20 indices without one: 16 updates of a line of 1000 float32 take
  // 90 ns, with a schedule 105; 32 take 153 and 112. If there are more updates than indices there
  // are no batches, and each update may be a long run: 7 pages of 4 KiB take 1.0 us, with a
  // schedule 1.2. Even the most updates are too few for a second task, with any reduction.
  int64_t few_indices = 20;
  int64_t few_updates = 64;
  int64_t most_few_updates = 16384;
  int64_t most_few_bytes = 64 << 10;

  // ---- Prefetch ----

  // Destinations that span this part of the last-level cache need no prefetch. Random sums into 4
  // MiB took 0.65 to 0.85 ns each, with prefetch 0.89 to 1.1; into 64 MiB 4.8, with prefetch 2.7.
  int64_t near_part = 4;
  // Distance for single elements, in entries: 4 to 255, because blocks of clamped indices have 256.
  int64_t element_prefetch = 128;
  // Distance for rows, in bytes. Compared with 8 KiB, rows of 320 B and of 1 KiB took 0.76 and 0.98
  // x the time on two threads, and the same on one.
  int64_t row_prefetch_bytes = 4096;
  // Distance in a strip, in entries, for heavy reductions: a strip is partly in the L2 cache, and
  // the CPU does not look far ahead by itself. max of float32 28 ms, 33 without; sums 24 and 22.
  int64_t strip_prefetch = 32;
  // Rows of other tasks leave gaps between updates, which the hardware does not prefetch across.
  // 2^18 rows of 128 B into 2 MiB on two threads took 2.5 ms, with prefetched updates 1.0; rows of
  // 32 B take twice as long with prefetch.
  int64_t least_row_with_gaps = 128;
  // Bytes between a row of updates and the one that is prefetched, if rows have this many and all
  // updates more than this part of the last-level cache. Sums of 100,000 rows of 512 B into 1000 took
  // 0.5 x the time with 4 KiB, 0.5 to 0.9 x with 512 B; rows of 256 and 132 B 0.6 and 0.7 to 0.95 x, of
  // 80 B 1.0 x. In the caches rows of 132 B took 1.15 x (Zen 5).
  int64_t row_read_ahead = 4096;
  int64_t least_row_read_ahead = 128;
  double far_updates_part = 0.5;
  // Bytes of rows of a slice that lie apart from which they are prefetched, with the output: 300,000
  // rows of 200 B took 0.5 x the time, 100,000 of 512 B 0.7 to 0.85 x; in the caches 0.8 to 1.0 x,
  // those of 80 B 1.1 x, and moves 1.0 to 1.3 x (Zen 5).
  int64_t far_rows = 1 << 20;
  // Bytes of indices that are still near after their check. Without prefetch 90,000 to 250,000 int64
  // took 0.85 to 0.98 x the time, 500,000 1.13 x (Zen 4).
  int64_t near_indices = 2 << 20;
  // Entries between the one that is written and the one whose index and update are prefetched, if
  // indices are taken as offsets: 4096 x 4096 int8 with int64 indices, last axis, took 12.2 ms, with
  // 1024 12.6, and with 2048, of which the indices fill half of the L1 cache, 13.7 (Zen 4).
  int64_t read_ahead = 512;

  // ---- Streaming stores ----

  // Outputs that are written once, in order, stream from this part of the last-level cache on: data
  // and output fill the cache together then. Copies in ms, with streaming and with ordinary stores:
  // 8 MiB 0.195 and 0.224 into a fresh output, 0.190 and 0.133 into one in the cache; 16 MiB 0.38
  // and 0.42; 32 MiB 0.94 and 1.11; 64 MiB 2.20 and 2.76.
  double streamed_part = 0.5;
  // The same for several tasks: one thread alone streams as much as memory takes, while ordinary
  // stores gain from each further thread. On two threads 8 MiB 0.193 and 0.074, 16 MiB 0.38 and
  // 0.27, 24 MiB 0.59 and 0.60; 16 MiB without the output in the cache 0.41 and 0.54, with nothing
  // in the cache 0.62 and 0.63. (Measure with varied values: memory takes zeros twice as fast.)
  double streamed_part_of_tasks = 0.75;
  // Least bytes of a streamed row. 32 MiB of replaced rows, time with streaming relative to
  // ordinary stores: rows of 256 B 0.58 to 0.63, of 384 B 0.55, of 1 KiB 0.54 to 0.83, of 4 KiB
  // 0.67 to 0.89. Rows of 128 B gain there too (0.7), but elsewhere a line that is streamed in
  // parts costs more.
  int64_t least_streamed_row = 256;

  // ---- Lines and strips of an indexed axis ----

  // Bytes of lines of the axis that stay in the L1 or L2 cache between copy and updates.
  int64_t least_staged_line = 256;
  int64_t most_staged_line = 256 << 10;
  // Bytes of lines that are copied together, before their updates.
  int64_t staged_bytes = 32 << 10;
  // A strip whose axis spans no more bytes stays in the caches without scratch, unless more rows
  // than the L1 cache has ways fall into the same sets. Sums of 16 to 64 rows without scratch: odd
  // lengths 0.8 to 0.9 x the time (float64 0.5 to 0.8), powers of two 1.7 to 1.9 x.
  int64_t near_strip = 64 << 10;
  // Rows of the axis of which a page has several need no strip however many they are: strips save
  // translations of addresses. Of 157 to 257 columns float32 and float64 sums took 0.67 to 0.9 x the
  // time without one, of 1600 B as long, of 4 and 16 KB 1.05 to 1.3 x; max of 1 KiB 1.06 x (Zen 4).
  int64_t near_row = 1536;
  int64_t cache_way = 4096;
  int64_t cache_ways = 8;
  // Bytes of a row of a strip in scratch. 512, a power of two, took 1.05 to 1.1 x the time, 256
  // 1.15 x, 192 1.2 x.
  int64_t strip_bytes = 384;
  // Least bytes of such a row: shorter ones take too little of each row of indices, updates and output.
  // Moves into [25000, 149, 3] to [25000, 9, 48] of float64 took 0.1 to 0.33 x the time without strips,
  // sums in [3000, 149, 3] to [3000, 14, 32] of float32 0.2 to 0.7 x, moves of [12000, 600] 0.43 to 0.69
  // x; with strips of 256 B in a way that two threads share, sums of [4096, 4096] 0.52 x (Zen 5).
  int64_t least_strip = 256;
  // Columns of batch without a strip: enough for the streams of indices and updates, few enough for
  // the cache lines of a short axis to stay in the caches.
  int64_t batch_columns = 128;
  // Columns of batch that lie apart in indices and are walked through all turns before the next ones,
  // so that indices of the next turns are near: a line for each, 32 KiB. With transposed data and
  // updates sums of [17556, 49, 2] took 0.5 x the time, of [30000, 4, 20] 0.3 x, of [900, 80, 5], where
  // all is near, 1.0 x; 128 columns 1.1 x of that, 1024 as long (Zen 4).
  int64_t near_columns = 512;

  // ---- Tiles ----

  // Loops of at least few_turns turns are fast by themselves if rows are not narrow; others are
  // walked as one line. Rows of 11, 23 and 45 entries took 1.14, 0.95 and 0.88 x the time of one
  // line; of batches, for each of which the offset must be resolved, 1.9, 1.45 and 1.2 x. With fewer
  // entries in all the pattern does not pay: 100 and 2000 in rows of 4 took 1.2 and 0.9 x.
  int64_t few_turns = 256;
  int64_t narrow_row = 16;
  int64_t narrow_batch = 96;
  int64_t least_flat_entries = 256;
  // Indices or updates that lie apart are brought together if tiles have no more entries, or rows no
  // more. In random nests of small loops with transposed, broadcast, padded and reversed operands rows
  // of 2 took 0.12 to 0.4 x the time, short tiles 0.2 to 0.9 x, but rows of 3 to 11 in long tiles 1.1
  // to 1.4 x. Flat tiles of fewer entries are packed as well: with updates [1, 2, 2] for [20000, 2, 2]
  // 0.3 x (Zen 5).
  int64_t most_packed_tile = 64;
  int64_t most_packed_row = 2;
  int64_t least_flat_tile = 32;
  // Least length of a row of which the indices are taken as offsets as they are. Float32 in the
  // caches, 80,000 sums into 26,665 elements 0.87 x the time of resolving the indices, 4000 rows of
  // 23 0.71.
  int64_t least_unresolved_row = 1;
  // Longest rows, in elements, that are combined element by element, and longest strided ones: the
  // parts of complex numbers count. 100,000 sums of rows of 2, 3 and 4 float32 took 0.6, 0.65 and 0.92
  // x the time of a call for each, of 3 complex64 1.34 x; of 3, 4, 6 and 8 of every second float32
  // 0.41, 0.49, 0.77 and 1.21 x (Zen 4).
  int64_t element_row = 4;
  int64_t strided_element_row = 6;
  // Fewer such rows that do not follow one another are combined each by a call of its own.
  int64_t least_element_rows = 16;
  // Least length of a run of one index that is worth looking for.
  int64_t least_folded = 8;

  // ---- Few entries that are large slices ----

  // Entries are applied one by one, in blocks of slice_block bytes that stay in the L1 cache while
  // all entries write them: 6 updates of 67040 pairs of float32 each took 148 us, pair by pair 801.
  // Slices of fewer units, or strided blocks of fewer turns, cost more: without slices 12 columns of
  // [100000, 25] float32 took 1.4 x the time, of [100000, 20] float64 0.6 x. Two columns of
  // [100000, 50] float32 took 1.3 x (Zen 4).
  int64_t few_slices = 64;
  int64_t least_slice = 16;
  int64_t slice_block = 16 << 10;
  int64_t least_slice_block = 128;
  // Runs that several entries write are cut into pieces of this many bytes, which stay in the L2
  // cache: 50 sums of runs of 3 MiB took 0.9 x the time of whole runs, in pieces of 256 KiB 1.0 to
  // 1.3 x, of 16 KiB 1.1 to 2 x.
  int64_t slice_run_block = 1 << 20;
  // Several contiguous rows in a turn are fast without slices: 8 of 256 B took 1.13 x the time with
  // slices, 1 of 24 B 0.28 x.
  int64_t few_slice_rows = 8;
  int64_t longest_slice_run = 1024;

  // Least bytes of a row of which the first update is told from others, instead of an identity that
  // is stored before all of them. Sums without the old value of 810 rows of 256 B took 1.13 x the
  // time, of 1 KiB 0.84 x, of 40 KiB 0.58 x, of 81 rows of 4 MB 0.40 x (Zen 4).
  int64_t least_replaced_row = 1024;

  // ---- Boxes and slices ----

  // Bytes that are copied without a schedule, which takes as long as copying 1 KiB.
  int64_t small_copy = 16 << 10;
  // Side of a tile, in elements, where one operand has long strides, as in a transpose: the cache
  // lines that each operand fetches should be used before they leave the L1 cache. 64 x 64 elements
  // of 8 bytes are 32 KiB for each operand.
  int64_t transposed_tile = 64;
  // Longest runs, in elements, that are walked as columns of their rows, and the fewest such rows.
  int64_t short_run = 8;
  int64_t many_rows = 16;
  // Outputs of fewer bytes are copied and then updated: an overlay does not pay for them.
  int64_t small_overlay = 16384;
  // Lines of at least as many bytes are handled one by one: the cost of a call is small beside
  // them.
  int64_t long_line = 1024;
  // Bytes of an overlay that are copied, through the caches, before their updates. Relative to 4 KiB
  // 60 random overlays of 0.1 to 60 MB took 0.94 x the time (geometric mean) with 32 KiB, 0.92 with
  // 64 and 0.91 with 128. Pieces that were assembled in a buffer of 4 KiB and then streamed took 1.2
  // to 1.9 x the time of this, on two threads 1.1.
  int64_t overlay_piece = 64 << 10;
  // Most bytes of a line that are prefetched; the hardware detects longer streams. Lines of 4 KiB,
  // every second one replaced, took 0.85 x the time.
  int64_t most_prefetched_line = 8192;

  // ---- Means ----

  // Bytes of the sums and counts of some batches, and of a bucket, which stay in the L2 cache.
  int64_t near_batch_sums = int64_t{128} << 10;
  // The same for columns that are batch: wide pieces read longer stretches of memory. Relative to 2
  // MiB float32 of [4096, 4096], [3000, 3000] and [10000, 100] took 0.9, 1.1 and 1.9 x the time with
  // 1 MiB, 1.6, 1.4 and 2.0 x with 512 KiB (Zen 4).
  int64_t near_column_sums = int64_t{2} << 20;
  // Bytes of the sums and counts of a single batch, if scratch may be so large: 500000 float32 took
  // 5.0 ns each, in buckets 10; but 1000000 17.6 and 15.5 while other programs used the last-level
  // cache (Zen 4).
  int64_t far_batch_sums = int64_t{4} << 20;
  int64_t bucket_bytes = int64_t{512} << 10;
  // Destinations that cost as much as one update: if there are more of them for each update, only
  // touched ones have sums. With an update for 10 destinations means of float32 took 0.4 to 0.8 x the
  // time of a list, of integers 0.85 x; with one for 20 float32 0.8 to 1.4 x, int64 3 x (Zen 4).
  int64_t destinations_of_entry = 16;
  // Inner turns that lie farther apart than destinations are a batch each if they are fewer: means of
  // 4 rows of 34639 bfloat16 took 0.28 x the time, of 5 rows of 28770 int64 0.88 x, of 100 rows of
  // 1000 float32 0.93 x, but of 100 rows with 300 updates each 1.37 x (Zen 4).
  int64_t least_strided_group = 64;
  // Ranks of destinations are faster if buckets are more than the pages that the CPU translates at
  // once, or have fewer entries: 1000 float32 into 64 MiB took 26 us in buckets, 39 by rank.
  int64_t most_buckets = 1024;
  int64_t least_of_bucket = 2;
  // Ranks of so many destinations are found row by row, and of more one by one, in 64 bits.
  int64_t most_short_ranks = int64_t{1} << 30;
};

inline constexpr Tuning kTuning;

}  // namespace strew::plan

#endif  // STREW_PLAN_TUNING_H_
