// SPDX-License-Identifier: Apache-2.0
//
// Pieces of a new output: together they have each element once, and they are cut around the axis.
#include "plan/pieces.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "plan/spaces.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::plan::Cut;
using strew::plan::CutIntoPieces;
using strew::plan::EntryLoops;
using strew::plan::IndexSpace;
using strew::plan::kPieceData;
using strew::plan::kPieceOutput;
using strew::plan::PieceLoops;
using strew::plan::PieceUnits;

// Offsets in the output of all elements of a piece.
std::vector<int64_t> ElementsOf(const EntryLoops& loops) {
  std::vector<int64_t> elements;
  const auto nest = PieceLoops(loops, /*data_is_alike=*/true);
  strew::plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
    EXPECT_EQ(at[kPieceData], at[kPieceOutput]);
    elements.push_back(at[kPieceOutput]);
  });
  return elements;
}

TEST(Pieces, HaveEachElementOnce) {
  const int64_t cases = Cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t outer = random.Between(1, 9), axis = random.Between(1, 9);
    const int64_t inner = random.Between(1, 9);
    IndexSpace slices;  // of [outer, axis, inner], with a loop around the axis
    slices.component[slices.components++] = {1, axis, inner, inner, 0};
    slices.entries.Append(4, 0, inner, 1, 0);
    slices.inner.Append(outer, axis * inner, 4 * inner);
    slices.inner.Append(inner, 1, 1);
    const IndexSpace space =
        random.OneIn(2) ? slices : ElementsSpace({outer, axis, inner}, {outer, 4, inner}, 1);
    const EntryLoops loops(space, {});
    const int64_t most = random.Between(1, outer * axis * inner + 1);
    const Cut cut = CutIntoPieces(loops, most);
    std::vector<int> times(static_cast<size_t>(outer * axis * inner));
    EXPECT_EQ(PieceUnits(loops), outer * axis * inner);
    for (int64_t part = 0; part < cut.parts(); ++part) {
      EntryLoops piece = loops;
      piece.Restrict(cut, part);
      const std::vector<int64_t> elements = ElementsOf(piece);
      EXPECT_EQ(PieceUnits(piece), static_cast<int64_t>(elements.size()));
      // Loops within the axis are never cut.
      EXPECT_LE(PieceUnits(piece), std::max(most, axis * inner));
      for (const int64_t element : elements) ++times[static_cast<size_t>(element)];
    }
    EXPECT_EQ(times, std::vector<int>(times.size(), 1));
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

TEST(Pieces, AreCutFromTheOutside) {
  // [5, 4, 10], of which the loops over 5 and 4 are around the axis.
  const EntryLoops loops(ElementsSpace({5, 4, 10}, {5, 4, 3}, 2), {});
  EXPECT_EQ(CutIntoPieces(loops, 200).parts(), 1);
  EXPECT_EQ(CutIntoPieces(loops, 40).parts(), 5);
  EXPECT_EQ(CutIntoPieces(loops, 10).parts(), 20);
  EXPECT_EQ(CutIntoPieces(loops, 1).parts(), 20);
}

// Loops of batches know their strides in data.
TEST(Pieces, FollowTheStridesOfData) {
  IndexSpace space;  // [4, 3] in columns, from rows
  space.component[space.components++] = {1, 3, 4, 1, 0};
  space.entries.Append(3, 0, 1, 1, 0);
  space.batch.Append(4, 1, 3, 3, 3);
  const EntryLoops loops(space, {});
  const auto nest = PieceLoops(loops, /*data_is_alike=*/false);
  int64_t elements = 0;
  strew::plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
    EXPECT_EQ(at[kPieceData], at[kPieceOutput] % 4 * 3 + at[kPieceOutput] / 4);
    ++elements;
  });
  EXPECT_EQ(elements, 12);
}

}  // namespace
}  // namespace strew_test
