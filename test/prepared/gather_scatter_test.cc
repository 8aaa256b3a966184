// SPDX-License-Identifier: Apache-2.0
//
// Gathers that are scattered, from literals.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "op/literal.h"
#include "prepared/check_plans.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/numbers.h"
#include "support/reference.h"

namespace strew_test {
namespace {

Case MakeIndexed(Operator op, Array data, const Dims& shape, const Dims& indices,
                 int64_t axis = 0) {
  const strew_dtype dtype = data.dtype();
  Case c{op, std::move(data), Array(dtype, RowMajor({0}))};
  c.indices = IndexArray(STREW_INT32, shape, indices);
  c.axis = axis;
  return c;
}

// output must then hold these numbers: in place, and in a fresh output.
void ExpectScattered(GatherScatterCase& c, const Numbers& expected) {
  EXPECT_TRUE(CheckGatherScatter(c));
  const strew_dtype dtype = c.to.data.dtype();
  const Dims& shape = c.to.data.shape();
  c.to.output.emplace(dtype, RowMajor(shape));
  EXPECT_TRUE(CheckGatherScatter(c));
  const Plan from = PlanOf(c.from), to = PlanOf(c.to);
  const Context context = MakeContext();
  ASSERT_EQ(strew_plan_gather_scatter(context.get(), from.get(), c.from.data.tensor(),
                                      c.weights ? c.weights->tensor() : nullptr, to.get(),
                                      c.to.data.tensor(), c.to.reduction, c.to.output->tensor()),
            STREW_OK)
      << strew_context_error(context.get());
  EXPECT_EQ(c.to.output->Snapshot(), NumberArray(dtype, shape, expected).Snapshot()) << Describe(c);
  c.to.output.reset();
}

// ---- A graph ------------------------------------------------------------------------------------

// Four nodes of two features, [[1, 2], [3, 4], [5, 6], [7, 8]], and the edges 0 -> 1, 2 -> 1, 3 ->
// 0, 1 -> 1, 0 -> 3. Sums begin at 0.
class Graph : public testing::TestWithParam<Dtype> {
 protected:
  static Array Make(const Dims& shape, const Numbers& numbers) {
    return NumberArray(GetParam().code, shape, numbers);
  }

