// SPDX-License-Identifier: Apache-2.0
#include "prepared/ordered.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <type_traits>

#include "base/reduction.h"
#include "plan/explain.h"
#include "plan/schedule.h"
#include "prepared/group_writer.h"
#include "share/parts.h"

namespace strew::prepared {
namespace {

// The first group that begins at this position of the order or after it.
int64_t GroupAt(const Plan& plan, int64_t position) {
  if (!plan.firsts.exists()) return position;
  return plan.firsts.Visit([&](const auto* firsts) {
    using T = std::decay_t<decltype(firsts[0])>;
    const auto* const end = firsts + plan.groups();
    return static_cast<int64_t>(std::lower_bound(firsts, end, static_cast<T>(position)) - firsts);
  });
}

// True if long rows are replaced, each once, and fill the caches.
bool MayStream(const OrderedScatter& scatter, const GroupKernels& kernels,
               const plan::Machine& machine, int64_t tasks) {
  if (kernels.kind != STREW_NONE || scatter.source.weights != nullptr) return false;
  const int rank = scatter.inner.rank;
  const int64_t row = rank == 0 ? 1 : scatter.inner.loop[rank - 1].count;
  const int64_t bytes = scatter.plan.groups() * TurnsOf(scatter.inner) * kernels.width;
  return row * kernels.width >= machine.tuning.least_streamed_row &&
         bytes >= plan::StreamedBytes(machine, tasks);
}

}  // namespace

Status CheckTerms(const Call& call, const Plan& plan, strew_reduction reduction) {
  if (ReductionKind(reduction) != STREW_MEAN && !IsWide(reduction)) return STREW_OK;
  if (plan.kept < kernel::kMostTerms || !plan.firsts.exists()) return STREW_OK;
  for (int64_t g = 0; g < plan.groups(); ++g) {
    // The old value is one more term.
    if (plan.FirstOf(g + 1) - plan.FirstOf(g) < kernel::kMostTerms) continue;
    return call.Fail(STREW_UNSUPPORTED,
                     "a destination has %" PRId64
                     " updates, but means and wide sums by a plan "
                     "have at most %" PRId64,
                     plan.FirstOf(g + 1) - plan.FirstOf(g), kernel::kMostTerms - 1);
  }
  return STREW_OK;
}

Status ApplyOrdered(const OrderedScatter& scatter, int64_t* applied) {
  const Plan& plan = scatter.plan;
  *applied = 0;
  if (plan.kept == 0) return STREW_OK;
  GroupKernels kernels(scatter);
  const int64_t units = TurnsOf(scatter.inner);
  const plan::Machine machine(scatter.call);
  // An entry costs one or two cache misses, and its bytes are read once.
  const double nanoseconds =
      static_cast<double>(plan.kept) * (4 + 0.1 * static_cast<double>(units * kernels.width));
  const int64_t tasks = std::min(plan::TasksFor(machine, nanoseconds), plan.groups());
  const int64_t parts = std::min(plan::PartsFor(machine, tasks), plan.groups());
  const bool streams = MayStream(scatter, kernels, machine, tasks);
  if (streams) kernels.run = kernels.move.stream;
  if (scatter.call.explains()) {
    scatter.call.Explain("%" PRId64 " entries of %" PRId64
                         " destinations: in the order of these, so that all updates of one are "
                         "combined at once, in %" PRId64 " part%s.",
                         plan.kept, plan.groups(), parts, plan::Plural(parts));
  }
  std::atomic<int64_t> sum{0};
  STREW_TRY(share::ForEachPart(scatter.call, tasks, parts, [&](int64_t part, int64_t) {
    const auto border = [&](int64_t p) {
      return p == parts ? plan.groups() : GroupAt(plan, plan.kept / parts * p);
    };
    sum += GroupWriter(scatter, kernels).Write(border(part), border(part + 1));
    if (streams) kernel::FinishStreaming();
  }));
  *applied = sum;
  return STREW_OK;
}

}  // namespace strew::prepared
