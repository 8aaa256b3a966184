// SPDX-License-Identifier: Apache-2.0
// The schedule of rows in the order of destinations.
#include <algorithm>
#include <cmath>

#include "base/cache_size.h"
#include "plan/pass.h"
#include "prepared/ordered.h"
#include "prepared/schedule.h"

namespace strew::prepared {
namespace {

using plan::Machine;
using plan::Tuning;

// True if long rows are replaced, each once, and fill the caches.
bool MayStream(const Machine& machine, const Plan& plan, const OutputFacts& facts,
               const PlanSchedule& schedule) {
  if (schedule.reduction != STREW_NONE || facts.has_weights) return false;
  const int64_t bytes = plan.groups() * facts.EntryBytes();
  const int64_t run_bytes = facts.run * (facts.element_size / facts.units);
  return run_bytes >= machine.tuning.least_streamed_row &&
         bytes >= plan::StreamedBytes(machine, schedule.pass.tasks);
}

// Slices of a block: at least BestSlices(), and less than twice as many, so that blocks have about
// one size. 0 if all slices are one block.
int64_t SlicesTogether(const Tuning& tuning, const Plan& plan, const OutputFacts& facts) {
  const int64_t entries = std::max<int64_t>(plan.kept, 1);
  const int64_t elements = std::max<int64_t>(facts.turn_elements, 1);
  const int64_t least = tuning.least_sliced_elements / entries / elements;
  const int64_t blocks = facts.slices / std::max(BestSlices(tuning, facts), least);
  return blocks <= 1 ? 0 : (facts.slices + blocks - 1) / blocks;
}

// True if there are fewer destinations than tasks, or if one has so many updates that the task
// which combines these would be the last to end.
bool AreUneven(const Plan& plan, int64_t tasks) {
  constexpr double kMostShare = 1.25;
  if (plan.groups() < tasks) return true;
  Pass pass;
  pass.parts = tasks;
  const double most = kMostShare * static_cast<double>(plan.kept) / static_cast<double>(tasks);
  for (int64_t part = 0; part < tasks; ++part) {
    const Groups groups = GroupsOf(plan, pass, part);
    const int64_t updates = plan.FirstOf(groups.end) - plan.FirstOf(groups.first);
    if (static_cast<double>(updates) > most) return true;
  }
  return false;
}

// The parts if turns of the outermost inner loop are cut among tasks, else 0. They are if
// destinations are uneven, or if tasks would share the pages of each turn. All parts look for all
// entries.
int64_t PartsOfTurns(const Machine& machine, const Plan& plan, const OutputFacts& facts,
                     int64_t tasks) {
  const Tuning& tuning = machine.tuning;
  const int64_t parts =
      std::min(plan::PartsFor(machine, tasks), facts.turns / tuning.least_turns_of_part);
  if (tasks == 1 || parts < tasks) return 0;
  const bool share_pages =
      facts.turn_bytes != 0 && facts.turn_bytes < tasks * tuning.least_turn_of_task;
  return share_pages || AreUneven(plan, tasks) ? parts : 0;
}

bool RunsAreShort(const Tuning& tuning, const Plan& plan, const OutputFacts& facts) {
  if (facts.run == 0 || facts.run == facts.entry_elements * facts.units) return false;
  return facts.run <= tuning.short_group_run || plan.kept <= tuning.few_run_elements / facts.run;
}

// The bytes of an entry that take as long. Elements that are not in rows take as long as those of
// four bytes: 0.4 to 2 ns (Zen 4).
int64_t CombinedBytes(const OutputFacts& facts) {
  constexpr int64_t kElement = 4;
  if (facts.row_bytes >= kCacheLine) return facts.EntryBytes();
  return facts.entry_elements * std::max(facts.element_size, kElement);
}

}  // namespace

int64_t BestSlices(const Tuning& tuning, const OutputFacts& facts) {
  const double best = std::sqrt(tuning.slices_area / std::max(facts.slice_bytes, 1.0));
  const double most = static_cast<double>(tuning.most_slices);
  return std::max({static_cast<int64_t>(std::min(best, most)), tuning.least_slices, int64_t{1}});
}

void GoInOrder(const Machine& machine, const Plan& plan, const OutputFacts& facts,
               PlanSchedule* schedule) {
  const Tuning& tuning = machine.tuning;
  schedule->way = Way::kInOrder;
  Pass& pass = schedule->pass;
  pass.nanoseconds = Nanoseconds(plan.kept, tuning.ns_of_grouped_entry, CombinedBytes(facts),
                                 tuning.ns_of_grouped_byte);
  pass.tasks = plan::TasksFor(machine, pass.nanoseconds);
  pass.parts = PartsOfTurns(machine, plan, facts, pass.tasks);
  schedule->order.cuts_turns = pass.parts != 0;
  if (!schedule->order.cuts_turns) {
    pass.tasks = std::min(pass.tasks, plan.groups());
    pass.parts = std::min(plan::PartsFor(machine, pass.tasks), plan.groups());
  }
  // Limit of what is near: sums of rows of 16 to 1024 bytes from 2 to 12 MB took 0.62 to 1.0 times
  // the time without prefetch, means 0.62 to 0.94 times, from 25 to 50 MB 1.3 to 2.9 times (Zen 5).
  schedule->order.fetches = facts.read_bytes > static_cast<double>(plan::NearBytes(machine));
  schedule->streams = MayStream(machine, plan, facts, *schedule);
  schedule->order.runs_are_short = !schedule->streams && RunsAreShort(tuning, plan, facts);
  schedule->order.slices = SlicesTogether(tuning, plan, facts);
}

}  // namespace strew::prepared
