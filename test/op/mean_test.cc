// SPDX-License-Identifier: Apache-2.0
//
// STREW_MEAN: exact sums of integers, rounding of floats, and what is counted.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "op/literal.h"
#include "op/request.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/counting_allocator.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr strew_reduction kOfUpdates = STREW_MEAN | STREW_EXCLUDE_SELF;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// data [old] and updates that all go there.
Case Gather(strew_dtype dtype, double old, const Numbers& updates) {
  Case c = MakeLine(dtype, {old}, Dims(updates.size(), 0), updates);
  c.reduction = STREW_MEAN;
  return c;
}

// The same of 64-bit integers, which are too long for doubles.
Case GatherLong(strew_dtype dtype, int64_t old, const Dims& updates) {
  const auto count = static_cast<int64_t>(updates.size());
  Case c = MakeLine(IndexArray(dtype, {1}, {old}), Dims(updates.size(), 0),
                    IndexArray(dtype, {count}, updates));
  c.reduction = STREW_MEAN;
  return c;
}

void ExpectLong(Case& c, int64_t mean) { ExpectOutput(c, IndexArray(c.data.dtype(), {1}, {mean})); }

// ---- Columns -----------------------------------------------------------------------------------

// Two columns of three have updates, in so many rows that the sums of a column, of 6.4 MB, need
// buckets.
TEST(MeanOfColumns, LeavesTheColumnBesideThem) {
  constexpr int64_t kRows = 800000;
  constexpr uint32_t kSignallingNan = 0x7fa00001;
  const auto entries = static_cast<size_t>(2 * kRows);
  std::vector<uint32_t> data(3 * static_cast<size_t>(kRows), kSignallingNan);
  std::vector<float> updates(entries, 2);
  std::vector<int64_t> indices(entries);
  std::mt19937 random(1);
  for (int64_t& index : indices) index = static_cast<int64_t>(random() % kRows);
  const int64_t shape[] = {kRows, 3}, columns[] = {kRows, 2};
  strew_tensor* output = nullptr;
  strew_tensor* where = nullptr;
  strew_tensor* what = nullptr;
  ASSERT_EQ(strew_tensor_create(STREW_FLOAT32, 2, shape, nullptr, data.data(), &output), STREW_OK);
  ASSERT_EQ(strew_tensor_create(STREW_INT64, 2, columns, nullptr, indices.data(), &where),
            STREW_OK);
  ASSERT_EQ(strew_tensor_create(STREW_FLOAT32, 2, columns, nullptr, updates.data(), &what),
            STREW_OK);
  EXPECT_EQ(strew_scatter_elements(nullptr, output, where, what, 0, kOfUpdates, output), STREW_OK);
  strew_tensor_destroy(output);
  strew_tensor_destroy(where);
  strew_tensor_destroy(what);
  std::vector<bool> is_named(data.size());
  for (size_t i = 0; i < entries; ++i) {
    is_named[3 * static_cast<size_t>(indices[i]) + i % 2] = true;
  }
  constexpr uint32_t kTwo = 0x40000000;
  size_t wrong = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    wrong += data[i] != (is_named[i] ? kTwo : kSignallingNan) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0U);
}

// ---- What is counted ---------------------------------------------------------------------------

std::vector<Dtype> Averaged() {
  std::vector<Dtype> numbers;
  for (const Dtype& dtype : Dtypes()) {
    if (dtype.kind != Kind::kBool && dtype.kind != Kind::kMoved) numbers.push_back(dtype);
  }
  return numbers;
}

