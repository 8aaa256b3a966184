// SPDX-License-Identifier: Apache-2.0
//
// Scratch from the caller's allocator: how much, whether all of it comes back, and what happens
// when there is none.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/platform.h"
#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/call_shapes.h"
#include "support/counting_allocator.h"
#include "support/reference.h"
#include "support/reservation.h"

namespace strew_test {
namespace {

constexpr size_t kScratchLimit = (size_t{2} << 20) + (size_t{64} << 10);

Case MakeElements(Random& random, strew_dtype dtype, strew_dtype index, const Dims& shape,
                  int64_t axis, strew_reduction reduction) {
  Case c{Operator::kScatterElements, RandomArray(random, dtype, RowMajor(shape)),
         RandomArray(random, dtype, RowMajor(shape))};
  c.indices = RandomIndices(random, index, RowMajor(shape), shape[static_cast<size_t>(axis)]);
  c.axis = axis;
  c.reduction = reduction;
  return c;
}

// Calls that are large or crooked enough to want scratch, if any call does. Integers have no NaN
// whose payload were open: bytes are compared as they are.
std::vector<Case> MakeLargeCases() {
  Random random(Seed());
  std::vector<Case> cases;
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MAX}) {
    for (const strew_dtype index : {STREW_INT64, STREW_INT32, STREW_UINT16, STREW_INT8}) {
      const bool narrow = index == STREW_INT8;
      for (const int64_t axis : {0, 1}) {
        const Dims shape = narrow ? Dims{100, 120} : Dims{300, 700};
        cases.push_back(MakeElements(random, STREW_INT32, index, shape, axis, reduction));
      }
    }
    Case nd{Operator::kScatterNd, RandomArray(random, STREW_INT16, RowMajor({60, 50, 3})),
            RandomArray(random, STREW_INT16, {{20000, 3}, {3, -1}})};
    nd.indices = RandomIndices(random, STREW_INT32, {{20000, 2}, {-2, 1}}, 50);
    nd.reduction = reduction;
    cases.push_back(std::move(nd));

    // A column 20,000 long: strips of columns cannot be kept near the cache.
    cases.push_back(MakeElements(random, STREW_INT64, STREW_INT64, {20000, 9}, 0, reduction));

    Case slice{Operator::kSliceScatterInt64, RandomArray(random, STREW_INT8, {{90, 80}, {1, 90}}),
               RandomArray(random, STREW_INT8, {{90, 27}, {-1, -90}})};
    slice.SetSlice({79}, {-81}, {-3}, {1});
    slice.reduction = reduction;
    cases.push_back(std::move(slice));
  }
  // Long rows, of which the first updates are told from others.
  Case rows{Operator::kScatterNd, RandomArray(random, STREW_INT32, RowMajor({100, 400})),
            RandomArray(random, STREW_INT32, RowMajor({200, 400}))};
  rows.indices = RandomIndices(random, STREW_INT32, RowMajor({200, 1}), 100);
  rows.reduction = STREW_ADD | STREW_EXCLUDE_SELF;
  cases.push_back(std::move(rows));
  return cases;
}

class Allocator : public testing::Test {
 protected:
  // Calls with an allocator that grants so many blocks; answers how many were wanted.
  static int64_t CallWith(int64_t granted, Case& c) {
    const auto before = c.data.Snapshot();
    auto expected = before;
    const View view = c.data.ViewOf(expected.data());
    Expect(c, view, view);

    const Context context = MakeContext();
    CountingAllocator allocator(granted);
    allocator.InstallIn(context.get());
    const strew_status status = Call(c, context.get(), c.data.tensor());
    const bool refused = allocator.requests() > granted;
    EXPECT_TRUE(status == STREW_OK || (refused && status == STREW_OUT_OF_MEMORY))
        << strew_status_name(status) << Describe(c);
    EXPECT_EQ(status == STREW_OK, std::string(strew_context_error(context.get())).empty());
    EXPECT_EQ(c.data.Snapshot(), status == STREW_OK ? expected : before) << Describe(c);
    EXPECT_LE(allocator.peak(), kScratchLimit) << Describe(c);
    c.data.Restore(before);
    return allocator.requests();
  }
};

TEST_F(Allocator, EveryRequestMayBeRefused) {
  for (Case& c : MakeLargeCases()) {
    const int64_t wanted = CallWith(1000, c);
    for (int64_t granted = 0; granted < wanted; ++granted) CallWith(granted, c);
  }
}

