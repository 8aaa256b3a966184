// SPDX-License-Identifier: Apache-2.0
// Repeats become runs, and no entry is lost or moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "kernel/kernel.h"
#include "reference/random.h"

namespace strew {
namespace {

using kernel::NextReads;
using kernel::TileArguments;
using reference::Random;

// An update and the element that it goes to, both by number.
using Access = std::pair<int64_t, int64_t>;

constexpr int64_t kElement = 4;
constexpr int64_t kIndex = 8;
constexpr int64_t kMost = 4096;

unsigned char output[kElement * kMost];
unsigned char updates[kElement * kMost];
unsigned char next_indices[kIndex * kMost];
unsigned char next_output[kElement * kMost];

// The calls of the kernels below.
struct Seen {
  std::vector<Access> accesses;
  int64_t runs = 0;
  int64_t longest_run = 0;
  int64_t last_lookahead = -1;
};
Seen seen;

void See(const unsigned char* to, const unsigned char* from) {
  seen.accesses.push_back({(from - updates) / kElement, (to - output) / kElement});
}

void Run(unsigned char* to, int64_t output_stride, const unsigned char* from, int64_t stride,
         int64_t n) {
  EXPECT_EQ(output_stride, 0);
  ++seen.runs;
  seen.longest_run = std::max(seen.longest_run, n);
  for (int64_t i = 0; i < n; ++i) See(to, from + i * stride * kElement);
}

template <class Offset>
void Elements(const TileArguments& tile, const NextReads& next) {
  const Offset* offsets = static_cast<const Offset*>(tile.offsets);
  for (int64_t r = 0; r < tile.rows; ++r, offsets += tile.offsets_row_stride) {
    for (int64_t c = 0; c < tile.columns; ++c) {
      const int64_t update = r * tile.updates_row_stride + c * tile.updates_column_stride;
      const unsigned char* const from = tile.updates + update * kElement;
      See(tile.output + (r * tile.output_row_stride + offsets[c]) * kElement, from);
      if (next.indices == nullptr) continue;
      // The tests number updates as they number these reads.
      const int64_t number = (from - updates) / kElement;
      EXPECT_EQ(next.indices + r * next.indices_row_stride + c * next.index_size,
                next_indices + number * kIndex);
      const int64_t column = number % (next.output_row_stride / kElement);
      const int64_t groups = (column - c) / NextReads::kGroup + c / NextReads::kGroup;
      EXPECT_EQ(next.output + r * next.output_row_stride + c / NextReads::kGroup * next.output_step,
                next_output + (number - column) * kElement + groups * next.output_step);
    }
  }
  seen.last_lookahead = tile.lookahead;
}

constexpr kernel::CombineKernels kKernels = {
    kElement, false,   8,       Run,    {Elements<int32_t>, Elements<int64_t>},
    nullptr,  nullptr, nullptr, nullptr};

// Offsets of which each repeats the one before but for one in `n`.
template <class Offset>
std::vector<Offset> Offsets(Random& random, int64_t count, int64_t n) {
  std::vector<Offset> offsets;
  for (int64_t i = 0; i < count; ++i) {
    const bool repeats = i > 0 && !random.OneIn(n);
    offsets.push_back(repeats ? offsets.back() : static_cast<Offset>(random.Between(0, 99)));
  }
  return offsets;
}

struct Tile {
  TileArguments arguments;
  NextReads next;
};

// A tile whose updates lie one after another, as what is read later does.
Tile TileOf(const void* offsets, int64_t rows, int64_t columns) {
  Tile tile = {{output, updates, offsets, rows, 0, columns, columns, columns, 1, 0, 0}, {}};
  tile.next.indices = next_indices;
  tile.next.indices_row_stride = columns * kIndex;
  tile.next.index_size = kIndex;
  tile.next.output = next_output;
  tile.next.output_row_stride = columns * kElement;
  tile.next.output_step = NextReads::kGroup * kElement;
  return tile;
}

Seen Combine(const kernel::CombineKernels& kernels, kernel::OffsetWidth width, const Tile& tile) {
  seen = {};
  kernel::CombineEntries(kernels, width, tile.arguments, tile.next);
  return std::exchange(seen, {});
}

template <class Offset>
void ExpectEveryAccess(kernel::OffsetWidth width) {
  int64_t runs = 0;
  int64_t cases = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(reference::Seed() + seed);
    const int64_t rows = random.OneIn(2) ? 1 : random.Between(1, 20);
    const int64_t columns = random.Between(1, rows == 1 ? 1000 : 50);
    const int64_t rarely = random.Pick(std::vector<int64_t>{1, 3, 10, 30, 300});
    const std::vector<Offset> offsets = Offsets<Offset>(random, rows * columns, rarely);
    Tile tile = TileOf(offsets.data(), rows, columns);
    tile.arguments.output_row_stride = random.Between(0, 100);
    std::vector<Access> expected;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const int64_t row = i / columns * tile.arguments.output_row_stride;
      expected.push_back({i, row + offsets[static_cast<size_t>(i)]});
    }
    const Seen all = Combine(kKernels, width, tile);
    ASSERT_EQ(all.accesses, expected) << "STREW_SEED=" << reference::Seed() + seed;
    runs += all.runs > 0 ? 1 : 0;
    ++cases;
  }
  EXPECT_GT(5 * runs, cases);
}

