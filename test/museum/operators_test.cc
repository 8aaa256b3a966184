// SPDX-License-Identifier: Apache-2.0
//
// Defects of scatters, of gathers, and of operators that take their indices in lists.
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "exhibit.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/reference.h"
#include "support/reservation.h"
#include "support/runners.h"

namespace strew_test {
namespace {

// ---- Counters -----------------------------------------------------------------------------------

// TensorFlow, Shard: functions that took a range of 64 bits in int or int32 were handed to it, so
// that long loops wrote elsewhere. The nearest that is quick: 2^32 + 2^16 indices, shared out to
// workers, of which those of the last row are bad; one counter of 32 bits would report row 0.
TEST(Cve2020_15202, LoopsOfMoreThan32Bits) {
  constexpr int64_t kRows = 65537, kColumns = 65536;
  if (sizeof(void*) < 8) GTEST_SKIP() << "no tensor has so many elements";
  const Place place{Guard::kBehind, true};
  Case c{Operator::kScatterElements, Numbers(STREW_INT8, RowMajor({4, kColumns}), place.guard),
         Numbers(STREW_INT8, {{kRows, kColumns}, {0, 0}}, place.guard)};
  c.indices = Array(STREW_INT8, {{kRows, kColumns}, {1, 0}}, place.guard);
  Dims rows(kRows, 3);
  rows.back() = 4;
  for (size_t i = 0; i < rows.size(); ++i) {
    WriteIndex(STREW_INT8, c.indices->buffer().bytes() + i, rows[i]);
  }
  Trial trial(c, STREW_INDEX_OUT_OF_RANGE, (kRows - 1) * kColumns);
  Backwards runner;
  for (const Target& target : Targets()) {
    for (const int32_t workers : {1, 3}) {
      runner.InstallIn(target.context.get(), workers);
      EXPECT_EQ(trial.Trouble(target.context.get()), "") << target.name << ", " << workers;
    }
    EXPECT_EQ(strew_context_set_parallel_for(target.context.get(), nullptr, nullptr, 0), STREW_OK);
  }
}

// ---- Shapes -------------------------------------------------------------------------------------

// TensorFlow, ResourceScatterUpdate: updates had to have a number of elements that that of indices
// divides, or the other way round; too few were read behind their end.
TEST(Cve2021_37655, UpdatesOfADividingSize) {
  const Exhibit good{Operator::kScatterUpdate, {4, 3}, {4}, {4, 3}};
  ExpectGood(good);
  for (const Dims& updates : std::vector<Dims>{{2, 3}, {1, 3}, {8, 3}, {4, 1}, {2, 6}, {6, 2}}) {
    Exhibit wrong = good;
    wrong.updates = updates;
    ExpectRefused(wrong, STREW_INVALID_SHAPE);
  }
  for (const Dims& updates : std::vector<Dims>{{}, {12}, {3}, {4, 3, 1}, {1, 4, 3}}) {
    Exhibit wrong = good;
    wrong.updates = updates;
    ExpectRefused(wrong, STREW_INVALID_SHAPE);
  }
}

// TensorFlow, ResourceScatterDiv: integers were divided by updates of 0. strew divides in means
// only, by the number of terms: here there is none, because of no updates or of dropped ones.
TEST(Cve2021_37642, MeansOfNothing) {
  for (const Dtype& dtype : Dtypes()) {
    if (dtype.kind != Kind::kSigned && dtype.kind != Kind::kUnsigned) continue;
    for (const strew_reduction reduction :
         std::vector<strew_reduction>{STREW_MEAN, STREW_MEAN | STREW_EXCLUDE_SELF}) {
      for (const int64_t count : {0, 1, 40}) {
        Exhibit mean{Operator::kScatterUpdate, {4, 3}, {count}, {count, 3}};
        mean.dtype = dtype.code;
        mean.reduction = reduction;
        mean.policy = STREW_INDEX_DROP;
        mean.values = {4, -5};
        ExpectGood(mean);
      }
    }
  }
}

// TensorFlow, TensorListScatter: an attribute of another rank than the code took for granted ended
// the process. The operands of a slice are the nearest: each alone, then all of them.
TEST(Cve2022_35991, AttributesOfOtherRanks) {
  struct List {
    std::optional<Array> Case::*array;
    int64_t value;
  };
  const std::vector<List> all = {
      {&Case::start, 0}, {&Case::stop, 2}, {&Case::step, 1}, {&Case::axes, 0}};
  for (const Dims& shape : std::vector<Dims>{{}, {1, 1}, {1, 1, 1}}) {
    std::vector<std::vector<List>> choices = {all};
    for (const List& list : all) choices.push_back({list});
    for (const std::vector<List>& choice : choices) {
      const auto make = [&](const Place& place) {
        Case c = SliceAt(place, {4, 3}, {2, 3}, {{0}, {2}, {1}, {0}});
        for (const List& list : choice) {
          c.*list.array = IndexArray(STREW_INT64, shape, {list.value}, place.guard);
        }
        return c;
      };
      ExpectRefused(make, STREW_INVALID_SHAPE);
    }
  }
}

// TensorFlow, DynamicStitch and others: where one of two lists of inputs was shorter, the executor
// read behind its end.
TEST(Cve2022_41883, ListsOfDifferentLengths) {
  using ListOf = Dims SliceLists::*;
  for (const ListOf list :
       {&SliceLists::start, &SliceLists::stop, &SliceLists::step, &SliceLists::axes}) {
    for (const Dims& other : std::vector<Dims>{{}, {1}, {1, 0, 1}}) {
      SliceLists lists{{0, 0}, {2, 2}, {1, 1}, {1, 0}};
      lists.*list = other;
      const auto make = [&](const Place& place) { return SliceAt(place, {4, 3}, {2, 2}, lists); };
      ExpectRefused(make, STREW_INVALID_SHAPE);
    }
  }
}

// The same with plain arrays, which no library can measure: of more entries than dims it may read
// none.
TEST(Cve2022_41883, CountsAboveTheRank) {
  const Array lists = IndexArray(STREW_INT64, {1}, {1});
  const auto* const numbers = reinterpret_cast<const int64_t*>(lists.buffer().bytes());
  Array data = Numbers(STREW_FLOAT32, RowMajor({4}), Guard::kBehind);
  const auto before = data.Snapshot();
  for (const int64_t count :
       {int64_t{2}, int64_t{33}, (int64_t{1} << 32) + 1, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(strew_slice_scatter_int64(nullptr, data.tensor(), data.tensor(), count, numbers,
                                        numbers, numbers, numbers, STREW_NONE, data.tensor()),
              STREW_INVALID_SHAPE)
        << count;
  }
  EXPECT_EQ(data.Snapshot(), before);
}

// TensorFlow, DynamicStitch: indices of another shape than data were taken all the same, and data
// read behind their end.
TEST(Cve2023_25659, IndicesOfAnotherShapeThanUpdates) {
  for (const Dims& updates :
       std::vector<Dims>{{2, 2}, {3, 1}, {1, 1}, {3, 3}, {6}, {}, {3, 2, 1}}) {
    ExpectRefused({Operator::kScatterElements, {4, 3}, {3, 2}, updates}, STREW_INVALID_SHAPE);
  }
  for (const Dims& updates : std::vector<Dims>{{2, 3}, {5, 3}, {4, 2}, {4}, {4, 1, 3}, {}}) {
    ExpectRefused({Operator::kScatterNd, {6, 3}, {4, 1}, updates}, STREW_INVALID_SHAPE);
  }
  for (const Dims& indices : std::vector<Dims>{{2}, {4}, {}, {3, 1}}) {
    ExpectRefused({Operator::kTensorScatter, {3, 4}, indices, {3, 2}, 1}, STREW_INVALID_SHAPE);
  }
}

// PaddlePaddle, put_along_axis: values of rank 0 beside wild indices were dereferenced.
TEST(Cve2023_52303, UpdatesOfRank0) {
  constexpr int64_t kWild = -0x7654321012345678;
  Exhibit put{Operator::kScatterElements, {1}, {1}, {}};
  put.dtype = STREW_INT32;
  put.values = {kWild};
  ExpectRefused(put, STREW_INVALID_SHAPE);
  put.updates = {1};
  ExpectRefused(put, STREW_INDEX_OUT_OF_RANGE, 0);
}

// And no pointer at all.
TEST(Cve2023_52303, UpdatesWithoutMemory) {
  Case c = Exhibit{Operator::kScatterElements, {4}, {4}, {4}}.At({Guard::kBehind, true});
  strew_tensor* const operands[] = {c.updates.tensor(), c.indices->tensor(), c.data.tensor()};
  for (strew_tensor* const operand : operands) {
    void* const memory = strew_tensor_data(operand);
    ASSERT_EQ(strew_tensor_set_data(operand, nullptr), STREW_OK);
    CheckRefused(c, STREW_INVALID_ARGUMENT, -1);
    ASSERT_EQ(strew_tensor_set_data(operand, memory), STREW_OK);
  }
}

// ---- Offsets ------------------------------------------------------------------------------------

// TensorFlow Lite, GatherNd: negative indices were not looked for, and read before the tensor. The
// last tuple would stay within the tensor as an offset: 2 * 4 - 5 = 3.
TEST(Cve2021_37687, NegativeComponents) {
  for (const strew_dtype index : {STREW_INT8, STREW_INT16, STREW_INT32, STREW_INT64}) {
    struct Wrong {
      Dims tuple;
      bool wrap;
      int64_t position;
    };
    for (const Wrong& wrong : std::vector<Wrong>{{{-4, 0}, true, 0},
                                                 {{0, -5}, true, 1},
                                                 {{2, -5}, true, 1},
                                                 {{-1, 0}, false, 0},
                                                 {{2, -1}, false, 1},
                                                 {{LowestIndex(index), 0}, true, 0}}) {
      Exhibit scatter{Operator::kScatterNd, {3, 4}, {1, 2}, {1}};
      scatter.index = index;
      scatter.values = wrong.tuple;
      scatter.wrap = wrong.wrap;
      ExpectRefused(scatter, STREW_INDEX_OUT_OF_RANGE, wrong.position);
    }
  }
}

// TensorFlow Lite, ScatterNd: nothing was compared with the size of the output before the write.
TEST(Cve2022_35939, TuplesBeyondTheOutput) {
  for (const strew_reduction reduction : Reductions()) {
    for (const Dims& indices : std::vector<Dims>{{37, 1}, {3, 1}}) {
      Exhibit scatter{Operator::kScatterNd, {kAxis, 4}, indices, {indices[0], 4}};
      scatter.reduction = reduction;
      scatter.values = {0, 5, 2};
      for (const int64_t bad :
           {kAxis, kAxis + 1, int64_t{1000}, int64_t{1} << 31, -kAxis - 1, -(int64_t{1} << 31)}) {
        ExpectBadIndex(scatter, bad);
      }
    }
  }
}

// TensorFlow Lite, 2026, in the check that had been the answer to CVE-2022-35939: offset and size
// of a slice were added in int32. Index 3 on [3, 2^29] is offset 3 * 2^29, and with 2^29 elements
// behind it 2^31, which is negative. The memory here may not even be looked at.
TEST(Cve2022_35939, EndsOfSlicesThatOverflow) {
  constexpr int64_t kRow = int64_t{1} << 29;
  const Reservation memory(3 * kRow, Access::kForbidden);
  if (memory.bytes() == nullptr) GTEST_SKIP() << "no room for 1.5 GiB of addresses";
  const Tensor data = MakeTensor(STREW_INT8, RowMajor({3, kRow}), memory.bytes());
  const Array update = Numbers(STREW_INT8, {{1, kRow}, {0, 0}}, Guard::kBehind);
  for (const strew_dtype dtype : {STREW_INT32, STREW_INT64, STREW_UINT8}) {
    for (const int64_t bad : {3, 4, 7}) {
      const Array indices = IndexArray(dtype, {1, 1}, {bad});
      for (const Target& target : Targets()) {
        EXPECT_EQ(strew_scatter_nd(target.context.get(), data.get(), indices.tensor(),
                                   update.tensor(), STREW_NONE, data.get()),
                  STREW_INDEX_OUT_OF_RANGE);
        EXPECT_EQ(strew_context_error_position(target.context.get()), 0);
      }
    }
  }
}

// The products of index and stride too, in the type of the indices: of tuples that are good, and of
// those whose offset is good modulo 2^32. Row 46341 of 46341 bytes begins behind 2^31.
TEST(Cve2022_35939, ProductsOfIndexAndStrideThatOverflow) {
  constexpr int64_t kRows = 46343, kRow = 46341;
  if (sizeof(void*) < 8) GTEST_SKIP() << "no room for 2 GiB of addresses";
  const Reservation memory(kRows * kRow, Access::kZeros);
  ASSERT_NE(memory.bytes(), nullptr);
  const Tensor data = MakeTensor(STREW_INT8, RowMajor({1, kRows, kRow}), memory.bytes());
  const Array update = Numbers(STREW_INT8, RowMajor({1}), Guard::kBehind);
  const auto number = static_cast<unsigned char>(*update.buffer().bytes() | 1);
  *update.buffer().bytes() = number;
  for (const strew_dtype dtype : {STREW_INT32, STREW_INT64}) {
    for (const Target& target : Targets()) {
      const auto scatter = [&](const Dims& tuple) {
        return strew_scatter_nd(target.context.get(), data.get(),
                                IndexArray(dtype, {1, 3}, tuple).tensor(), update.tensor(),
                                STREW_NONE, data.get());
      };
      unsigned char* const place = memory.bytes() + 46342 * kRow + 5;
      *place = 0;
      EXPECT_EQ(scatter({0, 46342, 5}), STREW_OK) << target.name;
      EXPECT_EQ(*place, number) << target.name;
      EXPECT_EQ(scatter({0, 2 * 46342, 5}), STREW_INDEX_OUT_OF_RANGE) << target.name;
      EXPECT_EQ(scatter({1, 0, 0}), STREW_INDEX_OUT_OF_RANGE) << target.name;
    }
  }
}

}  // namespace
}  // namespace strew_test
