// SPDX-License-Identifier: Apache-2.0
//
// How many tasks share a mean, and that each writes its own part.
#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "accumulate/means.h"
#include "accumulate/wide_ways.h"
#include "plan/schedule.h"
#include "plan/spaces.h"
#include "reference/random.h"
#include "support/reference.h"
#include "walk/bound_scatter.h"

namespace strew_test {
namespace {

using strew::accumulate::WideWay;
using strew::plan::IndexSpace;

int32_t RunBackwards(void* most, int64_t count, strew_task run, void* task) {
  int64_t& most_tasks = *static_cast<int64_t*>(most);
  most_tasks = std::max(most_tasks, count);
  for (int64_t i = count; i > 0; --i) run(task, i - 1);
  return 0;
}

struct Least {
  int64_t row = 20 * kSlot;
  double ns = 1;
};

// The most tasks of a mean by two workers.
int64_t TasksOf(const IndexSpace& space, WideWay expected, const Least& least = {}) {
  int64_t most = 1;
  Random random(Seed());
  BoundScatter bound(random, space, STREW_MEAN, 0, {RunBackwards, &most, 2});
  bound.tuning().least_task_ns = bound.tuning().least_joint_task_ns = least.ns;
  bound.tuning().destinations_of_entry = kHuge;
  bound.tuning().least_task_row = least.row;
  EXPECT_EQ(WayOf(bound), expected);
  return most;
}

int64_t TasksOfColumns(int64_t columns, const Least& least = {}) {
  return TasksOf(ElementsSpace({50, columns}, {90, columns}, 0), WideWay::kBatches, least);
}

TEST(WideTasks, CutColumnsIntoPiecesThatAreLongEnough) {
  EXPECT_EQ(TasksOfColumns(39), 1);
  EXPECT_EQ(TasksOfColumns(40), 2);
  EXPECT_EQ(TasksOfColumns(200), 2);
}

TEST(WideTasks, CutColumnsIntoWholeCacheLines) {
  constexpr int64_t kLine = 16;
  EXPECT_EQ(TasksOfColumns(2 * kLine - 1, {kSlot}), 1);
  EXPECT_EQ(TasksOfColumns(2 * kLine, {kSlot}), 2);
}

TEST(WideTasks, CutOuterBatchesOfShortRows) {
  EXPECT_EQ(TasksOf(ElementsSpace({2, 30, 5}, {2, 40, 3}, 1), WideWay::kBatches), 2);
  EXPECT_EQ(TasksOf(ElementsSpace({9, 30, 5}, {7, 40, 3}, 1), WideWay::kBatches), 2);
}

// Scratch has room for a column of each of two tasks, or for two columns of one.
TEST(WideTasks, TakeFewerPassesThanOne) {
  constexpr int64_t kRows = strew::plan::MostScratch(1) / kSlot / 2;
  const auto by = [](int64_t outer, int64_t columns) {
    Least least;
    least.ns = 250e3;  // more than those of the copy
    return TasksOf(ElementsSpace({outer, kRows, columns}, {outer, 3 * kRows, columns}, 1),
                   WideWay::kBatches, least);
  };
  EXPECT_EQ(by(1, 2), 1);
  EXPECT_EQ(by(1, 4), 1);
  EXPECT_EQ(by(3, 1), 2);
  EXPECT_EQ(by(3, 3), 2);
}

TEST(WideTasks, ShareRunsOfFewDestinations) {
  EXPECT_EQ(TasksOf(UpdateSpace({3, 500}, 5), WideWay::kBuckets), 2);
  EXPECT_EQ(TasksOf(UpdateSpace({1, 5000}, 5), WideWay::kBuckets), 2);
}

}  // namespace
}  // namespace strew_test
