// SPDX-License-Identifier: Apache-2.0
#include "accumulate/mean_lanes.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "share/boxes.h"
#include "share/parts.h"
#include "base/scratch.h"
#include "walk/entries.h"

namespace strew::accumulate {
namespace {

using plan::kOutput;
using plan::kTuning;

// Where a place of a lane lies in the output, and its number.
enum { kPlace, kNumber, kOperands };
using PlaceNest = plan::LoopNest<kOperands>;

PlaceNest PlacesOf(const plan::EntryLoops& loops, const plan::EntryLoops& numbered) {
  PlaceNest nest;
  nest.base[kPlace] = loops.outer.base[kOutput];
  for (int i = 0; i < loops.outer_batch_loops; ++i) {
    nest.Append(loops.outer.loop[i].count, loops.outer.loop[i].stride[kOutput],
                numbered.outer.loop[i].stride[kOutput]);
  }
  if (loops.rows_are_batch) {
    nest.Append(loops.row.count, loops.row.stride[kOutput], numbered.row.stride[kOutput]);
  }
  nest.Append(loops.component[0].axis_size, loops.component[0].output_stride,
              numbered.component[0].output_stride);
  if (loops.columns_are_batch) {
    nest.Append(loops.column.count, loops.column.stride[kOutput], numbered.column.stride[kOutput]);
  }
  return nest;
}

// Adds what comes to the sums of the places whose numbers are the offsets.
class Adder {
 public:
  Adder(const walk::Scatter& scatter, const kernel::AccumulateKernels& kernels,
        const kernel::CountedSums& sums)
      : scatter_(scatter), kernels_(kernels), sums_(sums) {}

  walk::EntrySink sink() {
    return walk::SinkOf(this, kernel::kOffset32, scatter_.operands.output.data);
  }

  void Add(const walk::EntryRow& row) {
    kernel::CountedSums at = sums_;
    at.sums += row.output * kernels_.sums.sum_size;
    at.counts += row.output;
    kernels_.add_each(at, {static_cast<const int32_t*>(row.offsets), scatter_.UpdateAt(row.updates),
                           row.updates_stride, row.columns});
  }

