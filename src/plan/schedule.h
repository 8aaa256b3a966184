// SPDX-License-Identifier: Apache-2.0
// The schedule of a call: the number of tasks and their shares, the memory that is staged in the
// caches, prefetch distances and streaming. A schedule is made before anything is written, and then
// carried out. plan/tuning.h has its thresholds.
#ifndef STREW_PLAN_SCHEDULE_H_
#define STREW_PLAN_SCHEDULE_H_

#include <algorithm>
#include <cstdint>

#include "base/call.h"
#include "plan/cut.h"
#include "plan/entry_loops.h"
#include "plan/spread.h"
#include "plan/tuning.h"

namespace strew::plan {

// ---- Inputs of a schedule besides the loops ----

// The tuning of the call if it has one, else that of the library.
inline const Tuning& TuningOf(const Call& call) {
  static constexpr Tuning kTuning;
  const Tuning* const tuning = call.settings().tuning;
  return tuning == nullptr ? kTuning : *tuning;
}

// The machine, and the limits of the context.
struct Machine {
  const Tuning& tuning;
  int64_t workers;
  int64_t shared_cache_bytes;  // of the last-level cache
  int64_t cache_bytes;         // the part of it that a call counts on
  bool streams_parts;          // parts of cache lines are streamed as fast as whole ones
  bool waits_for_stores;       // stores wait for cache lines that are not prefetched

  explicit Machine(const Call& call);
};

struct Circumstances {
  Machine machine;
  int64_t width;         // bytes of a unit
  int64_t output_units;  // number of units in the output
  int64_t updates;       // number of elements
  int64_t update_size;   // bytes of an update
  int64_t index_size;    // bytes of an index
  bool in_place;
  int64_t spanned_units;  // of the output that PieceLoops() must span; 0: unknown
  int64_t touched_lines;  // cache lines of the output that updates touch, at most
  bool data_is_alike;     // data has the strides of the output
  bool is_heavy;          // the reduction needs many instructions
  bool moves;             // updates replace elements
  bool has_lines;         // every row of the output that is written consists of whole cache lines
  bool has_scratch;       // scratch may be allocated
  bool fits_vector;       // a kernel combines rows of the only axis in a vector
};

// Draws a sample of the destinations of a call, large enough to cut them into `ranges` ranges.
struct Sampler {
  void (*draw)(const void* self, int64_t ranges, Spread* spread);
  const void* self;
};

// ---- Entries ----

// Few updates are applied one by one, because making a schedule would take longer. Limit: a buffer
// on the stack has so many single elements, whatever the tuning says.
inline constexpr int64_t kMostFewUpdates = 64;
bool IsFew(const Tuning& tuning, int64_t indices, int64_t updates, int64_t update_size);

// Ways to share the entries of a call among tasks. Each destination belongs to one task, and its
// updates keep their order.
enum class Share {
  kAlone,      // one task has all entries
  kCut,        // by turns of the batch or pieces of the inner turns, which write to separate memory
  kFilter,     // by ranges of destinations: every task reads all entries and keeps its own
  kPartition,  // by ranges of destinations: in rounds, tasks sort entries by range and then write
};

// Memory that is copied into the caches before its updates are applied.
struct Staging {
  // Data is copied strip by strip, or in pieces if there are no strips, each just before its
  // updates, instead of in a pass of its own.
  bool copies_data;
  // Columns of a strip in scratch, 0 for none.
  int64_t strip;
  int64_t scratch_bytes;  // of each task
};

// Promise of strew.h: calls of up to so many updates allocate nothing.
inline constexpr int64_t kMostWithoutScratch = 64;

inline constexpr Staging kNoStaging = {false, 0, 0};

// Distance from an index and its update to those that are read next, in elements and units. If
// `indices` is 0, later reads are unknown.
struct LaterReads {
  int64_t indices;
  int64_t updates;
};

// How memory is read and written.
struct MemoryHints {
  // Prefetch distances in the output and in a strip, in entries; 0 for none.
  int64_t prefetch = 0;
  int64_t strip_prefetch = 0;
  bool streams = false;        // rows are written past the caches; FinishStreaming() must follow
  bool strips_stream = false;  // strips are copied back past the caches
  // A row of indices is used as the offsets of its entries, from where the row begins in the
  // output, so no offsets are computed. This does not hold in tiles of several rows that are
  // prefetched.
  bool indices_are_offsets = false;
  LaterReads next_part = {0, 0};  // of a draft
  // Prefetch distance in updates that are read in order, in rows; 0 for none.
  int64_t row_read_ahead = 0;
  // Bytes an entry. If destinations ascend by so many or more, what is read for them is not
  // prefetched. 0: it always is.
  int64_t unfetched_step = 0;
  // Rows whose axis fits a vector are combined there, if tiles have several.
  bool combines_in_vectors = false;
  // Short rows are not walked flat, because they are far or combined in vectors, and their indices
  // are offsets.
  bool keeps_rows = false;
};

struct Schedule {
  double nanoseconds = 0;  // estimated time of one thread
  Share share = Share::kAlone;
  int64_t tasks = 1;
  Cut cut;        // of the batch and the inner turns, for kCut
  Ranges ranges;  // for kFilter and kPartition
  Staging staging = kNoStaging;
  Staging staging_in_place = kNoStaging;  // of a second pass over the output
  MemoryHints hints;

