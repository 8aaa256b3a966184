// SPDX-License-Identifier: Apache-2.0
#include "run/mean_lanes.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "run/box.h"
#include "run/parallel.h"
#include "run/scratch.h"
#include "run/sheets.h"

namespace strew::run {
namespace {

using plan::kOutput;
using plan::kTuning;

// Where a place of a lane lies in the output, and its number.
enum { kPlace, kNumber, kOperands };
using PlaceNest = plan::LoopNest<kOperands>;

PlaceNest PlacesOf(const plan::IndexSpace& space, const plan::IndexSpace& numbered) {
  PlaceNest nest;
  nest.base[kPlace] = space.outer.base[kOutput];
  for (int i = 0; i < space.outer_lanes; ++i) {
    nest.Append(space.outer.loop[i].count, space.outer.loop[i].stride[kOutput],
                numbered.outer.loop[i].stride[kOutput]);
  }
  if (space.rows_are_lanes) {
    nest.Append(space.row.count, space.row.stride[kOutput], numbered.row.stride[kOutput]);
  }
  nest.Append(space.component[0].axis_size, space.component[0].output_stride,
              numbered.component[0].output_stride);
  if (space.columns_are_lanes) {
    nest.Append(space.column.count, space.column.stride[kOutput], numbered.column.stride[kOutput]);
  }
  return nest;
}

// Adds what comes to the sums of the places whose numbers are the offsets.
class Adder {
 public:
  Adder(const IndexedScatter& scatter, const kernel::AccumulateKernels& kernels,
        const kernel::CountedSums& sums)
      : scatter_(scatter), kernels_(kernels), sums_(sums) {}

  EntrySink sink() { return SinkOf(this, kernel::kOffset32, scatter_.output.data); }

  void Add(const EntryRow& row) {
    kernel::CountedSums at = sums_;
    at.sums += row.output * kernels_.sums.sum_size;
    at.counts += row.output;
    kernels_.add_each(at, {static_cast<const int32_t*>(row.offsets),
                           scatter_.updates.data + row.updates * scatter_.updates.element_size,
                           row.updates_stride, row.columns});
  }

 private:
  const IndexedScatter& scatter_;
  const kernel::AccumulateKernels& kernels_;
  const kernel::CountedSums sums_;
};

}  // namespace

LaneMeans::LaneMeans(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space)
    : call_(call),
      scatter_(scatter),
      space_(space),
      kernels_(kernel::AccumulateKernelsFor(scatter.output.dtype, call.settings().simd_target)) {
  if (space.components != 1 || space.EntryUnits() != 1) return;
  const int64_t entries = space.Entries();
  const int64_t axis_size = space.component[0].axis_size;
  const int64_t lane_entries = entries / space.lanes_count;
  if (lane_entries >= kernel::kMostTerms) return;
  if (axis_size / kTuning.destinations_of_entry > lane_entries) return;
  const int64_t place_bytes = kernels_.sums.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  const auto fitting = [&](int64_t tasks) {
    return plan::MostScratch(1) / tasks / place_bytes / axis_size;
  };
  if (fitting(1) == 0) return;
  tasks_ = TasksFor(call, static_cast<double>(entries) * kTuning.ns_of_lane_mean_entry);
  tasks_ = std::min({tasks_, space.lanes_count, fitting(1)});
  // Columns that are lanes lie together in the output, and fewer of them than lines of cache hold
  // would be a waste.
  const int64_t near = space.columns_are_lanes ? plan::MostScratch(1) : kTuning.near_lane_sums;
  lanes_of_part_ = std::clamp<int64_t>(near / place_bytes / axis_size, 1, fitting(tasks_));
}

plan::Cut LaneMeans::CutLanes(int64_t* lanes_of_part) const {
  int64_t parts = std::max(plan::PartsFor(tasks_), (space_.lanes_count - 1) / lanes_of_part_ + 1);
  while (true) {
    plan::Cut cut;
    int loops = 0;
    int64_t most = 1;
    const auto append = [&](int64_t count) {
      cut.Append(count, 1, parts);
      most *= cut.MostTurns(loops++);
    };
    for (int i = 0; i < space_.outer_lanes; ++i) append(space_.outer.loop[i].count);
    if (space_.columns_are_lanes) append(space_.column.count);
    if (space_.rows_are_lanes) append(space_.row.count);
    if (most <= lanes_of_part_) {
      // The one unit of an entry.
      cut.Append(1, 1, 1);
      *lanes_of_part = most;
      return cut;
    }
    parts += parts;
  }
}

void LaneMeans::RunPart(const plan::Cut& cut, int64_t part, unsigned char* scratch) const {
  plan::IndexSpace of_part = space_;
  plan::RestrictToPart(cut, part, &of_part);
  plan::IndexSpace numbered = of_part;
  numbered.NumberPlaces();
  PlaceNest places = PlacesOf(of_part, numbered);
  const plan::Loop<kOperands> line = places.PopInnermost();
  int64_t count = line.count;
  for (int i = 0; i < places.rank; ++i) count *= places.loop[i].count;

  const kernel::CountedSums sums = {scratch + count * static_cast<int64_t>(sizeof(uint32_t)),
                                    reinterpret_cast<uint32_t*>(scratch)};
  std::memset(sums.counts, 0, static_cast<size_t>(count) * sizeof(uint32_t));
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  const int64_t size = scatter_.output.element_size;
  if (excludes_self) {
    alignas(16) unsigned char identity[16];
    StoreIdentity(scatter_.output.dtype, STREW_MEAN, identity);
    kernels_.sums.begin(sums.sums, identity, 0, count);
  } else {
    plan::ForEachTurn(places, places.rank, [&](const int64_t* at) {
      kernels_.sums.begin(sums.sums + at[kNumber] * kernels_.sums.sum_size,
                          scatter_.output.data + at[kPlace] * size, line.stride[kPlace],
                          line.count);
    });
  }
  Adder adder(scatter_, kernels_, sums);
  GiveSheets(call_, scatter_, numbered, adder.sink());
  int64_t applied = 0;
  plan::ForEachTurn(places, places.rank, [&](const int64_t* at) {
    const kernel::CountedSums from = {sums.sums + at[kNumber] * kernels_.sums.sum_size,
                                      sums.counts + at[kNumber]};
    kernels_.finish_each(from, excludes_self ? 0 : 1, scatter_.output.data + at[kPlace] * size,
                         line.stride[kPlace], line.count);
  });
  if (scatter_.applied_units == nullptr) return;
  for (int64_t i = 0; i < count; ++i) applied += sums.counts[i];
  *scatter_.applied_units += applied;
}

Status LaneMeans::Run(bool in_place) const {
  int64_t lanes;
  const plan::Cut cut = CutLanes(&lanes);
  const int64_t place_bytes = kernels_.sums.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  const int64_t task_bytes = lanes * space_.component[0].axis_size * place_bytes;
  const Scratch scratch(call_, static_cast<size_t>(tasks_ * task_bytes));
  if (scratch.memory() == nullptr) {
    return call_.Fail(STREW_OUT_OF_MEMORY, "%" PRId64 " bytes for the sums of means were refused",
                      tasks_ * task_bytes);
  }
  if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
  return ForEachPart(call_, tasks_, cut.parts(), [&](int64_t part, int64_t task) {
    RunPart(cut, part, scratch.memory() + task * task_bytes);
  });
}

}  // namespace strew::run
