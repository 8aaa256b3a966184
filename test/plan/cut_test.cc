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
using strew::plan::LoopNest;
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
  EXPECT_EQ(cut.parts(), 3);
  EXPECT_EQ(cut.FromEnd(0), 2);
  EXPECT_EQ(cut.FromEnd(1), 1);
  EXPECT_EQ(cut.FromEnd(2), 0);
}

// The cut may have more loops than the nest, as for columns, or fewer, where others stay whole.
TEST(Cut, HasPartsFarApartForTasks) {
  for (const int64_t parts : {1, 2, 7, 8, 9}) {
    Cut cut;
    cut.Append(parts, 1, parts);
    for (const int64_t tasks : {int64_t{1}, std::min<int64_t>(2, parts), parts}) {
      std::vector<int64_t> taken(static_cast<size_t>(parts));
      for (int64_t i = 0; i < parts; ++i) taken[static_cast<size_t>(i)] = cut.ApartOf(i, tasks);
      if (tasks == 2 && parts > 3) {
        EXPECT_GE(taken[1] - taken[0], parts / 2);
      }
      std::sort(taken.begin(), taken.end());
      for (int64_t i = 0; i < parts; ++i) EXPECT_EQ(taken[static_cast<size_t>(i)], i);
    }
  }
}

TEST(Cut, KeepsAPartOfANest) {
  LoopNest<2> nest;
  nest.base[0] = 1000;
  nest.Append(5, 70, -7);
  nest.Append(70, 1, 3);
  Cut cut;
  cut.Append(5, 1, 3);
  LoopNest<2> of_part = nest;
  cut.KeepPart(1, &of_part);
  EXPECT_EQ(of_part.base[0], 1000 + 2 * 70);
  EXPECT_EQ(of_part.base[1], -14);
  EXPECT_EQ(of_part.loop[0].count, 2);
  EXPECT_EQ(of_part.loop[1].count, 70);

  cut.Append(70, 16, 12);
  cut.Append(9, 1, 24);
  for (int64_t part = 0; part < cut.parts(); ++part) {
    const Turns rows = cut.TurnsOf(part, 0);
    const Turns columns = cut.TurnsOf(part, 1);
    of_part = nest;
    cut.KeepPart(part, &of_part);
    EXPECT_EQ(of_part.base[0], 1000 + rows.first * 70 + columns.first);
    EXPECT_EQ(of_part.base[1], rows.first * -7 + columns.first * 3);
    EXPECT_EQ(of_part.loop[0].count, rows.count);
    EXPECT_EQ(of_part.loop[1].count, columns.count);
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
