// SPDX-License-Identifier: Apache-2.0
#include "reference/targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <utility>

namespace strew::reference {
namespace {

bool IsLeftOut(const std::string& name) {
  const char* const names = std::getenv("STREW_WITHOUT_TARGETS");
  if (names == nullptr) return false;
  std::istringstream words(names);
  return std::count(std::istream_iterator<std::string>(words), {}, name) > 0;
}

std::vector<Target> MakeTargets() {
  std::vector<Target> targets;
  for (int32_t i = 0; strew_simd_target_at(i) != nullptr; ++i) {
    if (IsLeftOut(strew_simd_target_at(i))) continue;
    Target target{strew_simd_target_at(i), MakeContext()};
    if (strew_context_set_simd_target(target.context.get(), target.name.c_str()) != STREW_OK) {
      std::fprintf(stderr, "%s is listed and refused\n", target.name.c_str());
      std::abort();
    }
    targets.push_back(std::move(target));
  }
  if (targets.empty()) {
    std::fprintf(stderr, "strew_simd_target_at lists nothing, or all targets are left out\n");
    std::abort();
  }
  return targets;
}

}  // namespace

const std::vector<Target>& Targets() {
  static const std::vector<Target> targets = MakeTargets();
  return targets;
}

}  // namespace strew::reference
