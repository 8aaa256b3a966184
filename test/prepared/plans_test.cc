// SPDX-License-Identifier: Apache-2.0
//
// The contents of a plan: numbers of entries, memory, and nothing of its indices.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "prepared/check_plans.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "reference/targets.h"
#include "support/at_once.h"
#include "support/numbers.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Plan MakeLine(const Array& indices, int64_t extent, strew_context* context = nullptr) {
  strew_plan* plan = nullptr;
  EXPECT_EQ(strew_plan_scatter_elements(context, indices.tensor(), 0, extent, &plan), STREW_OK)
      << strew_context_error(context);
  return Plan(plan);
}

Plan MakeTuples(const Array& indices, const Dims& extents, strew_context* context = nullptr) {
  strew_plan* plan = nullptr;
  EXPECT_EQ(strew_plan_scatter_nd(context, indices.tensor(), extents.data(), &plan), STREW_OK)
      << strew_context_error(context);
  return Plan(plan);
}

Plan MakeUpdate(const Array& indices, int64_t extent, strew_context* context = nullptr) {
  strew_plan* plan = nullptr;
  EXPECT_EQ(strew_plan_scatter_update(context, indices.tensor(), 0, extent, &plan), STREW_OK)
      << strew_context_error(context);
  return Plan(plan);
}

Context Dropping() {
  Context context = MakeContext();
  EXPECT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP), STREW_OK);
  return context;
}

// ---- Numbers ------------------------------------------------------------------------------------

TEST(Getters, AcceptNull) {
  EXPECT_EQ(strew_plan_entries(nullptr), 0);
  EXPECT_EQ(strew_plan_dropped(nullptr), 0);
  EXPECT_EQ(strew_plan_memory(nullptr), 0u);
  strew_plan_destroy(nullptr);
}

void ExpectEntries(const Plan& plan, int64_t entries, int64_t dropped) {
  EXPECT_EQ(strew_plan_entries(plan.get()), entries);
  EXPECT_EQ(strew_plan_dropped(plan.get()), dropped);
  EXPECT_GT(strew_plan_memory(plan.get()), 0u);
  EXPECT_LE(strew_plan_memory(plan.get()), static_cast<size_t>(24 * entries + (64 << 10)));
}

TEST(Getters, CountEntries) {
  const Context context = Dropping();
  const Dims values = {0, 1, 5, -6, -5, 4};
  ExpectEntries(MakeLine(IndexArray(STREW_INT64, {6}, values), 5, context.get()), 6, 2);
  ExpectEntries(MakeUpdate(IndexArray(STREW_INT8, {2, 3}, values), 5, context.get()), 6, 2);
  ExpectEntries(MakeUpdate(IndexArray(STREW_INT8, {}, {7}), 5, context.get()), 1, 1);
  // A tuple is dropped with any of its numbers, and once.
  ExpectEntries(MakeTuples(IndexArray(STREW_INT32, {3, 2}, values), {5, 2}, context.get()), 3, 2);
  ExpectEntries(MakeTuples(IndexArray(STREW_INT32, {4, 0}, {}), {}, context.get()), 4, 0);
  ExpectEntries(MakeTuples(IndexArray(STREW_INT32, {0, 2}, {}), {5, 2}, context.get()), 0, 0);
  ExpectEntries(MakeLine(IndexArray(STREW_INT16, {2}, {0, -1}), 0, context.get()), 2, 2);
}

// Values that repeat count as often as they stand in the shape.
TEST(Getters, CountRepeatedEntries) {
  const Context context = Dropping();
  Array indices(STREW_INT64, {{3, 4}, {1, 0}});
  WriteIndices(indices, {0, 0, 0, 0, 9, 9, 9, 9, 1, 1, 1, 1});
  ExpectEntries(MakeLine(indices, 2, context.get()), 12, 4);
  // Written out in full they may be found to repeat.
  Array full(STREW_INT64, RowMajor({100, 64}));
  ForEachIndex(full.shape(),
               [&](const Dims& i) { WriteIndex(STREW_INT64, full.view().At(i), i[0] % 50); });
  ExpectEntries(MakeLine(full, 40, context.get()), 6400, 1280);
}

