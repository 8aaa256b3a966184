// SPDX-License-Identifier: Apache-2.0
// The part of the tuning table for what is prefetched, and how far ahead; plan/tuning.h tells how
// to read it.
#ifndef STREW_PLAN_PREFETCH_TUNING_H_
#define STREW_PLAN_PREFETCH_TUNING_H_

#include <cstdint>

namespace strew::plan {

struct PrefetchTuning {
  // Rows that span at most 1 / near_part of the cache, and elements that span at most that part of
  // the last-level cache, need no prefetch. A random sum into 4 MiB took 0.65 to 0.85 ns, with
  // prefetch 0.89 to 1.1; into 64 MiB 4.8, with it 2.7.
  int64_t near_part = 4;
  // Moves of elements that span more and at most so many bytes need it all the same, because stores
  // are done in order: into 8 MiB they took 0.95 to 1.0 x the time, into 2 to 6 MiB 1.0 to 1.2 x,
  // into 32 MiB 1.15 x (Zen 5), into 1 to 2 MiB 1.04 to 1.12 x, into 2 to 4 0.97 to 1.06 x (Zen 4);
  // where stores wait, into 48 to 740 KiB 0.7 to 0.88 x (Emerald Rapids).
  int64_t least_fetched_moves = 6 << 20, least_fetched_moves_that_wait = 64 << 10;
  int64_t most_fetched_moves = 16 << 20;
  // Distance for single elements, in entries. It must be 4 to 255, because blocks of clamped
  // indices have 256.
  int64_t element_prefetch = 128;
  // Destinations of a tile that advance by at most so many bytes an entry, as those of sorted
  // indices do, need none: 13 M sums into 7 M int32 took 0.89 x the time, with 9 to 42 bytes an
  // entry 1.1 to 1.3 x (Zen 4).
  int64_t dense_step = 8;
  // Distance for rows, in bytes. With 8 KiB, rows of 320 B took 1.3 x the time on two threads.
  int64_t row_prefetch_bytes = 4096;
  // Shortest distance for rows, in rows; the longest is half of element_prefetch. Compared with 2,
  // rows of 1 and 4 KiB took 1.02 x the time with 1, 1.08 to 1.13 x with 4 to 16 (Zen 4).
  int64_t least_row_prefetch = 2;
  // Distance of destinations that are collected or looked up before they are written, in entries.
  // Means by rank took the same time with 1 to 16, 0.95 x with 32 (Zen 4).
  int64_t visit_prefetch = 16;
  // Distance in a strip, in entries, for heavy reductions: a strip is partly in the L2 cache, and
  // with so many instructions the CPU does not look far ahead by itself. Maxima of float32 took
  // 28 ms, 33 without; sums 24 and 22.
  int64_t strip_prefetch = 32;
  // Least bytes of a row of updates that is prefetched if the rows of other tasks leave gaps
  // between updates, across which the hardware does not prefetch. 2^18 rows of 128 B into 2 MiB on
  // two threads took 2.5 ms, with prefetched updates 1.0; rows of 32 B take twice as long with
  // prefetch.
  int64_t least_row_with_gaps = 128;
  // Prefetch distance in rows of updates that are read in order, in bytes; the least bytes of such
  // a row; and the least bytes of all updates, as a fraction of the cache. Sums of
  // 100,000 rows of 512 B into 1000 took 0.5 x the time with a distance of 4 KiB, 0.5 to 0.9 x with
  // 512 B; rows of 256 and 132 B 0.6 and 0.7 to 0.95 x, of 80 B 1.0 x. With updates in the caches
  // rows of 132 B took 1.15 x (Zen 5). Rows of 45, 91 and 181 B took 0.86, 0.74 and 0.7 x; compared
  // with 4 KiB, a distance of 2 and 8 KiB 1.15 and 0.91 x (Zen 4).
  int64_t row_read_ahead = 8192;
  int64_t least_row_read_ahead = 64;
  double far_updates_part = 0.5;
  // Least bytes of the rows of a slice that are prefetched, with the output, because they are not
  // adjacent: 300,000 rows of 200 B took 0.5 x the time, 100,000 of 512 B 0.7 to 0.85 x; in the
  // caches 0.8 to 1.0 x, rows of 80 B 1.1 x, and moves 1.0 to 1.3 x (Zen 5).
  int64_t far_rows = 1 << 20;
  // Most bytes of indices and updates in order that need no prefetch after the check of the
  // indices: with 3 to 10 MB, sums and moves took 0.9 to 0.97 x the time, with 12 to 16 MB 0.93 to
  // 1.08 x (Zen 4, 32 MiB of L3). CPUs that wait for stores, those of Intel, gain at once: with 0.5
  // to 15 MB sums took 1.06 to 1.1 x the time without prefetch, beside other processes 1.02 to 1.37
  // x, with 30 MB 1.01 x (Emerald Rapids). The same of indices that lie apart.
  int64_t near_reads = 10 << 20, near_reads_that_wait = 512 << 10;
  int64_t near_packed_indices = 2 << 20;
  // Prefetch distance in indices and updates, in entries, if indices are used as offsets directly:
  // 4096 x 4096 int8 with int64 indices took 12.2 ms, with 1024 12.6, with 2048 13.7 (Zen 4).
  int64_t read_ahead = 512;
  // Most entries of a tile of such rows: 2 to 6 M moves in rows of 100 to 8000 took 0.86 to 0.95 x
  // the time of tiles of 2048, and the same with 64 Ki (Zen 4).
  int64_t unresolved_tile = 16 << 10;
  // Nothing of them is prefetched if destinations ascend by at least so many bytes an entry, or
  // have so many in rows of the output of at most so many bytes, unless the CPU waits for stores:
  // 8 bytes took 0.74 to 0.9 x the time, 4 0.78 to 1.0 x, but 2 bytes 1.1 to 1.3 x (Zen 4).
  int64_t unfetched_step = 5;
  int64_t unfetched_row = 1 << 10;
  // Destinations that ascend so are prefetched if they advance by at least so many bytes an entry,
  // and then less far ahead: steps of 8 bytes took 0.8 x the time without prefetch, of 40 bytes
  // 0.82 x with it, and of 16 bytes 0.84 x with 32 entries compared with 128 (Zen 4).
  int64_t fetched_step = 16;
  int64_t ascending_prefetch = 32;
};

}  // namespace strew::plan

#endif  // STREW_PLAN_PREFETCH_TUNING_H_
