// SPDX-License-Identifier: Apache-2.0
#include "cli/verify.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "cli/run.h"
#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/gather_trial.h"
#include "reference/random.h"
#include "reference/random_case.h"
#include "reference/random_gather.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

using reference::Case;
using reference::Dtype;
using reference::Random;
using reference::Target;
using reference::Trial;

// Throws for the first target on which trouble_of(context) is not "".
template <class TroubleOf>
void VerifyTargets(const TroubleOf& trouble_of, const std::string& about, std::uint64_t seed) {
  for (const Target& target : reference::Targets()) {
    const std::string trouble = trouble_of(target.context.get());
    if (trouble.empty()) continue;
    std::string sentence = target.name;
    sentence.append(" differs from the oracle: ").append(trouble).append(about);
    sentence.append("\n--calls 1 --seed ").append(std::to_string(seed));
    throw std::runtime_error(sentence.append(" makes this call again"));
  }
}

// Every fourth call has indices out of range. Operators with plans are also called by a plan.
void VerifyOperator(reference::Operator op, const Dtype& dtype, std::uint64_t seed) {
  Random random(seed);
  Case c = reference::MakeRandomCase(random, op, dtype);
  if (random.OneIn(4)) reference::SpoilIndices(random, c);
  Trial trial(c);
  const auto trouble_of = [&](strew_context* context) {
    const std::string trouble = trial.Trouble(context);
    return trouble.empty() && reference::HasPlan(c) ? trial.TroubleByPlan(context) : trouble;
  };
  VerifyTargets(trouble_of, reference::Describe(c), seed);
}

void VerifyGather(reference::Operator op, const Dtype& dtype, std::uint64_t seed) {
  Random random(seed);
  Case c = reference::MakeRandomPlanned(random, op, dtype);
  reference::SetAnyResult(random, c);
  reference::GatherTrial trial(c);
  VerifyTargets([&](strew_context* context) { return trial.Trouble(context); },
                "gather with the indices of " + reference::Describe(c), seed);
}

void VerifyGatherScatter(reference::Operator op, const Dtype& dtype, std::uint64_t seed) {
  Random random(seed);
  reference::GatherScatterCase c = reference::MakeRandomGatherScatter(random, op, dtype);
  reference::GatherScatterTrial trial(c);
  VerifyTargets([&](strew_context* context) { return trial.Trouble(context); },
                "gather_scatter " + reference::Describe(c), seed);
}

// A kind of call; each seed makes another call.
struct Kind {
  void (*verify)(reference::Operator op, const Dtype& dtype, std::uint64_t seed);
  reference::Operator op;
};

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  for (const reference::Operator op : reference::Operators()) kinds.push_back({VerifyOperator, op});
  for (const reference::Operator op : reference::PlannedOperators()) {
    kinds.push_back({VerifyGather, op});
    kinds.push_back({VerifyGatherScatter, op});
  }
  return kinds;
}

}  // namespace

void RunVerify(const VerifyOptions& options) {
  Progress progress;
  const auto& dtypes = reference::Dtypes();
  const std::vector<Kind> kinds = Kinds();
  const std::int64_t calls =
      static_cast<std::int64_t>(kinds.size() * dtypes.size()) * options.calls;
  progress.Begin("calls", calls);
  for (const Dtype& dtype : dtypes) {
    for (const Kind& kind : kinds) {
      for (int i = 0; i < options.calls; ++i) {
        kind.verify(kind.op, dtype, options.seed + static_cast<std::uint64_t>(i));
        progress.Advance(1);
      }
    }
  }
  progress.Clear();
  std::string targets;
  for (const Target& target : reference::Targets()) targets += target.name + " ";
  Print("SIMD targets " + targets + "all agree with the oracle on " + std::to_string(calls) +
        " random calls\n");
}

}  // namespace strew::cli