class MeanOfDtype : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryNumber, MeanOfDtype, testing::ValuesIn(Averaged()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(MeanOfDtype, CountsTheOldValue) {
  Case c = MakeLine(GetParam().code, {3, 7, 1}, {0, 2, 0, -3}, {6, 3, 5, 10});
  c.reduction = STREW_MEAN;
  ExpectApplied(c, 4, {6, 7, 2});
}

TEST_P(MeanOfDtype, LeavesTheOldValueOut) {
  Case c = MakeLine(GetParam().code, {3, 7, 1}, {0, 2, 0, -3}, {6, 3, 5, 10});
  c.reduction = kOfUpdates;
  ExpectApplied(c, 4, {7, 7, 3});
}

TEST_P(MeanOfDtype, LeavesDroppedUpdatesOut) {
  Case c = MakeLine(GetParam().code, {4, 7}, {0, 2, 9, 0}, {6, 50, 60, 8});
  c.policy = STREW_INDEX_DROP;
  c.reduction = STREW_MEAN;
  ExpectApplied(c, 2, {6, 7});
  c.reduction = kOfUpdates;
  ExpectApplied(c, 2, {7, 7});
  c.policy = STREW_INDEX_CLAMP;
  ExpectApplied(c, 4, {7, 55});
}

TEST_P(MeanOfDtype, OfNothingIsNothing) {
  Case c = MakeLine(GetParam().code, {}, Dims(30, 0), Numbers(30, 1));
  c.policy = STREW_INDEX_DROP;
  c.reduction = STREW_MEAN;
  ExpectApplied(c, 0, {});
}

TEST_P(MeanOfDtype, GoesByRowsAndSlices) {
  const strew_dtype dtype = GetParam().code;
  Case rows{Operator::kScatterNd, NumberArray(dtype, {2, 2}, {2, 4, 6, 8}),
            NumberArray(dtype, {2, 2}, {4, 6, 3, 2})};
  rows.indices = IndexArray(STREW_INT64, {2, 1}, {0, 0});
  rows.reduction = STREW_MEAN;
  ExpectNumbers(rows, {3, 4, 6, 8});
  Case whole{Operator::kScatterNd, NumberArray(dtype, {2}, {3, 5}),
             NumberArray(dtype, {2, 2}, {4, 6, 5, 7})};
  whole.indices.emplace(STREW_INT64, RowMajor({2, 0}));
  whole.reduction = STREW_MEAN;
  ExpectNumbers(whole, {4, 6});
  Case columns{Operator::kScatterUpdate, NumberArray(dtype, {2, 2}, {2, 4, 6, 8}),
               NumberArray(dtype, {2, 3}, {2, 4, 3, 8, 6, 7})};
  columns.indices = IndexArray(STREW_INT64, {3}, {1, 1, 0});
  columns.axis = 1;
  columns.reduction = kOfUpdates;
  ExpectNumbers(columns, {3, 3, 7, 7});
  Case slice{Operator::kSliceScatterInt64, NumberArray(dtype, {4}, {2, 4, 6, 8}),
             NumberArray(dtype, {2}, {4, 10})};
  slice.SetSlice({0}, {4}, {2});
  slice.reduction = STREW_MEAN;
  ExpectNumbers(slice, {3, 4, 8, 8});
  slice.reduction = kOfUpdates;
  ExpectNumbers(slice, {4, 4, 10, 8});
}

// Rows of short runs that lie apart, or that are one repeated run: their rows are longer loops.
TEST_P(MeanOfDtype, GoesByShortRunsApart) {
  constexpr int64_t kRows = 300, kRun = 3, kEntries = 3;
  const Dims shape = {kEntries, kRows, kRun};
  for (const bool repeats : {false, true}) {
    const int64_t row = repeats ? 0 : kRun + 1;
    const Layout layout = {shape, {kRows * (kRun + 1), row, 1}};
    Case c{Operator::kScatterUpdate,
           NumberArray(GetParam().code, {2, kRows, kRun}, Numbers(2 * kRows * kRun, 2)),
           Array(GetParam().code, layout)};
    const auto is_odd = [&](int64_t r) { return repeats ? 0 : static_cast<double>(r % 2); };
    ForEachIndex(shape, [&](const Dims& index) {
      const double column = static_cast<double>(index[2]), odd = is_odd(index[1]);
      const double value[kEntries] = {2 + column + 3 * odd, 2 + 2 * column,
                                      2 + 2 * column + 2 * odd};
      WriteNumber(GetParam().code, c.updates.view().At(index), value[index[0]]);
    });
    c.indices = IndexArray(STREW_INT64, {kEntries}, {0, 0, 1});
    c.reduction = STREW_MEAN;
    Numbers means;
    ForEachIndex(c.data.shape(), [&](const Dims& index) {
      means.push_back(2 + static_cast<double>(index[2]) + is_odd(index[1]));
    });
    ExpectNumbers(c, means);
  }
}

// Too many for sums of all: buckets of them, which ascend.
TEST_P(MeanOfDtype, GoesByManyAscendingElements) {
  constexpr int64_t kElements = 600000;
  Dims indices;
  Numbers means(kElements, 2);
  for (int64_t i = 1; i < kElements; i += 2) {
    indices.push_back(i);
    means[static_cast<size_t>(i)] = 3;
  }
  Case c = MakeLine(GetParam().code, Numbers(kElements, 2), indices, Numbers(indices.size(), 4));
  c.reduction = STREW_MEAN;
  ExpectNumbers(c, means);
  c.reduction = kOfUpdates;
  for (const int64_t i : indices) means[static_cast<size_t>(i)] = 4;
  ExpectNumbers(c, means);
}

// ---- Integers ----------------------------------------------------------------------------------

TEST(MeanOfIntegers, IsRoundedDown) {
  for (const strew_dtype dtype : {STREW_INT8, STREW_INT16, STREW_INT32, STREW_INT64}) {
    Case c = Gather(dtype, -3, {-4});
    ExpectNumbers(c, {-4});  // -3.5
    c = Gather(dtype, 3, {4});
    ExpectNumbers(c, {3});
    c = Gather(dtype, 0, {0, -1});
    ExpectNumbers(c, {-1});
    c = Gather(dtype, 0, {-100, -99, -1});
    ExpectNumbers(c, {-50});
    c = Gather(dtype, 127, {127, 127, 127, 126});
    ExpectNumbers(c, {126});
  }
}

TEST(MeanOfIntegers, IsExactAtTheLimits) {
  for (const size_t count : {1U, 2U, 3U, 7U, 64U, 65U, 1000U, 5000U}) {
    Case most = GatherLong(STREW_INT64, kMost, Dims(count, kMost));
    ExpectLong(most, kMost);
    Case least = GatherLong(STREW_INT64, kLeast, Dims(count, kLeast));
    ExpectLong(least, kLeast);
    Case all = GatherLong(STREW_UINT64, -1, Dims(count, -1));  // 2^64 - 1
    ExpectLong(all, -1);
    all.reduction = kOfUpdates;
    ExpectLong(all, -1);
    // One less in many terms takes one from the floor.
    Case nearly = GatherLong(STREW_UINT64, -2, Dims(count, -1));
    ExpectLong(nearly, -2);
    // count * (2^63 - 1) - count * 2^63 = -count, in 2 * count + 1 terms.
    Dims both(2 * count, kMost);
    for (size_t i = 0; i < count; ++i) both[2 * i] = kLeast;
    Case mixed = GatherLong(STREW_INT64, 0, both);
    ExpectLong(mixed, -1);
  }
}

// Sums of 64-bit integers that float64 holds, at the limits of that and beyond it, side by side.
int64_t AnyLong(std::mt19937_64& random) {
  constexpr int64_t kExact = int64_t{1} << 50;
  const auto bits = static_cast<int64_t>(random());
  const int64_t near = bits / 8 % 4 - 2;
  const int64_t numbers[] = {near,     kExact + near, -kExact + near, bits,
                             bits % 5, bits >> 20,    kMost,          kLeast};
  return numbers[bits & 7];
}

TEST(MeanOfIntegers, IsExactForShortAndLongSums) {
  std::mt19937_64 random(7);
  const auto longs = [&](strew_dtype dtype, const Dims& shape, int64_t most) {
    int64_t size = 1;
    for (const int64_t dim : shape) size *= dim;
    Dims numbers(static_cast<size_t>(size));
    for (int64_t& number : numbers) {
      number =
          most > 0 ? static_cast<int64_t>(random() % static_cast<uint64_t>(most)) : AnyLong(random);
    }
    return IndexArray(dtype, shape, numbers);
  };
  for (int i = 0; i < 200; ++i) {
    const strew_dtype dtype = i % 2 == 0 ? STREW_INT64 : STREW_UINT64;
    const int64_t lines = 1 + i % 3, columns = 1 + i % 37;
    Case singles{Operator::kScatterElements, longs(dtype, {lines, columns}, 0),
                 longs(dtype, {lines, 2 * columns}, 0)};
    singles.indices = longs(STREW_INT64, {lines, 2 * columns}, columns);
    singles.axis = 1;
    Case rows{Operator::kScatterUpdate, longs(dtype, {lines, columns}, 0),
              longs(dtype, {4, columns}, 0)};
    rows.indices = longs(STREW_INT64, {4}, lines);
    for (Case* const c : {&singles, &rows}) {
      c->reduction = i % 5 == 0 ? kOfUpdates : STREW_MEAN;
      Trial trial(*c);
      for (const Target& target : Targets()) {
        ASSERT_EQ(trial.Trouble(target.context.get()), "") << target.name << ", case " << i;
      }
    }
  }
}

TEST(MeanOfIntegers, OfUnsignedDoesNotKnowASign) {
  Case c = GatherLong(STREW_UINT64, -1, {0});  // (2^64 - 1) / 2
  ExpectLong(c, kMost);
  c = GatherLong(STREW_UINT64, kLeast, {kLeast, kLeast});  // 2^63
  ExpectLong(c, kLeast);
  c = GatherLong(STREW_UINT64, kLeast, {0, 0});  // 2^63 / 3
  ExpectLong(c, 3074457345618258602);
  Case bytes = Gather(STREW_UINT8, 255, {254});
  ExpectNumbers(bytes, {254});
}

// ---- Floats ------------------------------------------------------------------------------------

TEST(MeanOfFloats, IsOneQuotientOfTheSumInOrder) {
  Case c = Gather(STREW_FLOAT32, 1e8, {1, -1e8, 3});
  ExpectNumbers(c, {0.75});
  c = Gather(STREW_FLOAT32, 3, {1e8, 1, -1e8});
  ExpectNumbers(c, {0});
  c = Gather(STREW_FLOAT64, 1, {0, 0});
  ExpectNumbers(c, {1.0 / 3.0});
  c = Gather(STREW_FLOAT32, 1, {0, 0, 0, 0, 0, 0});
  ExpectNumbers(c, {static_cast<double>(1.0f / 7.0f)});
}

// 65504 is the largest float16, and sums are of float32.
TEST(MeanOfFloats, OfFloat16DoesNotOverflow) {
  Case c = Gather(STREW_FLOAT16, 65504, Numbers(99, 65504));
  ExpectNumbers(c, {65504});
  c.reduction = kOfUpdates;
  ExpectNumbers(c, {65504});
}

// 1 / 1024 is lost beside 8 in float16, and in bfloat16 much sooner, but not in float32.
TEST(MeanOfFloats, OfShortFloatsRoundsOnce) {
  for (const strew_dtype dtype : {STREW_FLOAT16, STREW_BFLOAT16}) {
    Case c = Gather(dtype, 8, Numbers(1023, 1.0 / 1024));
    ExpectNumbers(c, {(8 + 1023.0 / 1024) / 1024});
  }
}

TEST(MeanOfFloats, OfOneTermIsTheTerm) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const double value :
       {0.0, -0.0, 1e-45, 3e38, static_cast<double>(infinity), static_cast<double>(-infinity)}) {
    Case c = Gather(STREW_FLOAT32, 5, {value});
    c.reduction = kOfUpdates;
    ExpectNumbers(c, {value});
  }
  Case signalling =
      MakeLine(NumberArray(STREW_FLOAT32, {2}, {5, 6}), {0}, BitArray(STREW_FLOAT32, {0x7f800001}));
  signalling.reduction = kOfUpdates;
  Check(signalling);
}