// A uint64 of 2^63 or more is large, never negative.
TEST(Getters, TreatLargeUnsignedIndicesAsLarge) {
  Array indices(STREW_UINT64, RowMajor({3}));
  WriteIndices(indices, {1, -1, std::numeric_limits<int64_t>::min()});
  const Context context = MakeContext();
  strew_plan* refused = nullptr;
  EXPECT_EQ(strew_plan_scatter_elements(context.get(), indices.tensor(), 0, kMost, &refused),
            STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(strew_context_error_position(context.get()), 1);
  EXPECT_NE(std::string(strew_context_error(context.get())).find("18446744073709551615"),
            std::string::npos);
  ASSERT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP), STREW_OK);
  ExpectEntries(MakeLine(indices, 3, context.get()), 3, 2);
  ASSERT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_CLAMP), STREW_OK);
  const Plan plan = MakeLine(indices, 3, context.get());
  ExpectEntries(plan, 3, 0);
  Array source = NumberArray(STREW_INT8, {3}, {4, 5, 6}), output(STREW_INT8, RowMajor({3}));
  ASSERT_EQ(strew_plan_gather(nullptr, plan.get(), source.tensor(), output.tensor()), STREW_OK);
  EXPECT_EQ(output.Snapshot(), NumberArray(STREW_INT8, {3}, {5, 6, 6}).Snapshot());
}

// ---- Memory -------------------------------------------------------------------------------------

// Rows of one index each are kept as one entry a row, and those of several in full.
TEST(Memory, OfRowsOfOneIndexIsThatOfRows) {
  constexpr int64_t kRows = 64, kColumns = 2000;
  Array indices(STREW_INT32, RowMajor({kRows, kColumns}));
  ForEachIndex(indices.shape(),
               [&](const Dims& i) { WriteIndex(STREW_INT32, indices.view().At(i), i[0] % 50); });
  EXPECT_LT(strew_plan_memory(MakeLine(indices, 50).get()), 16u << 10);
  WriteIndex(STREW_INT32, indices.view().At({kRows - 1, kColumns - 1}), 49);
  EXPECT_GE(strew_plan_memory(MakeLine(indices, 50).get()), size_t{kRows * kColumns});
}

constexpr int64_t kEntries = 50000;

std::vector<std::pair<std::string, Dims>> Orders(int64_t extent) {
  Random random(Seed());
  Dims any(kEntries), sorted, unique(kEntries), few(kEntries), pairs;
  for (int64_t& value : any) value = random.Between(0, extent - 1);
  sorted = any;
  std::sort(sorted.begin(), sorted.end());
  std::iota(unique.begin(), unique.end(), 0);
  Dims shuffled = unique;
  random.Shuffle(shuffled);
  // All places but one differ, so that there are as many groups as may be beside their ends.
  pairs = shuffled;
  pairs.back() = pairs.front();
  Dims reversed(unique.rbegin(), unique.rend());
  return {{"any", any},          {"sorted", sorted},     {"equal", Dims(kEntries, extent - 1)},
          {"unique", unique},    {"shuffled", shuffled}, {"one pair", pairs},
          {"reversed", reversed}};
}

TEST(Memory, IsAtMost24BytesAnEntry) {
  for (const int64_t extent :
       {kEntries, int64_t{1} << 31, int64_t{1} << 32, (int64_t{1} << 32) + 1, kMost}) {
    for (const auto& [name, values] : Orders(extent)) {
      SCOPED_TRACE(name + " of " + std::to_string(extent));
      const Array line = IndexArray(STREW_INT64, {kEntries}, values);
      ExpectEntries(MakeLine(line, extent), kEntries, 0);
      ExpectEntries(MakeUpdate(line, extent), kEntries, 0);
      const Array tuples = IndexArray(STREW_INT64, {kEntries, 1}, values);
      ExpectEntries(MakeTuples(tuples, {extent}), kEntries, 0);
      const Context context = Dropping();
      ExpectEntries(MakeLine(line, extent, context.get()), kEntries, 0);
    }
  }
}

// Places of two bytes for 2^62 entries, which all read one index.
TEST(Memory, OfTooManyEntriesIsRefused) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "no tensor has so many elements";
  int8_t index = 0;
  const Tensor indices = MakeTensor(STREW_INT8, {{int64_t{1} << 62}, {0}}, &index);
  strew_plan* plan = nullptr;
  EXPECT_EQ(strew_plan_scatter_update(nullptr, indices.get(), 0, 1000, &plan), STREW_OUT_OF_MEMORY);
  EXPECT_EQ(plan, nullptr);
}

