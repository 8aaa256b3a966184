// SPDX-License-Identifier: Apache-2.0
//
// Gathers from literals. Examples are those of ONNX GatherElements, GatherND and Gather.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "op/literal.h"
#include "plan/tuning.h"
#include "prepared/check_plans.h"
#include "reference/dtypes.h"
#include "reference/gather.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "reference/targets.h"
#include "support/numbers.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr double kKept = 19;  // what the output holds before

// The numbers of a source with this indices. An Array cannot be copied.
Case MakeGather(Operator op, Array source, const Dims& shape, const Dims& indices, int64_t axis = 0,
                strew_dtype index = STREW_INT64) {
  const strew_dtype dtype = source.dtype();
  Case c{op, std::move(source), Array(dtype, RowMajor({0}))};
  c.indices = IndexArray(index, shape, indices);
  c.axis = axis;
  return c;
}

// The output, row-major, must then hold these numbers; kKept where nothing is gathered.
void ExpectGathered(Case& c, const Numbers& expected) {
  const strew_dtype dtype = c.data.dtype();
  const Dims shape = UpdatesShapeOf(c);
  c.output = NumberArray(dtype, shape, Numbers(expected.size(), kKept));
  EXPECT_TRUE(CheckGather(c));
  const Plan plan = PlanOf(c);
  const Context context = MakeContext();
  ASSERT_EQ(strew_plan_gather(context.get(), plan.get(), c.data.tensor(), c.output->tensor()),
            STREW_OK)
      << strew_context_error(context.get());
  EXPECT_EQ(c.output->Snapshot(), NumberArray(dtype, shape, expected).Snapshot()) << Describe(c);
  const auto kept = std::count(expected.begin(), expected.end(), kKept);
  EXPECT_EQ(strew_context_applied(context.get()), static_cast<int64_t>(expected.size()) - kept);
}

class GatherOf : public testing::TestWithParam<Dtype> {
 protected:
  static Array Make(const Dims& shape, const Numbers& numbers) {
    return NumberArray(GetParam().code, shape, numbers);
  }
  static Array Square() { return Make({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}); }
};

