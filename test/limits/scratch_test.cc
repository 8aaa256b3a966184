// SPDX-License-Identifier: Apache-2.0
//
// Scratch of calls with policies and reductions of their own plan: how much, and what happens
// without it. strew.h names the exceptions from 2 MiB and 64 KiB for each worker.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/trial.h"
#include "reference/wide.h"
#include "support/call_shapes.h"
#include "support/counting_allocator.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kOfCall = int64_t{2} << 20;
constexpr int64_t kOfWorker = int64_t{64} << 10;

struct Setting {
  const char* name;
  strew_dtype dtype;
  strew_reduction reduction;
  strew_index_policy policy = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicates = STREW_DUPLICATE_LAST;
};

const Setting kSettings[] = {
    {"NoneDrop", STREW_INT8, STREW_NONE, STREW_INDEX_DROP},
    {"AddClamp", STREW_FLOAT32, STREW_ADD, STREW_INDEX_CLAMP},
    {"AddExcludeSelf", STREW_FLOAT32, STREW_ADD | STREW_EXCLUDE_SELF},
    {"MulExcludeSelf", STREW_INT8, STREW_MUL | STREW_EXCLUDE_SELF, STREW_INDEX_DROP},
    {"MinExcludeSelf", STREW_FLOAT16, STREW_MIN | STREW_EXCLUDE_SELF},
    {"AddExcludeSelfOfComplex", STREW_COMPLEX64, STREW_ADD | STREW_EXCLUDE_SELF},
    {"MulExcludeSelfOfComplex", STREW_COMPLEX64, STREW_MUL | STREW_EXCLUDE_SELF},
    {"MulExcludeSelfDropOfComplex", STREW_COMPLEX128, STREW_MUL | STREW_EXCLUDE_SELF,
     STREW_INDEX_DROP},
    {"Duplicates", STREW_INT32, STREW_NONE, STREW_INDEX_ERROR, STREW_DUPLICATE_ERROR},
    {"DuplicatesDrop", STREW_FLOAT64, STREW_ADD, STREW_INDEX_DROP, STREW_DUPLICATE_ERROR},
    {"Mean", STREW_FLOAT32, STREW_MEAN},
    {"MeanOfBytes", STREW_INT8, STREW_MEAN, STREW_INDEX_DROP},
    {"MeanOfLongs", STREW_INT64, STREW_MEAN},
    {"MeanExcludeSelf", STREW_COMPLEX128, STREW_MEAN | STREW_EXCLUDE_SELF},
    {"MeanWithoutDuplicates", STREW_FLOAT64, STREW_MEAN, STREW_INDEX_CLAMP, STREW_DUPLICATE_ERROR},
    {"AddWide", STREW_BFLOAT16, STREW_ADD | STREW_WIDE},
    {"SubWideOfBytes", STREW_FLOAT8_E5M2, STREW_SUB | STREW_WIDE, STREW_INDEX_DROP},
    {"MulWideExcludeSelf", STREW_FLOAT16, STREW_MUL | STREW_WIDE | STREW_EXCLUDE_SELF},
    {"AddWideWithoutDuplicates", STREW_FLOAT16, STREW_ADD | STREW_WIDE, STREW_INDEX_CLAMP,
     STREW_DUPLICATE_ERROR},
    {"AddWideOfFloats", STREW_FLOAT32, STREW_ADD | STREW_WIDE},
};

// Means, and sums, differences and products of floats of 8 and 16 bits that are rounded once.
bool Accumulates(const Case& c) {
  return (c.reduction & ~STREW_EXCLUDE_SELF) == STREW_MEAN ||
         RoundsOnce(c.data.dtype(), c.reduction);
}

// True if the first update of an element cannot be told from others without memory.
bool RemembersFirstUpdates(const Case& c) {
  const bool complex = Find(c.data.dtype()).kind == Kind::kComplex;
  return complex && c.reduction == (STREW_MUL | STREW_EXCLUDE_SELF);
}

// Index values of scatter_elements, tuples of scatter_nd, indices of scatter_update.
int64_t EntriesOf(const Case& c) {
  if (!c.indices || Takes(c.op, "mode")) return 0;
  const Dims& shape = c.indices->shape();
  if (c.op != Operator::kScatterNd) return Product(shape);
  return Product(Dims(shape.begin(), shape.end() - 1));
}

bool NeedsScratch(const Case& c) {
  return Accumulates(c) || RemembersFirstUpdates(c) || c.duplicates == STREW_DUPLICATE_ERROR;
}

int64_t LimitOf(const Case& c, const Outcome& outcome, int32_t workers) {
  int64_t limit = kOfCall + workers * kOfWorker;
  const int64_t touched = std::count(outcome.reduced.begin(), outcome.reduced.end(), true);
  if (Accumulates(c)) limit += 40 * touched;
  if (c.duplicates == STREW_DUPLICATE_ERROR) limit += 16 * EntriesOf(c);
  if (RemembersFirstUpdates(c)) limit += 16 * EntriesOf(c);
  if (workers > 1) limit += 16 * EntriesOf(c);
  return limit;
}

