// SPDX-License-Identifier: Apache-2.0
//
// Explanations of calls that no random call is like.
#include "plan/explain.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "reference/random.h"
#include "reference/trial.h"
#include "support/call_shapes.h"
#include "support/reference.h"
#include "support/reservation.h"

namespace strew_test {
namespace {

// All that calls of a body with this context explain.
template <class Body>
std::string ToldBy(strew_context* context, const strew::plan::Tuning* tuning, const Body& body) {
  std::string told;
  const auto tell = [](void* to, const char* sentence) {
    static_cast<std::string*>(to)->append(sentence).append("\n");
  };
  context->settings.explainer = {tell, &told};
  context->settings.tuning = tuning;
  body();
  return told;
}

std::string Explanation(Case& c, strew_tensor* output) {
  const Context context = MakeContext();
  return ToldBy(context.get(), nullptr, [&] {
    EXPECT_EQ(Call(c, context.get(), output), STREW_OK) << strew_context_error(context.get());
  });
}

Case RowsOf(const Dims& data, int64_t indices) {
  Random random(Seed());
  return MakeCase(random, {"", Operator::kScatterNd, data, {indices, 1}}, STREW_INT8, true);
}

TEST(Explanation, CountsIndices) {
  Case one = RowsOf({2, 70000}, 1);
  EXPECT_EQ(Explanation(one, one.data.tensor()).rfind("1 index: checked", 0), 0u);
  Case two = RowsOf({2, 70000}, 2);
  EXPECT_EQ(Explanation(two, two.data.tensor()).rfind("2 indices: checked", 0), 0u);
}

// A list of 2 MiB, of which each entry takes 16 bytes, tells first updates.
TEST(Explanation, TellsHowRowsReplaceOldValues) {
  strew::plan::Tuning tuning;
  tuning.least_replaced_row = 8;
  for (const int64_t entries : {131072, 131073, 300000}) {
    Case c = RowsOf({1000, 8}, entries);
    c.reduction = STREW_ADD | STREW_EXCLUDE_SELF;
    const Context context = MakeContext();
    const std::string told = ToldBy(
        context.get(), &tuning, [&] { EXPECT_EQ(Trial(c).Trouble(context.get()), "") << entries; });
    const bool are_told = told.find("First updates are told from others") != std::string::npos;
    EXPECT_EQ(are_told, entries == 131072);
  }
}

TEST(Explanation, TellsWhichBlocksOfSlicesAreFetched) {
  Random random(Seed());
  strew::plan::Tuning tuning;
  for (const double part : {0.0, 1e9}) {
    tuning.few_indices = -1;
    tuning.far_slice_blocks_part = part;
    Case c =
        MakeCase(random, {"", Operator::kScatterUpdate, {500, 6}, {16}, 1}, STREW_FLOAT64, true);
    const Context context = MakeContext();
    const std::string told =
        ToldBy(context.get(), &tuning, [&] { EXPECT_EQ(Trial(c).Trouble(context.get()), ""); });
    EXPECT_NE(told.find("slice by slice"), std::string::npos) << told;
    EXPECT_EQ(told.find("next block is prefetched") != std::string::npos, part == 0) << told;
  }
}

// Rows of 3 have a sum for each element unless there are too many of them.
TEST(Explanation, TellsHowShortRowsAreSummed) {
  strew::plan::Tuning tuning;
  tuning.longest_summed_row = 3;
  tuning.most_sums_of_short_rows = 300;
  for (const int64_t rows : {100, 101}) {
    Case c = RowsOf({rows, 3}, 200);
    c.reduction = STREW_MEAN;
    const Context context = MakeContext();
    const std::string told = ToldBy(
        context.get(), &tuning, [&] { EXPECT_EQ(Trial(c).Trouble(context.get()), "") << rows; });
    const bool in_batches = told.find("Means: some batches at a time") != std::string::npos;
    EXPECT_EQ(in_batches, rows == 100) << told;
  }
}

// If there are not so few, only with enough entries.
TEST(Explanation, TellsWhichShortRowsHaveEnoughEntries) {
  strew::plan::Tuning tuning;
  tuning.sums_of_short_entry = 2;
  const auto are_batches = [&](int64_t near, int64_t entries) {
    tuning.near_sums_of_short_rows = near;
    Case c = RowsOf({200, 3}, entries);
    c.reduction = STREW_MEAN;
    const Context context = MakeContext();
    const std::string told = ToldBy(
        context.get(), &tuning, [&] { EXPECT_EQ(Trial(c).Trouble(context.get()), "") << entries; });
    return told.find("Means: some batches at a time") != std::string::npos;
  };
  EXPECT_TRUE(are_batches(/*near=*/599, /*entries=*/300));
  EXPECT_FALSE(are_batches(599, 299));
  EXPECT_TRUE(are_batches(600, 100));
}

// The sums and counts of a column, of 12 bytes in all, fit scratch.
TEST(Explanation, TellsWhichShortRowsFitScratch) {
  for (const int64_t rows : {174762, 174763}) {
    Case c = RowsOf({rows, 2}, rows);
    c.reduction = STREW_MEAN;
    const Context context = MakeContext();
    const std::string told = ToldBy(
        context.get(), nullptr, [&] { EXPECT_EQ(Trial(c).Trouble(context.get()), "") << rows; });
    const bool in_batches = told.find("Means: some batches at a time") != std::string::npos;
    EXPECT_EQ(in_batches, rows == 174762) << told;
  }
}

// A box, updates that are applied one by one, and a schedule.
TEST(Explanation, IsThatOfNoneIfOldValuesAreExcludedToo) {
  const auto expect = [](Case c, const char* told_of_none) {
    const std::string told = Explanation(c, c.data.tensor());
    EXPECT_NE(told.find(told_of_none), std::string::npos) << told;
    c.reduction = STREW_NONE | STREW_EXCLUDE_SELF;
    EXPECT_EQ(Explanation(c, c.data.tensor()), told);
  };
  expect(RowsOf({2, 70000}, 1), "There is one entry, so that its updates are a box.");
  expect(RowsOf({50, 8}, 5), "applied one by one");
  expect(RowsOf({50, 8}, 100000), "100000 indices: checked");
}

// A row of 140,000 bytes, of which each is read and written.
TEST(Explanation, CountsThatReductionsOfABoxReadItsOutput) {
  strew::plan::Tuning tuning;
  tuning.ns_of_run = 0;
  tuning.ns_of_byte = 1;
  tuning.cost_of_combining = 3;
  const auto expect = [&](strew_reduction reduction, const char* time) {
    Case c = RowsOf({2, 140000}, 1);
    c.reduction = reduction;
    const Context context = MakeContext();
    const std::string told =
        ToldBy(context.get(), &tuning, [&] { EXPECT_EQ(Trial(c).Trouble(context.get()), ""); });
    EXPECT_NE(told.find("box of 140000 bytes"), std::string::npos) << told;
    EXPECT_NE(told.find(time), std::string::npos) << told;
  };
  expect(STREW_NONE, "One thread needs about 140 us");
  expect(STREW_ADD, "One thread needs about 420 us");
}

// 50 lines of 1000, of which 100 are a slice, strided in updates or not.
TEST(Explanation, CountsTheLinesAndStridedElementsOfASliceLaidOverACopy) {
  strew::plan::Tuning tuning;
  tuning.ns_of_byte = 1;
  tuning.ns_of_run = 20;
  tuning.ns_of_strided_element = 40;
  const auto expect = [&](const Dims& step, const char* time) {
    const Array data(STREW_INT8, RowMajor({50, 1000})), output(STREW_INT8, RowMajor({50, 1000}));
    const Array updates(STREW_INT8, RowMajor({50, 100}));
    const Dims starts = {step[0] < 0 ? 600 : 500}, ends = {starts[0] + 100 * step[0]};
    const Context context = MakeContext();
    const std::string told = ToldBy(context.get(), &tuning, [&] {
      const int64_t axis = 1;
      EXPECT_EQ(strew_slice_scatter_int64(context.get(), data.tensor(), updates.tensor(), 1,
                                          starts.data(), ends.data(), step.data(), &axis,
                                          STREW_NONE, output.tensor()),
                STREW_OK)
          << strew_context_error(context.get());
    });
    EXPECT_NE(told.find(time), std::string::npos) << told;
  };
  expect({1},
         "slice laid over a copy of 50000 bytes: written through the caches. One thread needs "
         "about 53 us");
  expect({-1}, "One thread needs about 253 us");
  expect({2}, "One thread needs about 253 us");
}

// Indices smaller than data before the axis leave slabs of data, which are copied first; slabs
// behind the axis are no pieces.
TEST(Pieces, AreCopiedBesideWhatNoUpdateReaches) {
  strew::plan::Tuning tuning;
  tuning.few_indices = -1;
  tuning.least_in_pieces = 0;
  tuning.piece_bytes = 100;
  tuning.lines_of_touched_piece = 1 << 20;
  tuning.least_task_ns = 1e-3;
  const auto told_of = [&](const Dims& data, const Dims& indices, int64_t axis, int64_t gap) {
    std::string told;
    constexpr strew_dtype kDtypes[] = {STREW_INT8, STREW_FLOAT32, STREW_COMPLEX128,
                                       STREW_OPAQUE(20)};
    for (const strew_dtype dtype : kDtypes) {
      Random random(Seed());
      Case c =
          MakeCase(random, {"", Operator::kScatterElements, data, indices, axis, STREW_INT64, gap},
                   dtype, false);
      for (const int32_t workers : {1, 3}) {
        const Context context = MakeContext();
        EXPECT_EQ(strew_context_set_num_threads(context.get(), workers), STREW_OK);
        told = ToldBy(context.get(), &tuning,
                      [&] { EXPECT_EQ(Trial(c).Trouble(context.get()), "") << workers; });
      }
    }
    return told;
  };
  for (const int64_t gap : {0, 3}) {
    const char* const pieces = "just before its updates";
    EXPECT_NE(told_of({9, 7, 20}, {9, 7, 5}, 2, gap).find(pieces), std::string::npos);
    EXPECT_NE(told_of({9, 7, 20}, {6, 7, 5}, 2, gap).find(pieces), std::string::npos);
    EXPECT_NE(told_of({9, 7, 20}, {6, 4, 5}, 2, gap).find(pieces), std::string::npos);
    EXPECT_NE(told_of({9, 70, 3}, {5, 10, 3}, 1, gap).find(pieces), std::string::npos);
    EXPECT_EQ(told_of({9, 70, 3}, {5, 10, 2}, 1, gap).find(pieces), std::string::npos);
  }
}

TEST(Explanation, TellsTheBitsOfOffsets) {
  constexpr int64_t kApart = int64_t{1} << 31;
  const Reservation memory(2 * kApart, Access::kZeros);
  if (memory.bytes() == nullptr) GTEST_SKIP() << "no room for addresses of 64 bits";
  const Tensor far = MakeTensor(STREW_INT8, {{2, 3}, {kApart, 1}}, memory.bytes());
  Case c = RowsOf({2, 3}, 100);
  EXPECT_NE(Explanation(c, c.data.tensor()).find("Offsets have 32 bits."), std::string::npos);
  EXPECT_NE(Explanation(c, far.get()).find("Offsets have 64 bits."), std::string::npos);
}

}  // namespace
}  // namespace strew_test