TEST(Repeats, HaveEveryAccessInOrder) {
  ExpectEveryAccess<int32_t>(kernel::kOffset32);
  ExpectEveryAccess<int64_t>(kernel::kOffset64);
}

TEST(Repeats, AreAsLongAsTheyCanBe) {
  std::vector<int32_t> offsets(300, 7);
  std::fill(offsets.begin() + 3, offsets.begin() + 203, 9);
  const Seen all = Combine(kKernels, kernel::kOffset32, TileOf(offsets.data(), 1, 300));
  EXPECT_EQ(all.runs, 2);
  EXPECT_EQ(all.longest_run, 200);
}

// Repeats that are too short, and kernels that do not look for any.
TEST(Repeats, AreLeftOutIfTheyCost) {
  std::vector<int32_t> offsets;
  for (int32_t i = 0; i < 300; ++i) offsets.push_back(i / 7);
  const Tile short_runs = TileOf(offsets.data(), 1, 300);
  EXPECT_EQ(Combine(kKernels, kernel::kOffset32, short_runs).runs, 0);
  std::fill(offsets.begin(), offsets.end(), 5);
  const Tile one_run = TileOf(offsets.data(), 1, 300);
  EXPECT_EQ(Combine(kKernels, kernel::kOffset32, one_run).runs, 1);
  kernel::CombineKernels moves = kKernels;
  moves.least_repeats = 0;
  EXPECT_EQ(Combine(moves, kernel::kOffset32, one_run).runs, 0);
}

// Part of a tile may prefetch the destinations of all entries behind it.
TEST(Repeats, LookAheadOverWhatFollows) {
  std::vector<int32_t> offsets(200, 7);
  std::iota(offsets.begin() + 160, offsets.end(), 10);
  Tile tile = TileOf(offsets.data(), 1, 180);
  tile.arguments.prefetch = 16;
  tile.arguments.lookahead = 20;
  EXPECT_EQ(Combine(kKernels, kernel::kOffset32, tile).last_lookahead, 20);
  std::rotate(offsets.begin(), offsets.begin() + 160, offsets.begin() + 180);
  const Seen all = Combine(kKernels, kernel::kOffset32, tile);
  EXPECT_EQ(all.runs, 1);
  EXPECT_EQ(all.last_lookahead, 20 + 160);
}

// ---- Slots ----

void AddEach(const kernel::CountedSums& sums, const kernel::SlotUpdates& all) {
  const bool is_run =
      std::all_of(all.slots, all.slots + all.n, [&](int32_t slot) { return slot == all.slots[0]; });
  if (is_run && all.n > 1) ++seen.runs;
  for (int64_t i = 0; i < all.n; ++i) {
    See(sums.sums + all.slots[i] * kElement, all.updates + i * all.updates_stride * kElement);
  }
}

TEST(SlotRuns, HaveEveryUpdateInOrder) {
  kernel::SlotKernels kernels = {};
  kernels.add_each = AddEach;
  int64_t with_runs = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(reference::Seed() + seed);
    kernels.least_repeats = random.OneIn(4) ? 0 : random.Between(3, 20);
    const int64_t n = random.Between(1, 1000);
    const int64_t stride = random.Between(0, 3);
    const std::vector<int32_t> slots =
        Offsets<int32_t>(random, n, random.Pick(std::vector<int64_t>{1, 5, 40}));
    std::vector<Access> expected;
    for (int64_t i = 0; i < n; ++i) {
      expected.push_back({i * stride, slots[static_cast<size_t>(i)]});
    }
    seen = {};
    kernel::WalkSlots(kernels, kElement, {output, nullptr}, {slots.data(), updates, stride, n});
    ASSERT_EQ(seen.accesses, expected) << "STREW_SEED=" << reference::Seed() + seed;
    with_runs += seen.runs > 1 ? 1 : 0;
  }
  EXPECT_GT(with_runs, 50);
}

}  // namespace
}  // namespace strew