  static GatherScatterCase Edges(strew_reduction reduction) {
    GatherScatterCase c{
        MakeIndexed(Operator::kScatterUpdate, Make({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), {5},
                    {0, 2, 3, 1, 0}),
        MakeIndexed(Operator::kScatterUpdate, Make({4, 2}, Numbers(8, 0)), {5}, {1, 1, 0, 1, 3})};
    c.to.reduction = reduction;
    return c;
  }
};

std::vector<Dtype> Exact() {
  std::vector<Dtype> exact;
  for (const Dtype& dtype : Dtypes()) {
    const bool small = dtype.kind == Kind::kFloat && dtype.width == 1;
    if (dtype.kind != Kind::kBool && dtype.kind != Kind::kMoved && !small) exact.push_back(dtype);
  }
  return exact;
}

INSTANTIATE_TEST_SUITE_P(EveryNumber, Graph, testing::ValuesIn(Exact()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(Graph, SumsOfNeighbours) {
  GatherScatterCase c = Edges(STREW_ADD);
  ExpectScattered(c, {7, 8, 9, 12, 0, 0, 1, 2});
}

TEST_P(Graph, MeansOfNeighbours) {
  GatherScatterCase c = Edges(STREW_MEAN | STREW_EXCLUDE_SELF);
  ExpectScattered(c, {7, 8, 3, 4, 0, 0, 1, 2});
}

TEST_P(Graph, LastNeighbour) {
  GatherScatterCase c = Edges(STREW_NONE);
  ExpectScattered(c, {7, 8, 3, 4, 0, 0, 1, 2});
}

// A number for each edge, which is there for both features or not.
TEST_P(Graph, WeightsOfEdges) {
  GatherScatterCase c = Edges(STREW_ADD);
  c.weights = Make({5, 1}, {2, 1, 3, 0, 4});
  ExpectScattered(c, {21, 24, 7, 10, 0, 0, 4, 8});
  c.weights = NumberArray(GetParam().code, {5, 2}, {2, 2, 1, 1, 3, 3, 0, 0, 4, 4});
  ExpectScattered(c, {21, 24, 7, 10, 0, 0, 4, 8});
}

TEST_P(Graph, WeightsOfFeatures) {
  for (const Dims& shape : {Dims{2}, Dims{1, 2}}) {
    GatherScatterCase c = Edges(STREW_ADD);
    c.weights = Make(shape, {2, 3});
    ExpectScattered(c, {14, 24, 18, 36, 0, 0, 2, 6});
  }
}

TEST_P(Graph, OneWeight) {
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{1, 1}}) {
    GatherScatterCase c = Edges(STREW_ADD);
    c.weights = Make(shape, {2});
    ExpectScattered(c, {14, 16, 18, 24, 0, 0, 2, 4});
  }
}

// Weights of shape [E] are those of edges where these are single numbers.
TEST_P(Graph, WeightsOfNumbers) {
  GatherScatterCase c{
      MakeIndexed(Operator::kScatterElements, Make({4}, {1, 2, 3, 4}), {5}, {0, 2, 3, 1, 0}),
      MakeIndexed(Operator::kScatterElements, Make({4}, {1, 1, 1, 1}), {5}, {1, 1, 0, 1, 3})};
  c.to.reduction = STREW_ADD;
  c.weights = Make({5}, {2, 1, 3, 0, 4});
  ExpectScattered(c, {13, 6, 1, 5});
}

// Edges without a source or a target are skipped, also for the mean.
TEST_P(Graph, DroppedEdges) {
  GatherScatterCase c = Edges(STREW_MEAN | STREW_EXCLUDE_SELF);
  c.from.policy = c.to.policy = STREW_INDEX_DROP;
  WriteIndices(*c.from.indices, {0, 2, 4, 1, 0});
  WriteIndices(*c.to.indices, {1, 1, 0, -5, 3});
  ExpectScattered(c, {0, 0, 3, 4, 0, 0, 1, 2});
  WriteIndices(*c.from.indices, {4, 4, 4, 4, 4});
  ExpectScattered(c, Numbers(8, 0));
  WriteIndices(*c.from.indices, {0, 0, 0, 0, 0});
  WriteIndices(*c.to.indices, {4, 4, 4, 4, 4});
  ExpectScattered(c, Numbers(8, 0));
}

// ---- Directions that differ ---------------------------------------------------------------------

// Rows are taken and columns written; the places of single elements change within a row.
TEST(GatherScatter, RowsToColumnsAndElementsToRows) {
  GatherScatterCase transposed{
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT32, {2, 2}, {1, 2, 3, 4}), {2},
                  {1, 0}),
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT32, {2, 3}, Numbers(6, 0)), {2},
                  {2, 0}, 1)};
  ExpectScattered(transposed, {4, 0, 3, 2, 0, 1});
  GatherScatterCase elements{
      MakeIndexed(Operator::kScatterElements, NumberArray(STREW_INT32, {3, 2}, {1, 2, 3, 4, 5, 6}),
                  {3, 2}, {2, 1, 0, 0, 1, 2}),
      MakeIndexed(Operator::kScatterNd, NumberArray(STREW_INT32, {2, 2}, {10, 10, 20, 20}), {3, 1},
                  {1, 0, 1})};
  elements.to.reduction = STREW_ADD;
  ExpectScattered(elements, {11, 12, 28, 30});
}

