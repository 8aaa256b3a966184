// SPDX-License-Identifier: Apache-2.0
// The loops of an index space, arranged for fast access to memory: outer loops around rows and
// columns of entries, from which tiles are cut, and within each entry inner loops around a run.
#ifndef STREW_PLAN_ENTRY_LOOPS_H_
#define STREW_PLAN_ENTRY_LOOPS_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/index_space.h"

namespace strew::plan {

// Treatment of out-of-range indices; kNothing if there are none.
enum class OutOfRange { kNothing, kDrop, kClamp };

// Results of the check of the indices.
struct Findings {
  OutOfRange out_of_range = OutOfRange::kNothing;
  bool constant = false;  // indices do not change along the minor loops of batch
  bool non_negative = false;
  bool all_equal = false;
};

// kOfData keeps neighbouring batches neighbours, which is needed to sum all destinations of a few
// batches at a time.
enum class BatchOrder { kAny, kOfData };

// Bytes of the offsets of a tile, which stay in the L1 cache until they are used.
inline constexpr int64_t kBlockBytes = 8192;

// The operands of DestinationNest.
enum { kDestination, kNumber, kDestinationOperands };
using DestinationNest = LoopNest<kDestinationOperands>;

struct EntryLoops {
  int components;
  Component component[kMaxRank];
  OutOfRange out_of_range;
  bool indices_are_non_negative;
  bool batch_has_data;  // the strides of the batch loops in data are known

  IndexedNest outer;
  int outer_batch_loops;  // the first loops of `outer` are batch, the others entries
  IndexedLoop row;
  IndexedLoop column;
  InnerNest inner;
  InnerLoop run;
  // Rows or columns that are batch never write to the same element. Otherwise they are entries and
  // must go in order.
  bool rows_are_batch;
  bool columns_are_batch;

  int64_t batches;  // turns of all batch loops
  // Upper bounds on the distance between entries in the output, in units: if only their indices
  // differ; within rows and columns; in all.
  int64_t reach;
  int64_t tile_span;
  int64_t whole_span;

  // Arranges the loops of a space that is not empty. Minor loops of batch along which indices are
  // constant become inner loops.
  EntryLoops(const IndexSpace& space, const Findings& findings,
             BatchOrder order = BatchOrder::kAny);
  EntryLoops(const EntryLoops& other);
  EntryLoops& operator=(const EntryLoops&) = delete;

  // The number of entries in the rows and columns, of all entries, and of units of an entry.
  int64_t TileEntries() const { return row.count * column.count; }
  int64_t Entries() const;
  int64_t EntryUnits() const;
  // Upper bound on the distance between destinations of a batch, in units. If entries have runs, it
  // includes the inner loops around them, because each turn of those writes to other cache lines.
  int64_t DestinationSpan() const;
  bool EntriesAreElements() const { return run.count == 1 && inner.rank == 0; }
  // True if every batch has one loop over entries, and their indices have one component.
  bool HasOneAxis() const { return components == 1 && outer.rank == outer_batch_loops; }
  // Widths of offsets: within a tile, and from the origin of the loops.
  kernel::OffsetWidth TileOffsets() const { return kernel::OffsetWidthOf(tile_span); }
  kernel::OffsetWidth WholeOffsets() const { return kernel::OffsetWidthOf(whole_span); }

  // Keeps one part of a cut of the loops that ForEachCutLoop() lists.
  void Restrict(const Cut& cut, int64_t part);
  // Keeps some of the columns, which must be entries.
  void KeepColumns(const Turns& columns);
  int64_t DestinationsOfBatch() const;
  // Numbers the destinations of all batches from 0 on, without gaps and in the order of the output.
  // Replaces their offsets in the output by these numbers. Returns a nest that maps the numbers to
  // the former offsets.
  DestinationNest NumberDestinations();
  // Makes each inner turn a batch that reads the same indices. Requires a run of one unit, and
  // entries in one loop over columns.
  void TurnInnerLoopsIntoBatch();
  // Makes all entries read one update, whose units lie `run_stride` apart.
  void RepeatUpdate(int64_t run_stride);

 private:
  void ChooseRun(const IndexedNest& entries);
  void ChooseRowsAndColumns(BatchOrder order, IndexedNest* entries, IndexedNest* batch);
  void MeasureSpans();
};

// Calls body(loop) for the loops that a cut divides, in its order: those of batches, the inner
// loops and the run.
template <class Body>
void ForEachCutLoop(const EntryLoops& loops, Body body) {
  for (int i = 0; i < loops.outer_batch_loops; ++i) body(loops.outer.loop[i]);
  if (loops.columns_are_batch) body(loops.column);
  if (loops.rows_are_batch) body(loops.row);
  for (int i = 0; i < loops.inner.rank; ++i) body(loops.inner.loop[i]);
  body(loops.run);
}

// Maps destinations to numbers from 0 on: subtracts the lowest destination and divides by the
// greatest common divisor of all strides. A shift divides by its power of two. Its odd part leaves
// no remainder, so a product with the inverse modulo 2^64 divides by it. Means into 10 to 300 rows
// of odd lengths took 0.12 to 0.45 times the time of numbers that were only shifted (Emerald
// Rapids).
class DestinationNumbers {
 public:
  explicit DestinationNumbers(const EntryLoops& loops);

  // Numbers lie in [0, range()).
  int64_t range() const { return range_; }
  // Destinations are offsets from the origin of the loops, in units.
  int64_t Of(int64_t destination) const {
    const auto steps = static_cast<uint64_t>(destination - lowest_) >> shift_;
    return static_cast<int64_t>(steps * inverse_);
  }
  int64_t DestinationOf(int64_t number) const { return number * step_ + lowest_; }
  // A number is ((destination - lowest()) >> shift()) * inverse() modulo 2^64.
  int64_t lowest() const { return lowest_; }
  int64_t step() const { return step_; }
  int shift() const { return shift_; }
  uint64_t inverse() const { return inverse_; }

 private:
  int64_t lowest_ = 0;
  int64_t step_;
  int shift_;
  uint64_t inverse_;
  int64_t range_;
};

}  // namespace strew::plan

#endif  // STREW_PLAN_ENTRY_LOOPS_H_
