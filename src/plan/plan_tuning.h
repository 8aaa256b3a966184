// SPDX-License-Identifier: Apache-2.0
// The part of the tuning table that calls with plans add; plan/tuning.h tells how to read it.
#ifndef STREW_PLAN_PLAN_TUNING_H_
#define STREW_PLAN_PLAN_TUNING_H_

#include <cstdint>

namespace strew::plan {

struct PlanTuning {
  // Estimated time of one thread in ns. Of an entry of a new plan: to store its place, and to put
  // it in order. Of an entry and of a byte of it: that is gathered; that is combined in the order
  // of destinations, where an entry costs one or two cache misses. Of an entry that is passed from
  // a source to an output. Of a destination, and of a byte of it, whose sum becomes a mean.
  double ns_of_stored_place = 1.5, ns_of_ordered_entry = 8;
  double ns_of_gathered_entry = 2, ns_of_gathered_byte = 0.1;
  double ns_of_grouped_entry = 4, ns_of_grouped_byte = 0.1;
  double ns_of_passed_entry = 5;
  // Entries that are passed in lines to an output that is near go in the order of destinations, of
  // which every task has a part, if there are more tasks than this for each part of their own
  // order: on two threads 100 of 640 random plans took 1.4 to 6 x the time of one thread in the
  // order of destinations. Gathered or far ones took 0.4 to 0.9 x (Zen 4).
  int64_t tasks_of_passed_part = 4;
  double ns_of_divided_group = 2, ns_of_divided_byte = 0.2, ns_of_divided_element = 0.3;
  // Single elements are scattered in the order of destinations if entries jump over more bytes of
  // the output than far_ordered_part of the cache, the output has at most bytes_of_ordered_group
  // for each destination that is touched, these have at most most_ordered_repeats updates on
  // average, and the updates have at most ordered_updates_part of the cache or several tasks fetch
  // them. On one thread spans of 0.2, 0.4, 0.7, 1.4 and 3 caches took 3, 2.4, 0.7, 0.5 and 0.55 x
  // the time; with 34, 68, 136 and 272 bytes for each destination 0.65, 0.7, 1.45 and 1.6 x,
  // because the CPU prefetches lines that are not touched; updates of 0.4, 0.7, 1.5 and 6 caches
  // 0.63, 0.84, 1.02 and 1.15 x; 4 and 60 updates of each destination 1.4 and 6 x (Zen 4).
  // That order gains more from threads than the others: with n tasks, n * sqrt(n) times smaller
  // outputs are far. On 2 threads outputs of half a cache took 0.55 to 0.8 x the time (Zen 4), on 4
  // and 16 threads outputs of 1 to 256 MiB 0.75 to 1.05 x and 0.4 to 0.65 x (Emerald Rapids, with a
  // cache of 300 MiB).
  // CPUs whose stores wait for cache lines gain only with least_ordered_tasks tasks: with 1 and 2
  // threads, outputs of 1 GiB took 1.5 to 2 x and 1.2 x the time (Emerald Rapids).
  int64_t least_ordered_tasks = 4;
  double far_ordered_part = 1, bytes_of_ordered_group = 96;
  double most_ordered_repeats = 3, ordered_updates_part = 1;
  // Sums that elements cannot hold, which otherwise go in the order of destinations piece by piece,
  // go so wherever the output and the updates are: with 0.25 to 6 updates of each destination means
  // of int32, int8 and bfloat16 took 0.65 to 1.03 x the time, with 10 0.84 to 1.1 x, with 133 1.0
  // to 1.07 x (Zen 4). Reductions without old values, which several threads take in that order as
  // well, took 0.4 to 1 x the time whatever the output spans.
  double most_repeats_of_ordered_sums = 16;
  // Most of these entries lie so many bytes from the one before. Entries that are nearly sorted, or
  // reversed, took 2.5 x the time in the order of destinations (Zen 4).
  int64_t least_ordered_step = 4096;
  // Prefetch distance of these updates, in entries. With 32, 64 and 192 sums took 1.2 to 1.5, 1.03
  // to 1.07 and 1.1 to 1.2 x the time (Zen 5).
  int64_t ordered_prefetch = 96;
  // Least bytes of a gathered entry that is a box of its own, if no other entry lies between its
  // elements. Random gathers of such entries took 0.4 to 0.8 x the time (Emerald Rapids).
  int64_t least_gathered_box = 1024;
  // The same for others, unless elements of several entries share cache lines of a source or of an
  // output of more bytes than near_gathered. Of transposed sources, 2 to 1000 entries that share no
  // lines took 0.17 to 0.75 x the time, those of 4 to 500 KiB that share them 0.4 to 0.9 x, a few
  // of long runs up to 1.15 x; of 0.9 to 8 MiB 1.1 to 1.6 x (Zen 4).
  int64_t near_gathered = 512 << 10;
  // Longest runs, in elements, that are gathered one element after another if these lie apart, but
  // near each other, from near and far sources. 1000 to 50,000 runs of 2, 5 and 16 elements took
  // 0.55, 0.7 and 0.65 to 1.3 x the time of kernels, 1 M far ones of 2 to 60 elements 0.15 to 0.6 x
  // (Zen 5).
  int64_t longest_run_apart = 16, longest_far_run_apart = 64;
  // Longest runs of elements anywhere in the source that are gathered by a list of these: with 2 to
  // 20 elements they took 0.2 to 0.7 x the time of kernels, with 30 and 60 of every second element
  // 1.5 to 4 x (Zen 5).
  int64_t longest_run_of_elements = 20;
  // Most places of an axis whose elements are gathered without prefetch if all of them lie in
  // contiguous rows: of 2 and 3 far rows 0.45 to 0.6 x the time, of 8 0.7 to 1.6 x (Zen 5).
  int64_t most_gathered_rows = 4;
  // Fewest entries of short rows that are gathered by shuffles, which have to be prepared, and the
  // longest such rows of the source, in bytes: 2 to 12 of 2 to 16 float32, float64 and complex64
  // took 0.12 to 0.85 x the time (Zen 4).
  int64_t least_shuffled = 512;
  int64_t longest_shuffled_row = 128;
  // Most bytes of accumulators for each update with which means and wide sums of single elements
  // need no order of destinations, if scratch has room for an accumulator of each destination of a
  // batch: of shuffled entries, and of those whose destinations ascend. Compared with that order,
  // shuffled wide sums of float16, which have 4 bytes, and means of float16, int8, int32 and int64,
  // which have 8 to 20, took 0.3 to 1.0 x the time with up to 32 bytes, 0.7 to 1.4 x with up to 64
  // and 1.1 to 3.2 x with more; ascending ones, and those whose accumulators have near_batch_sums,
  // 0.2 to 0.9 x with up to 64 bytes, with more 0.8 to 1.6 x (730 random shapes, Zen 5).
  int64_t sum_bytes_of_plan_entry = 64, sum_bytes_of_far_plan_entry = 40;
  // Bytes of the accumulators of a batch of which ascending destinations have only those of a piece
  // of the output at a time. Compared with the order of destinations, means and wide sums of 0.3 to
  // 14 M elements took 0.27 to 0.67 x the time in pieces. Accumulators of the whole batch, where
  // scratch has room for them, took 0.8 to 0.97 x the time of pieces (Zen 5).
  int64_t least_ascending_sums = int64_t{2} << 20;
  // Fewest updates for each destination, on average, with which means of rows are sums that are
  // then divided: with fewer, rows would be read and written twice, in 1.1 to 1.3 x the time.
  int64_t least_divided_updates = 2;
  // Rows of at most so many bytes are divided however few their updates: with 1.5 updates for each
  // destination, rows of 12 bytes took 0.43 x the time, of 64 bytes 0.75 to 1.0 x, of 96 to 256
  // bytes 0.75 to 1.25 x (Zen 4).
  int64_t short_divided_row = 64;
  // Most destinations that a plan can have for each that has updates, with which sums of single
  // elements are divided in the order of all of them: with 1.6 means took 0.62 to 1.0 x the time,
  // with 2.5 0.71 to 0.99 x, with 4.5 0.9 to 1.1 x, with 8.5 1.0 to 1.8 x (Zen 4).
  int64_t destinations_of_divided_group = 3;
  // The least length of lines of destinations that are consecutive elements: means of lines of 16
  // to 3000 took 0.27 to 0.65 x the time, of 8 0.97 to 1.84 x, of 3 and 5 1.6 to 2.4 x (Zen 5).
  int64_t least_divided_line = 16;
  // Least bytes of rows without old values that go in the order of destinations if these have fewer
  // than two updates: rows of 800 bytes and 8 KB took 0.65 to 0.8 x the time, of 256 bytes 0.7 to
  // 1.4 x, shorter ones up to 2.2 x (Zen 4).
  int64_t least_ordered_row = 512;
  // The same with two and more updates of a destination. From the first on, rows gain if there are
  // fewer than four and old values are excluded, if the updates are near, or if the destinations
  // fill the cache: they took 0.5 to 0.98 x the time, others up to 1.6 x. Rows from the second on
  // gain wherever they are: 0.55 to 1.2 x (Zen 5).
  int64_t short_ordered_row = 256;
  int64_t long_ordered_row = 3072;
  // Single elements and short rows are passed in the order of the entries, unless the places of
  // both plans are shuffled, source and destinations have more bytes than this part of the cache,
  // and entries touch more lines than it has: in the order of destinations only the source is read
  // at random. Between tensors of 20 to 60 MB, entries took in that order 0.65 to 1.1 x the time,
  // between smaller ones 0.8 to 3 x, from ascending places 1.0 to 2.3 x, up to 60 MB; with weights
  // 1.3 x (Zen 4).
  double far_pass_part = 1.15;
  // Bytes of the output in which a block of batches stays in the caches, if its loop lies within
  // loops of entries. Each block runs all turns of the loops around it: 8 to 16 million sums along
  // the first axis of matrices of 11 to 20,000 rows took 0.2 to 0.97 x the time (Zen 4).
  int64_t pass_block = 64 << 10;
  // Means and wide sums whose accumulators are wider than elements are passed to accumulators of
  // all elements of the output, in parts that fit scratch, if there are at most so many elements
  // for each update: 8- and 16-bit integers, int32, int64 and floats of 16 bits took 0.21 to 0.61 x
  // the time of the order of destinations with up to 6 elements for an update, 0.59 to 0.94 x with
  // 10 (60 random shapes, Zen 5).
  int64_t most_summed_elements = 8;
  // Elements in the order of destinations have data copied piece by piece, each just before its
  // updates, if a large output has at least so many cache lines for each destination: with 0.6, 1.2
  // and 1.3 lines sums and maxima took 0.53, 0.37 and 0.39 x the time, with 0.4 and 0.2, where the
  // pieces drive the updates out of the caches, 1.07 and 1.2 x (Zen 5).
  double least_lines_of_copied_destination = 0.5;
  // Longest loop of single elements that is passed together with those around it, by a pattern.
  // Loops of 24 entries took 0.84 to 0.91 x the time of rows one by one, of 32 1.03 to 1.16 x, of 5
  // 0.55 to 0.65 x; nests of 2 x 2 x 2 entries 0.2 x (Zen 5).
  int64_t longest_pass_loop = 24;
  // The same for gathers; along the axis of the plan; and most entries of the two innermost loops
  // if entries lie in another order in the output. Loops of 2 to 40 entries took 0.17 to 1.05 x the
  // time of rows, along the axis of 2 and 3 0.6 to 0.97 x, of 6 to 24 1.1 to 1.4 x; 4 to 18 entries
  // in another order 0.36 to 0.86 x, 20 and more 1.1 to 1.7 x (Zen 5).
  int64_t longest_gathered_loop = 40, longest_gathered_line = 3, most_gathered_apart = 16;
  // Longest rows, in elements, that are passed in the order of the entries, without and with
  // weights: sums of rows of 2, 3, 4, 6 took 0.45, 0.9, 1.15, 1.5 x the time, with weights 0.25,
  // 0.45, 0.55, 0.7 x, moves 0.7, 1.3 x, with weights 0.4, 0.65, 0.8, 1 x (Emerald Rapids).
  int64_t longest_passed_row = 2, longest_passed_weighted_row = 6;
  // In the order of destinations, slices (turns of the outermost inner loop that lie a cache line
  // or more apart in the updates) are walked in blocks: all entries go through one block, then
  // through the next. A block has about sqrt(slices_area / bytes that entries read of a slice at
  // random) slices, but least_slices to most_slices, and up to twice as many where that makes
  // blocks equal. Slices of 77, 12 and 0.4 KB were fastest in blocks of 14, 40 and 128, but slices
  // of 0.3 KB that lie 256 B apart, and share the sets of caches, in blocks of 64. Compared with
  // one block, sums, maxima and means of 40 to 20,000 slices took 0.1 to 0.9 x the time, of 300
  // slices with 96 entries up to 1.3 x (Emerald Rapids).
  double slices_area = 1 << 24;
  int64_t least_slices = 8, most_slices = 64;
  // Fewest elements that the entries update in a block of slices, because each block looks for all
  // entries. Sums and products of one column of 434,590 slices took 0.45 to 0.5 x the time of
  // blocks of 64 slices, of 2 to 8 columns 0.85 x, and all in one block 2 x (Zen 4).
  int64_t least_sliced_elements = 1024;
  // Longest innermost loop of rows for which a longer loop is walked instead, and most elements of
  // all entries in a turn for which it is if the innermost one is longer: kernels are called for
  // each turn, and have some entries of a few elements. Sums, moves, maxima with weights and means
  // of 30 to 100,000 rows of pairs took 0.2 to 1.0 x the time, of triples 0.3 to 1.15 x; sums of 1,
  // 2, 4 and 8 rows of 4 elements 0.1 to 0.85 x, of 8 elements 0.35 to 0.5, 0.3 to 0.45, 0.85 to
  // 1.7, 1.4 to 1.9 x (Zen 4).
  int64_t short_group_run = 3;
  int64_t few_run_elements = 16;
  // In the order of destinations, tasks get turns of the outermost inner loop if each turn has a
  // range of the output of less than least_turn_of_task bytes for each task: if tasks got
  // destinations, they would share cache lines and pages. Two tasks with ranges of 0.7, 1.4, 2.9, 6
  // and 11 KB took 1.4, 1.6, 1.3, 1.3 and 1.07 x the time that way (Zen 4). They also do if there
  // are fewer destinations than tasks. A part has least_turns_of_part turns or more, because each
  // part looks for all entries.
  int64_t least_turn_of_task = 16 << 10;
  int64_t least_turns_of_part = 8;
  // Slices are passed in the order of the entries if a block has at most this many and no entry is
  // dropped: 2 to 18 slices took 0.25 to 1 x the time, 50 to 5000 short ones 1 to 4 x (Emerald
  // Rapids).
  int64_t most_passed_slices = 20;
  // The same limit where the order of destinations gains more. Moves whose entries are not sorted
  // by destination, or have 2 updates of each on average: 2, 5, 7 and 11 slices took 0.3, 0.7,
  // 0.7 to 1.0 and 1.1 x the time (Zen 4), 2, 3 and 7 0.15, 0.7 to 1.1 and 2.3 x (Emerald
  // Rapids).
  int64_t most_passed_slices_of_moves = 5;
  // Moves with least_repeats_of_moves updates of each, other reductions whose entries are sorted
  // and have least_repeats_in_order: moves of 3 and 5 slices with 8 updates of each took 1.1 and
  // 1.7 x the time (Zen 4); sums of 16 slices with 6, 11 and 23 1.0, 1.2 and 1.5 x, of float16
  // with 780 3.4 x (Emerald Rapids).
  int64_t most_passed_slices_of_repeats = 3;
  int64_t least_repeats_of_moves = 4, least_repeats_in_order = 10;
};

}  // namespace strew::plan

#endif  // STREW_PLAN_PLAN_TUNING_H_
