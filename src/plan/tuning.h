// SPDX-License-Identifier: Apache-2.0
// THE tuning table: the thresholds and distances that decide how a call runs, with their
// measurements. Figures are in ms or ns, or they compare whole calls: `0.8 x the time` is the time
// of a call with what the comment describes, divided by its time otherwise. Unless a comment names
// another CPU, they are from one thread of an AMD EPYC (Zen 5) with 48 KiB of L1, 1 MiB of L2 and
// 32 MiB of L3.
//
// `The cache` of a threshold is the part of the last-level cache that a call counts on.
//
// Plans have a table of their own, in plan/plan_tuning.h, means one in plan/mean_tuning.h, what is
// prefetched one in plan/prefetch_tuning.h, few entries that are large slices one in
// plan/slice_tuning.h, and the walks of the kernels one in kernel/walks.cc.
// Other constants stand beside the code that uses them: the order of loops (plan/entry_loops.cc),
// the forms of sets of destinations (accumulate/destination_set.cc), when slots are far
// (accumulate/wide_sums.h), repeats (kernel/repeats.cc) and short runs (kernel/short_runs.cc), the
// sorts and runs of plans (prepared), sizes of blocks, and limits on memory (scratch, stack,
// buffers).
#ifndef STREW_PLAN_TUNING_H_
#define STREW_PLAN_TUNING_H_

#include <cstdint>

#include "plan/mean_tuning.h"
#include "plan/plan_tuning.h"
#include "plan/prefetch_tuning.h"
#include "plan/slice_tuning.h"

namespace strew::plan {

struct Tuning : PlanTuning, MeanTuning, PrefetchTuning, SliceTuning {
  // Bytes of the last-level cache; 0: as the CPU reports it.
  int64_t cache_bytes = 0;
  // Most bytes of it that a call counts on: many CPUs share larger ones, which are slow to reach.
  // With 260 MiB, copies of 36 MB of which few lines are updated took 0.62 x the time, rows in 16
  // to 64 MiB 0.56 to 0.9 x, overlays of 48 MiB 0.93 to 1.08 x, of 64 to 120 MiB 0.4 to 0.6 x, of
  // 17 MiB 0.8 x, but 1.25 x if the output was in that cache (Emerald Rapids).
  int64_t most_cache = 32 << 20;
  // 1 if parts of cache lines are streamed as fast as whole ones, and if stores wait for cache
  // lines, 0 if not; -1: by the maker of the CPU.
  int64_t streams_parts = -1, waits_for_stores = -1;

  // ---- Threads ----

  // Least work of a task, in ns: a sleeping thread needs 30 us to wake up. Calls that take one
  // thread 40 us took two threads 1.1 to 1.2 x the time after pauses, calls of 80 us 0.8 to 1.0 x;
  // calls one right after another took 0.63 and 0.69 x.
  double least_task_ns = 30e3;
  // The same for a pass beside others of the same call, for which workers are awake or have to be
  // woken. Checks and copies of 20 to 50 us, on 4 to 16 threads, made calls take 0.65 to 0.9 x the
  // time (Emerald Rapids).
  double least_joint_task_ns = 5e3;
  // Parts for each task: several, so that a task whose CPU is busy can take fewer of them.
  int64_t parts_of_task = 4;
  // Estimated time of one thread: for a byte that it reads or writes in order, in caches or in
  // memory; for an entry; for an entry of a mean by batch and by bucket; for a touched destination.
  double ns_of_byte = 1.0 / 32;
  // For a run of a box, besides its bytes, and at least for an element of a box that is strided.
  // From 40,000 elements in the caches: runs of 2 to 16 elements took 0.8 to 2 ns, of which their
  // bytes have up to half, elements 2 or 3 apart 0.23 to 0.4 (Zen 4).
  double ns_of_run = 1, ns_of_strided_element = 0.22;
  // Times that of a box of moves for one of a reduction, which reads its output as well: 1.0 for
  // lines of float32 in the caches, 2.2 and 2.3 for those of bfloat16 and float16 (Zen 4).
  double cost_of_combining = 2;
  double ns_of_entry = 1;
  double ns_of_batch_mean_entry = 1.5;
  double ns_of_bucket_mean_entry = 3;
  double ns_of_touched = 3;

  // Tasks share batches and runs only if these are cut into more parts than tasks / tasks_of_part.
  // With fewer parts most tasks would have nothing to do, so ranges of destinations are tried.
  int64_t tasks_of_part = 2;
  // Least bytes of the pieces into which tasks cut a run. Two threads that each wrote half of every
  // row of 1 KiB were as slow as one thread; with half of the rows each they were 1.5 x as fast.
  int64_t least_run_piece = 4096;