// Places of 4 bytes, which are offsets as they are only if entries are one contiguous line.
TEST(GatherScatter, PlacesAsWideAsOffsets) {
  struct Sample {
    Layout data;
    Dims indices;
    int64_t axis;
  };
  const Sample samples[] = {{{{70000}, {1}}, {100}, 0},
                            {{{70000}, {2}}, {100}, 0},
                            {{{70000, 40}, {1, 70000}}, {50, 40}, 0},
                            {{{3, 70000}, {70000, 1}}, {3, 40}, 1}};
  Random random(Seed());
  for (const Sample& sample : samples) {
    const auto make = [&](const Layout& layout) {
      Case c{Operator::kScatterElements, RandomArray(random, STREW_INT8, layout),
             RandomArray(random, STREW_INT8, RowMajor(sample.indices))};
      c.axis = sample.axis;
      c.indices = RandomIndices(random, STREW_INT32, RowMajor(sample.indices),
                                layout.shape[static_cast<size_t>(sample.axis)]);
      c.reduction = STREW_ADD;
      return c;
    };
    GatherScatterCase c{make(RowMajor(sample.indices)), make(sample.data)};
    EXPECT_TRUE(CheckGatherScatter(c));
  }
}

TEST(GatherScatter, WithoutElements) {
  GatherScatterCase no_entries{
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {2, 2}, {1, 2, 3, 4}), {0}, {}),
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {1, 2}, {5, 6}), {0}, {})};
  no_entries.to.reduction = STREW_ADD;
  ExpectScattered(no_entries, {5, 6});
  GatherScatterCase no_source{
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {0, 2}, {}), {1}, {0}),
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {1, 2}, {5, 6}), {1}, {0})};
  no_source.from.policy = STREW_INDEX_DROP;
  ExpectScattered(no_source, {5, 6});
  GatherScatterCase no_data{
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {1, 2}, {5, 6}), {1}, {0}),
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {0, 2}, {}), {1}, {0})};
  no_data.to.policy = STREW_INDEX_DROP;
  ExpectScattered(no_data, {});
  GatherScatterCase no_columns{
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {1, 0}, {}), {1}, {0}),
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT8, {2, 0}, {}), {1}, {1})};
  no_columns.weights = NumberArray(STREW_INT8, {1, 1}, {3});
  ExpectScattered(no_columns, {});
}

// One tuple of all axes on both sides: updates of rank 0.
TEST(GatherScatter, OneNumber) {
  GatherScatterCase c{
      MakeIndexed(Operator::kScatterNd, NumberArray(STREW_INT16, {2, 2}, {1, 2, 3, 4}), {2},
                  {1, 0}),
      MakeIndexed(Operator::kScatterUpdate, NumberArray(STREW_INT16, {3}, {7, 8, 9}), {}, {2})};
  c.to.reduction = STREW_MUL;
  ExpectScattered(c, {7, 8, 27});
  c.weights = NumberArray(STREW_INT16, {}, {2});
  ExpectScattered(c, {7, 8, 54});
}

// The sums of a bool are or, its products and; weights of 0 and of odd bytes.
TEST(GatherScatter, Bools) {
  GatherScatterCase c{
      MakeIndexed(Operator::kScatterElements, BitArray(STREW_BOOL, {0, 1, 7}), {4}, {0, 1, 2, 2}),
      MakeIndexed(Operator::kScatterElements, BitArray(STREW_BOOL, {0, 0, 3, 5}), {4},
                  {0, 1, 1, 2})};
  c.to.reduction = STREW_ADD;
  c.weights = BitArray(STREW_BOOL, {9, 0, 8, 1});
  EXPECT_TRUE(CheckGatherScatter(c));
  const Plan from = PlanOf(c.from), to = PlanOf(c.to);
  ASSERT_EQ(
      strew_plan_gather_scatter(nullptr, from.get(), c.from.data.tensor(), c.weights->tensor(),
                                to.get(), c.to.data.tensor(), STREW_ADD, c.to.data.tensor()),
      STREW_OK);
  EXPECT_EQ(c.to.data.Snapshot(), BitArray(STREW_BOOL, {0, 1, 1, 5}).Snapshot());
}