// Memory that is not aligned as asked is taken for none, and given back.
TEST_F(Allocator, MisalignedMemoryIsNotUsed) {
  struct Misaligned {
    int64_t live = 0;
    static void* Allocate(void* opaque, size_t size, size_t alignment) {
      ++static_cast<Misaligned*>(opaque)->live;
      const size_t rounded = (size + 2 * alignment) / alignment * alignment;
      return static_cast<char*>(strew::AllocateAligned(alignment, rounded)) + alignment / 2;
    }
    static void Free(void* opaque, void* memory, size_t) {
      --static_cast<Misaligned*>(opaque)->live;
      strew::FreeAligned(static_cast<char*>(memory) - 32);
    }
  };
  for (Case& c : MakeLargeCases()) {
    for (const strew_duplicate_policy policy : {STREW_DUPLICATE_LAST, STREW_DUPLICATE_ERROR}) {
      const auto before = c.data.Snapshot();
      Misaligned misaligned;
      const Context context = MakeContext();
      strew_context_set_duplicate_policy(context.get(), policy);
      strew_context_set_allocator(context.get(), Misaligned::Allocate, Misaligned::Free,
                                  &misaligned);
      const strew_status status = Call(c, context.get(), c.data.tensor());
      EXPECT_TRUE(status == STREW_OK ||
                  (policy == STREW_DUPLICATE_ERROR && status == STREW_OUT_OF_MEMORY))
          << strew_status_name(status) << Describe(c);
      EXPECT_EQ(misaligned.live, 0);
      c.data.Restore(before);
    }
  }
}

TEST_F(Allocator, SmallCallsAllocateNothing) {
  Random random(Seed());
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MUL, STREW_MIN, STREW_MAX}) {
    for (const strew_dtype index : {STREW_INT64, STREW_INT32, STREW_INT8}) {
      for (const Dims& shape : {Dims{64}, Dims{8, 8}, Dims{2, 8, 4}}) {
        for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
          Case c = MakeElements(random, STREW_INT32, index, shape, axis, reduction);
          EXPECT_EQ(CallWith(0, c), 0) << Describe(c);
        }
      }
    }
    Case nd{Operator::kScatterNd, RandomArray(random, STREW_INT32, RowMajor({9, 9, 4})),
            RandomArray(random, STREW_INT32, RowMajor({4, 4, 4}))};
    nd.indices = RandomIndices(random, STREW_UINT8, RowMajor({4, 4, 2}), 9);
    nd.reduction = reduction;
    EXPECT_EQ(CallWith(0, nd), 0) << Describe(nd);
  }
  for (const int64_t entries : {40, 64}) {
    Case opaque{Operator::kScatterUpdate, RandomArray(random, STREW_OPAQUE(256), RowMajor({2})),
                RandomArray(random, STREW_OPAQUE(256), RowMajor({entries}))};
    opaque.indices = RandomIndices(random, STREW_INT64, RowMajor({entries}), 2);
    EXPECT_EQ(CallWith(0, opaque), 0) << Describe(opaque);
  }
}

// No call allocates only to choose its error: few entries are compared without scratch, and a mean
// with duplicates needs none, because it is not computed.
TEST_F(Allocator, DuplicatesOfFewEntriesAreFoundWithoutScratch) {
  Random random(Seed());
  constexpr int64_t kFew = 64;
  for (const int64_t entries : {kFew, kFew + 1}) {
    for (const strew_reduction reduction : AllReductionsOf(Find(STREW_INT32))) {
      Case c = MakeElements(random, STREW_INT32, STREW_INT64, {entries}, 0, reduction);
      for (int64_t i = 0; i < entries; ++i) WriteIndex(STREW_INT64, c.indices->view().At({i}), i);
      WriteIndex(STREW_INT64, c.indices->view().At({entries - 1}), 0);
      const auto before = c.data.Snapshot();
      const Context context = MakeContext();
      strew_context_set_duplicate_policy(context.get(), STREW_DUPLICATE_ERROR);
      CountingAllocator allocator(/*granted=*/0);
      allocator.InstallIn(context.get());
      const strew_status status = Call(c, context.get(), c.data.tensor());
      EXPECT_EQ(status, entries == kFew ? STREW_DUPLICATE_INDEX : STREW_OUT_OF_MEMORY)
          << Describe(c);
      EXPECT_EQ(allocator.requests(), entries == kFew ? 0 : 1);
      EXPECT_EQ(c.data.Snapshot(), before);
    }
  }
}

