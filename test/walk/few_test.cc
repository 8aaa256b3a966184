// SPDX-License-Identifier: Apache-2.0
//
// Few updates, one by one: where they are found, and what is written.
#include "walk/few.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "plan/schedule.h"
#include "reference/random.h"
#include "support/reference.h"
#include "walk/bound_scatter.h"

namespace strew_test {
namespace {

using strew::plan::IndexSpace;
using strew::plan::kMostFewUpdates;
using strew::walk::FewEntries;
using strew::walk::LocateFew;

// Up to as many updates as there is room for.
IndexSpace AnyFew(Random& random) {
  const int64_t size = random.Between(1, 60);
  const int64_t entries = random.Between(1, kMostFewUpdates);
  switch (random.Between(0, 4)) {
    case 0:
      return ElementsSpace({size}, {entries}, 0);
    case 1:
      return ElementsSpace({4, size}, {4, random.Between(1, 16)}, 1);
    case 2:
      return ElementsSpace({size, 8}, {random.Between(1, 8), 8}, 0);
    case 3:
      return UpdateSpace({size, 3, 5}, entries);
    default:
      return NdSpace({size, 4, 2}, entries, 2);
  }
}

TEST(Few, AreWrittenInOrder) {
  const int64_t cases = Cases(500);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t bad_in = random.OneIn(3) ? 4 : 0;
    BoundScatter bound(random, AnyFew(random), random.OneIn(2) ? STREW_NONE : STREW_ADD, bad_in);
    bound.settings().index_policy = bad_in == 0 ? STREW_INDEX_ERROR : STREW_INDEX_DROP;
    const strew::walk::Scatter& scatter = bound.scatter();
    const BoundScatter::Words expected = bound.Expected();
    FewEntries few;
    ASSERT_TRUE(LocateFew(bound.call(), scatter.operands.indices, bound.space(), &few));
    EXPECT_EQ(few.entries, bound.loops().Entries());
    EXPECT_TRUE(few.are_near);
    EXPECT_EQ(few.count * bound.loops().EntryUnits(),
              bound.CountWanted([](int64_t) { return true; }));
    strew::plan::InnerNest inner = bound.space().inner;
    WriteFew(scatter.kernels, scatter.operands, few, &inner);
    EXPECT_EQ(bound.output(), expected);
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

// ---- What is found out about them --------------------------------------------------------------

class LocatedFew : public testing::Test {
 protected:
  bool Locate() {
    return LocateFew(bound_.call(), bound_.scatter().operands.indices, bound_.space(), &few_);
  }

  Random random_{1};
  BoundScatter bound_{random_, ElementsSpace({10}, {4}, 0), STREW_NONE};
  FewEntries few_;
};

TEST_F(LocatedFew, LieTogetherUnlessSomeAreDropped) {
  bound_.indices() = {3, -1, 0, 9};
  ASSERT_TRUE(Locate());
  EXPECT_EQ(few_.count, 4);
  EXPECT_EQ(std::vector<int64_t>(few_.output, few_.output + 4), (std::vector<int64_t>{3, 9, 0, 9}));
  EXPECT_EQ(std::vector<int64_t>(few_.updates, few_.updates + 4),
            (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_TRUE(few_.updates_lie_together);
}

TEST_F(LocatedFew, LeaveOutWhatIsDropped) {
  bound_.indices() = {3, 10, -11, 9};
  bound_.settings().index_policy = STREW_INDEX_DROP;
  ASSERT_TRUE(Locate());
  EXPECT_EQ(few_.entries, 4);
  EXPECT_EQ(few_.count, 2);
  EXPECT_EQ(few_.output[1], 9);
  EXPECT_EQ(few_.updates[1], 3);
  EXPECT_FALSE(few_.updates_lie_together);
}

TEST_F(LocatedFew, AreClampedWhereThatIsWanted) {
  bound_.indices() = {10, -11, 1000, INT64_MIN};
  bound_.settings().index_policy = STREW_INDEX_CLAMP;
  ASSERT_TRUE(Locate());
  EXPECT_EQ(std::vector<int64_t>(few_.output, few_.output + 4), (std::vector<int64_t>{9, 0, 9, 0}));
}

TEST_F(LocatedFew, EndAtTheFirstThatIsOutOfRange) {
  bound_.indices() = {3, 10, 2, 1};
  EXPECT_FALSE(Locate());
  EXPECT_EQ(few_.count, 1);
  bound_.settings().wrap_negative_indices = false;
  bound_.indices() = {3, 2, -1, 1};
  few_ = FewEntries();
  EXPECT_FALSE(Locate());
  EXPECT_EQ(few_.count, 2);
}

// Memory that far away is never touched.
TEST_F(LocatedFew, HaveOffsetsOf64BitsWhereTheyLieFarApart) {
  bound_.indices() = {0, 1, 1, 0};
  IndexSpace far = bound_.space();
  const auto are_near = [&](int64_t line) {
    far.component[0].output_stride = line;
    few_ = FewEntries();
    EXPECT_TRUE(LocateFew(bound_.call(), bound_.scatter().operands.indices, far, &few_));
    return few_.are_near;
  };
  EXPECT_TRUE(are_near(INT32_MAX));
  EXPECT_FALSE(are_near(int64_t{INT32_MAX} + 1));
  EXPECT_TRUE(are_near(INT32_MIN));
  EXPECT_FALSE(are_near(int64_t{INT32_MIN} - 1));
}

}  // namespace
}  // namespace strew_test