// Elements of no arithmetic are moved; weights are refused (calls_test.cc).
TEST(GatherScatter, MovedElements) {
  for (const strew_dtype dtype : std::vector<strew_dtype>{STREW_STRING, STREW_OPAQUE(1),
                                                          STREW_OPAQUE(12), STREW_OPAQUE(33)}) {
    GatherScatterCase c{
        MakeIndexed(Operator::kScatterUpdate, NumberArray(dtype, {2, 2}, {1, 2, 3, 4}), {2},
                    {1, 0}),
        MakeIndexed(Operator::kScatterElements, NumberArray(dtype, {2, 3}, Numbers(6, 0)), {2, 2},
                    {2, 0, 0, 0}, 1)};
    ExpectScattered(c, {4, 0, 3, 2, 0, 0});
  }
}

// ---- Accumulators in scratch -------------------------------------------------------------------

// Too many for scratch: some batches at a time.
TEST(GatherScatter, MeansInParts) {
  constexpr int64_t kBatches = 37, kPlaces = 9000, kUpdates = 3000;
  Random random(Seed());
  for (const strew_dtype dtype : {STREW_INT8, STREW_INT32, STREW_FLOAT16}) {
    const auto make = [&](int64_t places) {
      const Dims updates = {kBatches, kUpdates};
      Case c{Operator::kScatterElements, RandomArray(random, dtype, RowMajor({kBatches, places})),
             RandomArray(random, dtype, RowMajor(updates))};
      c.axis = 1;
      c.indices = RandomIndices(random, STREW_INT32, RowMajor(updates), places);
      return c;
    };
    GatherScatterCase c{make(100), make(kPlaces)};
    for (const strew_reduction reduction :
         {STREW_MEAN | 0, STREW_MEAN | STREW_EXCLUDE_SELF, STREW_ADD | STREW_WIDE}) {
      c.to.reduction = reduction;
      ASSERT_TRUE(CheckGatherScatter(c)) << Describe(c);
    }
  }
}

// One update for each column along the first axis: columns are batches, but do not have ranges of
// the output for themselves.
TEST(GatherScatter, MeansOfColumnsThatShareRanges) {
  constexpr int64_t kColumns = 300000, kPlaces = 4;
  Random random(Seed());
  const auto make = [&](int64_t places) {
    const Dims updates = {1, kColumns};
    Case c{Operator::kScatterElements,
           RandomArray(random, STREW_INT8, RowMajor({places, kColumns})),
           RandomArray(random, STREW_INT8, RowMajor(updates))};
    c.indices = RandomIndices(random, STREW_INT32, RowMajor(updates), places);
    return c;
  };
  GatherScatterCase c{make(2), make(kPlaces)};
  c.to.reduction = STREW_MEAN;
  EXPECT_TRUE(CheckGatherScatter(c)) << Describe(c);
}

// ---- Rows in several slices --------------------------------------------------------------------

// Slices may share the weights of their rows. A row of 300 elements is combined in blocks of 256 or
// at once. Rows are dropped, and have destinations in common.
TEST(GatherScatter, WeightsOfRowsInSlices) {
  constexpr int64_t kSlices = 3, kRows = 9;
  Random random(Seed());
  for (const int64_t columns : {5, 300}) {
    const auto make = [&](const Dims& rows) {
      return MakeIndexed(Operator::kScatterUpdate,
                         RandomArray(random, STREW_INT8, RowMajor({kSlices, kRows, columns})), {6},
                         rows, 1);
    };
    GatherScatterCase c{make({0, 3, 3, 8, 1, 5}), make({2, 7, 2, 0, 1, 4})};
    c.from.policy = c.to.policy = STREW_INDEX_DROP;
    const Dims shapes[] = {{6, 1}, {1, 6, columns}, {kSlices, 6, 1}, {kSlices, 6, columns}};
    for (const int64_t row : {2, 6}) {
      for (const int64_t source : {5, 9}) {
        WriteIndices(*c.from.indices, {0, 3, 3, 8, 1, source});
        WriteIndices(*c.to.indices, {2, 7, row, 0, 1, 4});
        for (const Dims& shape : shapes) {
          c.weights = RandomArray(random, STREW_INT8, RowMajor(shape));
          for (const strew_reduction reduction : {STREW_NONE, STREW_MAX, STREW_MEAN}) {
            c.to.reduction = reduction;
            ASSERT_TRUE(CheckGatherScatter(c)) << Describe(c);
          }
        }
      }
    }
  }
}

