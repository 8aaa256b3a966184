// SPDX-License-Identifier: Apache-2.0
// The loops of an index space, arranged in the order of memory: outer loops around rows and columns
// of entries, from which tiles are cut, and within an entry inner loops around a run.
#ifndef STREW_PLAN_ENTRY_LOOPS_H_
#define STREW_PLAN_ENTRY_LOOPS_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/index_space.h"

namespace strew::plan {

// Treatment of indices that are out of range; kNothing if there are none.
enum class OutOfRange { kNothing, kDrop, kClamp };

// Results of the check of the indices.
struct Findings {
  OutOfRange out_of_range = OutOfRange::kNothing;
  bool constant = false;  // indices do not change along the minor loops of batch
  bool non_negative = false;
  bool all_equal = false;
};

// kOfData: neighbouring batches stay neighbours, as sums of all destinations of some batches need.
enum class BatchOrder { kAny, kOfData };

// Offsets of a tile, which stay in the L1 cache until they are used.
inline constexpr int64_t kBlockBytes = 8192;

// The operands of DestinationNest.
enum { kDestination, kNumber, kDestinationOperands };
using DestinationNest = LoopNest<kDestinationOperands>;

struct EntryLoops {
  int components;
  Component component[kMaxRank];
  OutOfRange out_of_range;
  bool indices_are_non_negative;
  bool batch_has_data;  // the strides of its loops in data are known

  IndexedNest outer;
  int outer_batch_loops;  // the first loops of `outer` are batch, the others entries
  IndexedLoop row;
  IndexedLoop column;
  InnerNest inner;
  InnerLoop run;
  // Rows or columns that are batch never meet in the output. The others are entries: rows one after
  // the other, and the columns of a row in order.
  bool rows_are_batch;
  bool columns_are_batch;

  int64_t batches;  // turns of all batch loops
  // Upper bounds of the distance between entries in the output, in units: by their indices; by
  // these and within rows and columns; in all.
  int64_t reach;
  int64_t tile_span;
  int64_t whole_span;

  // Arranges the loops of a space that has elements. Minor loops of batch along which indices are
  // constant become inner loops.
  EntryLoops(const IndexSpace& space, const Findings& findings,
             BatchOrder order = BatchOrder::kAny);
  EntryLoops(const EntryLoops& other);
  EntryLoops& operator=(const EntryLoops&) = delete;

  // Entries of all batches, and units of an entry.
  int64_t Entries() const;
  int64_t EntryUnits() const;
  // How far apart destinations of a batch can be. Those of rows lie as far apart as inner turns around
  // them: another turn comes to other lines.
  int64_t DestinationSpan() const;
  bool EntriesAreElements() const { return run.count == 1 && inner.rank == 0; }
  // True if every batch has one loop over entries, and one component places them on one axis.
  bool HasOneAxis() const { return components == 1 && outer.rank == outer_batch_loops; }
  // Width of offsets in a tile, and of offsets from the origin of the loops.
  kernel::OffsetWidth TileOffsets() const { return kernel::OffsetWidthOf(tile_span); }
  kernel::OffsetWidth WholeOffsets() const { return kernel::OffsetWidthOf(whole_span); }

  // Keeps one part of a cut of the batch loops, inner loops and runs.
  void Restrict(const Cut& cut, int64_t part);
  // Keeps some of the columns, which are entries.
  void KeepColumns(const Turns& columns);
  int64_t DestinationsOfBatch() const;
  // Numbers the destinations of all batches from 0 on, without gaps and in the order of the output, and
  // makes these numbers the offsets in the output. Returns the former offsets of the destinations, and
  // their numbers.
  DestinationNest NumberDestinations();
  // Requires entries with inner loops alone, in one loop over columns: makes each inner turn a batch,
  // which reads the same indices.
  void TurnInnerLoopsIntoBatch();
  // Makes all entries read the same update, whose units lie `run_stride` apart.
  void RepeatUpdate(int64_t run_stride);

 private:
  void ChooseRun(const IndexedNest& entries);
  void ChooseRowsAndColumns(BatchOrder order, IndexedNest* entries, IndexedNest* batch);
  void MeasureSpans();
};

// Numbers destinations from 0 on, in steps of the largest power of two that divides all strides.
class DestinationNumbers {
 public:
  explicit DestinationNumbers(const EntryLoops& loops);

  // Numbers lie in [0, range()).
  int64_t range() const { return range_; }
  // Destinations are in units from the origin of the loops.
  int64_t Of(int64_t destination) const { return (destination - lowest_) >> shift_; }
  int64_t DestinationOf(int64_t number) const { return (number << shift_) + lowest_; }
  // A number is (destination - lowest()) >> shift().
  int64_t lowest() const { return lowest_; }
  int shift() const { return shift_; }

 private:
  int64_t lowest_ = 0;
  int shift_;
  int64_t range_;
};

}  // namespace strew::plan

#endif  // STREW_PLAN_ENTRY_LOOPS_H_
