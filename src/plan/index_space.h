// SPDX-License-Identifier: Apache-2.0
// The index space of a scatter, whatever the operator:
//
//   output[sum over c of index(c, e, l) * output_stride(c) + l * lane stride + i * inner stride]
//       (+)= updates[e, l, i]
//
// Entries e are the turns that only an index places; they are applied in order. Lanes l have
// indices of their own and differ in the output by themselves. Inner turns i share the index of
// their entry and lane. Different lanes, and different inner turns, never meet in the output, so
// they may go in any order.
//
//   scatter_elements  one component; the axis is the entry loop, the other axes are lanes, or inner
//                     where the indices do not change along them (stride 0)
//   scatter_nd        a component for each number of a tuple; tuples are entries, the rest of data
//                     is inner
#ifndef STREW_PLAN_INDEX_SPACE_H_
#define STREW_PLAN_INDEX_SPACE_H_

#include <cstdint>

#include "base/tensor_view.h"
#include "plan/loop_nest.h"

namespace strew::plan {

// Operands of the nests. Entries have no place of their own in output and data, and inner turns no
// index and no data: they name the first two only.
enum { kOutput, kUpdates, kIndices, kData, kIndexedOperands };

using IndexedNest = LoopNest<kIndexedOperands>;
using IndexedLoop = Loop<kIndexedOperands>;
using InnerNest = LoopNest<kIndices>;
using InnerLoop = Loop<kIndices>;

// Places of an output that get numbers.
enum { kPlace, kNumber, kPlaceOperands };
using PlaceNest = LoopNest<kPlaceOperands>;

struct Component {
  int axis;               // of data
  int64_t axis_size;      // elements
  int64_t output_stride;  // of the axis, in units
  int64_t data_stride;    // likewise
  int64_t indices_base;   // where in indices its first index lies
};

// What is done about indices that are out of range; kNothing where none is.
enum class OutOfRange { kNothing, kDrop, kClamp };

// Strides of the loops of an arranged index space and where its updates begin.
struct UpdatesLayout {
  int64_t outer_base = 0;
  int64_t inner_base = 0;
  int64_t outer[kMaxLoops] = {};
  int64_t inner[kMaxLoops] = {};
  int64_t row = 0;
  int64_t column = 0;
  int64_t run = 0;
};

struct IndexSpace {
  OutOfRange out_of_range = OutOfRange::kNothing;
  int components = 0;
  Component component[kMaxRank];

  // Filled by the operator.
  // The dim of indices that goes over entries where the others are lanes, else -1.
  int entry_dim = -1;
  bool has_tuples = false;  // whether the last dim of indices goes over components
  IndexedNest entries;
  IndexedNest lanes;
  int inner_lanes = 0;  // how many loops of lanes, the last ones, go within entries in indices
  InnerNest inner;

  // Made by Arrange: loops outside of the sheet, the sheet, and the run inside of each entry. What
  // remains in `inner` turns outside of the runs of a sheet.
  IndexedNest outer;
  int outer_lanes;  // how many loops of `outer`, the first ones, are lanes
  IndexedLoop row;
  IndexedLoop column;
  InnerLoop run;
  // Whether columns are lanes, so that the sheet may be cut between columns. Otherwise entries of
  // the sheet must go row by row.
  bool columns_are_lanes;
  bool rows_are_lanes;
  int64_t lanes_count;  // turns of all lanes
  // How far apart, in units, indices can place entries, and offsets within a sheet, and in all
  // sheets together, can be.
  int64_t reach;
  int64_t span;
  int64_t whole_span;

  void AppendComponent(int axis, const TensorView& data, const TensorView& output, int64_t units,
                       int64_t indices_base);
  // Of the arranged index space: entries of all lanes, and the units of each.
  int64_t Entries() const;
  int64_t EntryUnits() const;
  // Makes of an arranged index space with one component one whose output has, from 0 on, a unit for
  // each place of each lane, without gaps; columns that are lanes lie together, else the axis does.
  // Returns where these places lay, and their numbers.
  PlaceNest NumberPlaces();
  // Turns of the inner lanes together.
  int64_t InnerLanes() const;
  // For indices that do not change along them: makes inner loops of the inner lanes.
  void MoveInnerLanesInside();
  void Arrange();
  // Where the updates of an arranged index space lie.
  UpdatesLayout updates_layout() const;
  void SetUpdatesLayout(const UpdatesLayout& layout);

 private:
  void ChooseRun();
  void ChooseSheet();
  void MeasureOffsets();
};

// Numbers the destinations of an arranged index space from 0 on: those that lie as far apart as the
// strides allow have consecutive numbers, up to a power of two.
class DestinationNumbers {
 public:
  explicit DestinationNumbers(const IndexSpace& space);

  // Numbers lie in [0, range()).
  int64_t range() const { return range_; }
  // In units from where the index space begins, and back.
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

#endif  // STREW_PLAN_INDEX_SPACE_H_