TEST(MeanOfFloats, OfComplexNumbersGoesByComponent) {
  const auto complex = [](const std::vector<double>& parts) {
    Array array(STREW_COMPLEX128, RowMajor({static_cast<int64_t>(parts.size() / 2)}));
    std::memcpy(array.buffer().bytes(), parts.data(), parts.size() * sizeof(double));
    return array;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  Case c = MakeLine(complex({1, -1, 0, 0}), {0, 0, 1}, complex({2, -3, 6, -2, infinity, 4}));
  c.reduction = STREW_MEAN;
  ExpectOutput(c, complex({3, -2, infinity, 2}));
}

// ---- Refusals ----------------------------------------------------------------------------------

TEST(MeanRefusal, TellsOfBadIndicesBeforeItAsksForScratch) {
  for (const Operator op :
       {Operator::kScatterElements, Operator::kScatterNd, Operator::kScatterUpdate}) {
    Request request = GoodRequest(op);
    request.reduction = STREW_MEAN;
    request.indices.values[0] = 99;
    const Context context = MakeContext();
    CountingAllocator allocator(0);
    allocator.InstallIn(context.get());
    const Answer answer = Send(request, context.get());
    EXPECT_EQ(answer.status, STREW_INDEX_OUT_OF_RANGE) << NameOf(op);
    EXPECT_EQ(answer.position, 0) << NameOf(op);
    EXPECT_FALSE(answer.wrote) << NameOf(op);
    EXPECT_EQ(allocator.requests(), 0) << NameOf(op);
  }
}

// No index into it is good, and none needs scratch.
TEST(MeanRefusal, OfEmptyDataIsThatOfItsIndices) {
  Request request = GoodRequest(Operator::kScatterElements);
  request.reduction = STREW_MEAN;
  request.data.SetShape({3, 0});
  request.output.SetShape({3, 0});
  const Context context = MakeContext();
  CountingAllocator allocator(0);
  allocator.InstallIn(context.get());
  const Answer answer = Send(request, context.get());
  EXPECT_EQ(answer.status, STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(answer.position, 0);
}

TEST(MeanRefusal, KnowsTheDtypes) {
  for (const Operator op : {Operator::kScatterElements, Operator::kScatterNd,
                            Operator::kSliceScatter, Operator::kScatterUpdate}) {
    for (const strew_dtype dtype :
         std::vector<strew_dtype>{STREW_BOOL, STREW_STRING, STREW_OPAQUE(4)}) {
      for (const strew_reduction reduction :
           {static_cast<strew_reduction>(STREW_MEAN), kOfUpdates}) {
        Request request = GoodRequest(op);
        request.SetDtype(dtype);
        request.reduction = reduction;
        EXPECT_EQ(Send(request, nullptr).status, STREW_INVALID_DTYPE) << NameOf(op);
      }
    }
  }
}

}  // namespace
}  // namespace strew_test
