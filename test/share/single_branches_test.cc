// SPDX-License-Identifier: Apache-2.0
//
// Calls for single branches of the library that no call shape reaches, against the oracle on
// several workers, and what a runner that fails leaves of calls that copy, or that go several ways.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "reference/trial.h"
#include "support/bulk.h"
#include "support/call_shapes.h"
#include "support/check.h"
#include "support/counting_allocator.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr Operator kElements = Operator::kScatterElements;
constexpr Operator kNd = Operator::kScatterNd;
constexpr Operator kSlice = Operator::kSliceScatterInt64;
constexpr int64_t kMany = 1 << 18;
constexpr int64_t kLarge = 1 << 21;

// A case under the name of the branch that it takes.
struct Branch {
  std::string name;
  std::function<Case(Random&)> make;
  std::vector<int32_t> workers = {1, 3, 8};
  strew::plan::Tuning tuning = {};
};

Branch Of(std::string name, CallShape call_shape, strew_dtype dtype, strew_reduction reduction,
          const std::function<void(Random&, Case&)>& change = nullptr) {
  return {std::move(name), [=](Random& random) {
            Case c = MakeCase(random, call_shape, dtype, false);
            c.reduction = reduction;
            if (change) change(random, c);
            return c;
          }};
}

Branch OnWorkers(std::vector<int32_t> workers, Branch branch) {
  branch.workers = std::move(workers);
  return branch;
}

// Outputs of at least 1 MiB are copied in pieces.
Branch InPieces(Branch branch) {
  branch.tuning.least_in_pieces = 1 << 20;
  return branch;
}

std::string NameOfBranch(const testing::TestParamInfo<Branch>& test) { return test.param.name; }

// One number after the other.
void SetPlaces(Case& c, const std::function<int64_t()>& next) {
  const View& view = c.indices->view();
  ForEachIndex(view.shape(), [&](const Dims& i) { WriteIndex(view.dtype, view.At(i), next()); });
}

// Places that are too few to have buckets of updates in scratch, and too many for the caches.
constexpr int64_t kRepeated = 260000;
void SetRepeated(Random& random, Case& c, int64_t places) {
  SetPlaces(c, [&] { return random.Between(0, places - 1) * 8; });
}

// ---- Runners that fail --------------------------------------------------------------------------