// Places that need 64 bits are combined as others are.
TEST(Memory, OfLargeExtentsServesCalls) {
  const int64_t extent = int64_t{1} << 40;
  Array indices = IndexArray(STREW_INT64, {4}, {extent - 1, 0, -1, 7});
  const Plan plan = MakeLine(indices, extent);
  // One element stands for all of them.
  const int32_t number = 42;
  Array output = NumberArray(STREW_INT32, {4}, {0, 0, 0, 0});
  const Tensor source = MakeTensor(STREW_INT32, {{extent}, {0}}, const_cast<int32_t*>(&number));
  ASSERT_EQ(strew_plan_gather(nullptr, plan.get(), source.get(), output.tensor()), STREW_OK);
  EXPECT_EQ(output.Snapshot(), NumberArray(STREW_INT32, {4}, {42, 42, 42, 42}).Snapshot());
  Array sums = NumberArray(STREW_INT32, {3}, {1, 1, 1});
  const Plan to = MakeLine(IndexArray(STREW_INT8, {4}, {2, 0, 2, 1}), 3);
  ASSERT_EQ(strew_plan_gather_scatter(nullptr, plan.get(), source.get(), nullptr, to.get(),
                                      sums.tensor(), STREW_ADD, sums.tensor()),
            STREW_OK);
  EXPECT_EQ(sums.Snapshot(), NumberArray(STREW_INT32, {3}, {43, 43, 85}).Snapshot());
}

// ---- Independence -------------------------------------------------------------------------------

// Indices, their descriptor and the context are gone when the plan is used.
TEST(Independence, PlansOutliveWhatTheyAreMadeOf) {
  for (const strew_dtype dtype : {STREW_INT64, STREW_INT8, STREW_UINT32}) {
    std::optional<Array> indices = IndexArray(dtype, {4}, {2, 0, 1, 2});
    Context context = MakeContext();
    const Plan line = MakeLine(*indices, 3, context.get());
    const Plan update = MakeUpdate(*indices, 3, context.get());
    FillWithLargeIndices(*indices);
    indices.reset();
    context.reset();
    for (const Plan* plan : {&line, &update}) {
      Array source = NumberArray(STREW_FLOAT32, {3}, {1, 2, 3}),
            output(STREW_FLOAT32, RowMajor({4}));
      ASSERT_EQ(strew_plan_gather(nullptr, plan->get(), source.tensor(), output.tensor()),
                STREW_OK);
      EXPECT_EQ(output.Snapshot(), NumberArray(STREW_FLOAT32, {4}, {3, 1, 2, 3}).Snapshot());
      ASSERT_EQ(strew_plan_scatter(nullptr, plan->get(), source.tensor(), output.tensor(),
                                   STREW_ADD, source.tensor()),
                STREW_OK);
      EXPECT_EQ(source.Snapshot(), NumberArray(STREW_FLOAT32, {3}, {2, 4, 9}).Snapshot());
    }
  }
}

// A plan may remember what it was used with, but not mistake another for it.
TEST(Independence, PlansAreUsedWithOneAfterTheOther) {
  Random random(Seed());
  constexpr int64_t kUpdates = 5000, kRows = 300;
  const Layout line = RowMajor({kUpdates});
  const Plan to = MakeUpdate(RandomIndices(random, STREW_INT32, line, kRows), kRows);
  const Array source = RandomArray(random, STREW_INT32, RowMajor({kRows, 5}));
  Array sums = RandomArray(random, STREW_INT32, RowMajor({kRows, 5}));
  Array updates(STREW_INT32, RowMajor({kUpdates, 5}));
  const std::vector<unsigned char> before = sums.Snapshot(), zeros = updates.Snapshot();
  const auto check = [&](const Plan& from) {
    updates.Restore(zeros);  // which entries that are dropped keep
    ASSERT_EQ(strew_plan_gather(nullptr, from.get(), source.tensor(), updates.tensor()), STREW_OK);
    ASSERT_EQ(strew_plan_scatter(nullptr, to.get(), sums.tensor(), updates.tensor(), STREW_SUB,
                                 sums.tensor()),
              STREW_OK);
    const std::vector<unsigned char> expected = sums.Snapshot();
    sums.Restore(before);
    ASSERT_EQ(strew_plan_gather_scatter(nullptr, from.get(), source.tensor(), nullptr, to.get(),
                                        sums.tensor(), STREW_SUB, sums.tensor()),
              STREW_OK);
    EXPECT_TRUE(sums.Snapshot() == expected);
    sums.Restore(before);
    ExpectEntries(to, kUpdates, 0);
  };
  const Context dropping = Dropping();
  for (int i = 0; i < 3; ++i) {
    // Each may lie where the one before it lay.
    const Plan one = MakeUpdate(RandomIndices(random, STREW_INT64, line, kRows), kRows);
    Array values = RandomIndices(random, STREW_INT64, line, kRows);
    for (int64_t e = 0; e < kUpdates; e += 3) WriteIndex(STREW_INT64, values.view().At({e}), kRows);
    const Plan other = MakeUpdate(values, kRows, dropping.get());
    for (const Plan* from : {&one, &other, &one, &to}) check(*from);
  }
}

