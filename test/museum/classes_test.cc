// SPDX-License-Identifier: Apache-2.0
//
// Classes of defects: what checks of indices, sizes and memory have been found to lack.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exhibit.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// ---- Values of indices --------------------------------------------------------------------------

// The value goes into the address as it is.
TEST(Class, NoCheck) {
  for (const int64_t bad : {kAxis, kAxis + 1, int64_t{100}, int64_t{127}}) {
    ExpectBadIndexEverywhere(bad);
    ExpectBadIndexEverywhere(bad, false);
  }
  ExpectBadIndexEverywhere(kMost);
  ExpectBadIndexEverywhere(kLeast);
}

// Offset 0 * 6 + 6 is that of row 1, and so within the tensor.
TEST(Class, OnlyTheFlattenedOffsetChecked) {
  for (const int64_t column : {6, 7, 17}) {
    Exhibit elements{Operator::kScatterElements, {3, 6}, {3, 1}, {3, 1}, 1};
    elements.values = {0, column, 0};
    ExpectRefused(elements, STREW_INDEX_OUT_OF_RANGE, 1);
    Exhibit tuple{Operator::kScatterNd, {3, 6}, {1, 2}, {1}};
    tuple.values = {0, column};
    ExpectRefused(tuple, STREW_INDEX_OUT_OF_RANGE, 1);
    Exhibit update{Operator::kScatterUpdate, {3, 6}, {2}, {3, 2}, 1};
    update.values = {0, column};
    ExpectRefused(update, STREW_INDEX_OUT_OF_RANGE, 1);
  }
  // Two tokens from position 5 of 6 on end in the next batch entry.
  Exhibit cache{Operator::kTensorScatter, {3, 6, 2}, {3}, {3, 2, 2}, 1};
  cache.values = {0, 5, 0};
  ExpectRefused(cache, STREW_INDEX_OUT_OF_RANGE, 1);
  cache.mode = STREW_CACHE_CIRCULAR;
  ExpectGood(cache);
}

TEST(Class, OnlyTheUpperBoundChecked) {
  for (const int64_t bad : {-kAxis - 2, int64_t{-100}, int64_t{-128}}) {
    ExpectBadIndexEverywhere(bad);
  }
  for (const int64_t bad : {-1, -2, -6}) ExpectBadIndexEverywhere(bad, false);
  Exhibit cache{Operator::kTensorScatter, {5, 7, 3}, {5}, {5, 2, 3}, 1};
  cache.values = {0, 3};
  for (const strew_cache_mode mode : {STREW_CACHE_LINEAR, STREW_CACHE_CIRCULAR}) {
    cache.mode = mode;
    for (const int64_t bad : {-1, -7, -8}) ExpectBadIndex(cache, bad);
  }
}

// Values whose lower 8, 16, 32, 48 or 63 bits alone would be good.
TEST(Class, NarrowedIndices) {
  for (const int bits : {8, 16, 32, 48}) {
    for (const int64_t good : {0, 3}) {
      ExpectBadIndexEverywhere((int64_t{1} << bits) + good);
      ExpectBadIndexEverywhere(good - (int64_t{1} << bits));
    }
  }
  for (Exhibit exhibit : IndexedExhibits()) {
    exhibit.index = STREW_UINT64;
    ExpectBadIndex(exhibit, -1);      // 2^64 - 1
    ExpectBadIndex(exhibit, kLeast);  // 2^63
    ExpectBadIndex(exhibit, kLeast + 1);
  }
  Exhibit circular{Operator::kTensorScatter, {5, 7, 3}, {5}, {5, 2, 3}, 1};
  circular.mode = STREW_CACHE_CIRCULAR;
  circular.index = STREW_UINT64;
  circular.values = {kLeast, kLeast + 1, -1, kMost, (int64_t{1} << 32) + 1};
  ExpectGood(circular);
}