// ---- Destinations of many updates ---------------------------------------------------------------

// 256 entries are looked at together; all of the second 256 have no update.
class Hubs : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, Hubs, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(Hubs, MayHaveAPartWithoutUpdates) {
  constexpr int64_t kEntries = 768, kRows = 900;
  const std::vector<strew_reduction> all = AllReductionsOf(GetParam());
  Random random(Seed());
  Dims rows(kEntries);
  for (int64_t i = 0; i < kEntries; ++i) {
    rows[static_cast<size_t>(i)] = i >= 256 && i < 512 ? kRows : random.Between(0, kRows - 1);
  }
  for (const int64_t columns : {1, 19}) {
    const strew_dtype dtype = GetParam().code;
    GatherScatterCase c{
        MakeIndexed(Operator::kScatterUpdate,
                    RandomArray(random, dtype, RowMajor({kRows, columns})), {kEntries}, rows),
        MakeIndexed(Operator::kScatterUpdate, RandomArray(random, dtype, RowMajor({2, columns})),
                    {kEntries}, Dims(kEntries, 1))};
    c.from.policy = STREW_INDEX_DROP;
    for (const bool is_weighted : {false, true}) {
      if (is_weighted && std::count(all.begin(), all.end(), STREW_MUL) == 0) continue;
      if (is_weighted) c.weights = RandomArray(random, dtype, RowMajor({kEntries, 1}));
      for (const strew_reduction reduction : all) {
        c.to.reduction = reduction;
        ASSERT_TRUE(CheckGatherScatter(c)) << columns;
      }
    }
  }
}

// Each task has destinations of its own if these ascend. A third of the entries name one, so that a
// part has none.
class AscendingEntries : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, AscendingEntries, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(AscendingEntries, AreShared) {
  constexpr int64_t kEntries = 30000, kPlaces = 900, kFirst = 4000, kLast = 14000;
  const strew_dtype dtype = GetParam().code;
  const std::vector<strew_reduction> all = AllReductionsOf(GetParam());
  Random random(Seed());
  Dims from(kEntries), to(kEntries);
  for (int64_t i = 0; i < kEntries; ++i) {
    from[static_cast<size_t>(i)] = random.Between(0, kPlaces - 1);
    to[static_cast<size_t>(i)] = i < kFirst ? i : i < kLast ? kFirst : kFirst + (i - kLast) / 3;
  }
  const Dims outputs = {kFirst + kEntries};
  GatherScatterCase c{
      MakeIndexed(Operator::kScatterUpdate, RandomArray(random, dtype, RowMajor({kPlaces})),
                  {kEntries}, from),
      MakeIndexed(Operator::kScatterUpdate, RandomArray(random, dtype, RowMajor(outputs)),
                  {kEntries}, to)};
  for (const bool is_weighted : {false, true}) {
    if (is_weighted && std::count(all.begin(), all.end(), STREW_MUL) == 0) continue;
    if (is_weighted) c.weights = RandomArray(random, dtype, RowMajor({kEntries}));
    for (const strew_reduction reduction : all) {
      c.to.reduction = reduction;
      ASSERT_TRUE(CheckGatherScatter(c, 3)) << reduction;
    }
  }
}

}  // namespace
}  // namespace strew_test
