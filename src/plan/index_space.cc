// SPDX-License-Identifier: Apache-2.0
#include "plan/index_space.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/checked.h"

namespace strew::plan {

void IndexSpace::AppendComponent(int axis, const TensorView& data, const TensorView& output,
                                 int64_t units, int64_t indices_base) {
  component[components++] = {axis, output.shape[axis], StrideOf(output, axis) * units,
                             StrideOf(data, axis) * units, indices_base};
}

int64_t IndexSpace::Entries() const {
  int64_t count = row.count * column.count;
  for (int i = 0; i < outer.rank; ++i) count *= outer.loop[i].count;
  return count;
}

PlaceNest IndexSpace::NumberPlaces() {
  assert(components == 1);
  PlaceNest nest;
  nest.base[kPlace] = std::exchange(outer.base[kOutput], 0);
  // From the outermost loop on, of which a turn goes past all places within.
  int64_t places = component[0].axis_size;
  for (int i = 0; i < outer_lanes; ++i) places *= outer.loop[i].count;
  if (rows_are_lanes) places *= row.count;
  if (columns_are_lanes) places *= column.count;
  const auto number = [&](int64_t count, int64_t* stride) {
    places /= count;
    nest.Append(count, *stride, places);
    *stride = places;
  };
  for (int i = 0; i < outer_lanes; ++i) number(outer.loop[i].count, &outer.loop[i].stride[kOutput]);
  if (rows_are_lanes) number(row.count, &row.stride[kOutput]);
  number(component[0].axis_size, &component[0].output_stride);
  if (columns_are_lanes) number(column.count, &column.stride[kOutput]);
  MeasureOffsets();
  return nest;
}

int64_t IndexSpace::EntryUnits() const {
  int64_t units = run.count;
  for (int i = 0; i < inner.rank; ++i) units *= inner.loop[i].count;
  return units;
}

int64_t IndexSpace::InnerLanes() const {
  int64_t turns = 1;
  for (int i = lanes.rank - inner_lanes; i < lanes.rank; ++i) turns *= lanes.loop[i].count;
  return turns;
}

void IndexSpace::MoveInnerLanesInside() {
  for (; inner_lanes > 0; --inner_lanes) {
    const IndexedLoop loop = lanes.PopInnermost();
    inner.Append(loop.count, loop.stride[kOutput], loop.stride[kUpdates]);
  }
}

void IndexSpace::Arrange() {
  entries.Merge();
  lanes.Canonicalise();
  inner.Canonicalise();
  ChooseRun();
  lanes_count = 1;
  for (int i = 0; i < lanes.rank; ++i) lanes_count *= lanes.loop[i].count;
  ChooseSheet();
  MeasureOffsets();
}

void IndexSpace::ChooseRun() {
  run = inner.PopInnermost();
  // Places that lie closer than inner turns are gone through for each turn anew: on the last axis
  // of a matrix row by row, not column by column.
  const bool places_are_closer =
      components > 0 && entries.rank > 0 &&
      Magnitude(component[components - 1].output_stride) < Magnitude(run.stride[kOutput]);
  if (run.count == 1 || !places_are_closer) return;
  inner.loop[inner.rank++] = run;
  run = {1, {}};
}

void IndexSpace::ChooseSheet() {
  const IndexedLoop entry = entries.PopInnermost();
  columns_are_lanes = false;
  rows_are_lanes = false;
  column = entry;
  if (lanes.rank == 0) {
    row = entries.PopInnermost();
  } else {
    row = lanes.PopInnermost();
    rows_are_lanes = true;
    // The columns are the direction in which writes lie closer together. Where an entry is a whole
    // run there is nothing to choose.
    const bool lanes_are_closer =
        Magnitude(row.stride[kOutput]) < Magnitude(component[0].output_stride);
    if (entry.count == 1 || (run.count == 1 && lanes_are_closer)) {
      columns_are_lanes = true;
      rows_are_lanes = false;
      column = row;
      row = entry;
    }
  }
  outer.rank = 0;
  outer_lanes = lanes.rank;
  for (int o = 0; o < kIndexedOperands; ++o) outer.base[o] = lanes.base[o];
  for (int i = 0; i < lanes.rank; ++i) outer.loop[outer.rank++] = lanes.loop[i];
  for (int i = 0; i < entries.rank; ++i) outer.loop[outer.rank++] = entries.loop[i];
}

UpdatesLayout IndexSpace::updates_layout() const {
  UpdatesLayout layout;
  layout.outer_base = outer.base[kUpdates];
  layout.inner_base = inner.base[kUpdates];
  for (int i = 0; i < outer.rank; ++i) layout.outer[i] = outer.loop[i].stride[kUpdates];
  for (int i = 0; i < inner.rank; ++i) layout.inner[i] = inner.loop[i].stride[kUpdates];
  layout.row = row.stride[kUpdates];
  layout.column = column.stride[kUpdates];
  layout.run = run.stride[kUpdates];
  return layout;
}

void IndexSpace::SetUpdatesLayout(const UpdatesLayout& layout) {
  outer.base[kUpdates] = layout.outer_base;
  inner.base[kUpdates] = layout.inner_base;
  for (int i = 0; i < outer.rank; ++i) outer.loop[i].stride[kUpdates] = layout.outer[i];
  for (int i = 0; i < inner.rank; ++i) inner.loop[i].stride[kUpdates] = layout.inner[i];
  row.stride[kUpdates] = layout.row;
  column.stride[kUpdates] = layout.column;
  run.stride[kUpdates] = layout.run;
}

void IndexSpace::MeasureOffsets() {
  // Each product is at most the byte extent of the output, and so is their sum.
  reach = 0;
  for (int c = 0; c < components; ++c) {
    const int64_t last = component[c].axis_size - 1;
    if (last > 0) reach += last * static_cast<int64_t>(Magnitude(component[c].output_stride));
  }
  // Strides of lanes are positive.
  span =
      reach + (row.count - 1) * row.stride[kOutput] + (column.count - 1) * column.stride[kOutput];
  whole_span = span;
  for (int i = 0; i < outer.rank; ++i) {
    whole_span += (outer.loop[i].count - 1) * outer.loop[i].stride[kOutput];
  }
}

DestinationNumbers::DestinationNumbers(const IndexSpace& space) {
  for (int c = 0; c < space.components; ++c) {
    const int64_t last = space.component[c].axis_size - 1;
    if (last > 0) lowest_ += std::min<int64_t>(last * space.component[c].output_stride, 0);
  }
  int64_t strides = space.row.count > 1 ? space.row.stride[kOutput] : 0;
  if (space.column.count > 1) strides |= space.column.stride[kOutput];
  for (int i = 0; i < space.outer.rank; ++i) strides |= space.outer.loop[i].stride[kOutput];
  for (int c = 0; c < space.components; ++c) strides |= space.component[c].output_stride;
  shift_ = strides == 0 ? 0 : __builtin_ctzll(static_cast<unsigned long long>(strides));
  range_ = Of(space.whole_span + lowest_) + 1;
}

}  // namespace strew::plan