  // Cost in ns of an entry whose destination may be anywhere, from random float32 into 1 to
  // 128 MiB: to resolve its index; to write it (heavy: with many instructions); to wait for its
  // cache line. The filter costs filter_ns in each task, and filter_stream_ns more if entries come
  // from memory. The partition costs select_ns in each task, and sort_ns once.
  // Between those of Zen 5 (0.5, 1.2, 1.9, 0.6, 1.1) and Zen 4 (0.76, 0.81, 6.6, 1.07, 1.4).
  double resolve_ns = 0.25, write_ns = 0.62, heavy_write_ns = 0.9, wait_ns = 3.5;
  double filter_ns = 0.9, filter_stream_ns = 0.3, select_ns = 0.15, sort_ns = 1.25;
  // The filter takes filter_row_ns more for a row, or filter_packed_ns for an entry of rows so
  // short that they are packed. The caller wakes workers one after the other, each in wake_ns: 1.3
  // us (Emerald Rapids) to 7 us (Zen 5, in a virtual machine). Without these, 8 tasks made sums of
  // [209915, 3] int64 take 1.7 x the time of one.
  double filter_row_ns = 14, filter_packed_ns = 0.4, wake_ns = 3000;
  // Indices and updates of at least this part of the cache come from memory.
  double far_entries_part = 1;
  // Estimates are not exact: that of several tasks must be below this fraction of that of one.
  double worthwhile = 0.9;

  // Samples cost cache misses, but with few of them ranges differ in size, and tasks wait for the
  // largest: 2^22 random updates on two threads took 8.2 ms with 1024 samples, 8.7 with 128.
  int64_t least_samples_of_range = 32;
  int64_t most_samples_of_range = 512;
  int64_t entries_of_sample = 512;
  // Page size in bytes. An entry is near the one before if both write to one page or to neighbours.
  int64_t page = 4096;

  // ---- The check of the indices ----

  // Bytes of a part. Parts are checked from the last to the first, so that the indices that are
  // used first enter the caches last: whole calls with 32 to 128 MiB of indices took 0.94 to 0.97 x
  // the time.
  int64_t checked_part = int64_t{1} << 20;
  // Shortest rows with one index that are treated as such; others are as fast by element.
  int64_t least_constant_batches = 8;

  // Shortest rows of entries that read a single index if all indices are equal. Maxima of 8 million
  // took 0.5 x the time, means of 1 M to 30 M 0.11 to 0.2 x. Shorter rows are faster flat, with all
  // of their indices: sums of [100000, 10] took 0.88 x the time. Moves write only the last entry:
  // 0.3 x (Zen 5).
  int64_t least_equal_row = 64;
  int64_t least_equal_moves = 1;
  // Shorter rows that are no farther apart in updates, in bytes, are applied entry by entry, each
  // to all rows. Sums of [1000, 1] to [2 M, 1] with 2 to 10 equal float32 a row took 0.3 to 0.6 x
  // the time, with 10, 16, 20 and 33 float64 0.75, 0.9, 1.1 and 2 x (Zen 4).
  int64_t longest_equal_step = 128;

  // ---- Moves of many entries into few destinations, of which the last is written ----

  // Least entries for each element of the axis; most entries, of which scratch holds copies; least
  // bytes of an entry and of its runs. [20000, 64] <- 60000 float32 took 0.4 x the time, <- 30000
  // 1.0 x; [50000, 3, 40] <- [50000, 5, 40] 0.65 x, [200000, 2, 4] <- [200000, 6, 4] 0.47 x, and
  // without runs, [200000, 2] <- [200000, 6], 5.8 x (Zen 4).
  double least_replaced = 1.5;
  int64_t most_last_entries = 64 << 10;
  int64_t least_replaced_entry = 256;
  int64_t least_replaced_run = 16;

  // ---- Drafts: small outputs in scratch, so that indices are read once ----

