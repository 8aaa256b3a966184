// SPDX-License-Identifier: Apache-2.0
// THE tuning table: every threshold at which a call is carried out another way, with the
// measurement that it rests on. Unless a comment says otherwise figures are of one thread of an AMD
// EPYC (Zen 5) with 48 KiB of L1, 1 MiB of L2 and 32 MiB of L3, in ms, ns or times of the whole
// call.
//
// What bounds memory (scratch, stack, buffers) is no tuning and stands where it is used.
#ifndef STREW_PLAN_TUNING_H_
#define STREW_PLAN_TUNING_H_

#include <cstdint>

namespace strew::plan {

struct Tuning {
  // Bytes of the last-level cache, 0 for what the CPU tells.
  int64_t cache_bytes = 0;

  // ---- Threads ----

  // Less work than this stays with the calling thread, in ns: a task that is handed to another
  // thread costs 5 to 20 us until it runs.
  double least_task_ns = 20e3;
  // Parts for each task, so that one whose CPU is busy otherwise takes fewer of them.
  int64_t parts_of_task = 4;
  // What one thread needs, about: for a byte that it reads or writes in order, in caches or memory,
  // and for an entry.
  double ns_of_byte = 1.0 / 32;
  double ns_of_entry = 1;
  double ns_of_batch_mean_entry = 1.5;
  double ns_of_bucket_mean_entry = 3;
  double ns_of_touched = 3;

  // Pieces of a run that tasks share are not shorter: two threads that took halves of the same rows
  // of 1 KiB were as slow as one, and with half of the rows each 1.5 x as fast.
  int64_t least_run_piece = 4096;

  // What an entry that may land anywhere costs, in ns, random float32 into 1 to 128 MiB: to resolve
  // its index, to write it (a reduction with many instructions: more), to wait for its line; for
  // each task that looks at all entries, if they come from memory besides; for each task that
  // sorts, and to sort one.
  double resolve_ns = 0.25, write_ns = 0.5, heavy_write_ns = 1.2, wait_ns = 1.9;
  double filter_ns = 0.6, filter_stream_ns = 0.3, select_ns = 0.15, sort_ns = 1.1;
  // What does not win by so much may lose as well.
  double worthwhile = 0.9;

  // A look at an entry costs misses of the caches, but tasks wait for the one with the largest
  // range: 2^22 random updates on two threads 8.2 ms by 1024 samples, 8.7 by 128.
  int64_t least_samples_of_range = 32;
  int64_t most_samples_of_range = 512;
  int64_t entries_of_sample = 512;
  // The next entry lands near the one before if both are on one page or on neighbours.
  int64_t page = 4096;

  // ---- The check of the indices ----

  // Bytes of a part. Parts go from the last to the first: those that will be used first are then
  // the last to have come into the caches. 0.94 to 0.97 x the time of all of a call with 32 to 128
  // MiB of indices.
  int64_t checked_part = int64_t{1} << 20;
  // Shorter rows of one index are no better as runs than as single elements.
  int64_t least_constant_batches = 8;

  // ---- Few updates ----

  // A schedule takes as long as 20 indices do without one: 16 updates of a line of 1000 float32
  // take 90 ns, with a schedule 105; 32 take 153 and 112. Where updates are more than indices there
  // are no batches, and each may be a long run: 7 pages of 4 KiB take 1.0 us, with a schedule 1.2.
  // No reduction of the most updates is worth a second task.
  int64_t few_indices = 20;
  int64_t few_updates = 64;
  int64_t most_few_updates = 16384;
  int64_t most_few_bytes = 64 << 10;

  // ---- Prefetch ----

