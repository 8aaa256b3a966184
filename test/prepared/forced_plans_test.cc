// SPDX-License-Identifier: Apache-2.0
//
// Every alternative of a schedule with plans, forced by a tuning of the call's own, in random calls
// against the oracle. What calls explain must show that the alternative was taken often.
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "prepared/check_plans.h"
#include "prepared/plan_schedules.h"
#include "reference/dtypes.h"
#include "reference/random.h"
#include "reference/random_gather.h"
#include "reference/targets.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::plan::Tuning;

constexpr double kLong = 1e9;

struct Forced {
  const char* name;
  void (*change)(Tuning* tuning);
  int32_t workers;
  const char* sentence;
};

void PrintTo(const Forced& forced, std::ostream* out) { *out << forced.name; }

class ForcedPlans : public testing::TestWithParam<Forced> {
 protected:
  ForcedPlans() {
    GetParam().change(&tuning_);
    Set(&tuning_, [](void* told, const char* sentence) {
      const auto self = static_cast<ForcedPlans*>(told);
      self->taken_ += std::string(sentence).find(GetParam().sentence) != std::string::npos;
    });
  }
  ~ForcedPlans() override { Set(nullptr, nullptr); }

  void Set(const Tuning* tuning, void (*tell)(void* told, const char* sentence)) {
    for (const Target& target : Targets()) {
      target.context->settings.tuning = tuning;
      strew::ExplainTo(target.context.get(), tell, this);
    }
  }

  Tuning tuning_;
  int64_t taken_ = 0;
};

TEST_P(ForcedPlans, AgreeWithTheOracle) {
  const std::vector<Operator> operators = PlannedOperators();
  for (int64_t i = 0; i < 300; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const Operator op = operators[static_cast<size_t>(i) / Dtypes().size() % operators.size()];
    const Dtype& dtype = Dtypes()[static_cast<size_t>(i) % Dtypes().size()];
    Case scatter = MakeRandomPlanned(random, op, dtype);
    ASSERT_TRUE(CheckScatter(scatter, GetParam().workers)) << "seed " << Seed() + i;
    Case gather = MakeRandomPlanned(random, op, dtype);
    SetAnyResult(random, gather);
    ASSERT_TRUE(CheckGather(gather, GetParam().workers)) << "seed " << Seed() + i;
    GatherScatterCase both = MakeRandomGatherScatter(random, op, dtype);
    ASSERT_TRUE(CheckGatherScatter(both, GetParam().workers)) << "seed " << Seed() + i;
  }
  EXPECT_GT(taken_, 10);
}

// Has means divided in the order of the output wherever their sums are elements.
void DivideInLines(Tuning* tuning) {
  tuning->least_divided_line = 1;
  tuning->destinations_of_divided_group = kHuge;
  tuning->sum_bytes_of_plan_entry = tuning->sum_bytes_of_far_plan_entry = 0;
}

