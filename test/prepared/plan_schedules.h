// SPDX-License-Identifier: Apache-2.0
//
// Plans made by hand, and what tests of their schedules have in common. A schedule looks at no
// index.
#ifndef STREW_TEST_PREPARED_PLAN_SCHEDULES_H_
#define STREW_TEST_PREPARED_PLAN_SCHEDULES_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/call.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "prepared/plan.h"

namespace strew_test {

using PlanContents = std::unique_ptr<strew::prepared::Plan>;

inline constexpr int64_t kHuge = INT64_MAX / 4;

// Entries of scatter_update, each of a destination of its own unless there are fewer groups.
inline PlanContents Entries(int64_t entries, int64_t groups, int64_t places) {
  auto plan = std::make_unique<strew::prepared::Plan>();
  plan->kind = strew::prepared::Kind::kUpdate;
  plan->rank = 1;
  plan->shape[0] = plan->entries = plan->all_entries = plan->kept = entries;
  plan->components = 1;
  plan->extents[0] = places;
  EXPECT_TRUE(plan->destinations.Allocate(groups, 4));
  if (groups == entries) return plan;
  EXPECT_TRUE(plan->firsts.Allocate(groups + 1, 4));
  const auto firsts = reinterpret_cast<uint32_t*>(plan->firsts.data());
  for (int64_t g = 0; g <= groups; ++g) firsts[g] = static_cast<uint32_t>(entries * g / groups);
  return plan;
}

inline PlanContents Entries(int64_t entries) { return Entries(entries, entries, entries + 1); }

// Makes the plan one of scatter_elements, with indices of this shape along the first axis.
inline void NameElements(const std::vector<int64_t>& shape, strew::prepared::Plan* plan) {
  plan->kind = strew::prepared::Kind::kElements;
  plan->rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), plan->shape);
}

inline void DropOne(strew::prepared::Plan* plan) {
  ++plan->entries;
  ++plan->all_entries;
  plan->dropped_entries = 1;
}

// Has single elements go in the order of destinations wherever there is a kernel for them.
inline void GoInElementOrder(strew::plan::Tuning* tuning) {
  tuning->far_ordered_part = 0;
  tuning->least_ordered_tasks = 1;
  tuning->least_ordered_step = 0;
  tuning->bytes_of_ordered_group = 1e9;
  tuning->most_ordered_repeats = tuning->most_repeats_of_ordered_sums = 1e9;
  tuning->ordered_updates_part = 1e9;
}

// One worker; nothing takes any time, caches hold everything, and nothing is prefetched.
class PlanScheduleOf : public testing::Test {
 protected:
  PlanScheduleOf() {
    tuning_.cache_bytes = tuning_.most_cache = kHuge;
    tuning_.near_part = 1;
    tuning_.least_task_ns = 1000;
    tuning_.parts_of_task = 1;
    tuning_.ns_of_gathered_entry = tuning_.ns_of_grouped_entry = 0;
    tuning_.ns_of_gathered_byte = tuning_.ns_of_grouped_byte = 0;
    tuning_.ns_of_passed_entry = tuning_.ns_of_strided_element = 0;
    tuning_.ns_of_divided_group = tuning_.ns_of_divided_byte = 0;
    tuning_.longest_run_apart = tuning_.longest_far_run_apart = 0;
    tuning_.longest_run_of_elements = 8;
    tuning_.most_gathered_rows = 0;
    tuning_.longest_gathered_loop = tuning_.longest_gathered_line = 0;
    tuning_.most_gathered_apart = 0;
    settings_.tuning = &tuning_;
  }

  strew::plan::Machine machine() const {
    return strew::plan::Machine(strew::Call(settings_, nullptr));
  }
  void Have(int32_t workers) { settings_.runner.workers = workers; }

  strew::plan::Tuning tuning_;
  strew::Settings settings_;
};

}  // namespace strew_test

#endif  // STREW_TEST_PREPARED_PLAN_SCHEDULES_H_
