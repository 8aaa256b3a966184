// SPDX-License-Identifier: Apache-2.0
//
// Which calls try their updates on a draft of the output, at each threshold and beside it.
#include "plan/draft.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "base/call.h"
#include "plan/spaces.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::Call;
using strew::Settings;
using strew::TensorView;
using strew::plan::DraftSchedule;
using strew::plan::IndexSpace;
using strew::plan::Machine;
using strew::plan::MostScratch;
using strew::plan::Tuning;

// Calls of float32 at indices of 8 bytes.
class DraftChoice : public testing::Test {
 protected:
  DraftChoice() {
    tuning_.cache_bytes = 8000;
    tuning_.least_drafted = 0.5;
    tuning_.most_draft = 400;
    tuning_.drafted_part = 800;
    settings_.tuning = &tuning_;
  }

  DraftSchedule Of(IndexSpace* space, int64_t outputs) const {
    TensorView indices = {}, updates = {}, output = {};
    indices.element_size = 8;
    updates.highest = updates_ * 4;
    output.highest = outputs * 4;
    return MakeDraftSchedule(Machine(Call(settings_, nullptr)), indices, updates, output, space);
  }
  bool IsTaken(IndexSpace space, int64_t outputs) const {
    return Of(&space, outputs).loop != nullptr;
  }

  Tuning tuning_;
  Settings settings_;
  int64_t updates_ = 0;
};

TEST_F(DraftChoice, NeedsManyIndices) {
  EXPECT_FALSE(IsTaken(UpdateSpace({100}, 499), 100));
  EXPECT_TRUE(IsTaken(UpdateSpace({100}, 500), 100));
}

TEST_F(DraftChoice, NeedsASmallOutput) {
  EXPECT_TRUE(IsTaken(UpdateSpace({100}, 1000), 100));
  EXPECT_FALSE(IsTaken(UpdateSpace({101}, 1000), 101));
  tuning_.most_draft = INT64_MAX;
  const int64_t most = MostScratch(1) / 4;
  EXPECT_TRUE(IsTaken(UpdateSpace({most}, 1000), most));
  EXPECT_FALSE(IsTaken(UpdateSpace({most + 1}, 1000), most + 1));
}

TEST_F(DraftChoice, NeedsASmallerOutputForShortIndices) {
  tuning_.most_draft_of_short_indices = 399;
  updates_ = 1000;
  EXPECT_TRUE(IsTaken(UpdateSpace({100}, 1000), 100));
  updates_ = 1001;
  EXPECT_FALSE(IsTaken(UpdateSpace({100}, 1000), 100));
  EXPECT_TRUE(IsTaken(UpdateSpace({99}, 1000), 99));
  tuning_.least_long_indices = 1;
  EXPECT_TRUE(IsTaken(UpdateSpace({100}, 1000), 100));
}

// Strides that overlap name more indices than int64_t counts bytes, in little memory.
TEST_F(DraftChoice, CountsIndicesWithoutOverflow) {
  IndexSpace space = UpdateSpace({10}, int64_t{1} << 31);
  space.entries.Append(int64_t{1} << 31, 0, 1, 1, 0);
  EXPECT_EQ(Of(&space, 10).loop, nullptr);
}

TEST_F(DraftChoice, NeedsOneWorker) {
  settings_.runner.workers = 2;
  EXPECT_FALSE(IsTaken(UpdateSpace({100}, 1000), 100));
}

TEST_F(DraftChoice, CutsTheOutermostLoop) {
  IndexSpace entries = ElementsSpace({4, 10}, {300, 10}, 0);
  const DraftSchedule of_entries = Of(&entries, 40);
  EXPECT_EQ(of_entries.loop, &entries.entries.loop[0]);
  EXPECT_EQ(of_entries.turns, 10);
  EXPECT_EQ(of_entries.parts, 30);
  EXPECT_EQ(of_entries.scratch_bytes, 160);
  EXPECT_EQ(of_entries.next_part.indices, 100);
  EXPECT_EQ(of_entries.next_part.updates, 100);

  IndexSpace batch = ElementsSpace({25, 4}, {25, 60}, 1);
  const DraftSchedule of_batch = Of(&batch, 100);
  EXPECT_EQ(of_batch.loop, &batch.batch.loop[0]);
  EXPECT_EQ(of_batch.turns, 1);
  EXPECT_EQ(of_batch.parts, 25);
}

TEST_F(DraftChoice, NeedsTurnsThatFitAPart) {
  EXPECT_TRUE(IsTaken(ElementsSpace({10, 10}, {10, 100}, 1), 100));
  EXPECT_FALSE(IsTaken(ElementsSpace({10, 10}, {10, 101}, 1), 100));
}

// Rows of one index each, which are repeated along the columns.
TEST_F(DraftChoice, CountsRepeatedIndicesOnce) {
  IndexSpace space = UpdateSpace({100}, 499);
  space.entries.Append(10, 0, 1, 0, 0);
  EXPECT_FALSE(IsTaken(space, 100));
  tuning_.least_drafted = 0;
  IndexSpace one = UpdateSpace({100}, 1);
  EXPECT_FALSE(IsTaken(one, 100));
  one.entries.Append(10, 0, 1, 0, 0);
  EXPECT_FALSE(IsTaken(one, 100));
}

}  // namespace
}  // namespace strew_test