const Forced kForced[] = {
    {"NoSumsOfFewTouched", [](Tuning* t) { t->sum_bytes_of_plan_entry = 0; }, 1,
     "in the order of these"},
    {"SumsOfAnyTouched",
     [](Tuning* t) {
       t->sum_bytes_of_plan_entry = kHuge;
       t->near_batch_sums = kHuge;
     },
     1, "taken as indices"},
    {"Divided",
     [](Tuning* t) {
       t->least_divided_updates = 0;
       t->near_batch_sums = 0;
     },
     1, "divided by what the plan"},
    {"DividedInTasks",
     [](Tuning* t) {
       t->least_divided_updates = 0;
       t->near_batch_sums = 0;
       t->ns_of_divided_group = kLong;
     },
     3, "divided by what the plan"},
    {"DividedInLines", DivideInLines, 1, "divided in the order of the output"},
    {"DividedInLinesOnThreads",
     [](Tuning* t) {
       DivideInLines(t);
       t->ns_of_divided_element = kLong;
     },
     3, "divided in the order of the output"},
    {"LongRows", [](Tuning* t) { t->least_ordered_row = 0; }, 1, "in the order of these"},
    {"InOrderInTasks", [](Tuning* t) { t->ns_of_grouped_entry = kLong; }, 3, "workers get a task"},
    {"ElementOrder", GoInElementOrder, 1, "element by element in the order of these"},
    {"ElementOrderInTasks",
     [](Tuning* t) {
       GoInElementOrder(t);
       t->ns_of_grouped_entry = kLong;
     },
     3, "element by element in the order of these"},
    {"GatherInTasks", [](Tuning* t) { t->ns_of_gathered_entry = kLong; }, 3, "workers get a task"},
    {"ByEntriesInTasks", [](Tuning* t) { t->ns_of_passed_entry = kLong; }, 3, "workers get a task"},
    {"Far",
     [](Tuning* t) {
       t->cache_bytes = 1;
       t->far_pass_part = kLong;
     },
     1, "Destinations are prefetched"},
    {"FarInOrder", [](Tuning* t) { t->far_pass_part = 0; }, 1, "in the order of these"},
    {"Prefetched",
     [](Tuning* t) {
       t->cache_bytes = 1;
       t->longest_passed_row = t->longest_passed_weighted_row = 0;
     },
     1, "Updates are prefetched"},
    {"NoRunsApart", [](Tuning* t) { t->longest_run_apart = 0; }, 1, "by elements"},
    {"FarRunsApart",
     [](Tuning* t) {
       t->cache_bytes = 1;
       t->longest_run_apart = 0;
       t->longest_far_run_apart = kHuge;
     },
     1, "Sources are prefetched"},
    {"Boxes", [](Tuning* t) { t->least_gathered_box = 0; }, 1, "by boxes"},
    {"BoxesOnThreads",
     [](Tuning* t) {
       t->least_gathered_box = 0;
       t->ns_of_gathered_entry = kLong;
     },
     3, "by boxes"},
    {"OnePlaceOfUpdates",
     [](Tuning* t) {
       t->least_equal_row = 1;
       t->longest_equal_step = kHuge;
     },
     1, "All indices are equal"},
    {"OnePlaceOfUpdatesOnThreads",
     [](Tuning* t) {
       t->least_equal_row = 1;
       t->ns_of_entry = kLong;
     },
     3, "All indices are equal"},
    {"OnePlaceOfSourceOnThreads", [](Tuning* t) { t->ns_of_byte = kLong; }, 3,
     "All entries name one place"},
    {"PiecesOfRuns", [](Tuning* t) { t->near_group_turns = 1; }, 1, "a piece at a time"},
    {"TurnsOfTasks",
     [](Tuning* t) {
       t->least_turns_of_part = 1;
       t->least_turn_of_task = kHuge / 64;
       t->ns_of_grouped_entry = kLong;
       t->longest_passed_row = t->longest_passed_weighted_row = 0;
     },
     3, "Parts have all destinations"},
    {"TurnsOfTasksNever",
     [](Tuning* t) {
       t->least_turns_of_part = kHuge;
       t->ns_of_grouped_entry = kLong;
       t->longest_passed_row = t->longest_passed_weighted_row = 0;
     },
     3, "in the order of these"},
    {"LongestRuns",
     [](Tuning* t) {
       t->short_group_run = kHuge;
       t->longest_passed_row = t->longest_passed_weighted_row = 0;
     },
     1, "A longer inner loop"},
    {"InnermostRuns",
     [](Tuning* t) {
       t->short_group_run = t->few_run_elements = 0;
       t->longest_passed_row = t->longest_passed_weighted_row = 0;
     },
     1, "in the order of these"},
    {"OneSliceAtATime",
     [](Tuning* t) { t->least_slices = t->most_slices = t->least_sliced_elements = 1; }, 1,
     "slices at a time"},
    {"SlicesInOrder",
     [](Tuning* t) {
       t->least_sliced_elements = 0;
       t->slices_area = 0;
       t->least_slices = 3;
       t->most_passed_slices = t->most_passed_slices_of_moves = 0;
       t->most_passed_slices_of_repeats = 0;
     },
     1, "slices at a time"},
    {"SlicesByEntries",
     [](Tuning* t) {
       t->slices_area = kLong;
       t->most_slices = t->most_passed_slices = kHuge;
       t->most_passed_slices_of_moves = t->most_passed_slices_of_repeats = kHuge;
     },
     1, "element by element"},
    {"SmallBlocks", [](Tuning* t) { t->pass_block = 1; }, 1, "element by element"},
    {"SumsOfAnyNumber", [](Tuning* t) { t->most_summed_elements = kHuge; }, 1,
     "have an accumulator"},
    {"NoSumsInScratch", [](Tuning* t) { t->most_summed_elements = 0; }, 1, "in the order of these"},
    {"LoopsOfAnyLength", [](Tuning* t) { t->longest_pass_loop = kHuge; }, 1, "element by element"},
    {"NoShortLoops", [](Tuning* t) { t->longest_pass_loop = 0; }, 1, "element by element"},
    {"GatheredLoopsOfAnyLength",
     [](Tuning* t) {
       t->longest_gathered_loop = t->longest_gathered_line = t->most_gathered_apart = kHuge;
     },
     1, "taken as one"},
    {"GatheredLoopsInTasks",
     [](Tuning* t) {
       t->longest_gathered_loop = t->longest_gathered_line = t->most_gathered_apart = kHuge;
       t->ns_of_gathered_entry = kLong;
     },
     3, "taken as one"},
    {"NoGatheredLoops",
     [](Tuning* t) {
       t->longest_gathered_loop = t->longest_gathered_line = t->most_gathered_apart = 0;
     },
     1, "gathered by"},
    {"RowsOfAnyLength",
     [](Tuning* t) { t->longest_passed_row = t->longest_passed_weighted_row = kHuge; }, 1,
     "short rows element by element"},
    {"NoShortRows", [](Tuning* t) { t->longest_passed_row = t->longest_passed_weighted_row = 0; },
     1, "in the order of these"},
    {"Streamed",
     [](Tuning* t) {
       t->least_streamed_row = 0;
       t->streamed_part = t->streamed_part_of_tasks = 0;
     },
     1, "past the caches"},
};

INSTANTIATE_TEST_SUITE_P(Alternatives, ForcedPlans, testing::ValuesIn(kForced),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace strew_test
