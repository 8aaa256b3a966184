// SPDX-License-Identifier: Apache-2.0
#include "jax/plans.h"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace strew::jax {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::int64_t, PlanPointer> plans;
  std::int64_t last = 0;
};

Registry& Plans() {
  static Registry* const registry = new Registry;  // programs may run until the process ends
  return *registry;
}

}  // namespace

void KeepPlan(strew_plan* plan, xla::ffi::AnyBuffer number) {
  PlanPointer kept(plan, [](strew_plan* dead) { strew_plan_destroy(dead); });
  Registry& registry = Plans();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const std::int64_t given = ++registry.last;
  registry.plans.emplace(given, std::move(kept));
  std::memcpy(number.untyped_data(), &given, sizeof(given));
}

PlanPointer PlanOf(xla::ffi::AnyBuffer number) {
  std::int64_t given = 0;
  if (number.size_bytes() != sizeof(given)) return nullptr;
  std::memcpy(&given, number.untyped_data(), sizeof(given));
  Registry& registry = Plans();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.plans.find(given);
  return found == registry.plans.end() ? nullptr : found->second;
}

}  // namespace strew::jax

// Frees a plan as soon as no call uses it.
extern "C" __attribute__((visibility("default"))) void strew_jax_drop_plan(std::int64_t number) {
  strew::jax::PlanPointer dead;  // freed after the registry is unlocked
  strew::jax::Registry& registry = strew::jax::Plans();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.plans.find(number);
  if (found == registry.plans.end()) return;
  dead = std::move(found->second);
  registry.plans.erase(found);
}