INSTANTIATE_TEST_SUITE_P(EveryDtype, GatherOf, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(GatherOf, ElementsOfTheLastAxis) {
  for (const Dtype& index : IndexDtypes()) {
    for (const int64_t axis : {1, -1}) {
      Case c = MakeGather(Operator::kScatterElements, Make({2, 2}, {1, 2, 3, 4}), {2, 2},
                          {0, 0, 1, 0}, axis, index.code);
      ExpectGathered(c, {1, 1, 4, 3});
    }
  }
}

TEST_P(GatherOf, ElementsOfTheFirstAxisFromTheEnd) {
  Case c = MakeGather(Operator::kScatterElements, Square(), {2, 3}, {-1, -2, 0, -2, 0, 0});
  ExpectGathered(c, {7, 5, 3, 4, 2, 3});
}

// Along dims other than the axis the indices may be fewer than the source.
TEST_P(GatherOf, ElementsOfAPart) {
  Case c = MakeGather(Operator::kScatterElements, Square(), {2, 4}, {0, 2, 2, 1, 0, 0, 1, 0}, 1);
  ExpectGathered(c, {1, 3, 3, 2, 4, 4, 5, 4});
}

TEST_P(GatherOf, ElementsOfOnePlace) {
  Case rows = MakeGather(Operator::kScatterElements, Square(), {3, 1}, {1, -2, 1}, 1);
  ExpectGathered(rows, {2, 5, 8});
  Case columns = MakeGather(Operator::kScatterElements, Square(), {1, 3}, {2, 2, -1}, 0);
  ExpectGathered(columns, {7, 8, 9});
  // Here entries share elements.
  Case repeated = MakeGather(Operator::kScatterElements, Square(), {3, 2}, {1, 1, 1, 1, 1, 1}, 1);
  ExpectGathered(repeated, {2, 2, 5, 5, 8, 8});
}

TEST_P(GatherOf, RowsOfOnePlace) {
  Case one = MakeGather(Operator::kScatterUpdate, Square(), {1}, {2});
  ExpectGathered(one, {7, 8, 9});
  Case several = MakeGather(Operator::kScatterUpdate, Square(), {2}, {1, -2}, 1);
  ExpectGathered(several, {2, 2, 5, 5, 8, 8});
}

TEST_P(GatherOf, TuplesOfAllAxes) {
  Case c = MakeGather(Operator::kScatterNd, Make({2, 2}, {0, 1, 2, 3}), {2, 2}, {0, 0, 1, -1});
  ExpectGathered(c, {0, 3});
}

TEST_P(GatherOf, TuplesOfTheFirstAxis) {
  Case c = MakeGather(Operator::kScatterNd, Make({2, 2}, {0, 1, 2, 3}), {2, 1}, {1, 0});
  ExpectGathered(c, {2, 3, 0, 1});
}

TEST_P(GatherOf, TuplesOfTwoOfThreeAxes) {
  Case c = MakeGather(Operator::kScatterNd, Make({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), {2, 1, 2},
                      {0, 1, 1, 0});
  ExpectGathered(c, {2, 3, 4, 5});
}

TEST_P(GatherOf, TuplesOfNoNumbersNameAll) {
  Case c = MakeGather(Operator::kScatterNd, Make({3}, {4, 5, 6}), {2, 0}, {});
  ExpectGathered(c, {4, 5, 6, 4, 5, 6});
}

// The result has rank 0: any shape with one element will do.
TEST_P(GatherOf, OneTuple) {
  Case c = MakeGather(Operator::kScatterNd, Square(), {2}, {1, 2});
  ExpectGathered(c, {6});
  for (const Dims& shape : {Dims{1}, Dims{1, 1, 1}}) {
    c.output = Make(shape, {kKept});
    EXPECT_TRUE(CheckGather(c));
  }
}

// The result has rank 0, and nothing else will do.
TEST_P(GatherOf, OneElementOfALine) {
  Case c = MakeGather(Operator::kScatterUpdate, Make({3}, {4, 5, 6}), {}, {-1});
  ExpectGathered(c, {6});
  c.output = Make({1}, {kKept});
  const Plan plan = PlanOf(c);
  EXPECT_EQ(strew_plan_gather(nullptr, plan.get(), c.data.tensor(), c.output->tensor()),
            STREW_INVALID_SHAPE);
  EXPECT_EQ(c.output->Snapshot(), Make({1}, {kKept}).Snapshot());
}

TEST_P(GatherOf, SlicesOfTheFirstAxis) {
  Case c =
      MakeGather(Operator::kScatterUpdate, Make({3, 2}, {1, 2, 3, 4, 5, 6}), {2, 2}, {0, 1, 1, 2});
  ExpectGathered(c, {1, 2, 3, 4, 3, 4, 5, 6});
}

TEST_P(GatherOf, SlicesOfTheLastAxis) {
  for (const int64_t axis : {1, -1}) {
    Case c = MakeGather(Operator::kScatterUpdate, Square(), {1, 2}, {0, -1}, axis);
    ExpectGathered(c, {1, 3, 4, 6, 7, 9});
  }
}

TEST_P(GatherOf, OneSlice) {
  Case c = MakeGather(Operator::kScatterUpdate, Square(), {}, {1}, 1);
  ExpectGathered(c, {2, 5, 8});
}

TEST_P(GatherOf, DroppedEntriesStayAsTheyAre) {
  Case elements = MakeGather(Operator::kScatterElements, Make({3}, {1, 2, 3}), {4}, {0, 3, 2, -4});
  elements.policy = STREW_INDEX_DROP;
  ExpectGathered(elements, {1, kKept, 3, kKept});
  Case tuples = MakeGather(Operator::kScatterNd, Square(), {3, 2}, {0, 0, 0, 3, -4, 0});
  tuples.policy = STREW_INDEX_DROP;
  ExpectGathered(tuples, {1, kKept, kKept});
  Case slices = MakeGather(Operator::kScatterUpdate, Make({2, 2}, {1, 2, 3, 4}), {3}, {2, 0, 1}, 1);
  slices.policy = STREW_INDEX_DROP;
  ExpectGathered(slices, {kKept, 1, 2, kKept, 3, 4});
}

TEST_P(GatherOf, ClampedEntriesTakeTheNearest) {
  Case c = MakeGather(Operator::kScatterElements, Make({3}, {1, 2, 3}), {4}, {0, 3, 2, -4});
  c.policy = STREW_INDEX_CLAMP;
  ExpectGathered(c, {1, 3, 3, 1});
  c.wrap = false;
  WriteIndices(*c.indices, {0, -1, 2, 1});
  ExpectGathered(c, {1, 1, 3, 2});
}

TEST_P(GatherOf, NothingWhereThereIsNothing) {
  Case no_indices = MakeGather(Operator::kScatterElements, Make({0}, {}), {0}, {});
  ExpectGathered(no_indices, {});
  Case no_rows = MakeGather(Operator::kScatterNd, Make({0, 3}, {}), {0, 1}, {});
  ExpectGathered(no_rows, {});
  Case no_columns = MakeGather(Operator::kScatterUpdate, Make({3, 0}, {}), {2}, {2, 1});
  ExpectGathered(no_columns, {});
  Case whole = MakeGather(Operator::kScatterNd, Make({0}, {}), {3, 0}, {});
  ExpectGathered(whole, {});
}

// On an axis without elements every entry is dropped, or refused.
TEST_P(GatherOf, EntriesOfAnEmptyAxisMayBeDropped) {
  Case elements = MakeGather(Operator::kScatterElements, Make({0}, {}), {2}, {0, -1});
  elements.policy = STREW_INDEX_DROP;
  ExpectGathered(elements, {kKept, kKept});
  Case tuples = MakeGather(Operator::kScatterNd, Make({2, 0}, {}), {1, 2}, {1, 0});
  tuples.policy = STREW_INDEX_DROP;
  ExpectGathered(tuples, {kKept});
  Case slices = MakeGather(Operator::kScatterUpdate, Make({2, 0}, {}), {2}, {0, 0}, 1);
  slices.policy = STREW_INDEX_DROP;
  ExpectGathered(slices, Numbers(4, kKept));
}

// ---- Layouts ------------------------------------------------------------------------------------

std::vector<Layout> LayoutsOf(const Dims& shape) {
  const int64_t rows = shape[0], columns = shape[1];
  return {{shape, {columns, 1}},  {shape, {1, rows}},        {shape, {-columns, -1}},
          {shape, {-1, rows}},    {shape, {2 * columns, 2}}, {shape, {1, -2 * rows}},
          {shape, {columns, -1}}, {shape, {columns + 3, 1}}};
}

std::vector<Layout> BroadcastLayoutsOf(const Dims& shape) {
  return {{shape, {0, 1}}, {shape, {1, 0}}, {shape, {0, 0}}, {shape, {1, 1}}, {shape, {0, -2}}};
}

// Sources and outputs of every stride: rows and columns from a rectangle, and single elements.
TEST(GatherLayouts, OfSourceAndOutput) {
  Random random(Seed());
  const Dims shape = {5, 7};
  std::vector<Layout> sources = LayoutsOf(shape);
  for (const Layout& layout : BroadcastLayoutsOf(shape)) sources.push_back(layout);
  for (const strew_dtype dtype :
       std::vector<strew_dtype>{STREW_INT8, STREW_FLOAT32, STREW_COMPLEX128, STREW_OPAQUE(3)}) {
    for (const Layout& source : sources) {
      const auto expect = [&](Operator op, const Dims& indices, const Dims& values, int64_t axis) {
        Case c = MakeGather(op, RandomArray(random, dtype, source), indices, values, axis);
        for (const Layout& output : LayoutsOf(UpdatesShapeOf(c))) {
          c.output = RandomArray(random, dtype, output);
          ASSERT_TRUE(CheckGather(c));
        }
      };
      expect(Operator::kScatterUpdate, {4}, {4, 0, 0, 3}, 0);
      expect(Operator::kScatterUpdate, {4}, {6, 0, 0, 3}, 1);
      expect(Operator::kScatterNd, {3, 1}, {4, 2, 2}, 0);
      expect(Operator::kScatterNd, {2, 2, 2}, {0, 0, 4, 6, 2, 3, -1, -1}, 0);
      expect(Operator::kScatterElements, {2, 3}, {4, 0, 1, 3, 3, 3}, 0);
      expect(Operator::kScatterElements, {2, 3}, {6, 0, 1, 3, 3, 3}, 1);
    }
  }
}

// Indices that repeat along dims that are not the axis.
TEST(GatherLayouts, OfIndices) {
  Random random(Seed());
  for (const Dims& strides : {Dims{0, 1}, Dims{1, 0}, Dims{0, 0}, Dims{-1, 0}, Dims{1, -3}}) {
    for (const int64_t axis : {0, 1}) {
      Case c = MakeGather(Operator::kScatterElements,
                          RandomArray(random, STREW_INT16, RowMajor({3, 4})), {0, 0}, {}, axis);
      c.indices = RandomIndices(random, STREW_INT32, {{3, 4}, strides}, 3);
      c.output = RandomArray(random, STREW_INT16, {{3, 4}, {-5, 1}});
      EXPECT_TRUE(CheckGather(c));
    }
  }
}

// ---- Many elements ------------------------------------------------------------------------------

// Places of one to four bytes, and more entries than are gathered at once.
TEST(GatherOfMany, ElementsRowsAndTuples) {
  Random random(Seed());
  for (const int64_t extent : {255, 256, 65535, 65536, 70000}) {
    for (const int32_t workers : {1, 3}) {
      Case line = MakeGather(Operator::kScatterElements,
                             RandomArray(random, STREW_UINT16, RowMajor({extent})), {0}, {});
      line.indices = RandomIndices(random, STREW_INT32, RowMajor({70000}), extent);
      line.output = RandomArray(random, STREW_UINT16, RowMajor({70000}));
      ASSERT_TRUE(CheckGather(line, workers)) << extent;
      Case rows = MakeGather(Operator::kScatterUpdate,
                             RandomArray(random, STREW_UINT8, RowMajor({extent, 3})), {0}, {});
      rows.indices = RandomIndices(random, STREW_INT64, RowMajor({700, 50}), extent);
      rows.output = RandomArray(random, STREW_UINT8, RowMajor({700, 50, 3}));
      ASSERT_TRUE(CheckGather(rows, workers)) << extent;
    }
  }
}

// Every size that is moved without a loop, for places of one to eight bytes: a source that repeats
// one row may have more rows than 32 bits can count.
TEST(GatherOfMany, RowsOfEverySizeFromPlacesOfEveryWidth) {
  Random random(Seed());
  for (const int64_t extent : {int64_t{200}, int64_t{60000}, int64_t{70000}, int64_t{1} << 33}) {
    const bool repeats = extent > (int64_t{1} << 32);
    for (const int64_t bytes : {1, 2, 4, 8, 12, 16, 32, 64}) {
      for (const strew_index_policy policy : {STREW_INDEX_ERROR, STREW_INDEX_DROP}) {
        const Layout layout = {{extent, bytes}, {repeats ? 0 : bytes + 1, 1}};
        Case rows =
            MakeGather(Operator::kScatterUpdate, RandomArray(random, STREW_UINT8, layout), {0}, {});
        rows.policy = policy;
        const int64_t most = policy == STREW_INDEX_DROP ? extent + extent / 10 : extent;
        rows.indices = RandomIndices(random, STREW_INT64, RowMajor({70}), most);
        rows.output = RandomArray(random, STREW_UINT8, RowMajor({70, bytes}));
        ASSERT_TRUE(CheckGather(rows)) << extent << ", " << bytes;
      }
    }
  }
}

// So that work is shared out, wherever the axis lies.
TEST(GatherOfMany, BySeveralWorkers) {
  Random random(Seed());
  for (const int64_t axis : {0, 1, 2}) {
    Case elements =
        MakeGather(Operator::kScatterElements,
                   RandomArray(random, STREW_INT32, RowMajor({9, 90, 110})), {0, 0, 0}, {}, axis);
    elements.indices = RandomIndices(random, STREW_INT16, RowMajor({9, 90, 110}), 9);
    elements.output = RandomArray(random, STREW_INT32, {{9, 90, 110}, {110, 990, -1}});
    ASSERT_TRUE(CheckGather(elements, 4)) << axis;
    Case slices =
        MakeGather(Operator::kScatterUpdate,
                   RandomArray(random, STREW_OPAQUE(5), RowMajor({9, 10, 70})), {0}, {}, axis);
    slices.indices = RandomIndices(random, STREW_INT64, RowMajor({31}), 9);
    slices.output = RandomArray(random, STREW_OPAQUE(5), RowMajor(UpdatesShapeOf(slices)));
    ASSERT_TRUE(CheckGather(slices, 4)) << axis;
  }
}

// Calls on all instruction sets follow this tuning while it exists.
class Tuned {
 public:
  explicit Tuned(const strew::plan::Tuning& tuning) : tuning_(tuning) { Set(&tuning_); }
  ~Tuned() { Set(nullptr); }
  Tuned(const Tuned&) = delete;
  Tuned& operator=(const Tuned&) = delete;

 private:
  static void Set(const strew::plan::Tuning* tuning) {
    for (const Target& target : Targets()) target.context->settings.tuning = tuning;
  }

  const strew::plan::Tuning tuning_;
};

// Prefetched, and streamed from their first byte on, in rows around the lengths where the way to
// move one changes.
TEST(GatherOfMany, RowsOfEveryLengthAsIfTheyWereLarge) {
  strew::plan::Tuning tuning;
  tuning.near_part = int64_t{1} << 40;
  tuning.streamed_part = tuning.streamed_part_of_tasks = 0;
  const Tuned tuned(tuning);
  Random random(Seed());
  for (const int64_t bytes :
       {1, 7, 12, 15, 16, 17, 31, 32, 33, 127, 128, 129, 255, 256, 257, 700}) {
    for (const strew_index_policy policy : {STREW_INDEX_ERROR, STREW_INDEX_DROP}) {
      Case rows = MakeGather(Operator::kScatterUpdate,
                             RandomArray(random, STREW_UINT8, RowMajor({300, bytes})), {0}, {});
      rows.policy = policy;
      const int64_t extent = policy == STREW_INDEX_DROP ? 330 : 300;
      rows.indices = RandomIndices(random, STREW_INT32, RowMajor({600}), extent);
      rows.output = RandomArray(random, STREW_UINT8, RowMajor({600, bytes}));
      ASSERT_TRUE(CheckGather(rows, random.OneIn(2) ? 1 : 3)) << bytes;
      rows.output = RandomArray(random, STREW_UINT8, {{600, bytes}, {2 * bytes, -1}});
      ASSERT_TRUE(CheckGather(rows)) << bytes << ", reversed";
    }
  }
}

// The same few elements of many rows: contiguous rows, which may be shuffled, and others.
TEST(GatherOfMany, ElementsOfShortRows) {
  Random random(Seed());
  strew::plan::Tuning tuning;
  tuning.ns_of_gathered_entry = 1e9;
  const Tuned tuned(tuning);
  for (const strew_dtype dtype :
       std::vector<strew_dtype>{STREW_INT8, STREW_BFLOAT16, STREW_FLOAT32, STREW_INT64,
                                STREW_COMPLEX128, STREW_OPAQUE(12)}) {
    for (const int64_t row : {1, 2, 3, 5, 8, 16}) {
      const auto expect = [&](const Layout& source, int64_t n, int64_t run) {
        Case c =
            MakeGather(Operator::kScatterUpdate, RandomArray(random, dtype, source), {0}, {}, 1);
        c.indices = RandomIndices(random, STREW_INT32, RowMajor({n}), row);
        const Dims shape = run == 1 ? Dims{300, n} : Dims{300, n, run};
        c.output = RandomArray(random, dtype, RowMajor(shape));
        ASSERT_TRUE(CheckGather(c, random.OneIn(2) ? 1 : 3)) << row << ", " << n << ", " << run;
      };
      const int64_t n = random.Between(2, 17);
      expect(RowMajor({300, row}), n, 1);
      expect(RowMajor({300, row, 2}), n, 2);
      expect({{300, row}, {row + 1, 1}}, n, 1);
      expect({{300, row}, {2 * row, 2}}, n, 1);
      expect({{300, row}, {1, 300}}, n, 1);
    }
  }
}

TEST(GatherOfMany, ShufflesAreExplained) {
  Random random(Seed());
  Case c = MakeGather(Operator::kScatterUpdate,
                      RandomArray(random, STREW_FLOAT32, RowMajor({600, 4})), {3}, {3, 0, 2}, 1);
  c.output = RandomArray(random, STREW_FLOAT32, RowMajor({600, 3}));
  const Plan plan = PlanOf(c);
  const Context context = MakeContext();
  std::string told;
  const auto tell = [](void* to, const char* sentence) {
    static_cast<std::string*>(to)->append(sentence);
  };
  strew::ExplainTo(context.get(), tell, &told);
  EXPECT_EQ(strew_plan_gather(context.get(), plan.get(), c.data.tensor(), c.output->tensor()),
            STREW_OK);
  EXPECT_NE(told.find("gathered by shuffles of short rows"), std::string::npos) << told;
}

// Slices of an axis in the middle, between turns that are too far apart for a run.
TEST(GatherOfMany, SlicesBetweenTurns) {
  Random random(Seed());
  for (const int64_t inner : {1, 2, 5, 40, 70}) {
    Case slices =
        MakeGather(Operator::kScatterUpdate,
                   RandomArray(random, STREW_INT16, RowMajor({6, 20, inner})), {0}, {}, 1);
    slices.indices = RandomIndices(random, STREW_INT64, RowMajor({600}), 20);
    slices.output = RandomArray(random, STREW_INT16, RowMajor({6, 600, inner}));
    ASSERT_TRUE(CheckGather(slices)) << inner;
    slices.data = RandomArray(random, STREW_INT16, {{6, 20, inner}, {1, 6, 120}});
    ASSERT_TRUE(CheckGather(slices, 3)) << inner << ", strided";
  }
}

}  // namespace
}  // namespace strew_test
