// SPDX-License-Identifier: Apache-2.0
//
// Calls that try their updates on a draft of the output, on every SIMD target: histograms, whose
// one update comes with every index, and what a bad index leaves of an output.
#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "api/context.h"
#include "base/reduction.h"
#include "plan/tuning.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/call_shapes.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::plan::Tuning;

// Parts of 4096 bytes, in which there are several tiles' worth of copies of an update, and narrow
// rows are one line.
Tuning TuningOfDrafts() {
  Tuning tuning;
  tuning.least_drafted = tuning.least_long_indices = 0;
  tuning.drafted_part = 4096;
  tuning.least_flat_entries = 0;
  return tuning;
}

// Counts every place of a line, at single indices of it.
Case MakeHistogram(Random& random, strew_dtype dtype, strew_dtype index, int64_t places) {
  const int64_t n = random.Between(1500, 4000);
  const CallShape line = {"", Operator::kScatterElements, {places}, {n}, 0, index};
  Case c = MakeCase(random, line, dtype, random.OneIn(2));
  c.updates = RandomArray(random, dtype, {{n}, {0}});
  const View& indices = c.indices->view();
  // A negative one here and there; without any, the indices are offsets as they are.
  const int64_t lowest = random.OneIn(3) ? -places : 0;
  for (int64_t i = 0; i < n; ++i) {
    WriteIndex(index, indices.At({i}), random.Between(lowest, places - 1));
  }
  return c;
}

class Drafts : public testing::TestWithParam<Dtype> {
 protected:
  // The faults that the oracle finds on some target.
  std::string Trouble(Case& c, bool explains = true) {
    Trial trial(c);
    for (const strew::reference::Target& target : strew::reference::Targets()) {
      strew::Settings& settings = target.context->settings;
      settings.tuning = &tuning_;
      told_.clear();
      if (explains) settings.explainer = {Tell, &told_};
      const std::string trouble = trial.Trouble(target.context.get());
      settings.tuning = nullptr;
      settings.explainer = {};
      if (!trouble.empty()) return target.name + ": " + trouble + Describe(c);
    }
    return "";
  }
  static void Tell(void* told, const char* sentence) {
    static_cast<std::string*>(told)->append(sentence);
  }
  bool WasTaken() const { return told_.find("a draft of the output") != std::string::npos; }

  const Tuning tuning_ = TuningOfDrafts();
  std::string told_;
};

INSTANTIATE_TEST_SUITE_P(EveryDtype, Drafts, testing::ValuesIn(Dtypes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(Drafts, HistogramsAreThoseOfTheOracle) {
  const uint64_t seed = Seed();
  Random random(seed);
  for (const strew_dtype index : {STREW_INT32, STREW_INT64, STREW_UINT8}) {
    for (const int64_t places : {1, 16, 100}) {
      Case c = MakeHistogram(random, GetParam().code, index, places);
      for (const strew_reduction reduction : AllReductionsOf(GetParam())) {
        c.reduction = reduction;
        ASSERT_EQ(Trouble(c), "") << "STREW_SEED=" << seed;
        const strew_reduction needed = strew::WithNeededFlags(reduction, GetParam().code);
        EXPECT_EQ(WasTaken(), strew::IsOneStep(needed));
      }
    }
  }
}

// One update for all indices of rows that are no whole number of copies, and lie apart. On the last
// axis of a matrix each index has an inner turn for every row of data.
TEST_P(Drafts, HistogramsOfRowsAreThoseOfTheOracle) {
  const strew_dtype dtype = GetParam().code;
  Random random(Seed());
  Case rows = {Operator::kScatterNd, RandomArray(random, dtype, RowMajor({100})),
               RandomArray(random, dtype, {{20, 400}, {0, 0}})};
  rows.indices = RandomIndices(random, STREW_INT64, {{20, 400, 1}, {410, 1, 1}}, 100);
  Case columns = {Operator::kScatterUpdate, RandomArray(random, dtype, RowMajor({3, 100})),
                  RandomArray(random, dtype, {{3, 2000}, {0, 0}})};
  columns.indices = RandomIndices(random, STREW_INT64, RowMajor({2000}), 100);
  columns.axis = 1;
  Case lines = {Operator::kScatterElements, RandomArray(random, dtype, RowMajor({90, 120})),
                RandomArray(random, dtype, RowMajor({90, 110}))};
  lines.indices = RandomIndices(random, STREW_INT64, RowMajor({90, 110}), 120);
  lines.axis = 1;
  Case narrow = {Operator::kScatterElements, RandomArray(random, dtype, RowMajor({120, 9})),
                 RandomArray(random, dtype, RowMajor({120, 8}))};
  narrow.indices = RandomIndices(random, STREW_INT64, RowMajor({120, 8}), 9);
  narrow.axis = 1;
  for (Case* const c : {&rows, &columns, &lines, &narrow}) {
    ForEachIndex(c->indices->shape(), [&](const Dims& i) {
      unsigned char* const index = c->indices->view().At(i);
      WriteIndex(STREW_INT64, index, std::max<int64_t>(ReadIndex(STREW_INT64, index), 0));
    });
    for (const strew_reduction reduction : AllReductionsOf(GetParam())) {
      c->reduction = reduction;
      ASSERT_EQ(Trouble(*c), "");
      const strew_reduction needed = strew::WithNeededFlags(reduction, dtype);
      const int64_t bytes = Product(c->data.shape()) * static_cast<int64_t>(WidthOf(dtype));
      EXPECT_EQ(WasTaken(), strew::IsOneStep(needed) && bytes <= tuning_.most_draft);
    }
  }
}

TEST_P(Drafts, BadIndexInTheLastPartLeavesTheOutputAlone) {
  Random random(Seed());
  Case c = MakeHistogram(random, GetParam().code, STREW_INT32, 16);
  const View& indices = c.indices->view();
  WriteIndex(STREW_INT32, indices.At({indices.shape()[0] - 1}), 16);
  EXPECT_EQ(Trouble(c), "");
  EXPECT_TRUE(WasTaken());
  EXPECT_EQ(Trouble(c, /*explains=*/false), "");
}

// A part of such indices is not a tensor whose shape says where they lie: only the whole is.
TEST_P(Drafts, BadIndexOfTransposedIndicesLeavesTheOutputAlone) {
  const strew_dtype dtype = GetParam().code;
  Random random(Seed());
  for (const Dims& bad : {Dims{0, 0, 0}, Dims{0, 399, 0}, Dims{19, 0, 0}, Dims{19, 399, 0}}) {
    Case c = {Operator::kScatterNd, RandomArray(random, dtype, RowMajor({16})),
              RandomArray(random, dtype, {{20, 400}, {0, 0}})};
    c.indices = RandomIndices(random, STREW_INT64, {{20, 400, 1}, {1, 20, 1}}, 16);
    WriteIndex(STREW_INT64, c.indices->view().At(bad), 16);
    EXPECT_EQ(Trouble(c), "");
    EXPECT_TRUE(WasTaken());
  }
}

}  // namespace
}  // namespace strew_test