 private:
  const walk::Scatter& scatter_;
  const kernel::AccumulateKernels& kernels_;
  const kernel::CountedSums sums_;
};

}  // namespace

LaneMeans::LaneMeans(const walk::Scatter& scatter)
    : scatter_(scatter),
      kernels_(kernel::AccumulateKernelsFor(scatter.operands.output.dtype,
                                            scatter.call.settings().simd_target)) {
  if (scatter.loops.components != 1 || scatter.loops.EntryUnits() != 1) return;
  const int64_t entries = scatter.loops.Entries();
  const int64_t axis_size = scatter.loops.component[0].axis_size;
  const int64_t lane_entries = entries / scatter.loops.batches;
  if (lane_entries >= kernel::kMostTerms) return;
  if (axis_size / kTuning.destinations_of_entry > lane_entries) return;
  const int64_t place_bytes = kernels_.sums.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  const auto fitting = [&](int64_t tasks) {
    return plan::MostScratch(1) / tasks / place_bytes / axis_size;
  };
  if (fitting(1) == 0) return;
  tasks_ = plan::TasksFor(plan::Machine(scatter.call),
                          static_cast<double>(entries) * kTuning.ns_of_lane_mean_entry);
  tasks_ = std::min({tasks_, scatter.loops.batches, fitting(1)});
  // Columns that are lanes lie together in the output, and fewer of them than lines of cache hold
  // would be a waste.
  const int64_t near =
      scatter.loops.columns_are_batch ? plan::MostScratch(1) : kTuning.near_lane_sums;
  lanes_of_part_ = std::clamp<int64_t>(near / place_bytes / axis_size, 1, fitting(tasks_));
}

plan::Cut LaneMeans::CutLanes(int64_t* lanes_of_part) const {
  int64_t parts = std::max(plan::PartsFor(plan::Machine(scatter_.call), tasks_),
                           (scatter_.loops.batches - 1) / lanes_of_part_ + 1);
  while (true) {
    plan::Cut cut;
    int loops = 0;
    int64_t most = 1;
    const auto append = [&](int64_t count) {
      cut.Append(count, 1, parts);
      most *= cut.MostTurns(loops++);
    };
    for (int i = 0; i < scatter_.loops.outer_batch_loops; ++i)
      append(scatter_.loops.outer.loop[i].count);
    if (scatter_.loops.columns_are_batch) append(scatter_.loops.column.count);
    if (scatter_.loops.rows_are_batch) append(scatter_.loops.row.count);
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
  plan::EntryLoops of_part = scatter_.loops;
  of_part.Restrict(cut, part);
  plan::EntryLoops numbered = of_part;
  numbered.NumberDestinations();
  PlaceNest places = PlacesOf(of_part, numbered);
  const plan::Loop<kOperands> line = places.PopInnermost();
  int64_t count = line.count;
  for (int i = 0; i < places.rank; ++i) count *= places.loop[i].count;

  const kernel::CountedSums sums = {scratch + count * static_cast<int64_t>(sizeof(uint32_t)),
                                    reinterpret_cast<uint32_t*>(scratch)};
  std::memset(sums.counts, 0, static_cast<size_t>(count) * sizeof(uint32_t));
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  const int64_t size = scatter_.operands.output.element_size;
  if (excludes_self) {
    alignas(16) unsigned char identity[16];
    StoreIdentity(scatter_.operands.output.dtype, STREW_MEAN, identity);
    kernels_.sums.begin(sums.sums, identity, 0, count);
  } else {
    plan::ForEachTurn(places, places.rank, [&](const int64_t* at) {
      kernels_.sums.begin(sums.sums + at[kNumber] * kernels_.sums.sum_size,
                          scatter_.operands.output.data + at[kPlace] * size, line.stride[kPlace],
                          line.count);
    });
  }
  Adder adder(scatter_, kernels_, sums);
  walk::GiveEntries(walk::Scatter(scatter_, numbered), adder.sink());
  int64_t applied = 0;
  plan::ForEachTurn(places, places.rank, [&](const int64_t* at) {
    const kernel::CountedSums from = {sums.sums + at[kNumber] * kernels_.sums.sum_size,
                                      sums.counts + at[kNumber]};
    kernels_.finish_each(from, excludes_self ? 0 : 1,
                         scatter_.operands.output.data + at[kPlace] * size, line.stride[kPlace],
                         line.count);
  });
  if (scatter_.applied_units == nullptr) return;
  for (int64_t i = 0; i < count; ++i) applied += sums.counts[i];
  *scatter_.applied_units += applied;
}

Status LaneMeans::Run(bool in_place) const {
  int64_t lanes;
  const plan::Cut cut = CutLanes(&lanes);
  const int64_t place_bytes = kernels_.sums.sum_size + static_cast<int64_t>(sizeof(uint32_t));
  const int64_t task_bytes = lanes * scatter_.loops.component[0].axis_size * place_bytes;
  const Scratch scratch(scatter_.call, static_cast<size_t>(tasks_ * task_bytes));
  if (scratch.memory() == nullptr) {
    return scatter_.call.Fail(STREW_OUT_OF_MEMORY,
                              "%" PRId64 " bytes for the sums of means were refused",
                              tasks_ * task_bytes);
  }
  if (!in_place)
    STREW_TRY(share::Copy(scatter_.call, scatter_.operands.data, scatter_.operands.output));
  return share::ForEachPart(scatter_.call, tasks_, cut.parts(), [&](int64_t part, int64_t task) {
    RunPart(cut, part, scratch.memory() + task * task_bytes);
  });
}

}  // namespace strew::accumulate