class ScratchOf : public testing::TestWithParam<Setting> {
 protected:
  // Calls it with so many blocks granted. Answers how many were wanted.
  int64_t Try(Case& c, Trial& trial, int32_t workers, int64_t granted) {
    const Context context = MakeContext();
    if (workers > 1) threads_.InstallIn(context.get(), workers);
    CountingAllocator allocator(granted);
    allocator.InstallIn(context.get());
    allocator.OnRequest([&] {
      EXPECT_TRUE(c.destination().Snapshot() == before_)
          << workers << " workers ask for scratch when the output is written: " << Describe(c);
    });
    EXPECT_EQ(trial.Trouble(context.get()), "")
        << workers << " workers, " << granted << " blocks granted: " << Describe(c);
    EXPECT_LE(static_cast<int64_t>(allocator.peak()), LimitOf(c, trial.outcome(), workers))
        << workers << " workers: " << Describe(c);
    return allocator.requests();
  }

  void CheckCallShape(Random& random, const CallShape& call_shape, bool in_place) {
    Case c = MakeCase(random, call_shape, GetParam().dtype, in_place);
    c.reduction = GetParam().reduction;
    c.policy = GetParam().policy;
    c.duplicates = GetParam().duplicates;
    before_ = c.destination().Snapshot();
    Trial trial(c);
    if (NeedsScratch(c)) trial.AllowOutOfMemory();
    for (const int32_t workers : {1, 4}) {
      const int64_t wanted = Try(c, trial, workers, CountingAllocator::kGrantsAll);
      for (int64_t granted = 0; granted < wanted; ++granted) Try(c, trial, workers, granted);
    }
  }

  void CheckCallShapes(const std::vector<CallShape>& call_shapes) {
    Random random(Seed());
    bool in_place = false;
    for (const CallShape& call_shape : call_shapes) {
      in_place = !in_place;
      if (!Takes(call_shape.op, "mode")) CheckCallShape(random, call_shape, in_place);
      ASSERT_FALSE(HasFailure()) << call_shape.name;
    }
  }

 private:
  StdThreads threads_;
  std::vector<unsigned char> before_;  // what the output holds before each call
};

INSTANTIATE_TEST_SUITE_P(EverySetting, ScratchOf, testing::ValuesIn(kSettings),
                         [](const auto& test) { return test.param.name; });

TEST_P(ScratchOf, ElementsTuplesAndSlicesIsLimitedAndMayBeRefused) {
  CheckCallShapes(CallShapes(1 << 15, 1 << 16));
}

TEST_P(ScratchOf, AxesIsLimitedAndMayBeRefused) {
  CheckCallShapes(AxisCallShapes(1 << 15, 1 << 16));
}

TEST_P(ScratchOf, FewUpdatesOfLargeDataIsLimited) {
  CheckCallShapes({{"one line", Operator::kScatterElements, {1 << 20}, {100}, 0},
                   {"first axis", Operator::kScatterElements, {1024, 1024}, {10, 10}, 0},
                   {"pairs", Operator::kScatterNd, {1024, 1024}, {100, 2}},
                   {"rows", Operator::kScatterNd, {1 << 14, 64}, {10, 1}},
                   {"columns", Operator::kScatterUpdate, {128, 1 << 13}, {3}, 1}});
}

// So much that what is allowed for an element or an entry counts.
TEST_P(ScratchOf, ManyElementsIsLimited) {
  constexpr int64_t kMany = 1 << 18;
  CheckCallShapes(
      {{"one line", Operator::kScatterElements, {kMany}, {kMany}, 0, STREW_INT32},
       {"part of a line", Operator::kScatterElements, {4 * kMany}, {kMany / 2}, 0},
       {"last axis", Operator::kScatterElements, {512, 512}, {512, 512}, 1, STREW_INT32},
       {"short rows", Operator::kScatterNd, {kMany / 8, 3}, {kMany / 8, 1}},
       {"short rows twice", Operator::kScatterNd, {kMany / 16, 7}, {kMany / 8, 1}},
       {"few short rows", Operator::kScatterNd, {8000, 7}, {70000, 1}}});
}

// One element, or few, that all entries name.
TEST_P(ScratchOf, ManyEntriesOfFewElementsIsLimited) {
  constexpr int64_t kMany = 1 << 18;
  std::vector<CallShape> call_shapes = {
      {"one line", Operator::kScatterElements, {kMany}, {kMany}, 0, STREW_INT32},
      {"pairs", Operator::kScatterNd, {512, 512}, {kMany, 2}, 0, STREW_INT32},
      {"last axis", Operator::kScatterElements, {16, 1 << 14}, {16, 1 << 14}, 1},
      {"indices", Operator::kScatterUpdate, {4, 1 << 10}, {kMany / 4}, 1, STREW_INT32}};
  for (CallShape& call_shape : call_shapes) call_shape.spread = Spread::kAllEqual;
  CheckCallShapes(call_shapes);
}

