// SPDX-License-Identifier: Apache-2.0
#include "cli/verify.h"

#include <stdexcept>
#include <string>

#include "cli/progress.h"
#include "cli/run.h"
#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/random.h"
#include "reference/random_case.h"
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

// Every fourth call has indices out of range.
void VerifyCall(reference::Operator op, const Dtype& dtype, std::uint64_t seed) {
  Random random(seed);
  Case random_case = reference::MakeRandomCase(random, op, dtype);
  if (random.OneIn(4)) reference::SpoilIndices(random, random_case);
  Trial trial(random_case);
  for (const Target& target : reference::Targets()) {
    const std::string trouble = trial.Trouble(target.context.get());
    if (trouble.empty()) continue;
    throw std::runtime_error(target.name + " differs from the oracle: " + trouble +
                             reference::Describe(random_case) + "\n--calls 1 --seed " +
                             std::to_string(seed) + " makes this call again");
  }
}

}  // namespace

void RunVerify(const VerifyOptions& options) {
  Progress progress;
  const auto& dtypes = reference::Dtypes();
  const auto& operators = reference::Operators();
  const auto kinds = static_cast<std::int64_t>(operators.size() * dtypes.size());
  const std::int64_t calls = kinds * options.calls;
  progress.Begin("calls", calls);
  for (const Dtype& dtype : dtypes) {
    for (const reference::Operator op : operators) {
      for (int i = 0; i < options.calls; ++i) {
        VerifyCall(op, dtype, options.seed + static_cast<std::uint64_t>(i));
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