std::vector<Branch> Shared() {
  const strew_reduction mean_of_updates = STREW_MEAN | STREW_EXCLUDE_SELF;
  const CallShape single{"", kNd, {kLarge}, {kMany, 1}};
  const CallShape near{"", kNd, {kMany / 2}, {kMany, 1}};
  const CallShape rows{"", kNd, {kLarge / 64, 64}, {kMany / 64, 1}};
  const CallShape lanes{"", kElements, {kLarge / 256, 256}, {kMany / 256, 256}, 1};
  const CallShape slices{"", kSlice, {kLarge}, {2}};
  const auto strided = [](Random& random, Case& c) {
    c.data = RandomArray(random, STREW_INT32, {{kLarge}, {2}});
    c.output = RandomArray(random, STREW_INT32, {{kLarge}, {2}});
  };
  const auto none = [](Random&, Case& c) {
    c.stop = IndexArray(STREW_INT64, {1}, {0});
    c.updates = Array(STREW_INT8, RowMajor({0}));
  };
  const auto drops = [](Random&, Case& c) {
    c.policy = STREW_INDEX_DROP;
    WriteIndex(STREW_INT64, c.indices->view().At({7, 0}), kLarge);
  };
  const auto in_few_places = [](Random& random, Case& c) { SetRepeated(random, c, kRepeated); };
  return {
      Of("SliceOfALooseLine", slices, STREW_INT32, STREW_NONE, strided),
      Of("SliceOfBools", slices, STREW_BOOL, STREW_ADD | STREW_EXCLUDE_SELF),
      Of("EmptySlice", slices, STREW_INT8, STREW_NONE, none),
      Of("FewIndices", {"", kNd, {kLarge}, {4, 1}}, STREW_INT32, STREW_ADD),
      Of("NoIndices", {"", kNd, {kLarge}, {0, 1}}, STREW_INT32, STREW_ADD),
      Of("OneIndex", {"", kNd, {4, kLarge / 4}, {1, 1}}, STREW_INT32, STREW_ADD),
      InPieces(Of("HalfOfTheLines", {"", kElements, {4096, 256}, {2048, 256}, 1}, STREW_INT32,
                  STREW_ADD)),
      Of("SingleElements", single, STREW_INT32, STREW_ADD),
      Of("SingleElementsDropped", single, STREW_INT32, STREW_ADD, drops),
      Of("Rows", rows, STREW_FLOAT32, STREW_ADD | STREW_EXCLUDE_SELF),
      Of("RowsDropped", rows, STREW_FLOAT32, STREW_ADD, drops),
      Of("ComplexProducts", rows, STREW_COMPLEX64, STREW_MUL | STREW_EXCLUDE_SELF),
      Of("MeansOfRows", rows, STREW_FLOAT32, STREW_MEAN),
      Of("MeansOfRowsAlone", rows, STREW_FLOAT32, mean_of_updates),
      Of("MeansOfShortRows", {"", kNd, {kLarge / 4, 4}, {kMany / 4, 1}}, STREW_FLOAT32,
         mean_of_updates),
      Of("MeansOfShortRowsOfShorts", {"", kNd, {kLarge / 4, 4}, {kMany / 4, 1}}, STREW_INT16,
         STREW_MEAN),
      Of("MeansOfRowsOfBytes", rows, STREW_INT8, STREW_MEAN),
      Of("MeansOfSingleElements", single, STREW_INT16, STREW_MEAN),
      Of("MeansOfSingleFloats", single, STREW_FLOAT64, mean_of_updates),
      Of("MeansOfNearElements", near, STREW_INT16, STREW_MEAN),
      Of("MeansOfLanes", lanes, STREW_FLOAT32, STREW_MEAN),
      Of("MeansInRepeatedPlaces", {"", kNd, {kLarge}, {4 * kMany, 1}}, STREW_COMPLEX128, STREW_MEAN,
         in_few_places),
  };
}

class Failing : public testing::TestWithParam<Branch> {};

INSTANTIATE_TEST_SUITE_P(SingleBranches, Failing, testing::ValuesIn(Shared()), NameOfBranch);

TEST_P(Failing, RunnerFailsTheCallInEveryPhase) {
  Random random(Seed());
  Case c = GetParam().make(random);
  const Context context = MakeContext();
  ASSERT_EQ(strew_context_set_index_policy(context.get(), c.policy), STREW_OK);
  context->settings.tuning = &GetParam().tuning;
  InOrder in_order;
  Recorder recorder(in_order);
  recorder.InstallIn(context.get(), 8);
  ASSERT_EQ(Call(c, context.get(), c.output->tensor()), STREW_OK);
  EXPECT_GE(recorder.phases(), 1);
  for (int64_t phase = 0; phase < recorder.phases(); ++phase) {
    Faulty faulty(in_order, Fault::kAnswersAnError, phase);
    faulty.InstallIn(context.get(), 8);
    EXPECT_EQ(Call(c, context.get(), c.output->tensor()), STREW_RUNNER_FAILED) << "phase " << phase;
    EXPECT_EQ(strew_context_applied(context.get()), 0);
    EXPECT_TRUE(c.output->buffer().IsMarginIntact());
  }
}

// ---- Against the oracle -------------------------------------------------------------------------

// A list of indices into one line, not in a row.
void SetLoose(Random& random, Case& c, const Dims& shape, const Dims& strides, int64_t dim) {
  c.indices = RandomIndices(random, STREW_INT32, {shape, strides}, dim);
}

