// SPDX-License-Identifier: Apache-2.0
// The loops of an index space in the order in which memory likes them: outer loops around rows and
// columns of entries, from which tiles are cut, and within an entry inner loops around a run.
#ifndef STREW_PLAN_ENTRY_LOOPS_H_
#define STREW_PLAN_ENTRY_LOOPS_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/index_space.h"

namespace strew::plan {

// What is done about indices that are out of range; kNothing where none is.
enum class OutOfRange { kNothing, kDrop, kClamp };

// What the check of the indices found out.
struct Findings {
  OutOfRange out_of_range = OutOfRange::kNothing;
  bool constant = false;  // indices do not change along the minor loops of batch
};

// Destinations and their numbers.
enum { kDestination, kNumber, kDestinationOperands };
using DestinationNest = LoopNest<kDestinationOperands>;

struct EntryLoops {
  int components;
  Component component[kMaxRank];
  OutOfRange out_of_range;

  IndexedNest outer;
  int outer_batch_loops;  // the first loops of `outer` are batch, the others entries
  IndexedLoop row;
  IndexedLoop column;
  InnerNest inner;
  InnerLoop run;
  // Which of the two are batch, so that their turns never meet. Otherwise they are entries: rows
  // one after the other, and the columns of a row in order.
  bool rows_are_batch;
  bool columns_are_batch;

  int64_t batches;  // turns of all batch loops
  // How far apart, in units, entries can lie in the output: by their indices, by these and within
  // rows and columns, and all of them.
  int64_t reach;
  int64_t tile_span;
  int64_t whole_span;

  // The arranged loops of a space that has elements. Minor loops of batch along which indices are
  // constant become inner loops.
  EntryLoops(const IndexSpace& space, const Findings& findings);
  EntryLoops(const EntryLoops& other);
  EntryLoops& operator=(const EntryLoops&) = delete;

  // Entries of all batches, and the units of each.
  int64_t Entries() const;
  int64_t EntryUnits() const;
  bool EntriesAreElements() const { return run.count == 1 && inner.rank == 0; }
  // Every batch has one loop over entries, and one component that places them on one axis.
  bool HasOneAxis() const { return components == 1 && outer.rank == outer_batch_loops; }
  // Of the offsets of a tile, and of offsets from where the loops begin.
  kernel::OffsetWidth TileOffsets() const { return kernel::OffsetWidthOf(tile_span); }
  kernel::OffsetWidth WholeOffsets() const { return kernel::OffsetWidthOf(whole_span); }

  // Keeps one part of a cut of the batch loops and the inner turns.
  void Restrict(const Cut& cut, int64_t part);
  // Keeps some columns, which are entries.
  void KeepColumns(const Turns& columns);
  // How many destinations a batch has.
  int64_t DestinationsOfBatch() const;
  // Gives the output, from 0 on, a unit for each destination of each batch, without gaps; columns
  // that are batch lie together, else the last axis does. Returns where these destinations lay, and
  // their numbers.
  DestinationNest NumberDestinations();
  // For entries of inner loops alone, in one loop over columns: makes each inner turn a batch, which
  // reads the same indices.
  void TurnInnerLoopsIntoBatch();
  // For columns that are batch and few: makes them rows, and the rows of entries columns.
  void SwapRowsAndColumns();
  // Makes all entries read the same update, of which the units lie `run_stride` apart.
  void RepeatUpdate(int64_t run_stride);

 private:
  void ChooseRun(const IndexedNest& entries);
  void ChooseRowsAndColumns(IndexedNest* entries, IndexedNest* batch);
  void MeasureSpans();
};

// Numbers destinations from 0 on: those that lie as far apart as the strides allow have consecutive
// numbers, up to a power of two.
class DestinationNumbers {
 public:
  explicit DestinationNumbers(const EntryLoops& loops);

  // Numbers lie in [0, range()).
  int64_t range() const { return range_; }
  // In units from where the loops begin, and back.
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
