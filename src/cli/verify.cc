// SPDX-License-Identifier: Apache-2.0
#include "cli/verify.h"

#include <stdexcept>
#include <string>

#include "cli/progress.h"
#include "cli/run.h"
#include "strew/strew.h"
#include "test/support/case.h"
#include "test/support/dtypes.h"
#include "test/support/random.h"
#include "test/support/random_case.h"
#include "test/support/targets.h"
#include "test/support/trial.h"

namespace strew::cli {
namespace {

using strew_test::Case;
using strew_test::Dtype;
using strew_test::Random;
using strew_test::Target;
using strew_test::Trial;

// Every fourth call has indices out of range.
void VerifyCall(strew_test::Operator op, const Dtype& dtype, std::uint64_t seed) {
  Random random(seed);
  Case random_case = strew_test::MakeRandomCase(random, op, dtype);
  if (random.OneIn(4)) strew_test::SpoilIndices(random, random_case);
  Trial trial(random_case);
  for (const Target& target : strew_test::Targets()) {
    const std::string trouble = trial.Trouble(target.context.get());
    if (trouble.empty()) continue;
    throw std::runtime_error(target.name + " differs from the oracle: " + trouble +
                             strew_test::Describe(random_case) + "\n--calls 1 --seed " +
                             std::to_string(seed) + " makes this call again");
  }
}

}  // namespace

void RunVerify(const VerifyOptions& options) {
  Progress progress;
  const auto& dtypes = strew_test::Dtypes();
  const auto& operators = strew_test::Operators();
  const auto kinds = static_cast<std::int64_t>(operators.size() * dtypes.size());
  const std::int64_t calls = kinds * options.calls;
  progress.Begin("calls", calls);
  for (const Dtype& dtype : dtypes) {
    for (const strew_test::Operator op : operators) {
      for (int i = 0; i < options.calls; ++i) {
        VerifyCall(op, dtype, options.seed + static_cast<std::uint64_t>(i));
        progress.Advance(1);
      }
    }
  }
  progress.Clear();
  std::string targets;
  for (const Target& target : strew_test::Targets()) targets += target.name + " ";
  Print("SIMD targets " + targets + "all agree with the oracle on " + std::to_string(calls) +
        " random calls\n");
}

}  // namespace strew::cli