std::vector<Branch> Branches() {
  const int64_t far = StreamedBytes() / static_cast<int64_t>(sizeof(int64_t));
  const auto transposed = [](Random& random, Case& c) {
    for (Array* const array : {&c.data, &*c.output}) {
      *array = Array(STREW_INT32, {{kMany / 2, 2}, {1, kMany / 2}});
      FillWithTameNumbers(random, *array);
    }
  };
  const auto stepping = [](Random& random, Case& c) {
    for (Array* const array : {&c.data, &*c.output}) {
      *array = Array(STREW_INT32, {{512, 512}, {1024, 2}});
      FillWithTameNumbers(random, *array);
    }
  };
  const auto last_of_line = [](Random& random, Case& c) {
    c.start = IndexArray(STREW_INT64, {1}, {c.data.shape()[0] - 1});
    c.updates = RandomArray(random, c.data.dtype(), RowMajor({1}));
  };
  // One of the pieces of a line that tasks take ends with its first step.
  const auto one_step = [](Random& random, Case& c) {
    c.start = IndexArray(STREW_INT64, {1}, {249999});
    c.stop = IndexArray(STREW_INT64, {1}, {250002});
    c.updates = RandomArray(random, c.data.dtype(), RowMajor({2}));
  };
  const auto first_lines = [](Random& random, Case& c) {
    c.stop = IndexArray(STREW_INT64, {2}, {3, 256});
    c.updates = RandomArray(random, c.data.dtype(), RowMajor({3, 256}));
  };
  const auto pairs = [](Random& random, Case& c) {
    SetLoose(random, c, {kMany, 2}, {1, kMany}, 512);
  };
  const auto drops_some = [](Random& random, Case& c) {
    c.policy = STREW_INDEX_DROP;
    c.indices = RandomIndices(random, STREW_INT64, RowMajor({kMany, 1}), kMany / 2 + 9);
  };
  const auto clamps_one = [](Random& random, Case& c) {
    (void)random;
    c.policy = STREW_INDEX_CLAMP;
    WriteIndex(STREW_INT32, c.indices->view().At({0, 0}), 5000000);
  };
  const auto drops_all = [](Random& random, Case& c) {
    c.policy = STREW_INDEX_DROP;
    const int64_t entries = c.indices->shape()[0];
    c.indices = IndexArray(STREW_INT64, {entries, 1}, Dims(static_cast<size_t>(entries), 99999999));
    (void)random;
  };
  const auto equal = [](Random&, Case& c) { c.indices = Array(STREW_INT64, RowMajor({kMany, 1})); };
  const auto varies_once = [](Random& random, Case& c) {
    (void)random;
    WriteIndex(STREW_INT64, c.indices->view().At({0, 1}), 1);
  };
  const auto first_half = [](Random& random, Case& c) {
    SetPlaces(c, [&] { return random.Between(0, kLarge / 2); });
  };
  const auto wraps = [](Random&, Case& c) { WriteIndices(*c.indices, {50000}); };
  const auto apart = [](Random& random, Case& c) {
    const Dims& shape = c.updates.shape();
    c.updates = RandomArray(random, c.data.dtype(), {shape, {shape[1] + 1, 1}});
  };
  const auto every_other = [](Random&, Case& c) {
    const Dims& shape = c.data.shape();
    c.output = Array(c.data.dtype(), {shape, {2 * shape[1], 2}});
  };
  const auto repeats_and_drops = [](Random& random, Case& c) {
    c.policy = STREW_INDEX_DROP;
    SetRepeated(random, c, kRepeated + 5000);
  };
  const auto ascending = [](Random&, Case& c) {
    int64_t entry = 0;
    SetPlaces(c, [&] { return entry++ / 100; });
  };
  CallShape cache{"", Operator::kTensorScatter, {1, 60000, 8}, {40000}, 1};
  cache.mode = STREW_CACHE_CIRCULAR;
  // A place takes 24 bytes with its index.
  const int64_t streamed = 2 * StreamedBytes() / 24 + 1;
  CallShape along_rows{"", kElements, {far / 8, 64}, {4096, 64}};
  along_rows.spread = Spread::kAlongRows;
  return {
      Of("NoNumbersInATuple", {"", kNd, {100}, {1, 0}}, STREW_INT32, STREW_ADD),
      Of("FewIndicesOfManyUpdates", {"", kNd, {40, 2000}, {12, 1}}, STREW_INT32, STREW_ADD),
      Of("LinesBeyondTheNearCaches", {"", kElements, {3, 40000}, {3, 40000}, 1}, STREW_INT64,
         STREW_ADD),
      Of("LinesOfTwoTiles", {"", kElements, {5, 9000}, {5, 9000}, 1}, STREW_INT8, STREW_ADD),
      Of("RowsThatLieAcross", {"", kNd, {kMany / 2, 2}, {kMany / 2, 1}}, STREW_INT32, STREW_ADD,
         transposed),
      Of("LinesOfGaps", {"", kElements, {512, 512}, {512, 512}, 1}, STREW_INT32, STREW_ADD,
         stepping),
      Of("LongLinesOfGaps", {"", kElements, {600, 512}, {600, 512}, 1}, STREW_INT32, STREW_ADD,
         every_other),
      Of("LinesOfUpdatesApart", {"", kElements, {1500, 200}, {1500, 200}, 1}, STREW_INT32,
         STREW_ADD, apart),
      Of("SheetsOfLinesApart", {"", kSlice, {5, 7, 20000}, {-2, -2, 3}, 0, STREW_INT64, 3},
         STREW_INT32, STREW_NONE),
      Of("MoreIndicesThanPlaces", {"", kElements, {512, 100}, {512, 700}, 1}, STREW_INT32,
         STREW_ADD),
      Of("LastOfALine", {"", kSlice, {40001}, {2}}, STREW_INT32, STREW_NONE, last_of_line),
      OnWorkers({2, 3, 4}, Of("FirstStepAtTheEndOfAPart", {"", kSlice, {2000000}, {2}},
                              STREW_FLOAT32, STREW_NONE, one_step)),
      Of("FirstLines", {"", kSlice, {2048, 256}, {1, 1}}, STREW_INT32, STREW_NONE, first_lines),
      Of("PairsApart", {"", kNd, {512, 512}, {kMany, 2}}, STREW_INT32, STREW_ADD, pairs),
      Of("Dropped", {"", kNd, {kMany / 2}, {kMany, 1}}, STREW_FLOAT64, STREW_ADD, drops_some),
      Of("AllInOnePlace", {"", kNd, {kMany}, {kMany, 1}}, STREW_INT8, STREW_ADD, equal),
      Of("FarElements", {"", kNd, {far}, {kMany, 1}}, STREW_INT64, STREW_ADD),
      Of("RowsOfOneIndexFarApart", along_rows, STREW_INT64, STREW_ADD, varies_once),
      Of("TallLanes", {"", kElements, {kMany, 2}, {kMany, 2}, 0}, STREW_INT32, STREW_ADD),
      Of("LanesAround", {"", kElements, {2, kMany / 4, 2}, {2, kMany / 4, 2}, 1, STREW_INT32, 1},
         STREW_INT32, STREW_ADD),
      Of("OneElement", {"", kNd, {1}, {kMany, 0}}, STREW_INT32, STREW_ADD),
      Of("TooFewToExchange", {"", kNd, {kLarge}, {20000, 1}}, STREW_INT64, STREW_ADD),
      Of("ClampedStripsOfBytes", {"", kElements, {171, 385}, {171, 385}, 0, STREW_INT32},
         STREW_UINT8, STREW_NONE, clamps_one),
      Of("MeansOfNothing", {"", kNd, {50000}, {100, 1}}, STREW_INT32, STREW_MEAN, drops_all),
      Of("MeansOfShorts", {"", kNd, {kMany / 2}, {kMany, 1}}, STREW_INT16, STREW_MEAN),
      Of("OneLineIntoATallAxis", {"", kElements, {32768, 127}, {1, 127}, 0}, STREW_INT8, STREW_ADD),
      Of("PartsOfAWrappedLine", cache, STREW_INT32, STREW_NONE, wraps),
      OnWorkers({2}, Of("StreamsOfElements", {"", kNd, {kMany}, {streamed, 1}}, STREW_COMPLEX128,
                        STREW_NONE)),
      Of("MeansOfUnequalLanes", {"", kElements, {5, 4, 2500}, {5, 3, 2500}, 2}, STREW_INT32,
         STREW_MEAN),
      Of("MeansOfFewShortRows", {"", kNd, {9000, 2}, {80000, 1}}, STREW_INT16, STREW_MEAN),
      Of("MeansInTheFirstBuckets", {"", kNd, {kLarge}, {kMany, 1}}, STREW_INT32, STREW_MEAN,
         first_half),
      OnWorkers({64}, Of("MeansOfTooManyBuckets", {"", kNd, {2400000}, {300000, 1}}, STREW_INT64,
                         STREW_MEAN)),
      Of("MeansOfFewPlacesFarApart", {"", kNd, {8 * kLarge}, {3000, 1}}, STREW_INT16, STREW_MEAN),
      Of("MeansOfVeryFewPlacesFarApart", {"", kNd, {8 * kLarge}, {50, 1}}, STREW_INT64, STREW_MEAN),
      Of("MeansOfNothingFarApart", {"", kNd, {8 * kLarge}, {50, 1}}, STREW_INT16, STREW_MEAN,
         drops_all),
      OnWorkers({1}, Of("MeansInRepeatedPlacesOrNone", {"", kNd, {kLarge}, {4 * kMany, 1}},
                        STREW_COMPLEX128, STREW_MEAN, repeats_and_drops)),
      Of("MeansOfOneUpdateForEachColumn", {"", kElements, {40, 3000}, {1, 3000}, 0}, STREW_INT32,
         STREW_MEAN, ascending),
      Of("MeansOfManyUpdatesInEachColumn", {"", kElements, {12000, 20}, {30000, 20}, 0},
         STREW_INT32, STREW_MEAN),
      Of("MeansOfSomeColumns", {"", kElements, {500000, 3}, {100000, 2}, 0}, STREW_INT32,
         STREW_MEAN),
      Of("MeansOfRowsFarApart", {"", kNd, {kLarge, 3}, {20000, 1}}, STREW_INT32, STREW_MEAN),
      Of("MeansInOnePlace", {"", kNd, {kMany / 2}, {kMany, 1}}, STREW_INT32, STREW_MEAN, equal),
  };
}

