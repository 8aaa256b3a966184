// SPDX-License-Identifier: Apache-2.0
// Means and wide sums of single elements: where their accumulators are.
#include <algorithm>

#include "base/cache_size.h"
#include "plan/pass.h"
#include "prepared/order.h"
#include "prepared/schedule.h"

namespace strew::prepared {
namespace {

using plan::Machine;
using plan::Tuning;

// True if there are at most so many bytes of accumulators for each update.
bool HaveEnoughUpdates(const Plan& plan, const ScatterFacts& facts, int64_t most) {
  const double sums =
      static_cast<double>(DestinationsOf(plan)) * static_cast<double>(facts.slot_bytes);
  return sums <= static_cast<double>(most) * static_cast<double>(plan.kept);
}

// True if the operator would sort the entries of long columns into buckets of destinations. Element
// by element in the order that the plan has, shuffled ones take less time.
bool NeedsBuckets(const Tuning& tuning, const Plan& plan, int64_t batch_bytes) {
  if (plan.NumberOfPlaces() < tuning.least_column_destinations) return false;
  const int64_t together = std::max<int64_t>(tuning.near_column_sums / batch_bytes, 1);
  return (plan.Columns() - 1) / together >= tuning.most_column_passes;
}

// Bytes of the accumulators of a batch from which those of pieces are better. One batch would be
// left to one task.
int64_t LeastAscendingSums(const Machine& machine, const Plan& plan) {
  const Tuning& tuning = machine.tuning;
  const double nanoseconds = Nanoseconds(plan.kept, tuning.ns_of_batch_mean_entry, 0, 0);
  const bool is_shared = plan::TasksFor(machine, nanoseconds) > 1;
  return is_shared ? std::min(tuning.near_batch_sums, tuning.least_ascending_sums)
                   : tuning.least_ascending_sums;
}

}  // namespace

bool SumsAscend(const Machine& machine, const Plan& plan, const ScatterFacts& facts) {
  const Tuning& tuning = machine.tuning;
  return plan.NumberOfPlaces() > LeastAscendingSums(machine, plan) / facts.slot_bytes &&
         HaveEnoughUpdates(plan, facts, tuning.sum_bytes_of_plan_entry);
}

void SumInPieces(const Machine& machine, const Plan& plan, const ScatterFacts& facts,
                 PlanSchedule* schedule) {
  const Tuning& tuning = machine.tuning;
  schedule->way = Way::kAscendingSums;
  Pass& pass = schedule->pass;
  pass.nanoseconds = Nanoseconds(plan.kept, tuning.ns_of_batch_mean_entry, 0, 0);
  pass.tasks = plan::TasksFor(machine, pass.nanoseconds);
  const int64_t destinations = DestinationsOf(plan);
  const int64_t of_part = (destinations - 1) / plan::PartsFor(machine, pass.tasks) + 1;
  const int64_t room = std::min(tuning.near_batch_sums, plan::MostScratch(pass.tasks) - kCacheLine);
  const int64_t elements =
      std::clamp<int64_t>(room / facts.slot_bytes, 1, std::max(of_part, kCacheLine));
  schedule->summed_elements = elements;
  pass.parts = (destinations - 1) / elements + 1;
  pass.tasks = std::min(pass.tasks, pass.parts);
}

bool AccumulatorsNeedNoOrder(const Machine& machine, const Plan& plan, const ScatterFacts& facts) {
  const Tuning& tuning = machine.tuning;
  const int64_t bytes = facts.slot_bytes;
  const int64_t places = plan.NumberOfPlaces();
  if (bytes == 0 || places > plan::MostScratch(1) / bytes) return false;
  if (facts.goes_in_element_order && NeedsBuckets(tuning, plan, places * bytes)) return false;
  const bool are_near = places * bytes <= tuning.near_batch_sums;
  const bool miss = !are_near && plan.order.exists();
  const int64_t most = miss ? tuning.sum_bytes_of_far_plan_entry : tuning.sum_bytes_of_plan_entry;
  if (!HaveEnoughUpdates(plan, facts, most)) return false;
  return !facts.SumsAreElements() || (plan.IsLastAxis() && are_near);
}

}  // namespace strew::prepared
