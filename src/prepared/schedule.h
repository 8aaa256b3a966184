// SPDX-License-Identifier: Apache-2.0
// The schedule of a call with a plan: its way, the tasks and parts of its passes, prefetch and
// streaming. It is made before anything is written, and then carried out. plan/plan_tuning.h and
// plan/tuning.h have the thresholds.
#ifndef STREW_PREPARED_SCHEDULE_H_
#define STREW_PREPARED_SCHEDULE_H_

#include <cstdint>

#include "base/call.h"
#include "base/reduction.h"
#include "base/tensor_view.h"
#include "plan/pass.h"
#include "plan/schedule.h"
#include "prepared/gather_loops.h"
#include "prepared/passage.h"
#include "prepared/plan.h"
#include "strew/strew.h"

namespace strew::prepared {

enum class Way {
  // scatter: by the loops of the operator, which takes the places as checked indices and makes a
  // schedule of its own.
  kByPlaces,
  // scatter: single elements in the order of destinations, straight from the updates.
  kElementOrder,
  // scatter: means and wide sums of single elements whose destinations ascend, in their order.
  kAscendingSums,
  // scatter and gather_scatter: in the order of destinations, all updates of one at once.
  kInOrder,
  // gather_scatter: single elements, short rows, and slices that are few or long, in the order of
  // the entries, which costs less for each element than the order of destinations.
  kByEntries,
  // gather: contiguous runs from places that are one stride apart.
  kRuns,
  // gather: the same, by shuffles of vectors that hold several rows with the same places.
  kShuffles,
  // gather: single elements of several short loops, which are taken as one.
  kShortLoops,
  // gather: runs that are contiguous in the output alone, element by element in tiles that have
  // room for their offsets, if no entry of the tile is dropped.
  kElements,
  // gather: other runs, each by a kernel.
  kRows,
  // gather: entries with several inner loops, each by itself as a box.
  kBoxes,
};

// How the entries of kByEntries are passed from the source to the output.
enum class Passing {
  kGathered,  // in blocks of those that are not dropped
  kLines,     // as they are, because none is dropped and places are lines in both tensors
  kRows,      // the same for rows of a few elements, along which neither plan changes
};

using plan::Pass;

// If a loop of batches lies within loops of entries, its turns are walked block by block.
struct BatchBlocks {
  int loop = -1;  // -1 for none
  int64_t turns = 0;
};

// ---- Decisions within one way ----

struct RowSchedule {
  bool has_pieces = false;  // runs are gathered in pieces
  int64_t piece = 0;        // units of a piece, or of a whole run
};
struct EntrySchedule {
  bool fetches_output = false;  // destinations are prefetched
  Passing passing = Passing::kGathered;
  BatchBlocks blocks;
  int cut = 0;               // the loop whose turns are cut into parts
  int64_t summed_turns = 0;  // of the outermost loop, whose elements have accumulators at a time
};
struct OrderSchedule {
  // Turns of the outermost inner loop that all entries go through before the next ones; 0 for all
  // turns.
  int64_t slices = 0;
  bool cuts_turns = false;      // parts are turns of this loop, instead of destinations
  bool runs_are_short = false;  // a longer inner loop is walked than the innermost one
  bool fetches = false;         // updates are prefetched
};

// ---- The schedule ----

struct PlanSchedule {
  Way way = Way::kByPlaces;
  strew_reduction reduction = STREW_NONE;  // that is applied: a sum if it is divided
  bool copies_data = false;                // because old values remain in the output
  Pass pass;                               // of the way, unless that is kByPlaces
  bool streams = false;  // rows are written past the caches; FinishStreaming() must follow
  int64_t prefetch = 0;  // distance in entries, for gather and kElementOrder; 0 for none
  // Elements of the output whose accumulators are in scratch at a time, for kAscendingSums and
  // kByEntries; 0 for none.
  int64_t summed_elements = 0;

  // Passes over destinations: before that of the way, which is kByPlaces, they receive an identity;
  // after it, sums become means by the numbers of updates that the plan has.
  bool begins_anew = false;
  Pass beginning;
  bool divides = false;
  bool divides_all = false;  // destinations, by counts of each, instead of groups
  Pass division;

  RowSchedule rows;       // of kRows and kElements
  EntrySchedule entries;  // of kByEntries
  OrderSchedule order;    // of kInOrder
};

// ---- Inputs of a schedule besides the plan and the machine ----

struct OutputFacts {
  strew_dtype dtype;
  int64_t element_size;
  int64_t elements;        // of the output
  int64_t entry_elements;  // that an entry updates
  int64_t units;           // of an element
  int64_t sum_bytes;       // of an accumulator, if the reduction has any
  // Bytes of an accumulator and its count, if single elements may have them in scratch, else 0.
  int64_t slot_bytes = 0;
  double read_bytes = 0;  // of the updates, or of their source
  int64_t run = 0;        // units of the innermost inner loop; 0 if it is not known
  int64_t row_bytes = 0;  // of that loop if it is contiguous in updates and output, else 0
  // Turns of the outermost inner loop if they lie at least a cache line apart in the updates, or in
  // their source, else 0; and the bytes that the entries read of each such slice at random, 0 if
  // they read it in order.
  int64_t slices = 0;
  double slice_bytes = 0;
  // Turns of the outermost inner loop, 0 if they are not known; the elements that an entry updates
  // in one of them; and the bytes from one to the next in the output if each has a range of it for
  // itself, else 0.
  int64_t turns = 0;
  int64_t turn_elements = 0;
  int64_t turn_bytes = 0;
  // For means of single elements: the length of lines of destinations that are consecutive elements
  // of the output.
  int64_t line_of_destinations = 0;
  bool has_weights = false;
  // A kernel combines all rows of a destination at once.
  bool groups_rows = false;

