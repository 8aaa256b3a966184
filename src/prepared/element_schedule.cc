// SPDX-License-Identifier: Apache-2.0
// The schedule of single elements in the order of destinations.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/pass.h"
#include "prepared/schedule.h"

namespace strew::prepared {
namespace {

using plan::Machine;
using plan::Tuning;

Pass OrderedPass(const Machine& machine, const Plan& plan) {
  Pass pass =
      plan::PassFor(machine, static_cast<double>(plan.kept) * machine.tuning.ns_of_grouped_entry);
  pass.tasks = std::min(pass.tasks, plan.groups());
  pass.parts = std::min(pass.parts, plan.groups());
  return pass;
}

// How many times smaller outputs are far with so many tasks.
double GainOf(int64_t tasks) {
  if (tasks == 1) return 1;
  const auto n = static_cast<double>(tasks);
  return n * std::sqrt(n);
}

// True if elements go in the order of destinations in any case: accumulators whose sums elements
// cannot hold, and several tasks without scratch.
bool NeedOrder(const Machine& machine, const Plan& plan, const OutputFacts& facts,
               strew_reduction reduction) {
  const bool is_mean = ReductionKind(reduction) == STREW_MEAN;
  if (Accumulates(reduction) && !(is_mean && facts.SumsAreElements())) return true;
  return (is_mean || ExcludesSelf(reduction)) && !HasRoomToShare(machine, plan);
}

// The most bytes of the output over which entries jump without being far.
double NearSpan(const Machine& machine, int64_t tasks) {
  const auto cache = static_cast<double>(machine.shared_cache_bytes);
  return cache * machine.tuning.far_ordered_part / GainOf(tasks);
}

// Bytes of the output over which entries jump: along the last axis, batches are walked one after
// another.
double SpanOfElements(const Plan& plan, const OutputFacts& facts) {
  const bool has_batches = plan.kind == Kind::kElements && plan.IsLastAxis();
  const int64_t elements = has_batches ? plan.NumberOfPlaces() : facts.elements;
  return static_cast<double>(facts.element_size) * static_cast<double>(elements);
}

// True if the loops of the operator walk strips of columns that are a cache line wide or more, and
// near. On two threads, sums along a first axis of 4000 to 64,000 took 0.41 to 0.65 x the time in
// strips, of 200,000 to 1.5 M 1.1 to 1.9 x (Zen 4, 32 MiB of L3).
bool HaveNearStrips(const Machine& machine, const Plan& plan) {
  return plan.kind == Kind::kElements && !plan.IsLastAxis() &&
         plan.NumberOfPlaces() <= plan::NearBytesOfElements(machine) / kCacheLine;
}

// True if most of a sample of entries lie at least so many places from the one before.
bool AreShuffled(const Plan& plan, int64_t least_step) {
  constexpr int64_t kSamples = 64;
  const int64_t pairs = plan.places.count() - 1;
  int64_t far = 0;
  for (int64_t i = 0; i < kSamples && pairs > 0; ++i) {
    const int64_t entry = pairs / kSamples * i;
    const int64_t step = plan.places.At(entry + 1) - plan.places.At(entry);
    far += std::abs(step) >= least_step ? 1 : 0;
  }
  return far > kSamples / 2;
}

}  // namespace

bool MayGoInElementOrder(const Machine& machine, const Plan& plan, const OutputFacts& facts,
                         strew_reduction reduction) {
  if (!facts.EntriesAreElements()) return false;
  // Small calls fail here first.
  const Tuning& tuning = machine.tuning;
  const int64_t tasks = machine.workers == 1 ? 1 : OrderedPass(machine, plan).tasks;
  const auto cache = static_cast<double>(machine.shared_cache_bytes);
  const bool need_order = NeedOrder(machine, plan, facts, reduction);
  if (!need_order && SpanOfElements(plan, facts) <= NearSpan(machine, tasks)) return false;
  const bool wait = machine.waits_for_stores && tasks < tuning.least_ordered_tasks;
  if (wait && !need_order) return false;
  const bool begins_anew = ExcludesSelf(reduction) && !Accumulates(reduction);
  if (begins_anew && !HasIdentity(facts.dtype, ReductionKind(reduction))) return false;
  const auto size = static_cast<double>(facts.element_size);
  const auto groups = static_cast<double>(plan.groups());
  const auto updates = static_cast<double>(plan.kept);
  const double most_repeats = need_order && Accumulates(reduction)
                                  ? tuning.most_repeats_of_ordered_sums
                                  : tuning.most_ordered_repeats;
  return size * static_cast<double>(facts.elements) <= groups * tuning.bytes_of_ordered_group &&
         updates <= groups * most_repeats &&
         (need_order || (tasks > 1 && !HaveNearStrips(machine, plan)) ||
          size * updates <= cache * tuning.ordered_updates_part) &&
         AreShuffled(plan, tuning.least_ordered_step / facts.element_size);
}

void OrderElements(const Machine& machine, const Plan& plan, PlanSchedule* schedule) {
  schedule->way = Way::kElementOrder;
  schedule->prefetch = machine.tuning.ordered_prefetch;
  schedule->pass = OrderedPass(machine, plan);
}

}  // namespace strew::prepared
