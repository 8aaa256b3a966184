// SPDX-License-Identifier: Apache-2.0
//
// Parts on a runner: each part once, whatever the runner does, and a status where it did too
// little.
#include "share/parts.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/call.h"
#include "support/runners.h"

namespace strew_test {
namespace {

using strew::Call;
using strew::Report;
using strew::Settings;
using strew::share::ForEachPart;

struct Taken {
  int64_t part;
  int64_t task;
};

// A runner that is a function.
class Parts : public testing::Test {
 protected:
  using Run = std::function<int32_t(int64_t count, const std::function<void(int64_t)>& task)>;

  strew_status Of(int64_t tasks, int64_t parts, Run run) {
    run_ = std::move(run);
    Settings settings;
    settings.runner = {[](void* self, int64_t count, strew_task task, void* argument) {
                         return static_cast<Parts*>(self)->run_(
                             count, [=](int64_t i) { task(argument, i); });
                       },
                       this, 64};
    const Call call(settings, &report_);
    taken_.clear();
    const auto note = [this](int64_t part, int64_t task) { taken_.push_back({part, task}); };
    return ForEachPart(call, tasks, parts, note).code();
  }

  // That every part was taken once.
  void ExpectAll(int64_t parts) const {
    std::vector<int> times(static_cast<size_t>(parts));
    for (const Taken& taken : taken_) ++times[static_cast<size_t>(taken.part)];
    EXPECT_EQ(times, std::vector<int>(static_cast<size_t>(parts), 1));
  }

  Run run_;
  Report report_;
  std::vector<Taken> taken_;
};

int32_t InTurn(int64_t count, const std::function<void(int64_t)>& task) {
  for (int64_t i = 0; i < count; ++i) task(i);
  return 0;
}

TEST_F(Parts, GoToTasksOfTheRunner) {
  for (const int64_t tasks : {2, 7, 64}) {
    for (const int64_t parts : {tasks, tasks + 1, 10 * tasks}) {
      int64_t asked = 0;
      EXPECT_EQ(Of(tasks, parts,
                   [&](int64_t count, const auto& task) {
                     asked = count;
                     return InTurn(count, task);
                   }),
                STREW_OK);
      EXPECT_EQ(asked, tasks);
      ExpectAll(parts);
    }
  }
}

TEST_F(Parts, NeedNoMoreTasksThanThereAreParts) {
  EXPECT_EQ(Of(8, 3,
               [](int64_t count, const auto& task) {
                 EXPECT_EQ(count, 3);
                 return InTurn(count, task);
               }),
            STREW_OK);
  ExpectAll(3);
}

TEST_F(Parts, OfOneTaskNeedNoRunner) {
  const auto fail = [](int64_t, const auto&) {
    ADD_FAILURE() << "asked for";
    return 1;
  };
  EXPECT_EQ(Of(1, 5, fail), STREW_OK);
  ExpectAll(5);
  for (size_t i = 0; i < taken_.size(); ++i) {
    EXPECT_EQ(taken_[i].part, static_cast<int64_t>(i));
    EXPECT_EQ(taken_[i].task, 0);
  }
  EXPECT_EQ(Of(8, 1, fail), STREW_OK);
  ExpectAll(1);
  EXPECT_EQ(Of(8, 0, fail), STREW_OK);
}

TEST_F(Parts, AreTakenOnceByARunnerThatRepeatsTasks) {
  EXPECT_EQ(Of(64, 100,
               [](int64_t count, const auto& task) {
                 for (int64_t i = count; i > 0; --i) task(i - 1), task(i - 1);
                 return InTurn(count, task);
               }),
            STREW_OK);
  ExpectAll(100);
}

TEST_F(Parts, AreNotGivenToTasksThatDoNotExist) {
  EXPECT_EQ(Of(4, 9,
               [](int64_t count, const auto& task) {
                 for (const int64_t i : {int64_t{-1}, count, int64_t{1} << 40, INT64_MIN}) task(i);
                 return InTurn(count, task);
               }),
            STREW_OK);
  ExpectAll(9);
  for (const Taken& taken : taken_) EXPECT_TRUE(taken.task >= 0 && taken.task < 4);
}

TEST_F(Parts, FailWhereTheRunnerLeavesOutTasks) {
  for (const int64_t left_out : {0, 1, 3}) {
    EXPECT_EQ(Of(4, 9,
                 [=](int64_t count, const auto& task) {
                   for (int64_t i = 0; i < count; ++i) {
                     if (i != left_out) task(i);
                   }
                   return 0;
                 }),
              STREW_RUNNER_FAILED);
    EXPECT_NE(std::string(report_.sentence).find("3 of 4 tasks"), std::string::npos);
  }
  EXPECT_EQ(Of(4, 9, [](int64_t, const auto&) { return 0; }), STREW_RUNNER_FAILED);
  EXPECT_TRUE(taken_.empty());
}

TEST_F(Parts, FailWhereTheRunnerSaysSo) {
  EXPECT_EQ(Of(4, 9,
               [](int64_t count, const auto& task) {
                 InTurn(count, task);
                 return -7;
               }),
            STREW_RUNNER_FAILED);
  EXPECT_NE(std::string(report_.sentence).find("-7"), std::string::npos);
}

}  // namespace
}  // namespace strew_test