// ---- Indices that are checked part by part ------------------------------------------------------

// The oracle says which one is bad.
void CheckEveryPart(const CallShape& call_shape, const Dims& strides) {
  Random random(Seed());
  Case c = MakeCase(random, call_shape, STREW_INT8, true);
  const int64_t dim = call_shape.data[static_cast<size_t>(call_shape.axis)];
  c.indices = RandomIndices(random, STREW_INT64, {call_shape.indices, strides}, dim);
  const int64_t rows = call_shape.indices[0];
  for (const int64_t row : {int64_t{0}, rows / 2, rows - 1}) {
    for (const int64_t column : {int64_t{0}, call_shape.indices[1] - 1}) {
      unsigned char* const index = c.indices->view().At({row, column});
      const int64_t good = ReadIndex(STREW_INT64, index);
      WriteIndex(STREW_INT64, index, dim);
      EXPECT_TRUE(CheckWithWorkers(c, {1, 3})) << row << ", " << column;
      WriteIndex(STREW_INT64, index, good);
    }
  }
}

TEST(PartsOfIndices, AreAllChecked) {
  CheckEveryPart({"", kElements, {1200, 256}, {1200, 256}, 1}, {256, 1});
  CheckEveryPart({"", kElements, {1200, 256}, {1200, 256}, 1}, {-300, 1});
  CheckEveryPart({"", kElements, {300, 1000}, {300, 1000}, 0}, {1, 300});
  CheckEveryPart({"", kElements, {300, 1000}, {300, 1000}, 0}, {1000, 1});
}

class Reached : public testing::TestWithParam<Branch> {};

INSTANTIATE_TEST_SUITE_P(SingleBranches, Reached, testing::ValuesIn(Branches()), NameOfBranch);

TEST_P(Reached, IsWhatTheOracleSays) {
  Random random(Seed());
  Case c = GetParam().make(random);
  EXPECT_TRUE(CheckWithWorkers(c, GetParam().workers));
}

}  // namespace
}  // namespace strew_test