  // Least bytes of indices, as a fraction of the cache, and most bytes of output.
  // Counting 10 million int64 and int32 indices into 16 to 65536 float32 took 0.88 to 0.95 x the
  // time, 6 MiB of indices, which stay in the caches, 1.09 x (Zen 4).
  double least_drafted = 0.5;
  int64_t most_draft = 2 << 20;
  // Indices are short if they take fewer times the bytes of the updates than this; then the output
  // may have fewer bytes. 3.4 and 9 M int64 for int8, float16 and float32 took 0.7 to 1.03 x the
  // time into 0.6 to 2 MB, sorted ones 0.69 to 0.9 (1.1 if many share a destination), int32 for
  // int8 and float16 0.88 to 1.1; but int64 for float64 0.9 to 1.3, int32 for float32 0.96 to 1.09
  // (Zen 5).
  double least_long_indices = 2;
  int64_t most_draft_of_short_indices = 512 << 10;
  // Bytes of indices that are checked before their updates are applied; meanwhile the next part is
  // prefetched into the L2 cache. Parts of 32 and 512 KiB took 1.04 and 1.05 x the time.
  int64_t drafted_part = 128 << 10;

  // ---- Few updates ----

  // Making a schedule takes as long as applying 20 indices without one: 16 updates of a line of
  // 1000 float32 take 90 ns, with a schedule 105; 32 take 153 and 112; on a Zen 4 28 and 57 took
  // 0.68 and 1.1 x the time. The larger limits are for calls with more updates than indices: they
  // have no batches, and an entry may be a long run. 7 pages of 4 KiB take 1.0 us, with a schedule
  // 1.2; 7 rows of 6 KiB of int8 took 0.83 x, but 5 entries of 3604 pairs of float16 1.6 x (Zen 4).
  int64_t few_indices = 28, few_updates = 64;
  int64_t most_few_updates = 16 << 10;
  int64_t most_few_bytes = 64 << 10;

  // ---- Streaming stores ----

  // Outputs that are written once, in order, are streamed if they have at least this fraction of
  // the cache: then data and output together fill it. Copies in ms, with streaming and
  // with ordinary stores: 8 MiB 0.195 and 0.224 into a fresh output, 0.190 and 0.133 into one in
  // the cache; 16 MiB 0.38 and 0.42; 32 MiB 0.94 and 1.11; 64 MiB 2.20 and 2.76.
  double streamed_part = 0.5;
  // The same for several tasks: one thread that streams uses the whole bandwidth of memory, while
  // ordinary stores gain from each further thread. On two threads 8 MiB took 0.193 and 0.074, 16
  // MiB 0.38 and 0.27 (0.62 and 0.63 with nothing in the cache), 24 MiB 0.59 and 0.60.
  double streamed_part_of_tasks = 0.75;
  // A copy of which updates then touch more than one in so many cache lines is streamed only if it
  // has that fraction of all of the last-level cache.
  int64_t lines_of_touched = 16;
  // If they are elements shorter than a line, and one in so many lines is touched, a copy stays in
  // the caches up to that fraction of these. With a tenth to a third of 17 and 20 MB updated, calls
  // took 0.7 to 0.8 x the time, with data outside the caches 0.85 to 1.0 x; sorted and replaced up
  // to 1.15 x (Zen 4).
  int64_t lines_of_touched_element = 4;
  double streamed_part_of_elements = 0.7;
  // Least bytes of a streamed row. Replacing 32 MiB of rows of 256 B took 0.58 to 0.63 x the time
  // of ordinary stores, of rows of 1 KiB 0.54 to 0.83 x, of 4 KiB 0.67 to 0.89 x.
  int64_t least_streamed_row = 256;
  // The same for identities, to which updates return: rows of 256 B took 1.4 x the time in 24 MiB,
  // and 1.01 to 1.07 x in 48 to 244 MiB, of 512 B 1.15 and 0.85 x, of 1 KiB 0.9 and 0.7 x (Zen 4).
  int64_t least_streamed_identities = 512;
  // On Intel, the same for rows and slices that begin or end within cache lines: rows of 256, 512,
  // 1024, 1536 B took 3.3, 1.8, 1.06, 0.78 x, slices of 256, 520 B 2.5, 0.65 x (Emerald Rapids).
  int64_t least_streamed_row_of_parts = 1024;
  int64_t least_streamed_slice_of_parts = 512;
  // Least bytes of a streamed row with gaps behind it whose parts of lines have odd sizes: these
  // wait for memory. Rows of 0.25, 0.5 and 1 KiB, 8 bytes apart, took 69, 42 and 21 ms streamed and
  // 8, 4 and 4 otherwise, 40 MB in all; of 1.4 and 2.8 KiB 1.06 and 0.64 x the time (Zen 4).
  // Adjacent rows of 314 to 451 B took 1.07 to 2 x the time, of 0.5 to 5 KB 0.5 to 1.06 x.
  int64_t least_streamed_row_with_gaps = 2048, least_streamed_adjacent_row = 512;