  bool IsByRange() const { return share == Share::kFilter || share == Share::kPartition; }
};

// Makes the schedule of a call. Dropped entries need no share of their own: a filter leaves them
// out.
Schedule MakeSchedule(const EntryLoops& loops, const Circumstances& about, const Sampler& sampler);

// The pieces in which data is copied, if there are no strips.
Cut PiecesOf(const EntryLoops& loops, const Tuning& tuning, int64_t width);

MemoryHints MemoryHintsFor(const EntryLoops& loops, const Circumstances& about);

// ---- Sizes that all schedules compare with ----

// StreamedBytes: the least bytes of an output that is streamed if `tasks` tasks write it once, in
// order; the same if updates return to it. NearBytes: the most bytes that rows may span to need no
// prefetch; the same for single elements, of which the CPU fetches many at a time by itself.
int64_t StreamedBytes(const Machine& machine, int64_t tasks);
int64_t StreamedBytesBeforeUpdates(const Machine& machine, int64_t tasks);
inline int64_t NearBytes(const Machine& machine) {
  return machine.cache_bytes / machine.tuning.near_part;
}
// Bytes from which on updates that are read in order are far.
inline double FarBytesOfUpdates(const Machine& machine) {
  return static_cast<double>(machine.cache_bytes) * machine.tuning.far_updates_part;
}
inline int64_t NearBytesOfElements(const Machine& machine) {
  return machine.shared_cache_bytes / machine.tuning.near_part;
}
// Cache lines `step` > 0 bytes apart that the L1 cache holds at the same time. They share few of
// its sets if that is a multiple of a large power of two.
inline int64_t LinesInSets(const Tuning& tuning, int64_t step) {
  return tuning.cache_ways * tuning.cache_way / std::min(step & -step, tuning.cache_way);
}
// Most bytes of indices and updates that are read in order without prefetch.
int64_t NearReads(const Machine& machine);

// Prefetch distance in rows, by row size in bytes.
int64_t RowPrefetch(const Tuning& tuning, int64_t row_bytes);

// Promise of strew.h: the most scratch for each of `tasks` tasks, in bytes.
constexpr int64_t MostScratch(int64_t tasks) {
  constexpr int64_t kOfCall = int64_t{2} << 20;
  constexpr int64_t kOfWorker = int64_t{64} << 10;
  return tasks == 1 ? kOfCall : kOfCall / tasks + kOfWorker;
}

}  // namespace strew::plan

#endif  // STREW_PLAN_SCHEDULE_H_