TEST_F(Allocator, RefusedCallsAllocateNothingThatStays) {
  Random random(Seed());
  Case c = MakeElements(random, STREW_INT32, STREW_INT64, {300, 700}, 0, STREW_ADD);
  WriteIndex(STREW_INT64, c.indices->view().At({299, 699}), 300);
  const auto before = c.data.Snapshot();
  const Context context = MakeContext();
  CountingAllocator allocator(1000);
  allocator.InstallIn(context.get());
  EXPECT_EQ(Call(c, context.get(), c.data.tensor()), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(c.data.Snapshot(), before);
}

TEST_F(Allocator, MayBeTakenOutAgain) {
  Random random(Seed());
  Case c = MakeElements(random, STREW_INT32, STREW_INT32, {300, 700}, 0, STREW_ADD);
  const Context context = MakeContext();
  CountingAllocator allocator(1000);
  allocator.InstallIn(context.get());
  ASSERT_EQ(strew_context_set_allocator(context.get(), nullptr, nullptr, nullptr), STREW_OK);
  EXPECT_EQ(Call(c, context.get(), c.data.tensor()), STREW_OK);
  EXPECT_EQ(allocator.requests(), 0);
}

// More destinations than a list has room for at first, of more places than have a bit each.
TEST(AllocatorOfMeans, MayRefuseAListThatGrows) {
  constexpr int64_t kPlaces = (int64_t{1} << 29) + 8;
  constexpr size_t kUpdates = 70000;
  constexpr size_t kBytesOfElement = 40;
  const Reservation memory(kPlaces, Access::kZeros);
  if (memory.bytes() == nullptr) GTEST_SKIP() << "no room for addresses of 64 bits";
  std::vector<int64_t> numbers(kUpdates);
  std::iota(numbers.begin(), numbers.end(), 0);
  const int64_t updates_shape = static_cast<int64_t>(kUpdates);
  int8_t six = 6;
  const Tensor data = MakeTensor(STREW_INT8, {{kPlaces}, {1}}, memory.bytes());
  const Tensor indices = MakeTensor(STREW_INT64, {{updates_shape}, {1}}, numbers.data());
  const Tensor updates = MakeTensor(STREW_INT8, {{updates_shape}, {0}}, &six);
  const auto call = [&](int64_t granted) {
    const Context context = MakeContext();
    CountingAllocator allocator(granted);
    allocator.InstallIn(context.get());
    const strew_status status = strew_scatter_elements(context.get(), data.get(), indices.get(),
                                                       updates.get(), 0, STREW_MEAN, data.get());
    EXPECT_EQ(status, allocator.has_refused() ? STREW_OUT_OF_MEMORY : STREW_OK) << granted;
    EXPECT_LE(allocator.peak(), kScratchLimit + kBytesOfElement * kUpdates);
    const unsigned char mean = status == STREW_OK ? 3 : 0;
    EXPECT_EQ(std::count(memory.bytes(), memory.bytes() + kUpdates, mean), updates_shape);
    std::fill_n(memory.bytes(), kUpdates, static_cast<unsigned char>(0));
    return allocator.requests();
  };
  const int64_t wanted = call(CountingAllocator::kGrantsAll);
  EXPECT_GT(wanted, 2);
  for (int64_t granted = 0; granted < wanted; ++granted) call(granted);
}

// ---- Calls of every walk, in place and into a fresh output --------------------------------------

std::vector<CallShape> WithShortIndices(std::vector<CallShape> walks) {
  for (CallShape& walk : walks) walk.index = STREW_INT32;
  return walks;
}

std::vector<CallShape> Walks() {
  constexpr Operator kElements = Operator::kScatterElements;
  constexpr Operator kNd = Operator::kScatterNd;
  constexpr Operator kSlice = Operator::kSliceScatterInt64;
  return WithShortIndices({
      {"last axis", kElements, {300, 2000}, {300, 2000}, 1},
      {"short last axis", kElements, {60000, 9}, {60000, 9}, 1},
      {"first axis", kElements, {2000, 300}, {2000, 300}, 0},
      {"first axis of strips of 2 MiB", kElements, {4096, 600}, {3000, 600}, 0},
      {"first axis of narrow strips", kElements, {20000, 140}, {10001, 140}, 0},
      {"first axis of one strip", kElements, {32768, 64}, {20000, 64}, 0},
      {"first axis of less than a strip", kElements, {33000, 9}, {20000, 9}, 0},
      {"middle axis", kElements, {7, 3000, 40}, {7, 3000, 40}, 1},
      {"middle axis of part of data", kElements, {9, 3000, 40}, {7, 2000, 39}, 1},
      {"one line", kElements, {1000000}, {300000}, 0},
      {"tall axis", kElements, {1000000, 2}, {700000, 2}, 0},
      {"wide data", kElements, {5, 200000}, {3, 200000}, 0},
      {"one tall column", kElements, {1000000, 3}, {700000, 1}, 0},
      {"rows", kNd, {3000, 100}, {2000, 1}},
      {"wide rows", kNd, {5, 100000}, {9, 1}},
      {"elements", kNd, {300, 300}, {50000, 2}},
      {"elements of a tall axis", kNd, {1000000}, {50000, 1}},
      {"everything", kNd, {300, 300}, {3, 0}},
      {"every other", kSlice, {900000}, {2}},
      {"a slice of rows", kSlice, {1000, 900}, {-2, 1}},
      {"a slice of columns", kSlice, {900, 1000}, {1, -3}},
  });
}

// Calls it with this context; what the output then holds.
std::vector<unsigned char> Result(Case& c, strew_context* context) {
  const auto before = c.destination().Snapshot();
  EXPECT_EQ(Call(c, context, c.destination().tensor()), STREW_OK) << strew_context_error(context);
  auto after = c.destination().Snapshot();
  c.destination().Restore(before);
  return after;
}

// Calls it without an allocator and with ones that grant all, some or nothing: the bytes must be
// the same. Answers how many blocks were wanted.
int64_t RequestsOf(Case& c, const std::string& what) {
  const std::vector<unsigned char> expected = Result(c, nullptr);
  const auto requests_of = [&](int64_t granted) {
    const Context context = MakeContext();
    CountingAllocator allocator(granted);
    allocator.InstallIn(context.get());
    EXPECT_TRUE(Result(c, context.get()) == expected)
        << granted << " blocks granted, " << what << ": " << Describe(c);
    EXPECT_LE(allocator.peak(), kScratchLimit) << what << ": " << Describe(c);
    return allocator.requests();
  };
  const int64_t wanted = requests_of(1000);
  for (int64_t granted = 0; granted < wanted; ++granted) requests_of(granted);
  return wanted;
}

// Into a fresh output and in place.
int64_t RequestsOf(Random& random, const CallShape& walk, strew_dtype dtype,
                   strew_reduction reduction) {
  Case c = MakeCase(random, walk, dtype, false);
  c.reduction = reduction;
  const int64_t wanted = RequestsOf(c, walk.name);
  c.output.reset();
  return wanted + RequestsOf(c, walk.name);
}

TEST(AllocatorOfWalks, StaysWithinItsLimit) {
  Random random(Seed());
  int64_t wanted = 0;
  for (const CallShape& walk : Walks()) {
    for (const strew_reduction reduction : Reductions()) {
      std::vector<strew_dtype> dtypes = {STREW_INT8, STREW_INT32};
      if (reduction == STREW_NONE) dtypes = {STREW_INT8, STREW_FLOAT64, STREW_OPAQUE(12)};
      for (const strew_dtype dtype : dtypes) wanted += RequestsOf(random, walk, dtype, reduction);
    }
  }
  EXPECT_GT(wanted, 0) << "no walk wants scratch: this test is void";
}

// However large the data is.
TEST(AllocatorOfWalks, StaysUnusedForUpTo64Updates) {
  constexpr Operator kElements = Operator::kScatterElements;
  constexpr Operator kNd = Operator::kScatterNd;
  const std::vector<CallShape> walks = WithShortIndices({
      {"one row on the first axis", kElements, {4096, 4096}, {1, 64}, 0},
      {"one column on the first axis", kElements, {4096, 4096}, {64, 1}, 0},
      {"a square on the first axis", kElements, {4096, 4096}, {8, 8}, 0},
      {"one row on the last axis", kElements, {4096, 4096}, {1, 64}, 1},
      {"one column on the last axis", kElements, {4096, 4096}, {64, 1}, 1},
      {"all columns of a tall axis", kElements, {100000, 64}, {1, 64}, 0},
      {"all columns of strips", kElements, {30000, 64}, {1, 64}, 0},
      {"some columns of a tall axis", kElements, {1000000, 4}, {16, 4}, 0},
      {"middle axis", kElements, {4, 100000, 8}, {4, 2, 8}, 1},
      {"few rows", kNd, {500000, 16}, {4, 1}},
      {"one row", kNd, {100000, 64}, {1, 1}},
      {"single elements", kNd, {4096, 4096}, {64, 2}},
      {"a slice", Operator::kSliceScatterInt64, {4096, 4096}, {512, 512}},
      {"a slice backwards", Operator::kSliceScatterInt64, {4000000}, {-62500}},
  });
  Random random(Seed());
  for (const CallShape& walk : walks) {
    for (const strew_reduction reduction : Reductions()) {
      const strew_dtype dtype = reduction == STREW_NONE ? STREW_OPAQUE(3) : STREW_INT8;
      EXPECT_EQ(RequestsOf(random, walk, dtype, reduction), 0) << walk.name << NameOf(reduction);
    }
    EXPECT_EQ(RequestsOf(random, walk, STREW_FLOAT32, STREW_ADD), 0) << walk.name;
  }
}

}  // namespace
}  // namespace strew_test
