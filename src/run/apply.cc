// SPDX-License-Identifier: Apache-2.0
#include "run/apply.h"

#include <algorithm>

#include "plan/division.h"
#include "plan/staging.h"
#include "plan/unit.h"
#include "run/box.h"
#include "run/cache.h"
#include "run/exchange.h"
#include "run/parallel.h"
#include "run/ranges.h"
#include "run/sample.h"
#include "run/scratch.h"
#include "run/sheets.h"
#include "run/sieve.h"

namespace strew::run {
namespace {

// What one thread needs for the updates, about.
double NanosecondsOf(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                     const plan::Staging& staging) {
  constexpr double kNanosecondsPerEntry = 1;
  const TensorView& updates = scatter.updates;
  const double entries = static_cast<double>(updates.size) / static_cast<double>(plan.run.count);
  const double copied = staging.copies_data ? static_cast<double>(scatter.output.size) : 0;
  const double bytes =
      (static_cast<double>(updates.size) + copied) * static_cast<double>(updates.element_size);
  return entries * kNanosecondsPerEntry + 2 * bytes * kNanosecondsPerByte;
}

// What to do about entries that may land anywhere.
enum class Method { kAlone, kSieve, kExchange };

// The fastest one by what an entry costs, in ns, on a Zen 5: random float32 into 1 to 128 MiB. A
// sieve costs each task something for every entry, an exchange more but mostly for those of its
// share; then the entries of each range are written, and those that wait for memory wait.
Method MethodFor(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                 const Sample& sample, const Ranges& ranges, bool can_exchange) {
  constexpr double kResolve = 0.25, kWrite = 0.5, kHeavy = 0.7, kWait = 1.9;
  constexpr double kSieve = 0.6, kSieveStream = 0.3, kSelect = 0.15, kSort = 1.1;
  // What does not win by so much may lose as well.
  constexpr double kWorthwhile = 0.9;
  if (plan.run.count > 1 || plan.inner.rank > 0) return Method::kSieve;
  const kernel::Kernels& kernels = IndexedKernelsFor(call, scatter.output, scatter.reduction);
  const double write = kWrite + (kernels.heavy ? kHeavy : 0);
  const double wait = PaceOf(scatter, plan, kernels).prefetch == 0 ? 0 : kWait;
  const double alone = kResolve + write + sample.FarShare(0, sample.count()) * wait;
  const double own = ranges.MostCost(write, wait);
  const int64_t entry_bytes = scatter.indices.element_size + scatter.updates.element_size;
  const bool streams = scatter.updates.size >= 2 * StreamingThreshold() / entry_bytes;
  const double sieve = kSieve + own + (streams ? kSieveStream : 0);
  const double exchange =
      can_exchange ? kSelect + kSort / static_cast<double>(ranges.count()) + own : alone;
  if (std::min(sieve, exchange) > kWorthwhile * alone) return Method::kAlone;
  return exchange < sieve ? Method::kExchange : Method::kSieve;
}

void RunSieve(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
              const DestinationRange& range) {
  Sieve sieve(call, scatter, plan, range);
  GiveSheets(call, scatter, plan, sieve.sink());
  sieve.Finish();
}

// All of a plan, on one thread. What is dropped falls through a sieve for all destinations.
void RunAlone(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
              const plan::Staging& staging, unsigned char* scratch) {
  if (plan.out_of_range == plan::OutOfRange::kDrop) {
    return RunSieve(call, scatter, plan, kEverywhere);
  }
  RunSheets(call, scatter, plan, staging, scratch);
}

Status RunSieves(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                 const Ranges& ranges) {
  return ForEachPart(call, ranges.count(), ranges.count(), [&](int64_t part, int64_t) {
    if (!ranges.At(part).IsEmpty()) RunSieve(call, scatter, plan, ranges.At(part));
  });
}

// Each task has a range of destinations. kAlone where one task does better, and nothing is done.
Status RunByDestination(const Call& call, const IndexedScatter& scatter,
                        const plan::IndexedPlan& plan, int64_t tasks, bool in_place,
                        Method* method) {
  const int64_t width = plan::IndexedUnitsOf(scatter.output.element_size).width;
  const Sample sample(scatter, plan, width, tasks);
  const Ranges ranges(sample, tasks);
  *method = MethodFor(call, scatter, plan, sample, ranges, CanExchange(plan));
  const bool exchanges = *method == Method::kExchange;
  const int64_t bytes = exchanges ? ranges.count() * ExchangeBytes(plan, width, ranges.count()) : 0;
  const Scratch scratch(call, static_cast<size_t>(bytes));
  if (exchanges && scratch.memory() == nullptr) {
    *method = MethodFor(call, scatter, plan, sample, ranges, false);
  }
  if (*method == Method::kAlone) return STREW_OK;
  if (!in_place) STREW_TRY(Copy(call, scatter.data, scatter.output));
  if (*method == Method::kSieve) return RunSieves(call, scatter, plan, ranges);
  return RunExchange(call, scatter, plan, ranges, scratch.memory());
}

// Each task has lanes, or columns of runs, and scratch of its own.
Status RunCut(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
              const plan::Staging& staging, const plan::Cut& cut, int64_t tasks,
              unsigned char* scratch) {
  return ForEachPart(call, tasks, cut.parts(), [&](int64_t part, int64_t task) {
    plan::IndexedPlan of_part = plan;
    plan::RestrictToPart(cut, part, &of_part);
    unsigned char* const of_task =
        scratch == nullptr ? nullptr : scratch + task * staging.scratch_bytes;
    RunAlone(call, scatter, of_part, staging, of_task);
  });
}

}  // namespace

Status Apply(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
             bool in_place) {
  const TensorView& output = scatter.output;
  const plan::Units units = plan::IndexedUnitsOf(output.element_size);
  const auto staging_of = [&](int64_t tasks) {
    if (plan.out_of_range == plan::OutOfRange::kDrop) return plan::kNoStaging;
    return plan::StagingOf(plan, units.width, output.size * units.count, in_place, tasks);
  };
  int64_t tasks = TasksFor(call, NanosecondsOf(scatter, plan, staging_of(1)));
  plan::Staging staging = staging_of(tasks);
  const plan::Division division = plan::Divide(plan, staging, units.width, tasks, PartsFor(tasks));
  if (division.by_destination) {
    Method method;
    STREW_TRY(RunByDestination(call, scatter, plan, tasks, in_place, &method));
    if (method != Method::kAlone) return STREW_OK;
    tasks = 1;
    staging = staging_of(tasks);
  }
  const Scratch scratch(call, static_cast<size_t>(staging.scratch_bytes * tasks));
  if (staging.strip != 0 && scratch.memory() == nullptr) staging = plan::kNoStaging;
  if (!in_place && !staging.copies_data) STREW_TRY(Copy(call, scatter.data, scatter.output));
  if (division.cut.parts() > 1) {
    return RunCut(call, scatter, plan, staging, division.cut, tasks, scratch.memory());
  }
  RunAlone(call, scatter, plan, staging, scratch.memory());
  return STREW_OK;
}

}  // namespace strew::run