  bool SumsAreElements() const { return sum_bytes == element_size; }
  bool EntriesAreElements() const { return entry_elements == 1 && units == 1; }
  int64_t EntryBytes() const { return entry_elements * element_size; }
};

struct ScatterFacts : OutputFacts {
  bool is_empty;                       // has nothing to update
  bool axes_are_one_loop;              // in data and output
  bool goes_in_element_order = false;  // MayGoInElementOrder(), and lines and a kernel are there
  bool ascends_on_line = false;  // so do single elements, each destination next to the one before
  bool has_scratch = true;       // for accumulators
};

struct GatherScatterFacts : OutputFacts {
  // Some dims along which neither plan changes lie outside the entries, a cache line or more apart
  // in both tensors.
  bool has_slices;
  int64_t row_elements;  // of the other dims along which neither plan changes
  bool weighs_rows;      // weights are broadcast along one of these others
};

// Facts about updates that may go by entries.
struct SingleFacts {
  bool places_are_lines;  // in both tensors
  int64_t place_span;     // bytes of the output that the places of a batch span
  int64_t source_span;    // likewise, of the source
  UpdateNest nest;        // the loops over updates
};

// ---- Schedules ----

inline double Nanoseconds(int64_t count, double each, int64_t bytes, double of_byte) {
  return static_cast<double>(count) * (each + of_byte * static_cast<double>(bytes));
}

// True if scratch has room to sort the entries again, as several threads do. Offsets and places of
// 64 bits and updates of 16 bytes are 32 bytes for each entry, dropped ones included. Limit: means,
// and reductions that exclude old values, may use 2 MiB for it, as strew.h promises.
bool HasRoomToShare(const plan::Machine& machine, const Plan& plan);
// True if single elements are best combined in the order of destinations: entries jump over more of
// the output than the caches hold, most of its cache lines are touched, by few updates of each
// destination, and updates, which are read at random, stay in the cache or are fetched by several
// threads.
bool MayGoInElementOrder(const plan::Machine& machine, const Plan& plan, const OutputFacts& facts,
                         strew_reduction reduction);
// Makes the schedule one for this way.
void OrderElements(const plan::Machine& machine, const Plan& plan, PlanSchedule* schedule);
// The best number n of slices to walk together. Calls of kernels grow with 1 / n, and the cache
// lines to which entries come back with n * slice_bytes: the sum is least at a square root.
int64_t BestSlices(const plan::Tuning& tuning, const OutputFacts& facts);
// Makes the schedule one in the order of destinations, all of whose updates are combined at once.
void GoInOrder(const plan::Machine& machine, const Plan& plan, const OutputFacts& facts,
               PlanSchedule* schedule);
// True if means or wide sums of single elements, if they ascend, have too many accumulators in a
// batch to walk them together, and enough updates to give every destination one. Small calls fail
// here before anyone looks for their lines.
bool SumsAscend(const plan::Machine& machine, const Plan& plan, const ScatterFacts& facts);
// Makes the schedule one of theirs.
void SumInPieces(const plan::Machine& machine, const Plan& plan, const ScatterFacts& facts,
                 PlanSchedule* schedule);
// True if means and wide sums of single elements need no order of destinations: scratch has room
// for an accumulator of each destination of a batch, and many of these are touched.
bool AccumulatorsNeedNoOrder(const plan::Machine& machine, const Plan& plan,
                             const ScatterFacts& facts);
PlanSchedule ScheduleScatter(const plan::Machine& machine, const Plan& plan,
                             const ScatterFacts& facts, strew_reduction reduction);
PlanSchedule ScheduleGather(const plan::Machine& machine, const Plan& plan,
                            const GatherLoops& loops);
// True if updates may be combined in the output element by element, in the order of the entries:
// single elements, short rows, and slices that are few or long.
bool MayGoByEntries(const plan::Machine& machine, const Plan& from, const Plan& to,
                    const GatherScatterFacts& facts, strew_reduction reduction);
// `singles` is NULL unless updates may go by entries.
PlanSchedule ScheduleGatherScatter(const plan::Machine& machine, const Plan& from, const Plan& to,
                                   const GatherScatterFacts& facts, const SingleFacts* singles,
                                   strew_reduction reduction);

// Tells how the entries of a plan, that of the output if there are two, are carried out.
void Explain(const Call& call, const PlanSchedule& schedule, const Plan& plan);

// Limit: entries that are passed together, whose offsets and products are on the stack.
inline constexpr int64_t kPassBlock = 256;
// Limit: columns of a tile of gathered rows, and those that are prefetched, whose offsets are on
// the stack.
inline constexpr int64_t kGatherColumns = 512;
inline constexpr int64_t kMostGatherAhead = 64;

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SCHEDULE_H_