  // ---- Pieces of a new output, and strips of an indexed axis ----

  // A new output that would be streamed, or that has least_in_pieces bytes, is copied in pieces of
  // piece_bytes, each just before its updates. Outputs of 19 to 90 MB took 0.3 to 0.98 x the time
  // of a copy of all data before all updates, short rows 1.0 to 1.17 x; compared with 256 KiB,
  // pieces of 64 and 512 KiB 1.05 and 1.01 x. Outputs of 0.3 to 15 MB, which stay in the caches,
  // took 1.0 to 1.1 x. Pieces that cannot be cut any more have at most most_piece bytes: of 1.1 to
  // 6 MiB they took 0.56 to 0.98 x (Zen 4).
  int64_t least_in_pieces = 16 << 20;
  int64_t piece_bytes = 256 << 10;
  int64_t most_piece = 8 << 20;
  // Updates of pieces touch at least one in so many cache lines; otherwise a copy past the caches
  // costs less. With one in 1 to 6 lines pieces took 0.67 to 0.95 x the time, in 12 0.92 and 1.32
  // x, in 25 1.5 x (Zen 4).
  int64_t lines_of_touched_piece = 8;
  // A strip whose axis spans at most this many bytes stays in the caches without scratch, unless
  // more rows than the L1 cache has ways fall into the same sets. Without scratch, sums of 16 to 64
  // rows of odd lengths took 0.8 to 0.9 x the time (float64 0.5 to 0.8 x), of powers of two 1.7 to
  // 1.9 x.
  int64_t near_strip = 64 << 10;
  // Most bytes between rows of the axis that need no strip, however many there are: a page has
  // several of them, and strips save translations of addresses. Without a strip, float32 and
  // float64 sums with 157 to 257 columns took 0.67 to 0.9 x the time, with rows of 1600 B as long,
  // of 4 and 16 KB 1.05 to 1.3 x; maxima with rows of 1 KiB 1.06 x (Zen 4).
  int64_t near_row = 1536;
  int64_t cache_way = 4096, cache_ways = 8;
  // Bytes of a row of a strip in scratch. Compared with 384, 512 (a power of two) took 1.05 to
  // 1.1 x the time, 256 1.15 x, 192 1.2 x.
  int64_t strip_bytes = 384;
  // Least bytes of such a row: shorter ones use too little of each cache line of indices, updates
  // and output. Without strips, moves into [25000, 149, 3] to [25000, 9, 48] of float64 took 0.1 to
  // 0.33 x the time, sums in [3000, 149, 3] to [3000, 14, 32] of float32 0.2 to 0.7 x, moves of
  // [12000, 600] 0.43 to 0.69 x; with strips of 256 B in a cache way that two threads share, sums
  // of [4096, 4096] 0.52 x (Zen 5).
  int64_t least_strip = 256;
  // Strips copy the whole axis in and out. In place, and into outputs that stay in the caches, that
  // pays if the axis has at most this many elements for each row of updates: with 1.4, 2.8 and 11,
  // sums of 512 rows of 1024 float32 took 0.6, 0.7 and 1.03 x the time (Zen 4).
  int64_t axis_elements_of_row = 2;
  // Least columns of batch that are walked together without a strip, and their least bytes: long
  // reads of indices and updates, but a short axis stays in the caches. 512 int8 took 0.55 to 1.08
  // x the time of 128, 256 float16 0.75 to 1.09 x (Zen 4). Up to most_batch_columns are walked
  // together while their axis spans less than near_strip: 512 took 0.71 to 1.06 x the time of 128;
  // and as many as a block of offsets has if entries never return to them, which took 0.67 to 0.93
  // x (Zen 5).
  int64_t batch_columns = 128, batch_bytes = 512, most_batch_columns = 512;
  // More than most_undivided_columns columns of batch, each in another cache line of an operand,
  // go through all outer turns in blocks of near_columns, whose lines are still near for the next
  // turn. With transposed data and updates, sums of [17556, 49, 2] took 0.5 x the time, of
  // [30000, 4, 20] 0.3 x; 571 and 1200 columns 1.2 x; in blocks of 128 1.1 x (Zen 4).
  int64_t most_undivided_columns = 4096, near_columns = 512;

  // ---- Tiles ----

