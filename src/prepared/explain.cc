// SPDX-License-Identifier: Apache-2.0
// The schedule of a call with a plan in words.
#include "plan/explain.h"

#include <cinttypes>

#include "prepared/schedule.h"

namespace strew::prepared {
namespace {

const char* GatheredBy(Way way) {
  switch (way) {
    case Way::kRuns:
      return "runs at their places";
    case Way::kShuffles:
      return "shuffles of short rows";
    case Way::kShortLoops:
      return "elements of short loops, which are taken as one";
    case Way::kElements:
      return "elements of their runs";
    case Way::kBoxes:
      return "boxes, each of which is an entry";
    default:
      return "rows";
  }
}

}  // namespace

void Explain(const Call& call, const PlanSchedule& schedule, const Plan& plan) {
  plan::Paragraph text;
  const Pass& pass = schedule.pass;
  switch (schedule.way) {
    case Way::kByPlaces:
      text.Add("%" PRId64 " entries of the plan: its places are taken as indices. ", plan.entries);
      break;
    case Way::kElementOrder:
      text.Add("%" PRId64 " entries of %" PRId64
               " destinations: element by element in the order of these, in %" PRId64 " part%s. ",
               plan.kept, plan.groups(), pass.parts, plan::Plural(pass.parts));
      break;
    case Way::kAscendingSums:
      text.Add("%" PRId64 " entries of %" PRId64 " destinations, which ascend: in %" PRId64
               " part%s. ",
               plan.kept, plan.groups(), pass.parts, plan::Plural(pass.parts));
      break;
    case Way::kInOrder:
      text.Add("%" PRId64 " entries of %" PRId64
               " destinations: in the order of these, so that all updates of one are combined at "
               "once, in %" PRId64 " part%s. ",
               plan.kept, plan.groups(), pass.parts, plan::Plural(pass.parts));
      break;
    case Way::kByEntries:
      text.Add("%" PRId64 " entries: %s in their own order, in %" PRId64 " part%s. ", plan.entries,
               schedule.entries.passing == Passing::kRows ? "short rows element by element"
                                                          : "element by element",
               pass.parts, plan::Plural(pass.parts));
      break;
    case Way::kRuns:
    case Way::kShuffles:
    case Way::kShortLoops:
    case Way::kElements:
    case Way::kRows:
    case Way::kBoxes:
      text.Add("%" PRId64 " entries: gathered by %s, in at most %" PRId64 " part%s. ", plan.entries,
               GatheredBy(schedule.way), pass.parts, plan::Plural(pass.parts));
      break;
  }
  if (schedule.way != Way::kByPlaces) {
    text.AddTasks(plan::Machine(call), pass.nanoseconds, pass.tasks);
  }
  if (schedule.entries.blocks.loop >= 0) {
    text.Add("%" PRId64 " batches at a time stay in the caches. ", schedule.entries.blocks.turns);
  }
  if (schedule.summed_elements != 0) {
    text.Add("%" PRId64 " elements at a time have an accumulator. ", schedule.summed_elements);
  }
  const OrderSchedule& order = schedule.order;
  if (order.cuts_turns) text.Add("Parts have all destinations, of some inner turns. ");
  if (order.runs_are_short) text.Add("A longer inner loop is walked than the innermost one. ");
  if (order.slices > 0) {
    text.Add("%" PRId64 " slices at a time stay in the caches. ", order.slices);
  }
  if (order.fetches) text.Add("Updates are prefetched. ");
  if (schedule.entries.fetches_output) text.Add("Destinations are prefetched. ");
  if (schedule.prefetch != 0) {
    text.Add("%s are prefetched %" PRId64 " entries ahead. ",
             schedule.way == Way::kElementOrder ? "Updates" : "Sources", schedule.prefetch);
  }
  if (schedule.rows.has_pieces) {
    text.Add("Runs that share cache lines are gathered a piece at a time. ");
  }
  if (schedule.streams) text.Add("Rows are written past the caches. ");
  if (schedule.begins_anew) text.Add("Identities replace old values first. ");
  if (schedule.divides) text.Add("Means: sums, divided by what the plan has counted. ");
  if (schedule.divides_all) text.Add("They are divided in the order of the output. ");
  call.Explain("%s", text.c_str());
}

}  // namespace strew::prepared