  // Destinations that lie within this part of the last-level cache need no prefetch. Random sums
  // into 4 MiB 0.65 to 0.85 ns each, with prefetch 0.89 to 1.1; into 64 MiB 4.8 and 2.7.
  int64_t near_part = 4;
  // Entries ahead, of single elements: from 4 to 255, because blocks of clamped indices have 256.
  int64_t element_prefetch = 128;
  // Bytes ahead, of rows: of 320 B and of 1 KiB on two threads 0.76 and 0.98 x the time of 8 KiB,
  // and as long on one.
  int64_t row_prefetch_bytes = 4096;
  // Entries ahead in a strip, which is partly in the L2 cache, for reductions that take so long
  // that the CPU does not look far ahead by itself: max of float32 28 ms instead of 33, but sums 24
  // instead of 22.
  int64_t strip_prefetch = 32;
  // Rows that other tasks take leave gaps between updates that the CPU does not foresee. 2^18 rows
  // of 128 B into 2 MiB on two threads took 2.5 ms, with their updates fetched ahead 1.0; rows of
  // 32 B take twice as long with that.
  int64_t least_row_with_gaps = 128;
  // Indices of so many bytes are still in the caches when they have just been checked.
  int64_t near_indices = 256 << 10;

  // ---- Streaming stores ----

  // Outputs that are written once, in order, stream from this part of the last-level cache on:
  // where data and output fill the cache together. Copies, with streaming and with ordinary stores:
  // 8 MiB 0.195 and 0.224 at first but 0.190 and 0.133 when the output is in the cache already; 16
  // MiB 0.38 and 0.42; 32 MiB 0.94 and 1.11; 64 MiB 2.20 and 2.76.
  double streamed_part = 0.5;
  // By several tasks: one thread alone streams as much as memory takes, while ordinary stores gain
  // from each further one. By two threads 8 MiB 0.193 and 0.074, 16 MiB 0.38 and 0.27, 24 MiB 0.59
  // and 0.60, and 16 MiB 0.41 and 0.54 where the output, 0.62 and 0.63 where nothing is in the
  // cache yet. (Values must differ: memory takes zeros twice as fast.)
  double streamed_part_of_tasks = 0.75;
  // Shorter rows are not streamed. 32 MiB of replaced rows, streaming against ordinary stores: rows
  // of 256 B 0.58 to 0.63, of 384 B 0.55, of 1 KiB 0.54 to 0.83, of 4 KiB 0.67 to 0.89. Rows of 128
  // B gain there too (0.7), but elsewhere a line that is streamed in parts costs more.
  int64_t least_streamed_row = 256;

  // ---- Lines and strips of an indexed axis ----

  // Lines of the axis that stay in the L1 or L2 cache between their copy and their updates.
  int64_t least_staged_line = 256;
  int64_t most_staged_line = 256 << 10;
  // Lines that are copied at once, with their updates behind.
  int64_t staged_bytes = 32 << 10;
  // A strip whose axis spans no more stays near without scratch, unless more rows than the ways of the
  // L1 cache fall into the same sets: sums of 16 to 64 rows of odd length 0.8 to 0.9 x the time (float64
  // 0.5 to 0.8) as with scratch, of lengths that are powers of two 1.7 to 1.9 x.
  int64_t near_strip = 64 << 10;
  int64_t cache_way = 4096;
  int64_t cache_ways = 8;
  // A row of a strip in scratch. 512 bytes, a power of two, took 1.05 to 1.1 x the time, 256 bytes
  // 1.15 x, 192 1.2 x.
  int64_t strip_bytes = 384;
  // Columns that are batch, without a strip: enough for the streams of indices and updates, few enough for
  // the lines of a short axis to stay near.
  int64_t batch_columns = 128;

  // ---- Tiles ----

  // Rows and columns of more entries, in rows that fill a vector, do well by themselves; fewer are
  // walked as one line. Fewer entries in all are not worth the pattern.
  int64_t few_turns = 256;
  int64_t narrow_row = 16;
  int64_t least_flat_entries = 64;
  // Shorter runs of one index are not worth looking for.
  int64_t least_folded = 8;

  // ---- Few entries that are large slices ----

