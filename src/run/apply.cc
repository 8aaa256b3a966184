// SPDX-License-Identifier: Apache-2.0
#include "run/apply.h"

#include <algorithm>

#include "plan/tuning.h"
#include "plan/unit.h"
#include "run/box.h"
#include "run/cache.h"
#include "run/exchange.h"
#include "run/parallel.h"
#include "run/sample.h"
#include "run/sheets.h"
#include "run/sieve.h"

namespace strew::run {
namespace {

using plan::kTuning;

// What one thread needs for the updates, about.
double NanosecondsOf(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                     const plan::Staging& staging) {
  const TensorView& updates = scatter.updates;
  const double entries = static_cast<double>(updates.size) / static_cast<double>(plan.run.count);
  const double copied = staging.copies_data ? static_cast<double>(scatter.output.size) : 0;
  const double bytes =
      (static_cast<double>(updates.size) + copied) * static_cast<double>(updates.element_size);
  return entries * kTuning.ns_of_entry + 2 * bytes * kTuning.ns_of_byte;
}

// The fastest method by what entries cost: a sieve costs each task something for every entry, an
// exchange more but mostly for those of its share; then the entries of each range are written, and
// those that wait for memory wait. Not inline, so that the sample has left the stack when the entries
// are written.
[[gnu::noinline]] void Choose(const Call& call, const IndexedScatter& scatter,
                              const plan::IndexedPlan& plan, int64_t tasks, Sharing* sharing) {
  const int64_t width = plan::IndexedUnitsOf(scatter.output.element_size).width;
  const Sample sample(scatter, plan, width, tasks);
  const Ranges ranges(sample, tasks);
  sharing->ranges = ranges;
  sharing->method = sharing->without_scratch = Method::kSieve;
  if (plan.run.count > 1 || plan.inner.rank > 0) return;
  const kernel::Kernels& kernels = IndexedKernelsFor(call, scatter.output, scatter.reduction);
  const double write = kernels.heavy ? kTuning.heavy_write_ns : kTuning.write_ns;
  const double wait = PaceOf(scatter, plan, kernels).prefetch == 0 ? 0 : kTuning.wait_ns;
  const double alone = kTuning.resolve_ns + write + sample.FarShare(0, sample.count()) * wait;
  const double own = ranges.MostCost(sample, write, wait);
  const int64_t entry_bytes = scatter.indices.element_size + scatter.updates.element_size;
  const bool streams = scatter.updates.size >= 2 * StreamingThreshold() / entry_bytes;
  const double sieve = kTuning.filter_ns + own + (streams ? kTuning.filter_stream_ns : 0);
  const double exchange =
      kTuning.select_ns + kTuning.sort_ns / static_cast<double>(ranges.count()) + own;
  if (sieve > kTuning.worthwhile * alone) sharing->without_scratch = Method::kAlone;
  sharing->method = sharing->without_scratch;
  if (CanExchange(plan) && exchange < sieve && exchange <= kTuning.worthwhile * alone) {
    sharing->method = Method::kExchange;
  }
}

// The sieve is on the stack of this call alone.
[[gnu::noinline]] void RunSieve(const Call& call, const IndexedScatter& scatter,
                                const plan::IndexedPlan& plan, const DestinationRange& range) {
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

plan::Staging Application::StagingFor(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                                      bool in_place, int64_t tasks) const {
  if (takes_ == Takes::kNothing || plan.out_of_range == plan::OutOfRange::kDrop) {
    return plan::kNoStaging;
  }
  const TensorView& output = scatter.output;
  const plan::Units units = plan::IndexedUnitsOf(output.element_size);
  return plan::StagingOf(plan, units.width, output.size * units.count, in_place, tasks);
}

Application::Application(const Call& call, const IndexedScatter& scatter,
                         const plan::IndexedPlan& plan, bool in_place, Takes takes)
    : call_(call),
      takes_(takes),
      tasks_(TasksFor(call, NanosecondsOf(scatter, plan, StagingFor(scatter, plan, in_place, 1)))) {
  const int64_t width = plan::IndexedUnitsOf(scatter.output.element_size).width;
  const plan::Staging staging = StagingFor(scatter, plan, in_place, tasks_);
  division_ = plan::Divide(plan, staging, width, tasks_, PartsFor(tasks_));
  if (division_.by_destination) ShareByDestination(scatter, plan);
  if (division_.by_destination) return;
  const int64_t bytes = StagingFor(scatter, plan, in_place, tasks_).scratch_bytes * tasks_;
  Scratch(call, static_cast<size_t>(bytes)).Swap(&scratch_);
}

// Each task has a range of destinations, unless one task does better.
void Application::ShareByDestination(const IndexedScatter& scatter, const plan::IndexedPlan& plan) {
  Choose(call_, scatter, plan, tasks_, &sharing_);
  const int64_t ranges = sharing_.ranges.count();
  if (sharing_.method == Method::kExchange && takes_ == Takes::kScratch) {
    const int64_t width = plan::IndexedUnitsOf(scatter.output.element_size).width;
    const int64_t bytes = ranges * ExchangeBytes(plan, width, ranges);
    Scratch(call_, static_cast<size_t>(bytes)).Swap(&scratch_);
  }
  if (scratch_.memory() == nullptr) sharing_.method = sharing_.without_scratch;
  if (sharing_.method != Method::kAlone) return;
  division_.by_destination = false;
  tasks_ = 1;
}

Status Application::Run(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                        bool in_place) const {
  unsigned char* const scratch = scratch_.memory();
  if (division_.by_destination) {
    if (!in_place) STREW_TRY(Copy(call_, scatter.data, scatter.output));
    if (sharing_.method == Method::kSieve) return RunSieves(call_, scatter, plan, sharing_.ranges);
    return RunExchange(call_, scatter, plan, sharing_.ranges, scratch);
  }
  plan::Staging staging = StagingFor(scatter, plan, in_place, tasks_);
  if (staging.strip != 0 && scratch == nullptr) staging = plan::kNoStaging;
  if (!in_place && !staging.copies_data) STREW_TRY(Copy(call_, scatter.data, scatter.output));
  if (division_.cut.parts() > 1) {
    return RunCut(call_, scatter, plan, staging, division_.cut, tasks_, scratch);
  }
  RunAlone(call_, scatter, plan, staging, scratch);
  return STREW_OK;
}

Status Apply(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
             bool in_place) {
  const Application application(call, scatter, plan, in_place, Application::Takes::kScratch);
  return application.Run(scatter, plan, in_place);
}

}  // namespace strew::run
