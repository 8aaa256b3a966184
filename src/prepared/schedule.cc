// SPDX-License-Identifier: Apache-2.0
#include "prepared/schedule.h"

#include <algorithm>

#include "base/cache_size.h"
#include "base/checked.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "plan/pass.h"
#include "prepared/order.h"

namespace strew::prepared {
namespace {

using plan::Machine;
using plan::Tuning;

// True if no old value remains in the output: each element has an update, and the reduction
// replaces or excludes old values.
bool ReplacesAll(const Plan& plan, const OutputFacts& facts, strew_reduction reduction) {
  const bool replaces = reduction == STREW_NONE || ExcludesSelf(reduction);
  return replaces && plan.groups() * facts.entry_elements == facts.elements;
}

// ---- Passes over destinations ----

Pass PassOverGroups(const Machine& machine, const Plan& plan, const OutputFacts& facts) {
  const Tuning& tuning = machine.tuning;
  return plan::PassFor(machine, Nanoseconds(plan.groups(), tuning.ns_of_divided_group,
                                            facts.EntryBytes(), tuning.ns_of_divided_byte));
}

// True if sums of single elements are divided in the order of all destinations that a plan can
// have, because most of them are touched.
bool DividesAll(const Tuning& tuning, const Plan& plan, const OutputFacts& facts) {
  return facts.line_of_destinations >= tuning.least_divided_line &&
         plan.groups() >= DestinationsOf(plan) / tuning.destinations_of_divided_group;
}

// Means as sums.
void Divide(const Machine& machine, const Plan& plan, const OutputFacts& facts, bool divides_all,
            PlanSchedule* schedule) {
  schedule->divides = true;
  schedule->divides_all = divides_all;
  schedule->division =
      divides_all ? plan::PassFor(machine, Nanoseconds(DestinationsOf(plan),
                                                       machine.tuning.ns_of_divided_element, 0, 0))
                  : PassOverGroups(machine, plan, facts);
}

// ---- Reductions without old values that have an identity ----

double UpdatesOfGroup(const Plan& plan) {
  return static_cast<double>(plan.kept) / static_cast<double>(std::max<int64_t>(plan.groups(), 1));
}

// The updates of a destination, on average, from which on identities are stored in the order of
// destinations before a pass over the entries. By places, as in a call without a plan, both passes
// go over the entries, the first with a write for each.

// Shuffled elements of outputs of more than 8 MiB took 0.55 to 0.8 times the time. Others along the
// last axis, or with updates for all columns, took 1.05 to 1.3 times with up to 1.4 updates, 0.9 to
// 1.06 with 1.7 to 2, and 0.55 to 0.9 with 2.5 and more; others along other axes 0.9 to 1.6 times
// with up to 2, 0.9 to 1.08 with 2.7, and 0.6 to 0.9 with 4 and more (Zen 5).
double LeastUpdatesOfElements(const Machine& machine, const Plan& plan, const OutputFacts& facts) {
  if (plan.order.exists() && facts.elements > plan::NearBytes(machine) / facts.element_size) {
    return 0;
  }
  return plan.IsLastAxis() || facts.elements == DestinationsOf(plan) ? 2 : 2.5;
}

// With 1.5 to 2 updates, rows of up to 128 bytes took 0.67 to 1.05 times the time, longer ones up
// to 1.4 times; with 2 to 4 updates rows of less than 4 KiB 0.5 to 0.95 times. Longer ones leave
// the caches between the passes and took 1.06 to 1.2 times with fewer than 4 (Zen 5).
double LeastUpdatesOfRows(const Tuning& tuning, const OutputFacts& facts) {
  constexpr int64_t kShortRow = 128;
  if (facts.row_bytes >= tuning.long_ordered_row) return 4;
  return facts.row_bytes <= kShortRow ? 1.5 : 2;
}

void BeginAnew(const Machine& machine, const Plan& plan, const OutputFacts& facts,
               PlanSchedule* schedule) {
  const double least = facts.EntriesAreElements() ? LeastUpdatesOfElements(machine, plan, facts)
                                                  : LeastUpdatesOfRows(machine.tuning, facts);
  if (UpdatesOfGroup(plan) < least) return;
  schedule->begins_anew = true;
  schedule->beginning = PassOverGroups(machine, plan, facts);
}

bool AreUpdatesNear(const Machine& machine, const OutputFacts& facts) {
  return facts.read_bytes <= plan::FarBytesOfUpdates(machine);
}

// True if rows with old values that are combined at once are faster than row after row in the order
// of the entries, which read and write a destination for each update.
bool RowsGainInOrder(const Machine& machine, const Plan& plan, const OutputFacts& facts) {
  const Tuning& tuning = machine.tuning;
  const int64_t row = facts.row_bytes;
  if (!facts.groups_rows || row < tuning.short_ordered_row) return false;
  if (row >= tuning.long_ordered_row || AreUpdatesNear(machine, facts)) return true;
  const double written =
      static_cast<double>(plan.groups()) * static_cast<double>(facts.EntryBytes());
  return row >= tuning.least_ordered_row && plan.order.exists() &&
         written > static_cast<double>(machine.cache_bytes);
}

// The same for rows without old values, compared with storing identities first.
bool NewRowsGainInOrder(const Machine& machine, const Plan& plan, const OutputFacts& facts) {
  constexpr double kFewUpdates = 4;
  constexpr int64_t kLeastRow = 16;
  const Tuning& tuning = machine.tuning;
  const double updates = UpdatesOfGroup(plan);
  const int64_t least = updates < 2 ? tuning.least_ordered_row : tuning.short_ordered_row;
  if (!facts.groups_rows || facts.EntryBytes() < least || facts.row_bytes < kLeastRow) return false;
  return updates < kFewUpdates || AreUpdatesNear(machine, facts) ||
         RowsGainInOrder(machine, plan, facts);
}

void ExcludeOld(const Machine& machine, const Plan& plan, const OutputFacts& facts,
                PlanSchedule* schedule) {
  if (NewRowsGainInOrder(machine, plan, facts)) {
    GoInOrder(machine, plan, facts, schedule);
  } else {
    BeginAnew(machine, plan, facts, schedule);
  }
}

// ---- Scatter ----

// True if means whose sums are elements of the output are faster as sums that are then divided. If
// they exclude old values, storing identities is another pass: with 2 and 3 updates for each
// destination, rows of 256 and 800 bytes took 1.2 and 1.5 times the time (Zen 4).
bool MayBeDivided(const Tuning& tuning, const Plan& plan, const OutputFacts& facts,
                  strew_reduction reduction) {
  if (facts.EntryBytes() <= tuning.short_divided_row) return true;
  const int64_t passes = ExcludesSelf(reduction) ? 2 : 1;
  return plan.kept >= passes * tuning.least_divided_updates * plan.groups();
}

}  // namespace

bool HasRoomToShare(const Machine& machine, const Plan& plan) {
  return machine.workers == 1 || plan.entries <= (int64_t{2} << 20) / 32;
}

PlanSchedule ScheduleScatter(const Machine& machine, const Plan& plan, const ScatterFacts& facts,
                             strew_reduction reduction) {
  PlanSchedule schedule;  // by places
  schedule.reduction = reduction;
  schedule.copies_data = plan.entries == 0 || !ReplacesAll(plan, facts, reduction);
  if (facts.is_empty) return schedule;
  if (!facts.axes_are_one_loop) {
    GoInOrder(machine, plan, facts, &schedule);
    return schedule;
  }
  const bool accumulates = Accumulates(reduction);
  const strew_reduction kind = ReductionKind(reduction);
  const bool has_room = HasRoomToShare(machine, plan);
  const bool divides_all = has_room && DividesAll(machine.tuning, plan, facts);
  if (accumulates && facts.EntriesAreElements() && facts.has_scratch && !divides_all) {
    if (facts.ascends_on_line && SumsAscend(machine, plan, facts)) {
      SumInPieces(machine, plan, facts, &schedule);
      return schedule;
    }
    if (AccumulatorsNeedNoOrder(machine, plan, facts)) return schedule;
  }
  if (facts.goes_in_element_order) {
    OrderElements(machine, plan, &schedule);
    return schedule;
  }
  if (!accumulates && !ExcludesSelf(reduction)) {
    if (UpdatesOfGroup(plan) >= 2 && RowsGainInOrder(machine, plan, facts)) {
      GoInOrder(machine, plan, facts, &schedule);
    }
    return schedule;
  }
  if (kind == STREW_MEAN && facts.SumsAreElements() && has_room &&
      MayBeDivided(machine.tuning, plan, facts, reduction)) {
    schedule.reduction = SumOf(reduction);
    Divide(machine, plan, facts, divides_all, &schedule);
    if (ExcludesSelf(reduction)) BeginAnew(machine, plan, facts, &schedule);
    return schedule;
  }
  if (accumulates || !has_room || !HasIdentity(facts.dtype, kind)) {
    GoInOrder(machine, plan, facts, &schedule);
  } else {
    ExcludeOld(machine, plan, facts, &schedule);
  }
  return schedule;
}

// ---- Gather and scatter ----

namespace {

// True for means whose accumulators have the type of an element: they are sums in the output.
bool DividesSums(const Plan& from, const GatherScatterFacts& facts, strew_reduction reduction) {
  return ReductionKind(reduction) == STREW_MEAN && !from.has_dropped() && facts.SumsAreElements();
}

// The most slices that are passed in the order of the entries. The order of destinations gains in
// two cases: moves write each destination once and in the order of memory, and of many updates of
// one destination none waits for the store of another.
int64_t MostPassedSlices(const Tuning& tuning, const Plan& to, strew_reduction reduction) {
  const bool is_shuffled = to.order.exists();
  const int64_t repeats = to.kept / std::max<int64_t>(to.groups(), 1);
  if (reduction == STREW_NONE) {
    if (repeats >= tuning.least_repeats_of_moves) return tuning.most_passed_slices_of_repeats;
    const bool gains = is_shuffled || repeats > 1;
    return gains ? tuning.most_passed_slices_of_moves : tuning.most_passed_slices;
  }
  const bool gains = !is_shuffled && repeats >= tuning.least_repeats_in_order;
  return gains ? tuning.most_passed_slices_of_repeats : tuning.most_passed_slices;
}

// True if the order of destinations is faster for the slices of a call than that of the entries.
bool GroupsSlices(const Tuning& tuning, const Plan& to, const GatherScatterFacts& facts,
                  strew_reduction reduction) {
  const int64_t together = std::min(BestSlices(tuning, facts), facts.slices);
  return facts.weighs_rows || together > MostPassedSlices(tuning, to, reduction);
}

bool IsBatch(const UpdateLoop& loop) { return loop.stride[kOutput] != 0; }

// The elements that the entries of a block touch stay in the caches.
BatchBlocks BlocksOf(const Tuning& tuning, const UpdateNest& nest, int64_t element_size) {
  int64_t columns = 1;
  int i = nest.rank - 1;
  while (i > 0 && IsBatch(nest.loop[i]) && columns * nest.loop[i].count <= kPassBlock) {
    columns *= nest.loop[i--].count;
  }
  if (i <= 0 || !IsBatch(nest.loop[i])) return {};
  int64_t turns = 1;
  for (int k = 0; k < i; ++k) turns *= IsBatch(nest.loop[k]) ? 1 : nest.loop[k].count;
  if (turns == 1) return {};
  return {i, std::max(kPassBlock, tuning.pass_block / element_size / turns) / columns};
}

// Bytes of the output that the destinations of a block's entries may spread over.
int64_t ReachOf(const Plan& to, const SingleFacts& singles, const BatchBlocks& blocks,
                int64_t element_size) {
  if (blocks.loop < 0) return singles.place_span;
  return to.NumberOfPlaces() * std::max(kCacheLine, kPassBlock * element_size);
}

// True if blocks of entries are gathered as they are.
bool AreAffine(const Plan& from, const Plan& to, const SingleFacts& singles) {
  return !from.has_dropped() && !to.has_dropped() && singles.places_are_lines;
}

bool IsRow(const UpdateLoop& loop) {
  return loop.stride[kFromEntry] == 0 && loop.stride[kToEntry] == 0 && loop.count <= kPassBlock;
}

// The loop that is cut among tasks: the outermost one if it has a turn for each of them, or else
// the longest one of batches, which never share destinations.
int LoopToCut(const UpdateNest& nest, int64_t tasks) {
  int cut = 0;
  for (int i = 0; i < nest.rank; ++i) {
    if (!IsBatch(nest.loop[i])) continue;
    if (i == 0 && nest.loop[i].count >= tasks) return 0;
    if (!IsBatch(nest.loop[cut]) || nest.loop[i].count > nest.loop[cut].count) cut = i;
  }
  return cut;
}

// The most parts of this loop. Parts of an inner loop are rows of their own, which should not be
// short. A loop that is not of batches is cut if it is the only one and destinations ascend.
int64_t MostParts(const UpdateNest& nest, const Plan& to, int cut) {
  constexpr int64_t kLeastRow = 128;
  if (nest.rank == 0) return 1;
  if (!IsBatch(nest.loop[cut])) return HasAscendingEntries(nest, to) ? to.groups() : 1;
  if (cut == 0) return nest.loop[cut].count;
  int64_t turns = 1;
  for (int i = cut; i < nest.rank; ++i) turns *= nest.loop[i].count;
  return std::clamp<int64_t>(turns / kLeastRow, 1, nest.loop[cut].count);
}

// True if accumulators are wider than elements, and are not those of the order of destinations.
bool SumsInScratch(const Plan& from, const GatherScatterFacts& facts, strew_reduction reduction) {
  return Accumulates(reduction) && !DividesSums(from, facts, reduction);
}

// True if each turn of the outermost loop has a range of the output for itself: its destinations
// lie less than a turn apart. They do not if the axis is outside that loop, as it is where a first
// axis has a single update.
bool HaveOwnRanges(const SingleFacts& singles, int64_t element_size) {
  const UpdateNest& nest = singles.nest;
  int64_t reach = singles.place_span / element_size;
  for (int i = 1; i < nest.rank; ++i) {
    const auto step = static_cast<int64_t>(Magnitude(nest.loop[i].stride[kOutput]));
    reach += (nest.loop[i].count - 1) * step;
  }
  return reach < nest.loop[0].stride[kOutput];
}

// Finds parts of the outermost loop that have ranges of the output for themselves, and whose
// accumulators fit scratch. Returns false if there are none, or if they have too few updates.
bool FindSummedParts(const Tuning& tuning, const SingleFacts& singles,
                     const GatherScatterFacts& facts, int64_t updates, PlanSchedule* schedule) {
  const UpdateNest& nest = singles.nest;
  if (nest.rank == 0 || (facts.elements - 1) / updates >= tuning.most_summed_elements) return false;
  const UpdateLoop& outer = nest.loop[0];
  const int64_t most = plan::MostScratch(1) / facts.slot_bytes;
  schedule->summed_elements = facts.elements;
  int64_t& turns = schedule->entries.summed_turns;
  turns = outer.count;
  if (facts.elements <= most) return true;
  if (outer.stride[kOutput] > most || !HaveOwnRanges(singles, facts.element_size)) return false;
  turns = most / outer.stride[kOutput];
  schedule->summed_elements = turns * outer.stride[kOutput];
  return true;
}

// Returns false if the order of destinations is faster.
bool GoByEntries(const Machine& machine, const Plan& from, const Plan& to,
                 const GatherScatterFacts& facts, const SingleFacts& singles,
                 strew_reduction reduction, PlanSchedule* schedule) {
  const Tuning& tuning = machine.tuning;
  const UpdateNest& nest = singles.nest;
  schedule->entries.blocks = BlocksOf(tuning, nest, facts.element_size);
  const int64_t reach = ReachOf(to, singles, schedule->entries.blocks, facts.element_size);
  const double far = static_cast<double>(machine.cache_bytes) * tuning.far_pass_part;
  const bool are_shuffled = to.order.exists() && from.order.exists() && !facts.has_weights;
  const bool are_far = static_cast<double>(reach + singles.source_span) > far &&
                       static_cast<double>(to.all_entries) > far / kCacheLine;
  if (are_shuffled && are_far) return false;
  const bool are_affine = AreAffine(from, to, singles);
  if ((facts.has_slices || facts.row_elements > 1) && !are_affine) return false;
  const int64_t updates = to.entries * facts.entry_elements;
  Pass& pass = schedule->pass;
  pass.nanoseconds = Nanoseconds(updates, tuning.ns_of_passed_entry, 0, 0);
  pass.tasks = plan::TasksFor(machine, pass.nanoseconds);
  const int cut = schedule->entries.cut = LoopToCut(nest, pass.tasks);
  pass.parts = std::min(plan::PartsFor(machine, pass.tasks), MostParts(nest, to, cut));
  const bool needs_sums = SumsInScratch(from, facts, reduction);
  if (needs_sums) pass.parts = 1;
  EntrySchedule& entries = schedule->entries;
  entries.fetches_output = reach > plan::NearBytesOfElements(machine);
  const int64_t step = nest.rank == 0 ? 1 : nest.loop[nest.rank - 1].stride[kFromEntry];
  if (are_affine && nest.rank > 0 && IsRow(nest.loop[nest.rank - 1])) {
    entries.passing = Passing::kRows;
  } else if (are_affine && (step == 0 || step == 1)) {
    entries.passing = Passing::kLines;
  }
  // The order of destinations gives every task a part.
  const bool is_cheap = entries.passing != Passing::kGathered && !entries.fetches_output;
  const int64_t tasks_of_part = is_cheap ? tuning.tasks_of_passed_part : 1;
  if (pass.tasks > pass.parts * tasks_of_part) return false;
  pass.tasks = std::min(pass.tasks, pass.parts);
  if (needs_sums) {
    if (entries.passing == Passing::kGathered) return false;
    if (!FindSummedParts(tuning, singles, facts, updates, schedule)) return false;
    entries.fetches_output = false;
  }
  schedule->way = Way::kByEntries;
  return true;
}

}  // namespace

bool MayGoByEntries(const Machine& machine, const Plan& from, const Plan& to,
                    const GatherScatterFacts& facts, strew_reduction reduction) {
  const int64_t longest_row = facts.has_weights ? machine.tuning.longest_passed_weighted_row
                                                : machine.tuning.longest_passed_row;
  if (facts.units > 1 || facts.row_elements > longest_row) return false;
  if (facts.has_slices && GroupsSlices(machine.tuning, to, facts, reduction)) return false;
  if (SumsInScratch(from, facts, reduction)) return facts.slot_bytes != 0;
  if (!ExcludesSelf(reduction)) return true;
  const strew_reduction kind = ReductionKind(reduction);
  return !from.has_dropped() && HasIdentity(facts.dtype, kind == STREW_MEAN ? STREW_ADD : kind);
}

PlanSchedule ScheduleGatherScatter(const Machine& machine, const Plan& from, const Plan& to,
                                   const GatherScatterFacts& facts, const SingleFacts* singles,
                                   strew_reduction reduction) {
  PlanSchedule schedule;
  schedule.reduction = reduction;
  // An element keeps its old value if `from` drops all of its entries.
  schedule.copies_data = from.has_dropped() || !ReplacesAll(to, facts, reduction);
  if (singles == nullptr ||
      !GoByEntries(machine, from, to, facts, *singles, reduction, &schedule)) {
    schedule.entries = {};
    schedule.summed_elements = 0;
    GoInOrder(machine, to, facts, &schedule);
  } else if (DividesSums(from, facts, reduction)) {
    schedule.reduction = SumOf(reduction);
    Divide(machine, to, facts, /*divides_all=*/false, &schedule);
  }
  return schedule;
}

}  // namespace strew::prepared