  // Entries are gone through one by one, in blocks of so many bytes that stay in the L1 cache while
  // all of them write there: 6 updates of each of 67040 pairs of float32 148 us, pair by pair 801.
  // Slices of fewer units, or strided blocks of fewer turns (30 of each of 5000 lines of 800 B: 20
  // turns, 1.08 x), cost more.
  int64_t few_slices = 64;
  int64_t least_slice = 64;
  int64_t slice_block = 16 << 10;
  int64_t least_slice_block = 64;
  // Runs that several entries write are cut into pieces that stay in the L2 cache: 50 sums of runs of
  // 3 MiB 0.9 x the time of whole runs, in pieces of 256 KiB 1.0 to 1.3 x, of 16 KiB 1.1 to 2 x.
  int64_t slice_run_block = 1 << 20;
  // Rows that lie together cost little beside their own work if there are several of a turn: 8 of 256
  // B 1.13 x, 1 of 24 B 0.28 x.
  int64_t few_slice_rows = 4;
  int64_t longest_slice_run = 1024;

  // ---- Boxes and slices ----

  // Copied at once: choosing how takes as long as copying 1 KiB.
  int64_t small_copy = 16 << 10;
  // Elements of a side of a tile where one side's strides are long, as in a transpose: each side
  // should use the lines it fetches before they leave the L1 cache. 64 x 64 elements of 8 bytes are
  // 32 KiB a side at most.
  int64_t transposed_tile = 64;
  // Outputs of fewer bytes are copied first and then updated: laying a slice over a copy pays
  // later.
  int64_t small_overlay = 16384;
  // Lines from this length on are handled one by one: what a call costs is little beside them.
  int64_t long_line = 1024;
  // What is put together in a buffer before it is streamed: reads and writes of memory should
  // alternate within what a CPU looks ahead. Every other of 4096 x 4096 float32 replaced in a
  // buffer of 4 KiB 3.10 ms, of 16 KiB 3.90; interleaved without a buffer 2.78.
  int64_t overlay_buffer = 4096;
  // Longer lines are streams that the CPU finds by itself. Lines of 4 KiB, every second one
  // replaced, 0.85 x the time.
  int64_t most_prefetched_line = 8192;

  // ---- Means ----

  // Sums and counts of some batches, and of a bucket, stay in the L2 cache.
  int64_t near_batch_sums = int64_t{128} << 10;
  // The same where batches lie together, but of so many bytes of output at least: means of
  // [1000, 1000] on axis 0 0.45 to 0.65 x the time of 2 MiB of sums; of [10000, 100], where 512 KiB
  // are sums of 4 columns, 4 x (Zen 4).
  int64_t near_column_sums = int64_t{512} << 10;
  int64_t least_column_bytes = 128;
  // Sums and counts of a single batch, where scratch may be so large: 500000 float32 5.0 ns each, in
  // buckets 10; but 1000000 17.6 and 15.5 while other programs use the last-level cache (Zen 4).
  int64_t far_batch_sums = int64_t{4} << 20;
  int64_t bucket_bytes = int64_t{512} << 10;
  // A destination costs so much less than an update: with fewer updates sums are only for those
  // that are touched. With an update for 10 destinations means of float32 take 0.4 to 0.8 x the time
  // of a list, of integers 0.85 x; with one for 20 float32 0.8 to 1.4 x, int64 3 x (Zen 4).
  int64_t destinations_of_entry = 16;
  // Inner turns that lie farther apart than destinations are a batch each where they are fewer: means of
  // 4 rows of 34639 bfloat16 0.28 x the time, of 5 rows of 28770 int64 0.88 x, of 100 rows of 1000
  // float32 0.93 x, but of 100 rows with 300 updates each 1.37 x (Zen 4).
  int64_t least_strided_group = 64;
  // More streams than pages that the CPU finds at once are slower than ranks of destinations, and so
  // are buckets of fewer entries: 1000 float32 into 64 MiB by rank 39 us, in buckets 26.
  int64_t most_buckets = 1024;
  int64_t least_of_bucket = 2;
};

inline constexpr Tuning kTuning;

}  // namespace strew::plan

#endif  // STREW_PLAN_TUNING_H_