  // Tiles of at least few_turns turns are fast as they are if rows are not narrow; other loops are
  // walked flat, as one line. Compared with one line, rows of 11, 23 and 45 entries took 1.14, 0.95
  // and 0.88 x the time; columns of batches, each of which resolves its own offset, 1.9, 1.45 and
  // 1.2 x. With fewer than least_flat_entries entries in all, the pattern of offsets pays only if
  // columns are narrow, or if there are many_tiles small tiles, of 30 to 70 ns each: random nests
  // of 36 to 1000 entries took 0.08 to 0.8 x the time, other rows of 4 up to 1.2 x. If indices or
  // updates are scattered, tiles of up to small_packed_tile entries are small (Zen 4).
  int64_t few_turns = 256, narrow_row = 16, narrow_batch = 96, least_flat_entries = 1024;
  // Rows of at least so many bytes of updates stay rows if their indices serve as offsets, and
  // updates and output are beyond the near part of the cache: 1.6 to 8 M moves and sums in rows of
  // 4 to 15 took 0.7 to 0.92 x the time of one line, 0.2 to 0.8 M 0.93 to 1.1 x (Zen 4).
  // So do only rows in tiles of at least so many bytes of updates, which are few where the output
  // has gaps: 3 M sums of float32 and int64 in tiles of 8 to 60 entries took 0.2 to 0.88 x the time
  // as one line, in tiles of 250 to 960 1.0 to 1.55 x; at this size 0.9 to 1.2 x (Zen 5).
  int64_t least_kept_row = 16, least_kept_tile = 768;
  int64_t many_tiles = 3, small_tile = 128, small_packed_tile = 16, least_of_small_tiles = 32;
  int64_t narrow_columns = 16, least_of_narrow_columns = 128;
  // Scattered indices or updates are packed into a buffer if a tile has at most most_packed_tile
  // entries, or a row at most most_packed_row. In random nests of small loops with transposed,
  // broadcast, padded and reversed operands, rows of 2 took 0.12 to 0.4 x the time, short tiles 0.2
  // to 0.9 x, but rows of 3 to 11 in long tiles 1.1 to 1.4 x, without prefetch of destinations.
  // With it, padded rows of 3 and 4 took 0.6 to 1 x, of 5 and 7 0.7 to 1.1 x, of 13 1 to 1.2 x
  // (Emerald Rapids). Flat tiles of fewer than least_flat_tile entries are packed as well: with
  // updates [1, 2, 2] for [20000, 2, 2] 0.3 x.
  int64_t most_packed_tile = 64, most_packed_row = 4, least_flat_tile = 32;
  // The same for tiles that are larger, if their rows are shorter: tiles of 65 to 128 entries in
  // rows of 5 to 13 took 0.55 to 0.9 x the time, in rows of 16 to 60 0.98 to 1.34 x; of 129 to 500
  // in rows of 5 to 13 0.76 to 1.4 x, most of them longer (Zen 5).
  int64_t packed_tile_of_short_rows = 128, short_packed_row = 13;
  // The same for entries that go to a filter or to sums, which take longer for a row: means of rows
  // of 7 and 11 with pitched, broadcast or transposed updates took 0.55 and 0.7 x the time, of 20
  // 1.06 to 1.25 x (Zen 5).
  int64_t most_given_row = 16;
  // Shortest row whose indices are used as offsets directly. 80,000 sums into 26,665 float32 in the
  // caches took 0.87 x the time, 4000 rows of 23 0.71 x.
  int64_t least_unresolved_row = 1;
  // Longest contiguous and longest strided rows, in elements, that are combined element by element;
  // complex numbers count as two. Compared with a call for each row, 100,000 sums of rows of 2, 3
  // and 4 float32 took 0.6, 0.65 and 0.92 x the time, of 3 complex64 1.34 x; of 3, 4, 6 and 8 of
  // every second float32 0.41, 0.49, 0.77 and 1.21 x (Zen 4).
  int64_t element_row = 4;
  int64_t strided_element_row = 6;
  // Fewest such rows, unless they are adjacent; fewer get a call each.
  int64_t least_element_rows = 16;
  // Entries of several rows are written one after the other if they have least_box bytes, or
  // least_box_of_runs bytes in rows of at most short_run_of_box elements (far_run_of_box if
  // destinations are prefetched); others row by row of all entries. Far rows of 2 to 7 elements
  // with gaps, 0.3 to 44 KiB for an entry, took 0.26 to 0.86 x the time, near rows of 5 complex64
  // 1.56 x; longer rows 0.51 to 0.93 x from 2 KiB on, 0.9 to 1.4 x with less (Zen 4). Entries of
  // many_rows rows of at most short_run elements always go so: 0.35 to 1.2 x, mostly below 0.7.
  int64_t least_box = 2048;
  int64_t least_box_of_runs = 256;
  int64_t short_run_of_box = 3;
  int64_t far_run_of_box = 8;
  // Fewest entries of a row whose axis fits a vector that are combined there: 1000 to 100,000 rows
  // of 5 to 32 entries took 0.72 to 0.86 x the time (geometric means), 0.3 to 2 million 0.73 to
  // 0.81 x, rows of 2 and 3 1.3 and 1.07 x; axes of 33 to 64 bytes 0.9 to 1.08 x (Zen 4).
  int64_t least_vector_row = 5;
  // Shortest run with one index that is worth looking for.
  int64_t least_folded = 8;

