// SPDX-License-Identifier: Apache-2.0
//
// Cuts of nested loops: every turn belongs to one part, and pieces keep to granules.
#include "plan/cut.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::plan::Cut;
using strew::plan::LineGranule;
using strew::plan::Turns;

struct AnyLoop {
  int64_t count;
  int64_t granule;
};

TEST(Cut, GivesEachTurnToOnePart) {
  const int64_t cases = Cases(500);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    Cut cut;
    std::vector<AnyLoop> loops(static_cast<size_t>(random.Between(1, 4)));
    int64_t turns = 1;
    for (AnyLoop& loop : loops) {
      loop = {random.Between(1, 12), random.Between(1, 4)};
      turns *= loop.count;
      cut.Append(loop.count, loop.granule, random.Between(1, 40));
    }
    std::map<std::vector<int64_t>, int> seen;
    for (int64_t part = 0; part < cut.parts(); ++part) {
      std::vector<Turns> of_part;
      int64_t size = 1;
      for (size_t l = 0; l < loops.size(); ++l) {
        of_part.push_back(cut.TurnsOf(part, static_cast<int>(l)));
        size *= of_part.back().count;
        EXPECT_GE(of_part.back().count, std::min(loops[l].count, loops[l].granule));
        EXPECT_LE(of_part.back().count, cut.MostTurns(static_cast<int>(l)));
        EXPECT_EQ(of_part.back().first % loops[l].granule, 0);
      }
      for (int64_t turn = 0; turn < size; ++turn) {
        std::vector<int64_t> place;
        int64_t rest = turn;
        for (const Turns& some : of_part) {
          place.push_back(some.first + rest % some.count);
          rest /= some.count;
        }
        EXPECT_EQ(++seen[place], 1);
      }
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), turns);
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

TEST(Cut, MakesAsManyPartsAsAreWantedOrPossible) {
  const auto parts = [](int64_t count, int64_t granule, int64_t wanted) {
    Cut cut;
    cut.Append(count, granule, wanted);
    return cut.parts();
  };
  EXPECT_EQ(Cut().parts(), 1);
  EXPECT_EQ(parts(100, 1, 8), 8);
  EXPECT_EQ(parts(5, 1, 8), 5);
  EXPECT_EQ(parts(100, 16, 8), 6);
  EXPECT_EQ(parts(15, 16, 8), 1);
  EXPECT_EQ(parts(31, 16, 8), 1);
  EXPECT_EQ(parts(32, 16, 8), 2);
}

// Inner loops are cut so far that all together make the parts, rounded up.
TEST(Cut, TakesWhatOuterLoopsLack) {
  Cut cut;
  cut.Append(3, 1, 8);
  EXPECT_EQ(cut.parts(), 3);
  cut.Append(100, 1, 8);
  EXPECT_EQ(cut.parts(), 9);
  cut.Append(100, 1, 8);
  EXPECT_EQ(cut.parts(), 9);
}

TEST(Cut, HasItsPartsInReverseToo) {
  Cut cut;
  cut.Append(5, 1, 3);
  cut.Append(70, 16, 12);
  for (int64_t part = 0; part < cut.parts(); ++part) {
    for (const int i : {0, 1}) {
      const Turns turns = cut.TurnsOf(part, i);
      const Turns reversed = cut.TurnsFromEnd(cut.parts() - 1 - part, i);
      EXPECT_EQ(turns.first, reversed.first);
      EXPECT_EQ(turns.count, reversed.count);
    }
  }
}

TEST(Cut, HasGranulesOfALine) {
  EXPECT_EQ(LineGranule(1, 4), 16);
  EXPECT_EQ(LineGranule(-1, 4), 16);
  EXPECT_EQ(LineGranule(3, 4), 5);
  EXPECT_EQ(LineGranule(15, 4), 1);
  EXPECT_EQ(LineGranule(16, 4), 1);
  EXPECT_EQ(LineGranule(1, 64), 1);
  EXPECT_EQ(LineGranule(0, 1), 1);
}

}  // namespace
}  // namespace strew_test
