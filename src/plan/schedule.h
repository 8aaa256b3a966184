// SPDX-License-Identifier: Apache-2.0
// How a call with indices runs: by how many tasks, what belongs to each, what is brought near the
// CPU first, how far ahead memory is fetched, and what is written past the caches. One function
// decides all of it, once the indices are checked and before anything is written; execution carries
// it out.
#ifndef STREW_PLAN_SCHEDULE_H_
#define STREW_PLAN_SCHEDULE_H_

#include <cstdint>

#include "base/cache_size.h"
#include "plan/cut.h"
#include "plan/index_space.h"
#include "plan/spread.h"
#include "plan/tuning.h"

namespace strew::plan {

// How tasks share the entries of a call, so that each destination belongs to one of them alone and
// its updates keep their order.
enum class Share {
  kAlone,      // one task has all
  kCut,        // lanes, or pieces of the inner turns: these differ in the output by themselves
  kFilter,     // ranges of destinations: every task looks at all entries and keeps its own
  kPartition,  // ranges of destinations: tasks sort entries by range in rounds, and then write
};

// What belongs together is brought near the CPU before its updates are applied.
struct Staging {
  // Data is copied line by line or strip by strip, each just before its updates, and not
  // beforehand.
  bool copies_data;
  // Columns of a strip that is held in scratch, 0 for none.
  int64_t strip;
  int64_t scratch_bytes;  // of each task
};

inline constexpr Staging kNoStaging = {false, 0, 0};

// How the destinations are written.
struct MemoryHints {
  // Entries ahead of its turn that a destination is prefetched, 0 for not at all; and in a strip.
  int64_t prefetch;
  int64_t strip_prefetch;
  bool streams;  // rows, past the caches; FinishStreaming() must follow
};

// What a schedule depends on besides the index space.
struct Circumstances {
  int64_t width;         // bytes of a unit
  int64_t output_units;  // that the output has
  int64_t updates;       // elements
  int64_t update_size;   // bytes of one
  int64_t index_size;    // likewise
  int64_t workers;
  int64_t cache_bytes;  // of the last-level cache
  bool in_place;
  bool is_heavy;     // whether the reduction takes many instructions
  bool has_scratch;  // whether it may be asked for
};

// Draws a sample of the destinations, enough for `ranges` ranges. An index space has no indices.
struct Sampler {
  void (*draw)(const void* self, int64_t ranges, Spread* spread);
  const void* self;
};

struct Schedule {
  Share share = Share::kAlone;
  int64_t tasks = 1;
  Cut cut;        // of the lanes and the inner turns, for kCut
  Ranges ranges;  // for kFilter and kPartition
  Staging staging = kNoStaging;
  MemoryHints hints = {0, 0, false};
};

// The index space is arranged. Entries of it that are dropped fall through a filter.
Schedule MakeSchedule(const IndexSpace& space, const Circumstances& about, const Sampler& sampler);

// The staging of a schedule with so many tasks, and how destinations are written.
Staging StagingFor(const IndexSpace& space, const Circumstances& about, int64_t tasks);
MemoryHints MemoryHintsFor(const IndexSpace& space, const Circumstances& about);

// How many tasks work that takes one thread so long is shared out to, 1 for none but the caller's.
int64_t TasksFor(int64_t workers, double nanoseconds);

inline constexpr int64_t kMostTasks = 1024;

// A single task needs no parts.
inline int64_t PartsFor(int64_t tasks) { return tasks > 1 ? kTuning.parts_of_task * tasks : 1; }

// Bytes from which on an output that is written once, in order, by so many tasks streams; and
// within which destinations need no prefetch.
inline int64_t StreamedBytes(int64_t cache_bytes, int64_t tasks) {
  const double part = tasks > 1 ? kTuning.streamed_part_of_tasks : kTuning.streamed_part;
  return static_cast<int64_t>(static_cast<double>(cache_bytes) * part);
}
// The first of them, on this machine.
inline int64_t StreamingThreshold(int64_t tasks = 1) {
  return StreamedBytes(LastLevelCacheBytes(), tasks);
}
inline int64_t NearBytes(int64_t cache_bytes) { return cache_bytes / kTuning.near_part; }

// Rows ahead of its turn that one of so many bytes is prefetched.
int64_t RowPrefetch(int64_t row_bytes);

// What one of so many tasks may take for itself, as strew.h tells.
constexpr int64_t MostScratch(int64_t tasks) {
  constexpr int64_t kOfCall = int64_t{2} << 20;
  constexpr int64_t kOfWorker = int64_t{64} << 10;
  return tasks == 1 ? kOfCall : kOfCall / tasks + kOfWorker;
}

// Makes of the index space that of one part of a cut.
void RestrictToPart(const Cut& cut, int64_t part, IndexSpace* space);

}  // namespace strew::plan

#endif  // STREW_PLAN_SCHEDULE_H_
