// SPDX-License-Identifier: Apache-2.0
// Means where indices name places of lanes that are short: some lanes at a time have a slot for
// each place, near the CPU.
#include <algorithm>

#include "accumulate/mean_sums.h"
#include "base/scratch.h"
#include "plan/cut.h"
#include "plan/schedule.h"
#include "walk/entries.h"

namespace strew::accumulate {
namespace {

using plan::kTuning;

// Where the places of some lanes lie in the output, and their slots.
struct LanePlaces {
  const TensorView& output;
  plan::PlaceNest outside;
  plan::Loop<plan::kPlaceOperands> line = outside.PopInnermost();

  template <class Body>
  void ForEachLine(const Body& body) const {
    plan::ForEachTurn(outside, outside.rank, [&](const int64_t* at) {
      (void)body(SlotLine{at[plan::kNumber], output.data + at[plan::kPlace] * output.element_size,
                          line.stride[plan::kPlace], line.count});
    });
  }
};

// Adds what comes to slots whose numbers are the offsets.
struct Adder {
  const Mean& mean;
  const Slots& slots;

  void Add(const walk::EntryRow& row) {
    mean.sums.Add(mean.sums.From(slots, row.output), static_cast<const int32_t*>(row.offsets),
                  mean.UpdateOf(row.updates), row.updates_stride, row.columns);
  }
};

// Cuts the lanes into at least `parts`, of which none has more than `most` lanes. Returns how many
// it has at most.
int64_t CutLanes(const plan::IndexSpace& space, int64_t parts, int64_t most, plan::Cut* cut) {
  for (;; parts += parts) {
    *cut = plan::Cut();
    int loops = 0;
    int64_t lanes = 1;
    const auto append = [&](int64_t count) {
      cut->Append(count, 1, parts);
      lanes *= cut->MostTurns(loops++);
    };
    for (int i = 0; i < space.outer_lanes; ++i) append(space.outer.loop[i].count);
    if (space.columns_are_lanes) append(space.column.count);
    if (space.rows_are_lanes) append(space.row.count);
    if (lanes > most) continue;
    cut->Append(1, 1, 1);  // the one unit of an entry
    return lanes;
  }
}

void CombinePart(const Mean& mean, const plan::Cut& cut, int64_t part, unsigned char* scratch) {
  plan::IndexSpace of_part = mean.space;
  plan::RestrictToPart(cut, part, &of_part);
  const LanePlaces places = {mean.scatter.output, of_part.NumberPlaces()};
  const int64_t count = of_part.whole_span + 1;
  const Slots slots = mean.sums.At(scratch, count);
  Adder adder = {mean, slots};
  mean.sums.Combine(slots, count, places, [&] {
    walk::GiveSheets(mean.call, mean.scatter, of_part,
                     walk::SinkOf(&adder, kernel::kOffset32, mean.scatter.output.data));
  });
  if (mean.scatter.applied_units == nullptr) return;
  *mean.scatter.applied_units += mean.sums.Updates(slots, count);
}

}  // namespace

// The places of a lane must fit scratch, and be no more than the updates can pay for.
Status CombineLanes(const Mean& mean, bool* done) {
  const plan::IndexSpace& space = mean.space;
  const int64_t entries = space.Entries();
  if (space.components != 1 || !mean.sums.are_single()) return STREW_OK;
  const int64_t axis_size = space.component[0].axis_size;
  const int64_t lane_bytes = mean.sums.slot_bytes() * axis_size;
  const int64_t fitting = plan::MostScratch(1) / lane_bytes;
  const bool pays = axis_size / kTuning.destinations_of_entry <= entries / space.lanes_count;
  if (fitting == 0 || !pays) return STREW_OK;

  const double ns = static_cast<double>(entries) * kTuning.ns_of_lane_mean_entry;
  const int64_t tasks = std::min({share::TasksFor(mean.call, ns), space.lanes_count, fitting});
  // Columns that are lanes lie together in the output, and fewer of them than lines of cache hold
  // would be a waste.
  const int64_t near = space.columns_are_lanes ? plan::MostScratch(1) : kTuning.near_lane_sums;
  const int64_t most = std::clamp<int64_t>(near / lane_bytes, 1, fitting / tasks);
  plan::Cut cut;
  const int64_t parts = std::max(plan::PartsFor(tasks), (space.lanes_count - 1) / most + 1);
  const int64_t task_bytes = CutLanes(space, parts, most, &cut) * lane_bytes;

  const Scratch scratch(mean.call, static_cast<size_t>(tasks * task_bytes));
  if (scratch.memory() == nullptr) return mean.Refuse();
  STREW_TRY(mean.CopyData());
  *done = true;
  return share::ForEachPart(mean.call, tasks, cut.parts(), [&](int64_t part, int64_t task) {
    CombinePart(mean, cut, part, scratch.memory() + task * task_bytes);
  });
}

}  // namespace strew::accumulate