// ---- Threads ------------------------------------------------------------------------------------

// Gathers rows, and scatters what it gathered and their sums, all by the same two plans.
class Shared {
 public:
  explicit Shared(Random& random)
      : source_(RandomArray(random, STREW_INT32, RowMajor({kRows, kColumns}))),
        from_(MakeUpdate(RandomIndices(random, STREW_INT32, RowMajor({kUpdates}), kRows), kRows)),
        to_(MakeTuples(RandomIndices(random, STREW_INT64, RowMajor({kUpdates, 1}), kRows),
                       {kRows})) {}

  // All that calls make of it.
  std::vector<unsigned char> Use(strew_context* context) const {
    Array rows(STREW_INT32, RowMajor({kUpdates, kColumns}));
    Array sums(STREW_INT32, RowMajor({kRows, kColumns}));
    EXPECT_EQ(strew_plan_gather(context, from_.get(), source_.tensor(), rows.tensor()), STREW_OK);
    EXPECT_EQ(strew_plan_scatter(context, to_.get(), sums.tensor(), rows.tensor(), STREW_ADD,
                                 sums.tensor()),
              STREW_OK);
    EXPECT_EQ(strew_plan_scatter(context, to_.get(), sums.tensor(), rows.tensor(), STREW_MEAN,
                                 sums.tensor()),
              STREW_OK);
    EXPECT_EQ(
        strew_plan_gather_scatter(context, from_.get(), source_.tensor(), nullptr, to_.get(),
                                  sums.tensor(), STREW_MAX | STREW_EXCLUDE_SELF, sums.tensor()),
        STREW_OK);
    EXPECT_EQ(strew_plan_gather_scatter(context, from_.get(), source_.tensor(), rows.tensor(),
                                        to_.get(), sums.tensor(), STREW_SUB, sums.tensor()),
              STREW_OK);
    std::vector<unsigned char> all = rows.Snapshot();
    const std::vector<unsigned char> more = sums.Snapshot();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

 private:
  static constexpr int64_t kRows = 300, kColumns = 17, kUpdates = 5000;
  Array source_;
  Plan from_, to_;
};

TEST(Threads, UseOnePlanAtOnce) {
  Random once(Seed()), again(Seed());
  const std::vector<unsigned char> expected = Shared(once).Use(nullptr);
  // Plans that nobody has used before.
  const Shared shared(again);
  AtOnce(8, [&](int number) {
    const Context context = MakeContext();
    const auto& targets = Targets();
    const std::string& target = targets[static_cast<size_t>(number) % targets.size()].name;
    EXPECT_EQ(strew_context_set_simd_target(context.get(), target.c_str()), STREW_OK);
    StdThreads threads;
    if (number % 2 == 0) threads.InstallIn(context.get(), 3);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(shared.Use(context.get()) == expected) << number;
  });
}

// The first of several calls stores the places of one plan in the order of the other. Of several
// that do so at once, one keeps them.
TEST(Threads, StorePlacesOfAPartnerAtOnce) {
  constexpr int64_t kUpdates = 1 << 19, kRows = 1000;
  Random random(Seed());
  const Array source = RandomArray(random, STREW_INT32, RowMajor({kRows, 3}));
  const Layout line = RowMajor({kUpdates});
  for (int attempt = 0; attempt < 6; ++attempt) {
    const Plan from = MakeUpdate(RandomIndices(random, STREW_INT32, line, kRows), kRows);
    const Plan to = MakeUpdate(RandomIndices(random, STREW_INT32, line, kRows), kRows);
    Array rows(STREW_INT32, RowMajor({kUpdates, 3})), expected(STREW_INT32, RowMajor({kRows, 3}));
    ASSERT_EQ(strew_plan_gather(nullptr, from.get(), source.tensor(), rows.tensor()), STREW_OK);
    ASSERT_EQ(strew_plan_scatter(nullptr, to.get(), expected.tensor(), rows.tensor(), STREW_ADD,
                                 expected.tensor()),
              STREW_OK);
    const auto call = [&](int) {
      Array sums(STREW_INT32, RowMajor({kRows, 3}));
      EXPECT_EQ(strew_plan_gather_scatter(nullptr, from.get(), source.tensor(), nullptr, to.get(),
                                          sums.tensor(), STREW_ADD, sums.tensor()),
                STREW_OK);
      EXPECT_TRUE(sums.Snapshot() == expected.Snapshot());
    };
    AtOnce(4, call);
    call(4);
    const int64_t bytes = static_cast<int64_t>(strew_plan_memory(to.get()));
    EXPECT_GE(bytes, kUpdates * 7) << "has no places of its partner";
    EXPECT_LE(bytes, kUpdates * 24);
  }
}

// The first of several means stores the number of updates of every destination. These have up to
// 200, 300 and 70,000.
TEST(Threads, StoreCountsAtOnce) {
  constexpr int64_t kUpdates = 1 << 18, kPlaces = 1 << 17;
  Random random(Seed());
  for (const int64_t repeats : {200, 300, 70000}) {
    Array indices = RandomIndices(random, STREW_INT32, RowMajor({kUpdates}), kPlaces);
    std::fill_n(indices.buffer().bytes(), repeats * int64_t{sizeof(int32_t)}, 0);
    const Plan plan = MakeUpdate(indices, kPlaces);
    const size_t before = strew_plan_memory(plan.get());
    const auto numbers = [&](int64_t n) {
      std::vector<double> values(static_cast<size_t>(n));
      for (double& value : values) value = static_cast<double>(random.Between(-9999, 9999)) / 64;
      return NumberArray(STREW_FLOAT32, {n}, values);
    };
    const Array data = numbers(kPlaces), updates = numbers(kUpdates);
    Array expected(STREW_FLOAT32, RowMajor({kPlaces}));
    ASSERT_EQ(strew_scatter_update(nullptr, data.tensor(), indices.tensor(), updates.tensor(), 0,
                                   STREW_MEAN, expected.tensor()),
              STREW_OK);
    AtOnce(4, [&](int) {
      Array means(STREW_FLOAT32, RowMajor({kPlaces}));
      EXPECT_EQ(strew_plan_scatter(nullptr, plan.get(), data.tensor(), updates.tensor(), STREW_MEAN,
                                   means.tensor()),
                STREW_OK);
      EXPECT_TRUE(means.Snapshot() == expected.Snapshot());
    });
    const size_t width = repeats < 255 ? 1 : repeats < 65535 ? 2 : 4;
    EXPECT_GE(strew_plan_memory(plan.get()), before + width * kPlaces);
    EXPECT_LE(strew_plan_memory(plan.get()), size_t{24} * kUpdates);
  }
}

// A plan tells all it holds by what it gathers and by who writes last.
void ExpectSamePlans(const Plan& one, const Plan& other, int64_t extent, const Dims& updates) {
  EXPECT_EQ(strew_plan_entries(one.get()), strew_plan_entries(other.get()));
  EXPECT_EQ(strew_plan_dropped(one.get()), strew_plan_dropped(other.get()));
  EXPECT_EQ(strew_plan_memory(one.get()), strew_plan_memory(other.get()));
  Array numbers(STREW_INT32, RowMajor({extent}));
  for (int64_t i = 0; i < extent; ++i) WriteIndex(STREW_INT32, numbers.view().At({i}), i);
  std::vector<std::vector<unsigned char>> results;
  for (const Plan* plan : {&one, &other}) {
    Array places(STREW_INT32, RowMajor(updates)), last(STREW_INT32, RowMajor({extent}));
    ASSERT_EQ(strew_plan_gather(nullptr, plan->get(), numbers.tensor(), places.tensor()), STREW_OK);
    results.push_back(places.Snapshot());
    for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MEAN}) {
      ASSERT_EQ(strew_plan_scatter(nullptr, plan->get(), last.tensor(), places.tensor(), reduction,
                                   last.tensor()),
                STREW_OK);
      results.push_back(last.Snapshot());
    }
  }
  for (size_t i = 0; i < results.size() / 2; ++i) {
    EXPECT_TRUE(results[i] == results[i + results.size() / 2]) << i;
  }
}