// Attributes too: 2^32 is axis 0, step 0 and entry 0 where 32 bits are left of it.
TEST(Class, NarrowedAttributes) {
  constexpr int64_t kTwoTo32 = int64_t{1} << 32;
  for (const int64_t axis : {kTwoTo32, kTwoTo32 + 1, -kTwoTo32, 1 - kTwoTo32, kMost, kLeast}) {
    ExpectRefused({Operator::kScatterElements, {4, 3}, {4, 3}, {4, 3}, axis}, STREW_INVALID_AXIS);
    ExpectRefused({Operator::kScatterUpdate, {4, 3}, {2}, {2, 3}, axis}, STREW_INVALID_AXIS);
    ExpectRefused({Operator::kTensorScatter, {4, 3}, {4}, {4, 2}, axis}, STREW_INVALID_AXIS);
    ExpectRefused(
        [=](const Place& place) {
          return SliceAt(place, {4, 3}, {2, 3}, {{0}, {2}, {1}, {axis}});
        },
        STREW_INVALID_AXIS);
  }
  struct Slice {
    SliceLists lists;
    int64_t count;
  };
  for (const Slice& slice :
       {Slice{{{0}, {4}, {kTwoTo32}, {0}}, 1}, Slice{{{3}, {kLeast}, {-kTwoTo32}, {0}}, 1},
        Slice{{{1 - kTwoTo32}, {kTwoTo32}, {1}, {0}}, 4}, Slice{{{kTwoTo32}, {1}, {-1}, {0}}, 2},
        Slice{{{kMost}, {kLeast}, {kLeast}, {0}}, 1}}) {
    ExpectGood([&](const Place& place) {
      return SliceAt(place, {4, 3}, {slice.count, 3}, slice.lists);
    });
  }
}

// No index into nothing is good, clamped or not.
TEST(Class, EmptyIndexedAxis) {
  for (const int64_t index : {int64_t{0}, int64_t{-1}, int64_t{1}, kMost, kLeast}) {
    for (const strew_index_policy policy : {STREW_INDEX_ERROR, STREW_INDEX_CLAMP}) {
      for (Exhibit exhibit : {Exhibit{Operator::kScatterElements, {0, 3}, {2, 3}, {2, 3}, 0},
                              Exhibit{Operator::kScatterElements, {3, 0}, {3, 2}, {3, 2}, 1},
                              Exhibit{Operator::kScatterNd, {0, 3}, {2, 1}, {2, 3}},
                              Exhibit{Operator::kScatterNd, {0}, {2, 1}, {2}},
                              Exhibit{Operator::kScatterUpdate, {0, 3}, {2}, {2, 3}, 0},
                              Exhibit{Operator::kScatterUpdate, {3, 0}, {1}, {3, 1}, 1}}) {
        exhibit.values.assign(1, index);
        exhibit.policy = policy;
        ExpectRefused(exhibit, STREW_INDEX_OUT_OF_RANGE, 0);
        exhibit.policy = STREW_INDEX_DROP;
        ExpectGood(exhibit);
      }
    }
  }
}

// The second axis is empty, the first is not: the clamp of the first must not hide the other.
TEST(Class, EmptyAxisBesideAnother) {
  for (const strew_index_policy policy : {STREW_INDEX_ERROR, STREW_INDEX_CLAMP}) {
    Exhibit tuple{Operator::kScatterNd, {3, 0}, {2, 2}, {2}};
    tuple.values = {1, 0};
    tuple.policy = policy;
    ExpectRefused(tuple, STREW_INDEX_OUT_OF_RANGE, 1);
  }
}

TEST(Class, CircularModuloBy0) {
  for (const strew_index_policy policy : {STREW_INDEX_ERROR, STREW_INDEX_DROP, STREW_INDEX_CLAMP}) {
    for (const Dims& cache : std::vector<Dims>{{2, 0, 3}, {2, 3, 0}, {2, 0}}) {
      const auto axis = static_cast<int64_t>(cache.size()) - 1;
      for (const int64_t index : {int64_t{0}, int64_t{7}, kMost}) {
        Exhibit write{Operator::kTensorScatter, cache, {2}, cache, axis};
        write.mode = STREW_CACHE_CIRCULAR;
        write.policy = policy;
        write.values.assign(1, index);
        ExpectGood(write);
        write.index = STREW_UINT64;
        write.values.assign(1, kLeast);  // 2^63
        ExpectGood(write);
      }
    }
  }
}

// ---- When the check is made ---------------------------------------------------------------------