  // If the old value is excluded: least bytes of a row whose first update replaces it; in shorter
  // rows an identity is stored before all updates. Sums of 810 rows of 256 B took 1.13 x the time,
  // of 1 KiB 0.84 x, of 40 KiB 0.58 x, of 81 rows of 4 MB 0.40 x (Zen 4).
  int64_t least_replaced_row = 1024;

  // ---- Boxes and slices ----

  // Most bytes that are copied without a schedule: 23 KiB took 0.92 x the time, 90 KiB 0.97 x
  // (Zen 4).
  int64_t small_copy = 32 << 10;
  // Side of a tile, in elements, if one operand has long strides, as in a transpose: all bytes of a
  // cache line should be used before it leaves the L1 cache. 64 x 64 elements of 8 bytes are 32 KiB
  // for each operand.
  int64_t transposed_tile = 64;
  // A tile of few rows is longer, so that its output has so many bytes. Copies of 2 to 5 columns of
  // 40,000 to 4 M rows took 0.1 to 0.6 x the time with elements of 1 byte, 0.3 to 0.7 x with 2
  // bytes, 0.35 to 1.1 x with 4 and 0.75 to 1.15 x with 8 (Zen 5).
  int64_t transposed_tile_bytes = 8 << 10;
  // Longest runs, in elements, that are walked column by column, and the fewest rows of such runs.
  int64_t short_run = 8;
  int64_t many_rows = 16;
  // Longest rows of a transpose that are walked column by column, along a loop of at least so many
  // turns, if columns are shorter than a vector. With 2 to 13 int8, 2 to 7 int16 and 2 or 3 float32
  // to a column, rows of 9 to 16 took 0.2 to 0.85 x the time, of 17 to 32 0.5 to 1.5 x (Zen 4).
  int64_t short_row = 16, least_near_turns = 64;
  // Outputs of fewer bytes are copied and then updated: 23 and 90 KiB took 0.93 and 0.95 x the time
  // of overlays (Zen 4).
  int64_t small_overlay = 32 << 10;
  // Lines of at least this many bytes are handled one by one: a call then costs little.
  int64_t long_line = 1024;
  // The same for lines that are written past the caches in whole cache lines, although their runs
  // end anywhere: lines of 1.0 to 2 KiB took 0.48 to 1.8 x the time, of 2 to 6 KiB 0.6 to 1.3 x
  // (Zen 5).
  int64_t long_joined_line = 2048;
  // Bytes of an overlay that are copied, through the caches, before their updates. Compared with
  // 4 KiB, 60 random overlays of 0.1 to 60 MB took 0.94, 0.92 and 0.91 x the time (geometric mean)
  // with 32, 64 and 128 KiB; compared with 64 KiB, 40 others of 0.2 to 110 MB took 0.99, 0.98 and
  // 0.97 x with 128 KiB, 256 KiB and 1 MiB (Zen 4).
  int64_t overlay_piece = 256 << 10;
  // Most bytes of the updates of a line that are prefetched: lines of 4 KiB, every second replaced,
  // took 0.85 x; 14 of 1 to 30 KB, in parts replaced, 0.83 and 0.97 x (geometric means on Zen 5 for
  // runs that end anywhere and at words).
  int64_t most_prefetched_line = 8192;
  // Distance of these lines, in turns. A distance of 1, 4, 8 took 1.01, 1.02, 1.04 x the time.
  int64_t line_prefetch = 2;
  // Most bytes of the write of a cache entry that is prefetched during the write before it, because
  // new positions are not in the caches: 8 entries of 16 rows of 256 B took 2.0 us, 2.9 without.
  int64_t most_fetched_box = 16 << 10;
};

}  // namespace strew::plan

#endif  // STREW_PLAN_TUNING_H_
