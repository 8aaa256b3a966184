// SPDX-License-Identifier: Apache-2.0
#include "cli/context.h"

#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "base/platform.h"
#include "cli/operators.h"

namespace strew::cli {
namespace {

Context MakeDefaultContext() {
  strew_context* created = nullptr;
  Check(strew_context_create(&created));
  return Context(created);
}

void SetThreads(strew_context* context, std::int32_t threads) {
  const strew_status status = strew_context_set_num_threads(context, threads);
  if (status == STREW_UNSUPPORTED) {
    Throw(status, "this build has no threads, so that --threads must be 1");
  }
  Check(status);
  const std::int32_t cpus = CpuCount();
  if (threads > cpus) {
    std::fprintf(stderr, "strew: %d threads instead of %d, one for each CPU to run on\n", cpus,
                 threads);
  }
}

}  // namespace

void Throw(strew_status status, const std::string& sentence) {
  throw std::runtime_error(std::string(strew_status_name(status)) + ": " + sentence);
}

void Check(strew_status status) {
  if (status != STREW_OK) Throw(status, strew_last_error());
}

Context MakeContext(const Options& options) {
  Context context = MakeDefaultContext();
  SetThreads(context.get(), options.threads);
  Check(strew_context_set_index_policy(context.get(), IndexPolicyCode(options.out_of_range)));
  Check(strew_context_set_negative_indices(context.get(), options.no_negative_indices ? 0 : 1));
  Check(strew_context_set_duplicate_policy(context.get(), DuplicatePolicyCode(options.duplicates)));
  if (!options.simd_target.empty()) {
    Check(strew_context_set_simd_target(context.get(), options.simd_target.c_str()));
  }
  return context;
}

std::string ThreadsText() {
  const Context context = MakeDefaultContext();
  const strew_status status = strew_context_set_num_threads(context.get(), 0);
  if (status == STREW_UNSUPPORTED) return "1, this build has no threads";
  Check(status);
  return std::to_string(CpuCount());
}

}  // namespace strew::cli
