// SPDX-License-Identifier: Apache-2.0
//
// The walk of one task: strips and lines that are brought near first, in scratch of exactly as many
// bytes as they need, reads that are fetched, and entries that go to a sink.
#include "walk/entries.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "plan/schedule.h"
#include "reference/guarded_buffer.h"
#include "reference/random.h"
#include "support/reference.h"
#include "walk/bound_scatter.h"

namespace strew_test {
namespace {

using strew::plan::IndexSpace;
using strew::plan::MemoryHints;
using strew::plan::Staging;

constexpr bool kCopies = true;
constexpr bool kInPlace = false;

// ---- Strips ------------------------------------------------------------------------------------

void ExpectStrips(Random& random, const IndexSpace& space, int64_t strip, bool copies,
                  const MemoryHints& hints) {
  BoundScatter bound(random, space, random.OneIn(2) ? STREW_NONE : STREW_ADD);
  ASSERT_TRUE(bound.loops().columns_are_batch);
  const int64_t bytes = strip * bound.loops().component[0].axis_size * 4;
  GuardedBuffer scratch(static_cast<size_t>(bytes), Guard::kBehind);
  const BoundScatter::Words expected =
      copies ? bound.Expected(bound.data(), [](int64_t) { return true; }) : bound.Expected();
  strew::walk::WriteEntries(bound.scatter(), hints, Staging{copies, strip, bytes}, scratch.bytes());
  EXPECT_EQ(bound.output(), expected) << "strips of " << strip;
  EXPECT_TRUE(scratch.IsMarginIntact());
}

TEST(Strips, OfAnyWidthWriteWhatTheirAxisGets) {
  Random random(Seed());
  for (const int64_t columns : {2, 15, 16, 17, 33}) {
    for (int64_t strip = 1; strip <= columns; strip += strip < 18 ? 1 : 7) {
      const int64_t axis = random.Between(1, 40);
      const int64_t entries = random.Between(2, 50);
      const IndexSpace one = ElementsSpace({axis, columns}, {entries, columns}, 0);
      ExpectStrips(random, one, strip, kInPlace, {});
      ExpectStrips(random, one, strip, kCopies, {});
      const IndexSpace several = ElementsSpace({3, axis, columns}, {3, entries, columns}, 1);
      ExpectStrips(random, several, strip, kInPlace, {0, 32, false, true, false});
      ExpectStrips(random, several, strip, kCopies, {128, 0, false, true, false});
      ASSERT_FALSE(HasFailure());
    }
  }
}

// More columns of entries than a block of offsets has room for.
TEST(Strips, AreNoWiderThanABlock) {
  Random random(Seed());
  const IndexSpace space = ElementsSpace({3, 5000}, {4, 5000}, 0);
  for (const int64_t strip : {2047, 2048, 2049, 5000}) {
    ExpectStrips(random, space, strip, kInPlace, {});
    ExpectStrips(random, space, strip, kCopies, {});
  }
}

// ---- Pieces ------------------------------------------------------------------------------------

TEST(Pieces, AreCopiedJustBeforeTheirUpdates) {
  const int64_t cases = Cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t axis = random.Between(1, 100);
    // Short rows and long ones, of more entries than a block of offsets has room for.
    const int64_t entries = random.OneIn(8) ? random.Between(2000, 5000) : random.Between(2, 100);
    IndexSpace slices;
    slices.component[slices.components++] = {1, axis, 3, 3, 0};
    slices.entries.Append(entries, 0, 3, 1, 0);
    slices.inner.Append(7, 3 * axis, 3 * entries);
    slices.inner.Append(3, 1, 1);
    const std::vector<IndexSpace> spaces = {
        ElementsSpace({9, axis}, {9, entries}, 1), ElementsSpace({4, axis, 2}, {4, entries, 2}, 1),
        ElementsSpace({3, 2, axis}, {3, 2, entries}, 2), UpdateSpace({axis, 5}, entries), slices};
    BoundScatter bound(random, random.Pick(spaces), random.OneIn(2) ? STREW_NONE : STREW_ADD);
    bound.tuning().piece_bytes = random.Between(1, 2000);
    const BoundScatter::Words expected = bound.Expected(bound.data(), [](int64_t) { return true; });
    const MemoryHints hints = {random.OneIn(2) ? 128 : 0, 0, false, false, false};
    strew::walk::WriteEntries(bound.scatter(), hints, Staging{true, 0, 0}, nullptr);
    EXPECT_EQ(bound.output(), expected);
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

// ---- Slices ------------------------------------------------------------------------------------

// Few large entries, block by block: the updates of a destination stay in order.
TEST(Slices, AreWrittenInBlocksOfAnySize) {
  const int64_t cases = Cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t entries = random.Between(1, 64);
    IndexSpace on_last_axis;
    on_last_axis.component[on_last_axis.components++] = {1, 8, 1, 1, 0};
    on_last_axis.entries.Append(entries, 0, 1, 1, 0);
    on_last_axis.inner.Append(random.Between(1, 90), 8, entries);
    IndexSpace transposed;
    const int64_t turns = random.Between(2, 40), rows = random.Between(2, 20);
    transposed.component[transposed.components++] = {1, 8, 1, 1, 0};
    transposed.entries.Append(entries, 0, turns * rows, 1, 0);
    transposed.inner.Append(turns, 8 * rows, 1);
    transposed.inner.Append(rows, 8, turns);
    const std::vector<IndexSpace> spaces = {
        UpdateSpace({5, random.Between(1, 300)}, entries), UpdateSpace({2, 9, 40}, entries),
        NdSpace({3, 2, 100}, entries, 2), on_last_axis, transposed};
    BoundScatter bound(random, random.Pick(spaces), random.OneIn(2) ? STREW_NONE : STREW_ADD);
    strew::plan::Tuning& tuning = bound.tuning();
    tuning.few_slices = tuning.few_slice_rows = 64;
    tuning.least_slice = tuning.least_slice_block = 0;
    tuning.longest_slice_run = random.Between(0, 500);
    tuning.far_slice_blocks_part = random.OneIn(2) ? 0 : 1;  // prefetched or not
    tuning.slice_block = tuning.slice_run_block = random.Between(1, 2000);
    tuning.crossed_block = random.Between(1, 20000);
    tuning.least_crossed_turns = 1;
    const BoundScatter::Words expected = bound.Expected();
    const MemoryHints hints = {0, 0, random.OneIn(3), false, false};
    strew::walk::WriteEntries(bound.scatter(), hints, strew::plan::kNoStaging, nullptr);
    EXPECT_EQ(bound.output(), expected);
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

// Turns of an entry that all have its offset.
TEST(InnerTurns, AreWrittenForEveryEntry) {
  const int64_t cases = Cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t entries = random.Between(1, 100);
    IndexSpace space;
    space.component[space.components++] = {1, 8, 1, 1, 0};
    space.entries.Append(entries, 0, 1, 1, 0);
    if (random.OneIn(2)) space.inner.Append(random.Between(2, 4), 2000, 100 * entries);
    space.inner.Append(random.Between(2, 90), 8, entries);
    BoundScatter bound(random, space, random.OneIn(2) ? STREW_NONE : STREW_ADD);
    bound.tuning().few_slices = 0;
    const BoundScatter::Words expected = bound.Expected();
    const MemoryHints hints = {random.OneIn(2) ? 4 : 0, 0, false, false, false};
    strew::walk::WriteEntries(bound.scatter(), hints, strew::plan::kNoStaging, nullptr);
    EXPECT_EQ(bound.output(), expected);
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

// ---- Reads that are fetched --------------------------------------------------------------------

// A tile fetches the indices, updates and lines of the next one, wherever these lie.
TEST(LaterReads, MayLieAnywhere) {
  constexpr int64_t kRows = 3000;  // several tiles
  for (const int64_t entries : {3, 8, 11}) {
    for (const int64_t pitch : {1, 2}) {
      for (const int64_t step : {1, 3}) {
        Random random(Seed());
        IndexSpace space = ElementsSpace({kRows, 8}, {kRows, entries}, 1);
        space.component[0].output_stride *= step;
        space.batch.loop[0].stride[strew::plan::kOutput] *= step;
        space.batch.loop[0].stride[strew::plan::kUpdates] *= pitch;
        BoundScatter bound(random, space, STREW_ADD);
        bound.tuning().near_reads = bound.tuning().near_reads_that_wait = 0;
        bound.tuning().few_turns = bound.tuning().narrow_row = bound.tuning().narrow_batch = 0;
        bound.tuning().most_packed_tile = bound.tuning().most_packed_row = 0;
        bound.tuning().packed_tile_of_short_rows = 0;
        const BoundScatter::Words expected = bound.Expected();
        strew::walk::WriteEntries(bound.scatter(), {}, strew::plan::kNoStaging, nullptr);
        EXPECT_EQ(bound.output(), expected) << entries << ' ' << pitch << ' ' << step;
      }
    }
  }
}

// ---- Indices that serve as offsets -------------------------------------------------------------

enum class Order { kRandom, kAscending, kEqualAtEnds };

// Indices of rows of `entries`. Tiles of kEqualAtEnds begin and end with one index, wherever they
// end, so that they are divided until their offsets fit a block.
void Arrange(Order order, int64_t entries, std::vector<int64_t>* indices) {
  if (order == Order::kRandom) return;
  for (auto row = indices->begin(); row != indices->end(); row += entries) {
    if (order == Order::kAscending) {
      std::sort(row, row + entries);
    } else {
      std::replace_if(
          row, row + entries, [](int64_t index) { return index % 8 != 0; }, indices->front());
      row[0] = row[1] = indices->front();
    }
  }
}

void ExpectAtIndices(Random& random, const IndexSpace& space, int64_t entries, Order order) {
  BoundScatter bound(random, space, random.OneIn(2) ? STREW_NONE : STREW_ADD);
  strew::plan::Tuning& tuning = bound.tuning();
  for (int64_t& index : bound.indices()) {
    if (index < 0) index += space.component[0].axis_size;
  }
  Arrange(order, entries, &bound.indices());
  tuning.near_reads = tuning.near_reads_that_wait = random.OneIn(4) ? int64_t{1} << 40 : 0;
  tuning.few_turns = tuning.narrow_row = tuning.narrow_batch = 0;
  tuning.most_packed_tile = tuning.most_packed_row = tuning.packed_tile_of_short_rows = 0;
  tuning.unresolved_tile = random.Pick(std::vector<int64_t>{2048, 5000, 1 << 20});
  tuning.unfetched_row = random.OneIn(2) ? 0 : 1 << 20;
  MemoryHints hints = {random.OneIn(4) ? 128 : 0, 0, false, false, true};
  hints.unfetched_step = random.Pick(std::vector<int64_t>{0, 1, 8});
  tuning.fetched_step = random.Pick(std::vector<int64_t>{0, 8, 1 << 20});
  const BoundScatter::Words expected = bound.Expected();
  strew::walk::WriteEntries(bound.scatter(), hints, strew::plan::kNoStaging, nullptr);
  EXPECT_EQ(bound.output(), expected);
}

TEST(AtIndices, RowsAreWrittenInTilesOfAnySize) {
  const int64_t cases = Cases(200);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t axis = random.Between(1, random.OneIn(2) ? 10000 : 50);
    const int64_t entries = random.OneIn(2) ? random.Between(2000, 9000) : random.Between(2, 100);
    const int64_t rows = random.Between(1, random.OneIn(4) ? 200 : 4);
    const Order order =
        random.Pick(std::vector<Order>{Order::kRandom, Order::kAscending, Order::kEqualAtEnds});
    ExpectAtIndices(random, ElementsSpace({rows, axis}, {rows, entries}, 1), entries, order);
    ExpectAtIndices(random, ElementsSpace({axis}, {entries}, 0), entries, order);
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

// ---- Entries for a sink ------------------------------------------------------------------------

using UpdatesOfDestination = std::map<int64_t, std::vector<int64_t>>;

TEST(ForEachEntry, VisitsEachEntryInOrder) {
  const int64_t cases = Cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t entries = random.OneIn(4) ? random.Between(2, 2000) : random.Between(2, 30);
    const int64_t other = random.Between(1, 40);
    const std::vector<IndexSpace> spaces = {
        ElementsSpace({50}, {entries}, 0), ElementsSpace({other, 50}, {other, entries}, 1),
        ElementsSpace({50, other}, {entries, other}, 0),
        ElementsSpace({3, 50, other}, {2, entries, other}, 1), NdSpace({50, other}, entries, 2)};
    BoundScatter bound(random, random.Pick(spaces), STREW_NONE, random.OneIn(2) ? 5 : 0);
    if (random.OneIn(2)) {
      bound.tuning().few_turns = bound.tuning().narrow_row = bound.tuning().narrow_batch = 0;
    } else if (random.OneIn(2)) {
      bound.tuning().most_packed_tile = bound.tuning().least_flat_tile = 1 << 20;
      bound.tuning().least_flat_entries = 0;
    }
    UpdatesOfDestination expected;
    bound.ForEachUpdate(
        [&](int64_t destination, int64_t update) { expected[destination].push_back(update); });
    UpdatesOfDestination taken;
    int64_t fetched = 0;
    strew::walk::ForEachEntry(
        bound.scatter(), [&](int64_t) { ++fetched; },
        [&](int64_t destination, int64_t update) { taken[destination].push_back(update); });
    EXPECT_EQ(taken, expected);
    EXPECT_EQ(fetched, bound.loops().Entries());
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

}  // namespace
}  // namespace strew_test
