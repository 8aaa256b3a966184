// SPDX-License-Identifier: Apache-2.0
// How a call runs: by how many tasks, what belongs to each, how a task walks its entries, what is
// brought near the CPU first, how far ahead memory is fetched, and what is written past the caches.
// Schedules are made once, before anything is written, and then carried out; every threshold stands
// in plan/tuning.h.
#ifndef STREW_PLAN_SCHEDULE_H_
#define STREW_PLAN_SCHEDULE_H_

#include <cstdint>

#include "base/call.h"
#include "plan/cut.h"
#include "plan/entry_loops.h"
#include "plan/spread.h"
#include "plan/tuning.h"

namespace strew::plan {

// ---- What a schedule depends on besides the loops ----

// That of the call, or else of the library.
inline const Tuning& TuningOf(const Call& call) {
  const Tuning* const tuning = call.settings().tuning;
  return tuning == nullptr ? kTuning : *tuning;
}

// The machine, and what the context allows.
struct Machine {
  const Tuning& tuning;
  int64_t workers;
  int64_t cache_bytes;  // of the last-level cache

  explicit Machine(const Call& call);
};

struct Circumstances {
  Machine machine;
  int64_t width;         // bytes of a unit
  int64_t output_units;  // that the output has
  int64_t updates;       // elements
  int64_t update_size;   // bytes of one
  int64_t index_size;    // bytes of an index
  bool in_place;
  bool is_heavy;     // the reduction takes many instructions
  bool has_scratch;  // it may be asked for
};

// Draws a sample of the destinations, enough for `ranges` ranges: for entries whose destinations
// tasks might share.
struct Sampler {
  void (*draw)(const void* self, int64_t ranges, Spread* spread);
  const void* self;
};

// ---- Entries ----

// Few updates are applied at once: a schedule would take longer. Whatever the tuning says, so many
// single elements at most.
inline constexpr int64_t kMostFewUpdates = 64;
bool IsFew(const Tuning& tuning, int64_t indices, int64_t updates, int64_t update_size);

// How tasks share the entries of a call, so that each destination belongs to one of them alone and
// its updates keep their order.
enum class Share {
  kAlone,      // one task has all
  kCut,        // turns of the batch, or pieces of the inner turns, which never meet in the output
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
  bool streams;        // rows go past the caches; FinishStreaming() must follow
  bool strips_stream;  // so do strips on their way back
};

inline constexpr MemoryHints kNoHints = {0, 0, false, false};

struct Schedule {
  double nanoseconds = 0;  // that one thread needs, about
  Share share = Share::kAlone;
  int64_t tasks = 1;
  Cut cut;        // of the batch and the inner turns, for kCut
  Ranges ranges;  // for kFilter and kPartition
  Staging staging = kNoStaging;
  Staging staging_in_place = kNoStaging;  // of another pass, over what the first has written
  MemoryHints hints = kNoHints;

  bool IsByRange() const { return share == Share::kFilter || share == Share::kPartition; }
};

// Entries that are dropped fall through a filter.
Schedule MakeSchedule(const EntryLoops& loops, const Circumstances& about, const Sampler& sampler);

MemoryHints MemoryHintsFor(const EntryLoops& loops, const Circumstances& about);

// ---- What has no entries ----

// Boxes, which are written once and in order.
struct BoxSchedule {
  double nanoseconds;
  int64_t tasks;
  int64_t parts;
  bool streams;  // past the caches; FinishStreaming() must follow
};

// Of boxes that write so many bytes in all, and move `moved` bytes to do so.
BoxSchedule MakeBoxSchedule(const Machine& machine, int64_t written, int64_t moved);

struct CheckSchedule {
  double nanoseconds;
  int64_t tasks;
  int64_t parts;  // the last one comes first
};
CheckSchedule MakeCheckSchedule(const Machine& machine, int64_t indices, int64_t index_size);

// ---- What they share ----

// How many tasks work that takes one thread so long is shared out to, 1 for none but the caller's.
int64_t TasksFor(const Machine& machine, double nanoseconds);

inline constexpr int64_t kMostTasks = 1024;

// A single task needs no parts.
inline int64_t PartsFor(const Machine& machine, int64_t tasks) {
  return tasks > 1 ? machine.tuning.parts_of_task * tasks : 1;
}

// Bytes from which on an output that is written once, in order, by so many tasks streams; and
// within which destinations need no prefetch.
int64_t StreamedBytes(const Machine& machine, int64_t tasks);
inline int64_t NearBytes(const Machine& machine) {
  return machine.cache_bytes / machine.tuning.near_part;
}

// Rows ahead of its turn that one of so many bytes is prefetched.
int64_t RowPrefetch(const Tuning& tuning, int64_t row_bytes);

// What one of so many tasks may take for itself, as strew.h tells.
constexpr int64_t MostScratch(int64_t tasks) {
  constexpr int64_t kOfCall = int64_t{2} << 20;
  constexpr int64_t kOfWorker = int64_t{64} << 10;
  return tasks == 1 ? kOfCall : kOfCall / tasks + kOfWorker;
}

}  // namespace strew::plan

#endif  // STREW_PLAN_SCHEDULE_H_
