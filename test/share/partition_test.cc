// SPDX-License-Identifier: Apache-2.0
//
// Partitions against a plain loop, in scratch of exactly as many bytes as they ask for.
#include "share/partition.h"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "plan/schedule.h"
#include "reference/guarded_buffer.h"
#include "reference/random.h"
#include "support/reference.h"
#include "support/runners.h"
#include "walk/bound_scatter.h"

namespace strew_test {
namespace {

using strew::plan::EntryLoops;
using strew::plan::MostScratch;
using strew::plan::Ranges;
using strew::plan::Spread;
using strew::share::PartitionBytes;
using strew::share::RunPartition;

Ranges RangesOf(Random& random, int64_t size, int64_t count) {
  Spread spread;
  for (int64_t i = 0; i < 300; ++i) spread.Add(random.Between(0, size - 1));
  spread.Finish(1, 0);
  return Ranges(spread, count);
}

// In place of a runner of the context: tasks in turn, the last one first.
int32_t RunBackwards(void*, int64_t count, strew_task run, void* task) {
  for (int64_t i = count; i > 0; --i) run(task, i - 1);
  return 0;
}

// The scratch of all tasks ends before an unreadable page.
void ExpectPartition(Random& random, BoundScatter& bound, const Ranges& ranges) {
  bound.settings().runner = {RunBackwards, nullptr, static_cast<int32_t>(ranges.count())};
  const int64_t bytes = PartitionBytes(bound.loops(), 4, ranges.count());
  GuardedBuffer scratch(static_cast<size_t>(bytes * ranges.count()), Guard::kBehind);
  const BoundScatter::Words expected = bound.Expected();
  const int64_t prefetch = random.OneIn(2) ? 128 : 0;
  const strew::Status status =
      RunPartition(bound.scatter(), {prefetch, 0, false, false, false}, ranges, scratch.bytes());
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(bound.output(), expected);
  EXPECT_TRUE(scratch.IsMarginIntact());
}

TEST(Partition, WritesEachEntryOnceAndInOrder) {
  const int64_t cases = Cases(300);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    const int64_t tasks = random.Between(2, 9);
    const int64_t entries = random.OneIn(3) ? tasks : random.Between(tasks, 5000);
    const int64_t size = random.Between(1, 1000);
    const strew_reduction reduction = random.OneIn(2) ? STREW_NONE : STREW_ADD;
    const int64_t bad_in = random.OneIn(2) ? 6 : 0;
    BoundScatter bound(
        random,
        random.OneIn(2) ? ElementsSpace({size}, {entries}, 0) : NdSpace({size, 10}, entries, 2),
        reduction, bad_in);
    ExpectPartition(random, bound, RangesOf(random, size, tasks));
    if (bad_in != 0) {
      EXPECT_EQ(bound.applied(), bound.CountWanted([](int64_t) { return true; }));
    }
    ASSERT_FALSE(HasFailure()) << "STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
  }
}

// 2 MiB hold about 174,000 entries of 12 bytes.
TEST(Partition, GoesInRoundsWhereScratchIsShort) {
  Random random(Seed());
  BoundScatter bound(random, ElementsSpace({100000}, {700001}, 0), STREW_NONE);
  ExpectPartition(random, bound, RangesOf(random, 100000, 2));
}

TEST(Partition, WritesWhereRangesAreEmpty) {
  Random random(Seed());
  Spread spread;
  for (int64_t i = 0; i < 300; ++i) spread.Add(7);
  spread.Finish(1, 0);
  BoundScatter bound(random, ElementsSpace({20}, {5000}, 0), STREW_ADD);
  ExpectPartition(random, bound, Ranges(spread, 5));
}

TEST(Partition, AsksForNoMoreThanIsPromised) {
  for (const int64_t entries : {64, 4096, 100000, 1 << 20, 1 << 28}) {
    for (const int64_t size : {int64_t{100}, int64_t{1} << 40}) {
      const EntryLoops loops(ElementsSpace({size}, {entries}, 0), {});
      for (const int64_t tasks : {2, 3, 8, 64}) {
        for (const int64_t width : {1, 3, 4, 16}) {
          const int64_t bytes = PartitionBytes(loops, width, tasks);
          EXPECT_EQ(bytes % 64, 0);
          EXPECT_LE(bytes, 4 << 20);
          EXPECT_LE(tasks * bytes, tasks * MostScratch(tasks) + entries * 16);
          // Fewer entries need less: those of a task, their offsets twice, a table and margins.
          const int64_t offset_size = size > INT32_MAX ? 8 : 4;
          const int64_t all = (entries / tasks + 1) * (2 * offset_size + width);
          EXPECT_LE(bytes, all + (tasks + 1) * 8 + 16 * offset_size + 64);
        }
      }
    }
  }
}

}  // namespace
}  // namespace strew_test