TEST(Threads, MakeTheSamePlanAsOne) {
  Random random(Seed());
  constexpr int64_t kUpdates = 300000;
  StdThreads threads;
  Backwards backwards;
  for (const strew_index_policy policy : {STREW_INDEX_ERROR, STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
    for (const int64_t extent : {100, 70000}) {
      Array indices = RandomIndices(random, STREW_INT32, RowMajor({kUpdates}), extent);
      if (policy != STREW_INDEX_ERROR) {
        for (int64_t i = 0; i < kUpdates; i += 977) {
          WriteIndex(STREW_INT32, indices.view().At({i}), extent + i);
        }
      }
      const Context alone = MakeContext();
      ASSERT_EQ(strew_context_set_index_policy(alone.get(), policy), STREW_OK);
      const Plan expected = MakeUpdate(indices, extent, alone.get());
      for (const int32_t workers : {2, 3, 8}) {
        const Context context = MakeContext();
        ASSERT_EQ(strew_context_set_index_policy(context.get(), policy), STREW_OK);
        Runner& runner = workers == 3 ? static_cast<Runner&>(backwards) : threads;
        runner.InstallIn(context.get(), workers);
        ExpectSamePlans(MakeUpdate(indices, extent, context.get()), expected, extent, {kUpdates});
      }
    }
  }
}

// Dims whose product does not fit 64 bits, in plans without entries and in sources that repeat one
// element.
TEST(CallsOfPlans, WithDimsThatAreTooLargeTogether) {
  const int64_t huge = int64_t{1} << 62, none = 0, eight = 8, still = 0;
  unsigned char memory[4096 * 8] = {};
  int64_t indices[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Dims empty = {none, huge, huge};
  const Tensor no_indices = MakeTensor(STREW_INT64, {empty, {}}, nullptr);
  strew_plan* made = nullptr;
  ASSERT_EQ(strew_plan_scatter_elements(nullptr, no_indices.get(), 1, huge, &made), STREW_OK);
  const Plan of_none(made);
  const Tensor nothing = MakeTensor(STREW_INT8, {empty, {}}, nullptr);
  EXPECT_EQ(strew_plan_scatter(nullptr, of_none.get(), nothing.get(), nothing.get(), STREW_ADD,
                               nothing.get()),
            STREW_OK);
  const int64_t extent = int64_t{1} << 52;
  const Tensor some = MakeTensor(STREW_INT64, {{eight}, {}}, indices);
  ASSERT_EQ(strew_plan_scatter_update(nullptr, some.get(), 0, extent, &made), STREW_OK);
  const Plan of_some(made);
  const strew_dtype dtype = STREW_OPAQUE(4096);
  const Tensor source = MakeTensor(dtype, {{extent}, {still}}, memory);
  std::vector<unsigned char> gathered(4096 * 8, 1);
  const Tensor output = MakeTensor(dtype, {{eight}, {}}, gathered.data());
  EXPECT_EQ(strew_plan_gather(nullptr, of_some.get(), source.get(), output.get()), STREW_OK);
  EXPECT_EQ(gathered, std::vector<unsigned char>(4096 * 8, 0));
}

// Nothing is read or written of rows that lie 2^62 bytes apart.
TEST(CallsOfPlans, WithoutUpdatesOfRowsFarApart) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "no room for so many addresses";
  const Plan plan = MakeTuples(Array(STREW_INT8, RowMajor({0, 2})), {2, 2});
  unsigned char memory[2] = {5, 6};
  const Tensor data = MakeTensor(STREW_INT8, {{2, 2}, {1, int64_t{1} << 62}}, memory);
  const Array updates(STREW_INT8, RowMajor({0}));
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MEAN}) {
    EXPECT_EQ(strew_plan_scatter(nullptr, plan.get(), data.get(), updates.tensor(), reduction,
                                 data.get()),
              STREW_OK);
  }
  EXPECT_EQ(memory[0], 5);
  EXPECT_EQ(memory[1], 6);
}

TEST(CallsOfPlans, DropAllUpdatesOfNothing) {
  const Context context = Dropping();
  const Plan plan = MakeUpdate(IndexArray(STREW_INT8, {3}, {0, 1, -1}), 0, context.get());
  const Array data(STREW_INT8, RowMajor({0})), updates(STREW_INT8, RowMajor({3}));
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MEAN}) {
    EXPECT_EQ(strew_plan_scatter(context.get(), plan.get(), data.tensor(), updates.tensor(),
                                 reduction, data.tensor()),
              STREW_OK);
    EXPECT_EQ(strew_context_applied(context.get()), 0);
  }
}

}  // namespace
}  // namespace strew_test