// All values are good but the last one of many, and then also the only one of its worker; whoever
// checks while writing has written.
TEST(Class, ChecksInsideTheWriteLoop) {
  Backwards runner;
  for (Exhibit exhibit :
       {Exhibit{Operator::kScatterElements, {kAxis, 300}, {200, 300}, {200, 300}},
        Exhibit{Operator::kScatterElements, {300, kAxis}, {300, 200}, {300, 200}, 1},
        Exhibit{Operator::kScatterNd, {kAxis, kAxis}, {50000, 2}, {50000}},
        Exhibit{Operator::kScatterNd, {kAxis, 32}, {3000, 1}, {3000, 32}},
        Exhibit{Operator::kScatterUpdate, {kAxis, 32}, {3000}, {3000, 32}},
        Exhibit{Operator::kTensorScatter, {500, kAxis, 32}, {500}, {500, 1, 32}, 1}}) {
    const int64_t size = Product(exhibit.indices);
    exhibit.values.assign(static_cast<size_t>(size), 2);
    exhibit.values.back() = kAxis;
    for (const Place& place : Places()) {
      Case c = exhibit.At(place);
      Trial trial(c, STREW_INDEX_OUT_OF_RANGE, size - 1);
      for (const Target& target : Targets()) {
        EXPECT_EQ(trial.Trouble(target.context.get()), "") << target.name << Describe(c);
        runner.InstallIn(target.context.get(), 4);
        EXPECT_EQ(trial.Trouble(target.context.get()), "") << target.name << Describe(c);
        EXPECT_EQ(strew_context_set_parallel_for(target.context.get(), nullptr, nullptr, 0),
                  STREW_OK);
      }
    }
  }
}

// Duplicates are told before anything is written as well.
TEST(Class, DuplicatesFoundInsideTheWriteLoop) {
  Exhibit update{Operator::kScatterUpdate, {5000, 3}, {5000}, {5000, 3}};
  for (int64_t i = 0; i < 4999; ++i) update.values.push_back(i);
  update.values.push_back(17);
  const auto make = [&](const Place& place) {
    Case c = update.At(place);
    c.duplicates = STREW_DUPLICATE_ERROR;
    return c;
  };
  ExpectRefused(make, STREW_DUPLICATE_INDEX, 4999);
}

// Whatever a debug build might assert is a status in every build.
TEST(Class, DebugOnlyAsserts) {
  float numbers[4] = {};
  const int64_t shape[1] = {4}, negative[1] = {-1};
  void* const misaligned = reinterpret_cast<unsigned char*>(numbers) + 1;
  strew_tensor* tensor = nullptr;
  EXPECT_EQ(strew_tensor_create(STREW_FLOAT32, 33, shape, nullptr, numbers, &tensor),
            STREW_INVALID_ARGUMENT);
  EXPECT_EQ(strew_tensor_create(STREW_FLOAT32, -1, shape, nullptr, numbers, &tensor),
            STREW_INVALID_ARGUMENT);
  EXPECT_EQ(strew_tensor_create(STREW_FLOAT32, 1, nullptr, nullptr, numbers, &tensor),
            STREW_INVALID_ARGUMENT);
  EXPECT_EQ(strew_tensor_create(STREW_FLOAT32, 1, negative, nullptr, numbers, &tensor),
            STREW_INVALID_ARGUMENT);
  EXPECT_EQ(strew_tensor_create(STREW_FLOAT32, 1, shape, nullptr, misaligned, &tensor),
            STREW_INVALID_ARGUMENT);
  for (const strew_dtype dtype : {0, -1, 19, 0x10000, 0x10000 + 4097, 0x7FFFFFFF}) {
    EXPECT_EQ(strew_tensor_create(dtype, 1, shape, nullptr, numbers, &tensor),
              STREW_INVALID_ARGUMENT)
        << dtype;
  }
  EXPECT_EQ(tensor, nullptr);
  for (const strew_reduction reduction : {-1, 7, 0xFF, 0x106 + 1, 0x400, STREW_SUB | 0x100}) {
    Exhibit sum{Operator::kScatterUpdate, {4}, {4}, {4}};
    sum.reduction = reduction;
    ExpectRefused(sum, STREW_INVALID_ARGUMENT);
  }
  for (const strew_cache_mode mode : {-1, 2, 0x7FFFFFFF}) {
    Exhibit write{Operator::kTensorScatter, {2, 4}, {2}, {2, 1}, 1};
    write.mode = mode;
    ExpectRefused(write, STREW_INVALID_ARGUMENT);
  }
  ExpectRefused(
      [](const Place& place) {
        return SliceAt(place, {4}, {2}, {{0}, {2}, {0}, {0}});
      },
      STREW_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace strew_test