// Rounding up for each of many workers must not exceed what all may have together.
TEST(ScratchOfWorkers, IsLimitedForUnevenShares) {
  constexpr int64_t kData = int64_t{1} << 23, kUpdates = 1000003;
  std::vector<int64_t> indices(kUpdates);
  std::mt19937_64 random(3);
  for (int64_t& index : indices) index = static_cast<int64_t>(random() % kData);
  std::vector<unsigned char> data(static_cast<size_t>(16 * kData));
  unsigned char update[16] = {};
  const Tensor tensor = MakeTensor(STREW_COMPLEX128, RowMajor({kData}), data.data());
  const Tensor index = MakeTensor(STREW_INT64, RowMajor({kUpdates}), indices.data());
  const Tensor updates = MakeTensor(STREW_COMPLEX128, {{kUpdates}, {0}}, update);
  InOrder in_order;
  for (const int32_t workers : {2, 3, 33, 64, 200}) {
    const Context context = MakeContext();
    in_order.InstallIn(context.get(), workers);
    CountingAllocator allocator(CountingAllocator::kGrantsAll);
    allocator.InstallIn(context.get());
    ASSERT_EQ(strew_scatter_elements(context.get(), tensor.get(), index.get(), updates.get(), 0,
                                     STREW_ADD, tensor.get()),
              STREW_OK);
    EXPECT_LE(static_cast<int64_t>(allocator.peak()), kOfCall + workers * kOfWorker + 16 * kUpdates)
        << workers;
  }
}

// Counts of touched elements leave no room for strips of an axis.
TEST(ScratchOfMeans, HasNoStripsBesideCounts) {
  constexpr int64_t kRows = 5400, kColumns = 1024, kUpdates = 667;
  for (const int64_t places : {4, 7}) {
    std::vector<int64_t> indices(kUpdates * kColumns);
    for (size_t i = 0; i < indices.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / kColumns,
                    column = static_cast<int64_t>(i) % kColumns;
      indices[i] = row % places * 700 + column % 700;
    }
    std::vector<float> data(kRows * kColumns), output(data.size()), update(indices.size());
    const Tensor from = MakeTensor(STREW_FLOAT32, RowMajor({kRows, kColumns}), data.data());
    const Tensor to = MakeTensor(STREW_FLOAT32, RowMajor({kRows, kColumns}), output.data());
    const Tensor index = MakeTensor(STREW_INT64, RowMajor({kUpdates, kColumns}), indices.data());
    const Tensor updates = MakeTensor(STREW_FLOAT32, RowMajor({kUpdates, kColumns}), update.data());
    const Context context = MakeContext();
    CountingAllocator allocator(CountingAllocator::kGrantsAll);
    allocator.InstallIn(context.get());
    ASSERT_EQ(strew_scatter_elements(context.get(), from.get(), index.get(), updates.get(), 0,
                                     STREW_MEAN, to.get()),
              STREW_OK);
    EXPECT_LE(static_cast<int64_t>(allocator.peak()), kOfCall + kOfWorker + 40 * places * kColumns);
  }
}

// An estimate is off by some percent for elements that many updates meet each: of these sixteen,
// some are too high for the sums beside the table.
TEST(ScratchOfMeans, IsLimitedWhateverTheEstimate) {
  constexpr int64_t kTouched = 200000, kUpdates = 80 * kTouched, kStep = 40;
  std::vector<uint16_t> data(kTouched * kStep);
  std::vector<int32_t> indices(kUpdates);
  uint16_t update = 0;
  const Tensor tensor =
      MakeTensor(STREW_FLOAT16, RowMajor({static_cast<int64_t>(data.size())}), data.data());
  const Tensor index = MakeTensor(STREW_INT32, RowMajor({kUpdates}), indices.data());
  const Tensor updates = MakeTensor(STREW_FLOAT16, {{kUpdates}, {0}}, &update);
  for (uint64_t seed = 0; seed < 16; ++seed) {
    std::mt19937_64 random(seed);
    for (int64_t i = 0; i < kTouched; ++i) {
      const auto place = i * kStep + static_cast<int64_t>(random() % kStep);
      for (int64_t j = i; j < kUpdates; j += kTouched) {
        indices[static_cast<size_t>(j)] = static_cast<int32_t>(place);
      }
    }
    const Context context = MakeContext();
    CountingAllocator allocator(CountingAllocator::kGrantsAll);
    allocator.InstallIn(context.get());
    ASSERT_EQ(strew_scatter_elements(context.get(), tensor.get(), index.get(), updates.get(), 0,
                                     STREW_MEAN, tensor.get()),
              STREW_OK);
    EXPECT_EQ(strew_context_applied(context.get()), kUpdates);
    EXPECT_LE(static_cast<int64_t>(allocator.peak()), kOfCall + kOfWorker + 40 * kTouched) << seed;
  }
}

}  // namespace
}  // namespace strew_test
